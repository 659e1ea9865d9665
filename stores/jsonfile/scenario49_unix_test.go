//go:build unix

package jsonfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/flowtui/flowtui/internal/testuser"
	"github.com/flowtui/flowtui/internal/testwriter"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/jsonfile"
	"github.com/flowtui/flowtui/stores/storetest"
)

// chmod sets the modes of a folder and all in it until the test ends.
func chmod(t *testing.T, dir string, folders, regular fs.FileMode) {
	t.Helper()
	var paths []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		paths = append(paths, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := len(paths) - 1; i >= 0; i-- { // from the inside
		info, err := os.Stat(paths[i])
		if err == nil && info.IsDir() {
			err = os.Chmod(paths[i], folders)
		} else if err == nil {
			err = os.Chmod(paths[i], regular)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		for _, path := range paths {
			os.Chmod(path, 0o700)
		}
	})
}

// refusesWrites: the store says why it is read-only, and keeps to it.
func refusesWrites(t *testing.T, s *jsonfile.Store) {
	t.Helper()
	info, err := s.Info(t.Context())
	if err != nil || !info.ReadOnly || !strings.Contains(info.Why, "permission") {
		t.Errorf("info is %+v, %v", info, err)
	}
	if err := s.Save(t.Context(), storetest.Step(place("new"), 0)); !errors.Is(err, stores.ErrReadOnly) {
		t.Errorf("save: got %v, want %v", err, stores.ErrReadOnly)
	}
	if err := s.Save(t.Context(), storetest.Step(place("a"), 1)); !errors.Is(err, stores.ErrReadOnly) {
		t.Errorf("save: got %v, want %v", err, stores.ErrReadOnly)
	}
}

func TestScenario49ReadOnlyFolder(t *testing.T) {
	if testuser.Unprivileged(t) {
		return
	}
	path := atRest(t, "a", "b")
	chmod(t, path, 0o555, 0o444)
	unchanged(t, path, func() {
		for _, opts := range []jsonfile.Options{{}, {ReadOnly: true}, {Create: true}} {
			s := open(t, path, opts)
			readAll(t, s, 2)
			if !opts.ReadOnly {
				refusesWrites(t, s)
			}
			s.Close()
		}
		_, err := jsonfile.Open(t.Context(), path+"x", jsonfile.Options{})
		if !errors.Is(err, stores.ErrNotFound) {
			t.Errorf("typo: %v", err)
		}
	})
}

// TestScenario49ReadOnlyFiles: the folders may be written, the files may not. A
// journal cannot be gone on from, and is as it was.
func TestScenario49ReadOnlyFiles(t *testing.T) {
	if testuser.Unprivileged(t) {
		return
	}
	path := atRest(t, "a")
	owners := filepath.Join(path, "owners")
	chmod(t, owners, 0o755, 0o444)
	unchanged(t, owners, func() {
		s := open(t, path, jsonfile.Options{})
		readAll(t, s, 1)
		if err := s.Save(t.Context(), storetest.Step(place("a"), 1)); !errors.Is(err, stores.ErrReadOnly) {
			t.Errorf("save: %v", err)
		}
	})
}

// TestScenario49LiveWriter: another process writes where this user may only
// read. Its rows are seen while they come.
func TestScenario49LiveWriter(t *testing.T) {
	if testuser.Unprivileged(t) {
		return
	}
	path := filepath.Join(t.TempDir(), "store")
	other := testwriter.Start(t, path, "theirs", time.Millisecond)
	other.Acknowledged(t)
	s := open(t, path, jsonfile.Options{ReadOnly: true})
	for range 20 {
		step := other.Acknowledged(t)
		last, err := s.Latest(t.Context(), place("theirs").Key)
		if err != nil || last.Step < step {
			t.Fatalf("step %d is saved, the newest is %d, %v", step, last.Step, err)
		}
	}
}

// TestScenario49Unreadable: what may not be read is said, and hides no other.
func TestScenario49Unreadable(t *testing.T) {
	if testuser.Unprivileged(t) {
		return
	}
	path, journal, _ := goodAndBad(t)
	chmod(t, filepath.Dir(journal), 0o755, 0o644)
	if err := os.Chmod(journal, 0); err != nil {
		t.Fatal(err)
	}
	s := open(t, path, jsonfile.Options{})
	listedBad(t, s, "bad", "permission denied")
	refused(t, s)
	if err := os.Chmod(journal, 0o644); err != nil {
		t.Fatal(err)
	}
	readAll(t, s, 2) // it was noticed

	alice := stores.Place{Key: stores.Key{Owner: "alice", Run: "hers"}, Store: "test", Incarnation: "first"}
	if err := s.Save(t.Context(), storetest.Step(alice, 0)); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(path, "owners", "alice")
	chmod(t, folder, 0, 0)
	for _, owner := range []string{stores.AnyOwner, "alice"} {
		page, err := s.List(t.Context(), stores.Query{Filter: stores.Filter{Owner: owner}})
		bad := 0
		for _, h := range page.Heads {
			if h.Bad != "" && h.Owner == "alice" && strings.Contains(h.Bad, folder) && strings.Contains(h.Bad, "permission denied") {
				bad++
			}
		}
		if err != nil || bad != 1 || owner == stores.AnyOwner && len(page.Heads) != 3 {
			t.Errorf("listed %+v, %v", page.Heads, err)
		}
	}
	if _, err := s.Latest(t.Context(), alice.Key); !errors.Is(err, stores.ErrUnreadable) {
		t.Errorf("latest: %v", err)
	}

	if err := errors.Join(os.Chmod(folder, 0o700), os.Chmod(path, 0)); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(path, 0o700)
	_, err := jsonfile.Open(t.Context(), path, jsonfile.Options{})
	if !errors.Is(err, stores.ErrUnreadable) || !strings.Contains(err.Error(), "permissions") {
		t.Errorf("got %v, want %v that names permissions", err, stores.ErrUnreadable)
	}
}
