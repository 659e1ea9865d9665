//go:build unix

package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/flowtui/flowtui/internal/testuser"
	"github.com/flowtui/flowtui/internal/testwriter"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/sqlite"
	"github.com/flowtui/flowtui/stores/storetest"
)

// lock makes a folder and its files read-only until the test ends.
func lock(t *testing.T, dir string) {
	t.Helper()
	for name := range files(t, dir) {
		if err := os.Chmod(filepath.Join(dir, name), 0o444); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(dir, 0o755) })
}

// unchanged runs f and compares the folder before and after, byte for byte.
func unchanged(t *testing.T, dir string, f func()) {
	t.Helper()
	before := files(t, dir)
	f()
	if after := files(t, dir); !reflect.DeepEqual(before, after) {
		t.Errorf("the folder changed: it had %q, it has %q", names(before), names(after))
	}
}

// refusesWrites: the store says why it is read-only, and keeps to it.
func refusesWrites(t *testing.T, s *sqlite.Store) {
	t.Helper()
	info, err := s.Info(t.Context())
	if err != nil || !info.ReadOnly || !strings.Contains(info.Why, "permission") {
		t.Errorf("info is %+v, %v", info, err)
	}
	if err := s.Save(t.Context(), storetest.Step(place("new"), 0)); !errors.Is(err, stores.ErrReadOnly) {
		t.Errorf("save: got %v, want %v", err, stores.ErrReadOnly)
	}
}

func TestScenario49AtRest(t *testing.T) {
	if testuser.Unprivileged(t) {
		return
	}
	path := atRest(t, "runs.db", "a", "b")
	dir := filepath.Dir(path)
	lock(t, dir)
	unchanged(t, dir, func() {
		for _, opts := range []sqlite.Options{{}, {ReadOnly: true}, {Create: true}} {
			s := open(t, path, opts)
			readAll(t, s, 2)
			if !opts.ReadOnly {
				refusesWrites(t, s)
			}
			s.Close()
		}
		_, err := sqlite.Open(t.Context(), path+"x", sqlite.Options{})
		if !errors.Is(err, stores.ErrNotFound) {
			t.Errorf("typo: %v", err)
		}
	})
}

// TestScenario49WritableFolder: what may be written is not written either.
func TestScenario49WritableFolder(t *testing.T) {
	if testuser.Unprivileged(t) {
		return
	}
	path := atRest(t, "runs.db", "a")
	unchanged(t, filepath.Dir(path), func() {
		readAll(t, open(t, path, sqlite.Options{}), 1)
	})
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	unchanged(t, filepath.Dir(path), func() {
		s := open(t, path, sqlite.Options{})
		readAll(t, s, 1)
		refusesWrites(t, s)
	})
}

// leftBehind copies what a killed writer leaves: the main file without the
// last rows, and side files with them.
func leftBehind(t *testing.T, suffixes ...string) (path string) {
	t.Helper()
	source := filepath.Join(t.TempDir(), "runs.db")
	s := open(t, source, sqlite.Options{Create: true})
	save(t, s, "a", "b")
	path = filepath.Join(t.TempDir(), "runs.db")
	for _, suffix := range suffixes {
		b, err := os.ReadFile(source + suffix)
		if err == nil {
			err = os.WriteFile(path+suffix, b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func TestScenario49KilledWriter(t *testing.T) {
	if testuser.Unprivileged(t) {
		return
	}
	path := leftBehind(t, "", "-wal", "-shm")
	lock(t, filepath.Dir(path))
	unchanged(t, filepath.Dir(path), func() {
		s := open(t, path, sqlite.Options{})
		readAll(t, s, 2)
		refusesWrites(t, s)
	})
}

// TestScenario49NoIndex: rows are in the -wal file, and SQLite cannot read it
// without an index that it may not create. That is said, not hidden.
func TestScenario49NoIndex(t *testing.T) {
	if testuser.Unprivileged(t) {
		return
	}
	path := leftBehind(t, "", "-wal")
	lock(t, filepath.Dir(path))
	unchanged(t, filepath.Dir(path), func() {
		_, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		if !errors.Is(err, stores.ErrUnreadable) || !strings.Contains(err.Error(), path+"-shm") {
			t.Errorf("got %v, want %v that names the -shm file", err, stores.ErrUnreadable)
		}
	})
	// Where it may be created, the rows are shown.
	readAll(t, open(t, leftBehind(t, "", "-wal"), sqlite.Options{}), 2)
}

// TestScenario49LiveWriter: another process writes where this user may only
// read. Its rows are seen while they come.
func TestScenario49LiveWriter(t *testing.T) {
	if testuser.Unprivileged(t) {
		return
	}
	path := filepath.Join(t.TempDir(), "runs.db")
	other := testwriter.Start(t, path, "theirs", time.Millisecond)
	other.Acknowledged(t)
	lock(t, filepath.Dir(path))
	s := open(t, path, sqlite.Options{})
	refusesWrites(t, s)
	for range 20 {
		step := other.Acknowledged(t)
		last, err := s.Latest(t.Context(), place("theirs").Key)
		if err != nil || last.Step < step {
			t.Fatalf("step %d is saved, the newest is %d, %v", step, last.Step, err)
		}
	}
}

func TestScenario49Unreadable(t *testing.T) {
	if testuser.Unprivileged(t) {
		return
	}
	path := atRest(t, "runs.db", "a")
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	_, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if !errors.Is(err, stores.ErrUnreadable) || !strings.Contains(err.Error(), "permissions") {
		t.Errorf("got %v, want %v that names permissions", err, stores.ErrUnreadable)
	}
}
