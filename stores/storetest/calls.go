package storetest

import (
	"errors"
	"fmt"

	"github.com/flowtui/flowtui/stores"
)

var callCases = []testCase{
	{"order", callOrder},
	{"fencing", fencing},
	{"number taken", numberTaken},
	{"refused records", refusedRecords},
}

// callOrder: records come by segment and number, whatever order they came in.
func callOrder(s *suite) {
	p := s.steps("r", 0)
	s.record(Record(p, 1, 1))
	s.save(Step(p, 1, func(c *stores.Checkpoint) { c.Base = 1 }))
	s.record(Record(p, 1, 2, at(1)))
	s.save(Step(p, 2, claim(2, 1)))
	s.record(Record(p, 2, 1, at(1)))
	s.record(Record(p, 1, 3, at(1), ordinal(2), finished)) // a late done
	s.save(Step(p, 3, func(c *stores.Checkpoint) { c.Segment = 2 }))
	s.record(Record(p, 2, 2, at(3)))
	for since, want := range map[int64]string{
		0: "1/1 1/2 1/3 2/1 2/2 ",
		1: "1/2 1/3 2/1 2/2 ",
		2: "2/2 ",
		3: "2/2 ",
		4: "",
	} {
		calls, err := s.Calls(s.ctx, p.Key, since)
		s.ok(err)
		got := ""
		for _, c := range calls {
			got += fmt.Sprintf("%d/%d ", c.Segment, c.N)
		}
		if got != want {
			s.Errorf("since %d: got %q, want %q", since, got, want)
		}
	}
}

// fencing: a cut-off worker starts nothing, but may say how a call ended.
func fencing(s *suite) {
	status := func(st stores.CallStatus) func(*stores.Call) { return func(c *stores.Call) { c.Status = st } }
	reborn := func(c *stores.Call) { c.Incarnation = "second" }
	type edits = []func(*stores.Call)
	cases := []struct {
		name    string
		status  func(*stores.Checkpoint) // of the claim that is the newest step
		segment int64
		edits   edits
		want    error
	}{
		{"started", nil, 2, nil, nil},
		{"started by a cut-off worker", nil, 1, nil, stores.ErrConflict},
		{"started in a segment to come", nil, 3, nil, stores.ErrConflict},
		{"done in a segment to come", nil, 3, edits{finished}, stores.ErrConflict},
		{"late done", nil, 1, edits{finished}, nil},
		{"late pending", nil, 1, edits{status(stores.CallPending)}, nil},
		{"late unrecordable", nil, 1, edits{unrecordable}, nil},
		{"resolved", nil, 2, edits{status(stores.CallResolved)}, nil},
		{"started while paused", paused, 2, nil, nil},
		{"done while paused", paused, 2, edits{finished}, nil},
		{"started after the end", done, 2, nil, stores.ErrConflict},
		{"done after the end", failed, 2, edits{finished}, nil},
		{"done of another life", nil, 2, edits{finished, reborn}, stores.ErrConflict},
	}
	for _, c := range cases {
		p := s.place(c.name)
		s.save(Step(p, 0))
		newest := []func(*stores.Checkpoint){claim(2, 0)}
		if c.status != nil {
			newest = append(newest, c.status)
		}
		s.save(Step(p, 1, newest...))
		err := s.RecordCall(s.ctx, stores.CallWrite{Call: Record(p, c.segment, 1, c.edits...)})
		if !errors.Is(err, c.want) {
			s.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
		calls, err := s.Calls(s.ctx, p.Key, 0)
		s.ok(err)
		if written := len(calls) == 1; written != (c.want == nil) {
			s.Errorf("%s: there are %d records", c.name, len(calls))
		}
	}
}

func numberTaken(s *suite) {
	p := s.steps("r", 0)
	first := Record(p, 1, 1)
	s.record(first)
	again := Record(p, 1, 1, finished)
	s.fails(s.RecordCall(s.ctx, stores.CallWrite{Call: again}), stores.ErrConflict)
	calls, err := s.Calls(s.ctx, p.Key, 0)
	s.ok(err)
	if len(calls) != 1 || calls[0].Status != stores.CallStarted {
		s.Errorf("the first record is gone: %+v", calls)
	}
}

func refusedRecords(s *suite) {
	p := s.steps("r", 0)
	for name, spoil := range map[string]func(*stores.CallWrite){
		"no number":            func(w *stores.CallWrite) { w.Call.N = 0 },
		"no segment":           func(w *stores.CallWrite) { w.Call.Segment = 0 },
		"negative step":        func(w *stores.CallWrite) { w.Call.Step = -1 },
		"no incarnation":       func(w *stores.CallWrite) { w.Call.Incarnation = "" },
		"no run id":            func(w *stores.CallWrite) { w.Call.Run = "" },
		"event of another run": func(w *stores.CallWrite) { w.Events = []stores.Event{Event(s.place("other"), 1)} },
	} {
		w := stores.CallWrite{Call: Record(p, 1, 1)}
		spoil(&w)
		if err := s.RecordCall(s.ctx, w); !errors.Is(err, stores.ErrInvalid) {
			s.Errorf("%s: got %v, want %v", name, err, stores.ErrInvalid)
		}
	}
}
