package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/flowtui/flowtui/stores"
)

var importCases = []testCase{
	{"every row as it was", importWhole},
	{"never over a run", importTaken},
	{"nothing but a whole run", importRefused},
	{"and go on", importGoesOn},
	{"one of many", importRace},
	{"a run that was read", importRead},
	{"many rows", importMany},
}

// imported is a running run of three steps that came from another store, with
// a call that may be in doubt. Its head and its newest event name this one.
func imported(p stores.Place) stores.Run {
	origin := p
	origin.Store = "the store it came from"
	r := stores.Run{Graphs: map[string][]byte{"digest": []byte(`{"nodes":[]}`), "other": {0, 0xff}}}
	for n := range int64(3) {
		r.Checkpoints = append(r.Checkpoints, Step(origin, n).Checkpoint)
		r.Events = append(r.Events, Event(origin, n+1))
	}
	raw := func(c *stores.Call) { c.Payload = []byte{0, 0xff, '\n'} }
	r.Calls = []stores.Call{Record(origin, 1, 1, raw), Record(origin, 1, 2, at(2), finished), Record(origin, 1, 3, at(2))}
	r.Events = append(r.Events, Event(p, 4))
	r.Head = HeadOf(r.Checkpoints[2])
	r.Head.Place = p
	return r
}

func importWhole(s *suite) {
	r := imported(s.place("r"))
	s.ok(s.Import(s.ctx, r))
	got := s.whole(r.Key())
	r.Head.Open = 1
	want := rows{last: *r.Last(), head: r.Head, history: r.Checkpoints, calls: r.Calls, events: r.Events}
	s.equal(got, want)
	for digest, graph := range r.Graphs {
		if g, err := s.Graph(s.ctx, digest); err != nil || string(g) != string(graph) {
			s.Errorf("graph %s is %q, %v", digest, g, err)
		}
	}
	page, err := s.List(s.ctx, stores.Query{Filter: stores.Filter{Owner: r.Head.Owner, Open: true, Flow: "flow"}})
	if err != nil || len(page.Heads) != 1 || page.Heads[0].Open != 1 {
		s.Errorf("listed %+v, %v", page.Heads, err)
	}
	n, err := s.Count(s.ctx, anyRun)
	if err != nil || n.ByStatus[stores.StatusRunning] != 1 || n.Open != 1 {
		s.Errorf("counted %+v, %v", n, err)
	}
}

// equal compares rows as they print: no bytes and empty bytes are the same.
func (s *suite) equal(got, want any) {
	s.Helper()
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		s.Errorf("got  %.3000s\nwant %.3000s", g, w)
	}
}

func importTaken(s *suite) {
	p := s.steps("r", 1)
	before := s.whole(p.Key)
	s.fails(s.Import(s.ctx, imported(p)), stores.ErrConflict)
	reborn := p
	reborn.Incarnation = "second"
	s.fails(s.Import(s.ctx, imported(reborn)), stores.ErrConflict)
	if after := s.whole(p.Key); !reflect.DeepEqual(before, after) {
		s.Errorf("before: %+v\nafter: %+v", before, after)
	}
	theirs := p
	theirs.Owner = "alice"
	s.ok(s.Import(s.ctx, imported(theirs)))
	s.ok(s.Delete(s.ctx, p.Key))
	s.ok(s.Import(s.ctx, imported(reborn)))
	s.fails(s.Import(s.ctx, imported(p)), stores.ErrConflict)
}

func importRefused(s *suite) {
	for name, edit := range map[string]func(*stores.Run){
		"no step":            func(r *stores.Run) { r.Checkpoints = nil },
		"first step missing": func(r *stores.Run) { r.Checkpoints = r.Checkpoints[1:] },
		"a step missing":     func(r *stores.Run) { r.Checkpoints = append(r.Checkpoints[:1:1], r.Checkpoints[2]) },
		"another life":       func(r *stores.Run) { r.Checkpoints[1].Incarnation = "second" },
		"another run":        func(r *stores.Run) { r.Calls[1].Run = "other" },
		"another owner":      func(r *stores.Run) { r.Events[1].Owner = "other" },
		"after its end":      func(r *stores.Run) { r.Checkpoints[1].Status = stores.StatusDone },
		"an older head":      func(r *stores.Run) { r.Head.Step = 1 },
		"another status":     func(r *stores.Run) { r.Head.Status = stores.StatusPaused },
		"a record twice":     func(r *stores.Run) { r.Calls[1].N = 1 },
		"an event twice":     func(r *stores.Run) { r.Events[1].N = 1 },
		"unclaimed segment":  func(r *stores.Run) { r.Calls[2].Segment = 9 },
		"unreadable":         func(r *stores.Run) { r.Checkpoints[1].Bad = "torn" },
		"no owner":           func(r *stores.Run) { r.Head.Owner = "" },
	} {
		r := imported(s.place("r"))
		edit(&r)
		if err := s.Import(s.ctx, r); !errors.Is(err, stores.ErrInvalid) {
			s.Errorf("%s: got %v", name, err)
		}
		if _, err := s.Latest(s.ctx, s.place("r").Key); !errors.Is(err, stores.ErrNotFound) {
			s.Errorf("%s: something was kept: %v", name, err)
		}
	}
}

