package storetest

import (
	"errors"
	"reflect"

	"github.com/flowtui/flowtui/stores"
)

var saveCases = []testCase{
	{"compare and set", compareAndSet},
	{"refused saves", refusedSaves},
	{"round trip", roundTrip},
	{"latest is by step", latestByStep},
	{"not found", notFound},
}

// compareAndSet tries each save on a run in a known state.
func compareAndSet(s *suite) {
	segment := func(n int64) func(*stores.Checkpoint) { return func(c *stores.Checkpoint) { c.Segment = n } }
	reborn := func(c *stores.Checkpoint) { c.Incarnation = "second" }
	type edits = []func(*stores.Checkpoint)
	cases := []struct {
		name  string
		saved []edits // the steps of the run before
		step  int64
		edits edits
		want  error
	}{
		{"first", nil, 0, nil, nil},
		{"first is step 1", nil, 1, nil, stores.ErrConflict},
		{"first in segment 2", nil, 0, edits{segment(2)}, stores.ErrConflict},
		{"first once more", []edits{nil}, 0, nil, stores.ErrConflict},
		{"first of another life", []edits{nil}, 0, edits{reborn}, stores.ErrConflict},
		{"next", []edits{nil}, 1, nil, nil},
		{"same step", []edits{nil, nil}, 1, nil, stores.ErrConflict},
		{"older step", []edits{nil, nil, nil}, 1, nil, stores.ErrConflict},
		{"one too far", []edits{nil}, 2, nil, stores.ErrConflict},
		{"claim", []edits{nil}, 1, edits{claim(2, 0)}, nil},
		{"segment skipped", []edits{nil}, 1, edits{claim(3, 0)}, stores.ErrConflict},
		{"cut off worker", []edits{nil, {claim(2, 0)}}, 2, edits{segment(1)}, stores.ErrConflict},
		{"second claim of one parent", []edits{nil, {claim(2, 0)}}, 1, edits{claim(2, 0)}, stores.ErrConflict},
		{"claiming worker goes on", []edits{nil, {claim(2, 0)}}, 2, edits{segment(2)}, nil},
		{"other incarnation", []edits{nil}, 1, edits{reborn}, stores.ErrConflict},
		{"after a pause", []edits{nil, {paused}}, 2, edits{claim(2, 0)}, nil},
		{"after done", []edits{nil, {done}}, 2, nil, stores.ErrConflict},
		{"after failed", []edits{nil, {failed}}, 2, edits{claim(2, 0)}, stores.ErrConflict},
		{"done at once", nil, 0, edits{done}, nil},
	}
	for _, c := range cases {
		p := s.place(c.name)
		for n, edits := range c.saved {
			s.save(Step(p, int64(n), edits...))
		}
		before := s.whole(p.Key)
		w := Step(p, c.step, c.edits...)
		w.Calls = []stores.Call{Record(w.Checkpoint.Place, w.Checkpoint.Segment, 1, finished)}
		w.Events = []stores.Event{Event(w.Checkpoint.Place, 1)}
		w.Graph = []byte("graph")
		err := s.Save(s.ctx, w)
		if !errors.Is(err, c.want) {
			s.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
		after := s.whole(p.Key)
		switch {
		case c.want != nil && !reflect.DeepEqual(before, after):
			s.Errorf("%s: a refused save wrote something:\nbefore %+v\nafter  %+v", c.name, before, after)
		case c.want == nil && (after.last.Step != c.step || len(after.calls) != 1 || len(after.events) != 1):
			s.Errorf("%s: the save is not all there: %+v", c.name, after)
		}
	}
}

// rows is everything that the store has of one run.
type rows struct {
	last    stores.Checkpoint
	head    stores.Head
	history []stores.Checkpoint
	calls   []stores.Call
	events  []stores.Event
}

func (s *suite) whole(k stores.Key) (r rows) {
	s.Helper()
	var errs [5]error
	r.last, errs[0] = s.Latest(s.ctx, k)
	r.head, errs[1] = s.Head(s.ctx, k)
	r.history, errs[2] = s.History(s.ctx, k, stores.HistoryQuery{Payload: true})
	r.calls, errs[3] = s.Calls(s.ctx, k, 0)
	r.events, errs[4] = s.Events(s.ctx, k, 0, 0)
	for _, err := range errs {
		if err != nil && !errors.Is(err, stores.ErrNotFound) {
			s.Fatal(err)
		}
	}
	return r
}

// refusedSaves are saves that no run can follow, whatever its state.
func refusedSaves(s *suite) {
	p := s.place("r")
	other := s.place("other")
	cases := map[string]func(*stores.Save){
		"no run id":             func(w *stores.Save) { w.Checkpoint.Run, w.Head.Run = "", "" },
		"no owner":              func(w *stores.Save) { w.Checkpoint.Owner, w.Head.Owner = "", "" },
		"every owner":           func(w *stores.Save) { w.Checkpoint.Owner, w.Head.Owner = "*", "*" },
		"NUL in the run id":     func(w *stores.Save) { w.Checkpoint.Run, w.Head.Run = "a\x00b", "a\x00b" },
		"run id is not UTF-8":   func(w *stores.Save) { w.Checkpoint.Run, w.Head.Run = "a\xff", "a\xff" },
		"no incarnation":        func(w *stores.Save) { w.Checkpoint.Incarnation, w.Head.Incarnation = "", "" },
		"unknown status":        func(w *stores.Save) { w.Checkpoint.Status, w.Head.Status = "odd", "odd" },
		"negative step":         func(w *stores.Save) { w.Checkpoint.Step, w.Head.Step = -1, -1 },
		"base after step":       func(w *stores.Save) { w.Checkpoint.Base, w.Head.Base = 1, 1 },
		"no segment":            func(w *stores.Save) { w.Checkpoint.Segment, w.Head.Segment = 0, 0 },
		"head of another step":  func(w *stores.Save) { w.Head.Step = 1 },
		"head of another run":   func(w *stores.Save) { w.Head.Run = "other" },
		"call of another run":   func(w *stores.Save) { w.Calls = []stores.Call{Record(other, 1, 1)} },
		"event of another run":  func(w *stores.Save) { w.Events = []stores.Event{Event(other, 1)} },
		"event of another life": func(w *stores.Save) { w.Events = []stores.Event{Event(p, 1)}; w.Events[0].Incarnation = "x" },
	}
	for name, spoil := range cases {
		w := Step(p, 0)
		spoil(&w)
		if err := s.Save(s.ctx, w); !errors.Is(err, stores.ErrInvalid) {
			s.Errorf("%s: got %v, want %v", name, err, stores.ErrInvalid)
		}
	}
	_, err := s.Latest(s.ctx, p.Key)
	s.fails(err, stores.ErrNotFound)
}

// roundTrip gives back every field of every row.
func roundTrip(s *suite) {
	p := s.place("r")
	s.save(Step(p, 0))
	w := Step(p, 1, claim(2, 0), paused, func(c *stores.Checkpoint) { c.Calls, c.Events = 3, 2 })
	w.Calls = []stores.Call{Record(p, 1, 1, idempotent, at(7)), Record(p, 2, 1, unrecordable)}
	w.Calls[0].Status, w.Calls[1].Node = stores.CallResolved, "näh ✓"
	w.Events = []stores.Event{Event(p, 1), Event(p, 2)}
	s.save(w)
	got := s.whole(p.Key)
	if !sameCheckpoint(got.last, w.Checkpoint) {
		s.Errorf("checkpoint:\ngot  %+v\nwant %+v", got.last, w.Checkpoint)
	}
	if want := w.Head; !sameHead(got.head, want) {
		s.Errorf("head:\ngot  %+v\nwant %+v", got.head, want)
	}
	for i, c := range got.calls {
		if !reflect.DeepEqual(c, w.Calls[i]) {
			s.Errorf("call:\ngot  %+v\nwant %+v", c, w.Calls[i])
		}
	}
	for i, e := range got.events {
		if !reflect.DeepEqual(e, w.Events[i]) {
			s.Errorf("event:\ngot  %+v\nwant %+v", e, w.Events[i])
		}
	}
	if len(got.calls) != 2 || len(got.events) != 2 || len(got.history) != 2 {
		s.Errorf("rows are missing: %+v", got)
	}
}

// sameCheckpoint takes nil and empty bytes for the same.
func sameCheckpoint(a, b stores.Checkpoint) bool {
	a.Payload, b.Payload = full(a.Payload), full(b.Payload)
	a.Seal, b.Seal = fullSeal(a.Seal), fullSeal(b.Seal)
	return reflect.DeepEqual(a, b)
}

func sameHead(a, b stores.Head) bool {
	a.Payload, b.Payload = full(a.Payload), full(b.Payload)
	a.Seal, b.Seal = fullSeal(a.Seal), fullSeal(b.Seal)
	return reflect.DeepEqual(a, b)
}

func full(b []byte) []byte { return append([]byte{}, b...) }

func fullSeal(s stores.Seal) stores.Seal {
	s.Prev, s.MAC = full(s.Prev), full(s.MAC)
	return s
}

// latestByStep: the clock of a worker went back, or stood still.
func latestByStep(s *suite) {
	p := s.place("r")
	for n := range int64(12) { // as text, "9" is newer than "11"
		s.save(Step(p, n, func(c *stores.Checkpoint) { c.Time = Epoch.Add(-c.Time.Sub(Epoch) / 2) }))
	}
	last, err := s.Latest(s.ctx, p.Key)
	s.ok(err)
	head, err := s.Head(s.ctx, p.Key)
	s.ok(err)
	if last.Step != 11 || head.Step != 11 {
		s.Errorf("latest is step %d, head is step %d, want 11", last.Step, head.Step)
	}
}

func notFound(s *suite) {
	s.steps("r", 0)
	k := s.place("other").Key
	_, err := s.Latest(s.ctx, k)
	s.fails(err, stores.ErrNotFound)
	_, err = s.Head(s.ctx, k)
	s.fails(err, stores.ErrNotFound)
	_, err = s.At(s.ctx, k, 0)
	s.fails(err, stores.ErrNotFound)
	s.fails(s.Delete(s.ctx, k), stores.ErrNotFound)
	s.fails(s.RecordCall(s.ctx, stores.CallWrite{Call: Record(s.place("other"), 1, 1)}), stores.ErrNotFound)
	if r := s.whole(k); len(r.history)+len(r.calls)+len(r.events) > 0 {
		s.Errorf("rows of a run that is not there: %+v", r)
	}
}
