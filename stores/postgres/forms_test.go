package postgres_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/postgres"
	"github.com/flowtui/flowtui/stores/storetest"
)

// A save has a statement of its own when it has one event and nothing else, and
// a record when it has no event. So each thing that a write may have is tried
// with and without the others.

// form is what a write has beside its row and its head.
type form struct {
	calls, events int
	graph         bool
}

func (f form) String() string {
	return fmt.Sprintf("%d calls, %d events, graph %v", f.calls, f.events, f.graph)
}

func forms() (list []form) {
	for calls := range 3 {
		for events := range 3 {
			list = append(list, form{calls, events, false}, form{calls, events, true})
		}
	}
	return list
}

// save is the claim of segment 2 at a step, on the superstep of step 0.
func (f form) save(p stores.Place, step int64) stores.Save {
	w := storetest.Step(p, step, func(c *stores.Checkpoint) {
		c.Base, c.Segment, c.Kind, c.Digest = 0, 2, "claim", f.String()
	})
	for n := range int64(f.calls) {
		w.Calls = append(w.Calls, storetest.Record(p, 2, n+1, func(c *stores.Call) { c.Ordinal = n + 3 }))
	}
	for n := range int64(f.events) {
		w.Events = append(w.Events, storetest.Event(p, n+1))
	}
	if f.graph {
		w.Graph = []byte("graph of " + f.String())
	}
	return w
}

// started is a run at step 0 with calls of which some are open.
func started(t *testing.T, s *postgres.Store, run string) stores.Place {
	t.Helper()
	p := place(run)
	if err := s.Save(t.Context(), storetest.Step(p, 0)); err != nil {
		t.Fatal(err)
	}
	for n := range int64(4) {
		c := storetest.Record(p, 1, n+1, func(c *stores.Call) { c.Ordinal, c.Idempotent = n%3, n == 2 })
		if n == 3 {
			c.Status = stores.CallDone
		}
		if err := s.RecordCall(t.Context(), stores.CallWrite{Call: c}); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func TestEveryFormOfASaveKeepsWhatItHas(t *testing.T) {
	s := create(t, fresh(t, server(t)))
	for _, f := range forms() {
		p := started(t, s, f.String())
		w := f.save(p, 1)
		if err := s.Save(t.Context(), w); err != nil {
			t.Errorf("%s: %v", f, err)
			continue
		}
		r, err := stores.ReadRun(t.Context(), s, p.Key)
		if err != nil {
			t.Fatal(err)
		}
		w.Head.Open = stores.OpenCalls(w.Head, r.Calls)
		if open := int64(1 + f.calls); w.Head.Open != open { // ordinal 1; 0 is done, 2 is idempotent
			t.Errorf("%s: %d calls are open, want %d", f, w.Head.Open, open)
		}
		if len(r.Calls) != 4+f.calls || f.calls > 0 && !reflect.DeepEqual(r.Calls[4:], w.Calls) || f.events > 0 && !reflect.DeepEqual(r.Events, w.Events) ||
			len(r.Events) != f.events || !reflect.DeepEqual(r.Head, w.Head) || !reflect.DeepEqual(*r.Last(), w.Checkpoint) {
			t.Errorf("%s:\nread  %+v\nsaved %+v", f, r, w)
		}
		if graph := r.Graphs[f.String()]; !bytes.Equal(graph, w.Graph) {
			t.Errorf("%s: the graph is %q", f, graph)
		}
	}
	storetest.Check(t, s)
}

func TestEveryFormOfASaveIsCompared(t *testing.T) {
	s := create(t, fresh(t, server(t)))
	other := func(c *stores.Place) { c.Incarnation = "other" }
	for _, f := range forms() {
		p := started(t, s, f.String())
		before, err := stores.ReadRun(t.Context(), s, p.Key)
		if err != nil {
			t.Fatal(err)
		}
		late, early, foreign := f.save(p, 2), f.save(p, 1), f.save(p, 1)
		early.Checkpoint.Segment, early.Head.Segment = 4, 4
		for i := range early.Calls {
			early.Calls[i].Segment = 4
		}
		other(&foreign.Checkpoint.Place)
		other(&foreign.Head.Place)
		for i := range foreign.Calls {
			other(&foreign.Calls[i].Place)
		}
		for i := range foreign.Events {
			other(&foreign.Events[i].Place)
		}
		for what, w := range map[string]stores.Save{"a step too late": late, "a segment too late": early, "another incarnation": foreign} {
			err := s.Save(t.Context(), w)
			if want := w.Checkpoint.Follows(before.Last()); !errors.Is(err, stores.ErrConflict) || !strings.Contains(err.Error(), want.Error()) {
				t.Errorf("%s, %s: got %v, the rule says %v", f, what, err, want)
			}
		}
		if after, err := stores.ReadRun(t.Context(), s, p.Key); err != nil || !reflect.DeepEqual(after, before) {
			t.Errorf("%s: the run is\n%+v, %v\nit was\n%+v", f, after, err, before)
		}
	}
}

// TestOpenIsCountedOn: after any records in any order, Head.Open is what the
// rule says of all of them.
func TestOpenIsCountedOn(t *testing.T) {
	s := create(t, fresh(t, server(t)))
	rnd := rand.New(rand.NewPCG(1, 2))
	statuses := []stores.CallStatus{stores.CallStarted, stores.CallDone, stores.CallPending, stores.CallUnrecordable, stores.CallResolved}
	for run := range 8 {
		p := place(fmt.Sprint("run ", run))
		if err := errors.Join(s.Save(t.Context(), storetest.Step(p, 0)), s.Save(t.Context(), form{events: run % 3}.save(p, 1))); err != nil {
			t.Fatal(err)
		}
		for n := range int64(25) {
			w := stores.CallWrite{Call: storetest.Record(p, 1+rnd.Int64N(2), n+1, func(c *stores.Call) {
				c.Ordinal, c.Idempotent, c.Status = rnd.Int64N(4), rnd.IntN(4) == 0, statuses[rnd.IntN(len(statuses))]
			})}
			if n%2 == 0 {
				w.Events = []stores.Event{storetest.Event(p, n+10)}
			}
			if err := s.RecordCall(t.Context(), w); err != nil && !(errors.Is(err, stores.ErrConflict) && w.Call.Segment == 1 && w.Call.Status == stores.CallStarted) {
				t.Fatal(err)
			}
			r, err := stores.ReadRun(t.Context(), s, p.Key)
			if err != nil {
				t.Fatal(err)
			}
			if want := stores.OpenCalls(r.Head, r.Calls); r.Head.Open != want {
				t.Fatalf("run %d: %d open after %+v, want %d", run, r.Head.Open, w.Call, want)
			}
		}
	}
}
