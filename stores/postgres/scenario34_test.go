package postgres_test

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/postgres"
	"github.com/flowtui/flowtui/stores/storetest"
)

// Scenario 34: with the checkpoints out of reach, and 40 MB of them before that,
// lists are as they were.
func TestScenario34ListsReadNoState(t *testing.T) {
	address := fresh(t, server(t))
	create(t, address)
	s := open(t, address, postgres.Options{})
	state := bytes.Repeat([]byte("40 MB of state. "), 40<<20/16)
	for run, payload := range map[string][]byte{"small": []byte("{}"), "large": state} {
		w := storetest.Step(place(run), 0, func(c *stores.Checkpoint) { c.Payload = payload })
		if err := s.Save(t.Context(), w); err != nil {
			t.Fatal(err)
		}
	}
	lists := func() {
		t.Helper()
		any := stores.Filter{Owner: stores.AnyOwner}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		page, err := s.List(t.Context(), stores.Query{Filter: any})
		if err != nil || len(page.Heads) != 2 {
			t.Errorf("list: %+v, %v", page, err)
		}
		if n, err := s.Count(t.Context(), any); err != nil || n.ByStatus[stores.StatusRunning] != 2 {
			t.Errorf("count: %+v, %v", n, err)
		}
		if h, err := s.Head(t.Context(), place("large").Key); err != nil || h.Step != 0 {
			t.Errorf("head: %+v, %v", h, err)
		}
		if heads, err := s.ListUnfinished(t.Context(), stores.AnyOwner); err != nil || len(heads) != 2 {
			t.Errorf("unfinished: %+v, %v", heads, err)
		}
		if owners, err := s.Owners(t.Context()); err != nil || len(owners) != 1 {
			t.Errorf("owners: %q, %v", owners, err)
		}
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 4<<20 {
			t.Errorf("lists allocated %d bytes", used)
		}
	}
	lists()
	steps, err := s.History(t.Context(), place("large").Key, stores.HistoryQuery{})
	if err != nil || len(steps) != 1 || steps[0].Payload != nil || steps[0].Size != int64(len(state)) {
		t.Errorf("history without payload: %d steps, %v", len(steps), err)
	}
	last, err := s.Latest(t.Context(), place("large").Key)
	if err != nil || !bytes.Equal(last.Payload, state) {
		t.Errorf("the state came back with %d bytes, %v", len(last.Payload), err)
	}
	execute(t, address, `ALTER TABLE {checkpoints} RENAME TO gone`)
	lists()
	if _, err := s.Latest(t.Context(), place("large").Key); err == nil {
		t.Error("the table is not gone: this test proves nothing")
	}
}
