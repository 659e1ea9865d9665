package storetest

import (
	"time"

	"github.com/flowtui/flowtui/stores"
)

var deleteCases = []testCase{
	{"everything of one run", deleteOne},
	{"and start anew", deleteAndRecreate},
}

func deleteOne(s *suite) {
	for _, run := range []string{"a", "b"} {
		p := s.place(run)
		w := Step(p, 0)
		w.Events = []stores.Event{Event(p, 1)}
		s.save(w)
		s.record(Record(p, 1, 1))
		_, err := s.Acquire(s.ctx, p.Key, "worker", time.Hour, false)
		s.ok(err)
	}
	gone, kept := s.place("a").Key, s.place("b").Key
	s.ok(s.Delete(s.ctx, gone))
	s.fails(s.Delete(s.ctx, gone), stores.ErrNotFound)
	_, err := s.Latest(s.ctx, gone)
	s.fails(err, stores.ErrNotFound)
	_, err = s.Head(s.ctx, gone)
	s.fails(err, stores.ErrNotFound)
	lease, err := s.Lease(s.ctx, gone)
	s.ok(err)
	if r := s.whole(gone); lease != nil || len(r.history)+len(r.calls)+len(r.events) > 0 {
		s.Errorf("rows are left: %+v, lease %+v", r, lease)
	}
	if r := s.whole(kept); len(r.history) != 1 || len(r.calls) != 1 || len(r.events) != 1 || r.head.Lease == nil {
		s.Errorf("the other run lost rows: %+v", r)
	}
}

// deleteAndRecreate: the worker of the old run cannot write to the new one.
func deleteAndRecreate(s *suite) {
	old := s.steps("r", 2)
	s.record(Record(old, 1, 1, at(2)))
	s.ok(s.Delete(s.ctx, old.Key))
	reborn := old
	reborn.Incarnation = "second"
	s.save(Step(reborn, 0))
	if r := s.whole(old.Key); len(r.history) != 1 || len(r.calls) != 0 {
		s.Errorf("old rows are back: %+v", r)
	}
	s.fails(s.Save(s.ctx, Step(old, 1)), stores.ErrConflict)
	s.fails(s.Save(s.ctx, Step(old, 3)), stores.ErrConflict)
	s.fails(s.RecordCall(s.ctx, stores.CallWrite{Call: Record(old, 1, 1, finished)}), stores.ErrConflict)
	s.save(Step(reborn, 1))
}
