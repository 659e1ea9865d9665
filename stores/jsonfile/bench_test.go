package jsonfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/internal/rowjson"
	"github.com/flowtui/flowtui/stores/storetest"
)

// manyRuns makes a store by writing its files: to save that many runs would take
// minutes.
func manyRuns(b *testing.B, runs int) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "store")
	if err := openAt(b, path).Save(b.Context(), storetest.Step(placeOf("default", "first"), 0)); err != nil {
		b.Fatal(err)
	}
	for n := range runs - 1 {
		w := storetest.Step(placeOf("default", fmt.Sprintf("order-%d", n)), 0)
		l := rowjson.LineAt(w.Checkpoint.Place)
		l.Checkpoint, l.Head = rowjson.CheckpointOf(w.Checkpoint), rowjson.HeadOf(w.Head)
		journalLine, sum, err1 := rowjson.Seal(l)
		j := &journal{contents: contents{key: w.Checkpoint.Key}}
		j.reset(nil)
		j.apply(l, ref{size: int64(len(journalLine)), sum: sum})
		headLine, _, err2 := rowjson.Seal(j.headFile())
		name := filepath.Join(path, ownersDir, "default", fileName(w.Checkpoint.Run))
		err3 := os.WriteFile(name+journalExt, journalLine, 0o600)
		if err := errors.Join(err1, err2, err3, os.WriteFile(name+headExt, headLine, 0o600)); err != nil {
			b.Fatal(err)
		}
	}
	return path
}

// BenchmarkList is the first page of 100,000 runs, by a process that has not
// seen them and by one that has. The floor is what it takes to read the names
// of the files, and to read the head files or only the times of the journals.
func BenchmarkList(b *testing.B) {
	path := manyRuns(b, 100_000)
	list := func(s *Store) error {
		page, err := s.List(b.Context(), stores.Query{Filter: anyRun})
		if err == nil && len(page.Heads) != stores.DefaultLimit {
			err = fmt.Errorf("%d heads", len(page.Heads))
		}
		return err
	}
	each := func(ext string, do func(path string) error) func() error {
		folder := filepath.Join(path, ownersDir, "default")
		return func() error {
			entries, err := os.ReadDir(folder)
			for _, e := range entries {
				if err == nil && filepath.Ext(e.Name()) == ext {
					err = do(filepath.Join(folder, e.Name()))
				}
			}
			return err
		}
	}
	b.Run("first", func(b *testing.B) {
		storetest.BenchAgainst(b, "page", 1, func() error { return list(openAt(b, path)) }, storetest.Floor{Name: "floor", Do: each(headExt, func(name string) error {
			_, err := os.ReadFile(name)
			return err
		})})
	})
	b.Run("again", func(b *testing.B) {
		s := openAt(b, path)
		if err := list(s); err != nil {
			b.Fatal(err)
		}
		storetest.BenchAgainst(b, "page", 1, func() error { return list(s) }, storetest.Floor{Name: "floor", Do: each(journalExt, func(name string) error {
			_, err := os.Lstat(name)
			return err
		})})
	})
}

// BenchmarkWrites: the floor is one write and one sync of the same bytes, to one
// file.
func BenchmarkWrites(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "floor"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	storetest.BenchWrites(b, openAt(b, filepath.Join(b.TempDir(), "store")), func(_ *testing.B, row []byte) error {
		_, err := f.Write(row)
		return errors.Join(err, f.Sync())
	})
}
