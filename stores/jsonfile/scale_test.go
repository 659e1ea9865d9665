package jsonfile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/internal/rowjson"
	"github.com/flowtui/flowtui/stores/storetest"
)

var anyRun = stores.Filter{Owner: stores.AnyOwner}

// TestScenario34ListsReadNoState: lists and heads read none of 80 MB of state,
// with a fresh process and with one that has seen the runs before.
func TestScenario34ListsReadNoState(t *testing.T) {
	path, ctx := filepath.Join(t.TempDir(), "store"), t.Context()
	s, large := openAt(t, path), placeOf("default", "large")
	state := bytes.Repeat([]byte("80 MB of state. "), 80<<20/16)
	for n, p := range []stores.Place{placeOf("default", "small"), large} {
		w := storetest.Step(p, 0, func(c *stores.Checkpoint) { c.Payload = state[:n*len(state)] })
		if err := s.Save(ctx, w); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		s := openAt(t, path)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 2 {
			page, err := s.List(ctx, stores.Query{Filter: anyRun})
			if err != nil || len(page.Heads) != 2 {
				t.Errorf("list: %+v, %v", page, err)
			}
			if n, err := s.Count(ctx, anyRun); err != nil || n.ByStatus[stores.StatusRunning] != 2 {
				t.Errorf("count: %+v, %v", n, err)
			}
			if h, err := s.Head(ctx, large.Key); err != nil || h.Step != 0 {
				t.Errorf("head: %+v, %v", h, err)
			}
			if heads, err := s.ListUnfinished(ctx, stores.AnyOwner); err != nil || len(heads) != 2 {
				t.Errorf("unfinished: %+v, %v", heads, err)
			}
		}
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 4<<20 {
			t.Errorf("lists allocated %d bytes", used)
		}
	}
	steps, err := s.History(ctx, large.Key, stores.HistoryQuery{})
	if err != nil || steps[0].Payload != nil || steps[0].Size != int64(len(state)) {
		t.Errorf("history without payload: %d bytes, size %d, %v", len(steps[0].Payload), steps[0].Size, err)
	}
	last, err := openAt(t, path).Latest(ctx, large.Key)
	if err != nil || !bytes.Equal(last.Payload, state) {
		t.Errorf("the state came back with %d bytes, %v", len(last.Payload), err)
	}
}

// TestCacheIsLimited: what is remembered of journals does not grow with the store.
func TestCacheIsLimited(t *testing.T) {
	var c cache
	for n := range 3 * maxCached / 100 {
		k := stores.Key{Owner: "o", Run: fmt.Sprint(n)}
		c.note(k, c.journal(k), 100, true)
		if c.total > maxCached || c.total != len(c.runs)*(100+perJournal) {
			t.Fatalf("%d lines of %d runs after %d", c.total, len(c.runs), n)
		}
	}
	newest := stores.Key{Owner: "o", Run: fmt.Sprint(3*maxCached/100 - 1)}
	if len(c.runs) < maxCached/200 || c.runs[newest] == nil {
		t.Errorf("%d runs are remembered", len(c.runs))
	}
	c.note(newest, c.journal(newest), 2*maxCached, true) // one that is larger than the cache
	if len(c.runs) != 1 {
		t.Errorf("%d runs are remembered beside a large one", len(c.runs))
	}
	large := c.journal(newest)
	k := stores.Key{Owner: "o", Run: "damaged"}
	c.note(k, c.journal(k), 7, false)
	if len(c.runs) != 1 || c.runs[newest] == nil {
		t.Errorf("%d runs are remembered after a damaged one", len(c.runs))
	}
	c.note(newest, large, 5, false)
	if len(c.runs) != 0 || c.total != 0 {
		t.Errorf("a damaged run is remembered: %d, %d lines", len(c.runs), c.total)
	}
}

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

// BenchmarkList is the first page and a refresh of many runs. The floor is what
// the names and times of their files cost.
func BenchmarkList(b *testing.B) {
	const runs = 100_000
	path := manyRuns(b, runs)
	list := func(s *Store) {
		page, err := s.List(b.Context(), stores.Query{Filter: anyRun})
		if err != nil || len(page.Heads) != stores.DefaultLimit {
			b.Fatalf("%d heads, %v", len(page.Heads), err)
		}
	}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			list(openAt(b, path))
		}
	})
	b.Run("again", func(b *testing.B) {
		s := openAt(b, path)
		list(s)
		for b.Loop() {
			list(s)
		}
	})
	b.Run("floor", func(b *testing.B) {
		for b.Loop() {
			entries, err := os.ReadDir(filepath.Join(path, "owners", "default"))
			if err != nil {
				b.Fatal(err)
			}
			for _, e := range entries {
				if filepath.Ext(e.Name()) == journalExt {
					if _, err := e.Info(); err != nil {
						b.Fatal(err)
					}
				}
			}
		}
	})
}

// BenchmarkSave is a step of a run that has many already. The floor is one
// write and one sync of the same bytes.
func BenchmarkSave(b *testing.B) {
	p := placeOf("default", "r")
	s := openAt(b, filepath.Join(b.TempDir(), "store"))
	n := int64(0)
	b.Run("save", func(b *testing.B) {
		for b.Loop() {
			if err := s.Save(b.Context(), storetest.Step(p, n)); err != nil {
				b.Fatal(err)
			}
			n++
		}
	})
	b.Run("floor", func(b *testing.B) {
		f, err := os.Create(filepath.Join(b.TempDir(), "floor"))
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		line := make([]byte, 1200)
		for b.Loop() {
			if _, err := f.Write(line); err != nil {
				b.Fatal(err)
			}
			if err := f.Sync(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
