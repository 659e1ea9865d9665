package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/sqlite"
	"github.com/flowtui/flowtui/stores/storetest"
)

// A file that is taken away under a writer does not swallow what is written,
// and is not read as if it were still the store.
func TestFileTakenAwayUnderTheWriter(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("skipped: Windows does not let an open file be removed")
	}
	path := filepath.Join(t.TempDir(), "runs.db")
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p := stores.Place{Key: stores.Key{Owner: "o", Run: "r"}, Store: "s", Incarnation: "i"}
	first := storetest.Step(p, 0)
	if err := s.Save(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{path, path + "-wal", path + "-shm"} {
		if err := os.Remove(f); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	time.Sleep(20 * time.Millisecond) // more than the store trusts its last look
	if _, err := s.Latest(t.Context(), p.Key); !errors.Is(err, stores.ErrUnavailable) {
		t.Errorf("reading: %v", err)
	}
	if err := s.Save(t.Context(), storetest.Step(p, 1)); !errors.Is(err, stores.ErrUnavailable) {
		t.Errorf("writing: %v", err)
	}
}

// Readers and the writer look at the file at the same time: for the race detector.
func TestReadersAndTheWriterLookAtTheFile(t *testing.T) {
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "runs.db"), sqlite.Options{Create: true, Synchronous: "NORMAL"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p := place("r")
	if err := s.Save(t.Context(), storetest.Step(p, 0)); err != nil {
		t.Fatal(err)
	}
	var reader sync.WaitGroup
	written := make(chan struct{})
	reader.Go(func() {
		for {
			if _, err := s.Info(t.Context()); err != nil {
				t.Error(err)
			}
			select {
			case <-written:
				return
			case <-time.After(time.Millisecond):
			}
		}
	})
	for n := range int64(20) {
		time.Sleep(3 * time.Millisecond)
		if err := s.Save(t.Context(), storetest.Step(p, n+1)); err != nil {
			t.Error(err)
		}
	}
	close(written)
	reader.Wait()
}
