//go:build unix

package jsonfile_test

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/jsonfile"
	"github.com/flowtui/flowtui/stores/storetest"
)

// TestScenario50DiskFull: a save that finds no room changes nothing, says so,
// and works when there is room again. The room is a limit on the size of files,
// in a process of its own, because the limit is the process's.
func TestScenario50DiskFull(t *testing.T) {
	const limited = "FLOWTUI_TEST_LIMITED"
	if os.Getenv(limited) == "" {
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(exe, "-test.run=^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), limited+"=1", "TMPDIR="+t.TempDir())
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
			t.Fatalf("with a limit: %v\n%s", err, out)
		}
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	limit := func(bytes uint64) {
		t.Helper()
		l := old
		l.Cur = bytes
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &l); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "store")
	s := open(t, path, jsonfile.Options{Create: true})
	ctx, p := t.Context(), place("r")
	large := func(c *stores.Checkpoint) { c.Payload = []byte(strings.Repeat("x", 200_000)) }
	if err := s.Save(ctx, storetest.Step(p, 0, large)); err != nil {
		t.Fatal(err)
	}
	if err := s.RecordCall(ctx, stores.CallWrite{Call: storetest.Record(p, 1, 1)}); err != nil {
		t.Fatal(err)
	}
	done := storetest.Record(p, 1, 2, func(c *stores.Call) {
		c.Ordinal, c.Status, c.Payload = 1, stores.CallDone, []byte(strings.Repeat("x", 200_000))
	})
	graph := storetest.Step(p, 1)
	graph.Graph = []byte(strings.Repeat("x", 500_000))
	limit(250_000) // some of a line finds room, not all
	before := contents(t, filepath.Join(path, "owners"))
	for name, err := range map[string]error{
		"save":       s.Save(ctx, storetest.Step(p, 1, large)),
		"record":     s.RecordCall(ctx, stores.CallWrite{Call: done}),
		"first save": s.Save(ctx, storetest.Step(place("new"), 0, large, func(c *stores.Checkpoint) { c.Payload = append(c.Payload, c.Payload...) })),
	} {
		if !errors.Is(err, stores.ErrFull) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %v, want %v with the path", name, err, stores.ErrFull)
		}
		if !errors.Is(err, syscall.EFBIG) {
			t.Errorf("%s: the system's error cannot be reached in %v", name, err)
		}
	}
	if after := contents(t, filepath.Join(path, "owners")); !maps.Equal(before, after) {
		t.Errorf("something was written: %d files, then %d", len(before), len(after))
	}
	if err := s.Save(ctx, graph); !errors.Is(err, stores.ErrFull) {
		t.Errorf("graph: %v", err)
	}
	for _, look := range []*jsonfile.Store{s, open(t, path, jsonfile.Options{})} {
		storetest.Check(t, look)
		h, err := look.Head(ctx, p.Key)
		if err != nil || h.Step != 0 || h.Open != 1 {
			t.Errorf("the call must stay in doubt: %+v, %v", h, err)
		}
	}
	limit(old.Cur)
	if err := s.RecordCall(ctx, stores.CallWrite{Call: done}); err != nil {
		t.Errorf("there is room again: %v", err)
	}
	if err := s.Save(ctx, storetest.Step(p, 1, large)); err != nil {
		t.Errorf("there is room again: %v", err)
	}
	storetest.Check(t, s)
}

// contents is files without the times.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := files(t, dir)
	for path, what := range all {
		_, all[path], _ = strings.Cut(what, "\n")
	}
	return all
}
