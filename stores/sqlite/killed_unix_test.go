//go:build unix

package sqlite_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/flowtui/flowtui/internal/testwriter"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/sqlite"
	"github.com/flowtui/flowtui/stores/storetest"
)

// TestKilledWriter kills a process that writes, again and again, at random
// moments. What it had acknowledged is there, and every rule holds.
func TestKilledWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	newest := int64(-1)
	for round := range 50 {
		c := testwriter.Start(t, path, "r", 0)
		if round%5 != 0 { // else it may be killed while it opens the store
			newest = c.Acknowledged(t)
		}
		timer := time.AfterFunc(time.Duration(random.IntN(40))*time.Millisecond, func() { c.Process.Kill() })
		newest += c.Rest()
		timer.Stop()
		_ = c.Wait() // it was killed
		if newest < 0 {
			continue
		}
		checkKilled(t, path, newest)
		if t.Failed() {
			t.Fatalf("seed %d, round %d", seed, round)
		}
		last, err := open(t, path, sqlite.Options{ReadOnly: true}).Latest(t.Context(), place("r").Key)
		if err != nil {
			t.Fatal(err)
		}
		newest = last.Step // the last save may be there without having been acknowledged
	}
	if newest < 50 {
		t.Errorf("only %d steps were saved, the test proves little", newest)
	}
}

// checkKilled reads what a killed writer left, and sees to it that reading
// leaves the main and the -wal file as they are.
func checkKilled(t *testing.T, path string, acknowledged int64) {
	t.Helper()
	before := files(t, filepath.Dir(path))
	s := open(t, path, sqlite.Options{ReadOnly: true})
	defer s.Close()
	last, err := s.Latest(t.Context(), place("r").Key)
	if err != nil || last.Step < acknowledged {
		t.Errorf("step %d was acknowledged, the newest is %d, %v", acknowledged, last.Step, err)
	}
	storetest.Check(t, s)
	s.Close()
	after := files(t, filepath.Dir(path))
	for _, suffix := range []string{"", "-wal"} {
		name := filepath.Base(path) + suffix
		if before[name] != after[name] {
			t.Errorf("reading changed %s", name)
		}
	}
	if len(before) != len(after) {
		t.Errorf("reading made files: %q became %q", names(before), names(after))
	}
}

// TestStoppedWriter: a writer that is stopped in mid-work blocks no reader,
// unless it was changing the few bytes that all readers begin with. Then SQLite
// gives up after ten seconds, and the error says why.
func TestStoppedWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	c := testwriter.Start(t, path, "r", 0)
	var s *sqlite.Store
	for s == nil {
		c.Acknowledged(t)
		if err := c.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		defer c.Process.Signal(syscall.SIGCONT)
		var err error
		if s, err = sqlite.Open(t.Context(), path, sqlite.Options{ReadOnly: true}); err != nil {
			if !errors.Is(err, stores.ErrBusy) || !strings.Contains(err.Error(), "stands still") {
				t.Fatal(err)
			}
			t.Log(err)
			if err := c.Process.Signal(syscall.SIGCONT); err != nil {
				t.Fatal(err)
			}
		}
	}
	defer s.Close()
	if _, err := s.Latest(t.Context(), place("r").Key); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path + "-wal"); err != nil {
		t.Errorf("this test wants a -wal file: %v", err)
	}
	storetest.Check(t, s)
}