// importGoesOn: an imported run is a run like any other.
func importGoesOn(s *suite) {
	p := s.place("r")
	r := imported(p)
	s.ok(s.Import(s.ctx, r))
	s.fails(s.RecordCall(s.ctx, stores.CallWrite{Call: Record(p, 1, 3, at(2))}), stores.ErrConflict)
	s.record(Record(p, 1, 4, at(2), ordinal(3), finished))
	h, err := s.Head(s.ctx, p.Key)
	if err != nil || h.Open != 0 {
		s.Errorf("the call is done, %d are open, %v", h.Open, err)
	}
	s.fails(s.Save(s.ctx, Step(p, 0)), stores.ErrConflict)
	next := Step(p, 3, done)
	next.Events = []stores.Event{Event(p, 5)}
	s.save(next)
	if got := s.whole(p.Key); len(got.history) != 4 || len(got.calls) != 4 || len(got.events) != 5 || got.head.Status != stores.StatusDone {
		s.Errorf("got %+v", got)
	}
	s.ok(s.DeleteAt(s.ctx, p.Key, p.Incarnation, 3))
}

// importRace: of imports and a first save one wins, and its rows are all there.
func importRace(s *suite) {
	for round := range 5 {
		p := s.place(fmt.Sprint("race ", round))
		errs := make([]error, 4)
		var all sync.WaitGroup
		for i := range errs {
			mine := p
			mine.Incarnation = fmt.Sprint("life ", i)
			all.Go(func() {
				if i == 0 {
					errs[i] = s.Save(s.ctx, Step(mine, 0))
					return
				}
				errs[i] = s.Import(s.ctx, imported(mine))
			})
		}
		all.Wait()
		winner := -1
		for i, err := range errs {
			switch {
			case err == nil && winner < 0:
				winner = i
			case !errors.Is(err, stores.ErrConflict):
				s.Fatalf("%d: %v, after %d won", i, err, winner)
			}
		}
		if winner < 0 {
			s.Fatal("nobody won")
		}
		got := s.whole(p.Key)
		steps := map[bool]int{true: 1, false: 3}[winner == 0]
		if len(got.history) != steps || got.last.Incarnation != fmt.Sprint("life ", winner) || winner > 0 && len(got.calls) != 3 {
			s.Fatalf("%d won, got %+v", winner, got)
		}
	}
}

// importRead: what ReadRun reads is what Import takes.
func importRead(s *suite) {
	r := imported(s.place("r"))
	s.ok(s.Import(s.ctx, r))
	delete(r.Graphs, "other") // no step has this digest
	r.Head.Open = 1
	got, err := stores.ReadRun(s.ctx, s.All, r.Key())
	s.ok(err)
	s.equal(got, r)
	_, err = stores.ReadRun(s.ctx, s.All, s.place("none").Key)
	s.fails(err, stores.ErrNotFound)
}

// importMany: more rows than one page, line or message has.
func importMany(s *suite) {
	p := s.place("r")
	r := stores.Run{}
	for n := range int64(1100) {
		r.Checkpoints = append(r.Checkpoints, Step(p, n).Checkpoint)
		r.Calls = append(r.Calls, Record(p, 1, n+1, at(n), finished))
		r.Events = append(r.Events, Event(p, n+1))
	}
	r.Head = HeadOf(*r.Last())
	s.ok(s.Import(s.ctx, r))
	got, err := stores.ReadRun(s.ctx, s.All, r.Key())
	s.ok(err)
	got.Graphs = nil
	s.equal(got, r)
}
