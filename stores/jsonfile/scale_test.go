package jsonfile

import (
	"bytes"
	"fmt"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/flowtui/flowtui/stores"
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
