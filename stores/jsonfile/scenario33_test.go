package jsonfile

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/storetest"
)

// Scenario 33: of runs that have not changed a refresh reads no file but those
// of its page. What else they hold may even be gone, as long as size and times
// are as they were.
func TestScenario33UnchangedRunsAreNotReadAgain(t *testing.T) {
	path, ctx := filepath.Join(t.TempDir(), "store"), t.Context()
	s := openAt(t, path)
	const runs, page = 60, 5
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for n := range runs {
		w := storetest.Step(placeOf("default", fmt.Sprintf("run-%02d", n)), 0, func(c *stores.Checkpoint) { c.Time = start.Add(time.Duration(n) * time.Second) })
		if err := s.Save(ctx, w); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Now().Add(-time.Hour) // a file that was changed just now is always read
	each(t, path, func(file string) error { return os.Chtimes(file, old, old) })
	look := func(s *Store) (int64, []stores.Head) {
		t.Helper()
		n, err1 := s.Count(ctx, anyRun)
		p, err2 := s.List(ctx, stores.Query{Filter: anyRun, Limit: page})
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		return n.ByStatus[stores.StatusRunning], p.Heads
	}
	if n, heads := look(s); n != runs || len(heads) != page {
		t.Fatalf("%d runs are counted, %d listed", n, len(heads))
	}
	shown := func(file string) bool { return filepath.Base(file) >= fmt.Sprintf("run-%02d", runs-page-1) } // and the one after them
	each(t, path, func(file string) error {
		info, err := os.Stat(file)
		if err != nil || shown(file) {
			return err
		}
		f, err := os.OpenFile(file, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		if _, err := f.Write(bytes.Repeat([]byte{'x'}, int(info.Size()))); err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
		return os.Chtimes(file, old, old)
	})
	n, heads := look(s)
	if n != runs || len(heads) != page {
		t.Errorf("after that %d runs are counted, %d listed", n, len(heads))
	}
	for i, h := range heads {
		if want := fmt.Sprintf("run-%02d", runs-1-i); h.Run != want || h.Bad != "" {
			t.Errorf("head %d is of %s: %s", i, h.Run, h.Bad)
		}
	}
	if n, _ := look(openAt(t, path)); n == runs {
		t.Error("one who has not seen them reads them all the same: this test proves nothing")
	}
}

// each calls f for the journals and heads of all runs.
func each(t *testing.T, path string, f func(file string) error) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(path, ownersDir), func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasPrefix(d.Name(), "run-") {
			return err
		}
		return f(file)
	})
	if err != nil {
		t.Fatal(err)
	}
}
