package storetest

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/flowtui/flowtui/stores"
)

var deleteCases = []testCase{
	{"everything of one run", deleteOne},
	{"and start anew", deleteAndRecreate},
	{"only what was seen", deleteSeen},
	{"a record is no new checkpoint", deleteSeenAfterRecord},
	{"or save, never both", deleteOrSave},
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

// deleteSeen: a run that moved on, or another life of it, is left alone.
func deleteSeen(s *suite) {
	p := s.place("r")
	s.fails(s.DeleteAt(s.ctx, p.Key, p.Incarnation, 0), stores.ErrNotFound)
	s.steps("r", 2)
	other := s.steps("other", 2)
	s.fails(s.DeleteAt(s.ctx, p.Key, p.Incarnation, 1), stores.ErrConflict)
	s.fails(s.DeleteAt(s.ctx, p.Key, p.Incarnation, 3), stores.ErrConflict)
	s.fails(s.DeleteAt(s.ctx, p.Key, "second", 2), stores.ErrConflict)
	if r := s.whole(p.Key); len(r.history) != 3 {
		s.Errorf("a refused deletion took rows: %+v", r)
	}
	s.ok(s.DeleteAt(s.ctx, p.Key, p.Incarnation, 2))
	s.fails(s.DeleteAt(s.ctx, p.Key, p.Incarnation, 2), stores.ErrNotFound)
	if r := s.whole(p.Key); len(r.history)+len(r.calls)+len(r.events) > 0 {
		s.Errorf("rows are left: %+v", r)
	}
	if r := s.whole(other.Key); len(r.history) != 3 {
		s.Errorf("the other run lost rows: %+v", r)
	}
	reborn := p
	reborn.Incarnation = "second"
	s.save(Step(reborn, 0))
	s.fails(s.DeleteAt(s.ctx, p.Key, p.Incarnation, 0), stores.ErrConflict)
	s.ok(s.DeleteAt(s.ctx, p.Key, "second", 0))
}

// deleteSeenAfterRecord: call records and leases go with the run.
func deleteSeenAfterRecord(s *suite) {
	p := s.steps("r", 0)
	s.record(Record(p, 1, 1))
	_, err := s.Acquire(s.ctx, p.Key, "worker", time.Hour, false)
	s.ok(err)
	s.ok(s.DeleteAt(s.ctx, p.Key, p.Incarnation, 0))
	lease, err := s.Lease(s.ctx, p.Key)
	s.ok(err)
	if r := s.whole(p.Key); lease != nil || len(r.calls) > 0 {
		s.Errorf("rows are left: %+v, lease %+v", r, lease)
	}
}

// deleteOrSave: of a deletion and the save of the next step one wins.
func deleteOrSave(s *suite) {
	for round := range 20 {
		p := s.steps(fmt.Sprint("race ", round), 0)
		var saved, deleted error
		var both sync.WaitGroup
		both.Go(func() { saved = s.Save(s.ctx, Step(p, 1)) })
		both.Go(func() { deleted = s.DeleteAt(s.ctx, p.Key, p.Incarnation, 0) })
		both.Wait()
		left := len(s.whole(p.Key).history)
		switch {
		case saved == nil && errors.Is(deleted, stores.ErrConflict) && left == 2:
		case deleted == nil && errors.Is(saved, stores.ErrConflict) && left == 0:
		default:
			s.Fatalf("saved: %v, deleted: %v, %d steps are left", saved, deleted, left)
		}
	}
}
