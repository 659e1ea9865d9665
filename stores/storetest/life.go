package storetest

import (
	"context"
	"errors"
	"reflect"
	"time"

	"github.com/flowtui/flowtui/stores"
)

var lifeCases = []testCase{
	{"context ended", contextEnded},
	{"close twice", closeTwice},
	{"prepare twice", prepareTwice},
	{"reopen", reopen},
}

// everything calls each method once and returns the errors by name.
func (s *suite) everything(ctx context.Context) map[string]error {
	p := s.place("r")
	k := p.Key
	errs := map[string]error{}
	note := func(name string, err error) { errs[name] = err }
	_, err := s.Info(ctx)
	note("Info", err)
	note("Prepare", s.Prepare(ctx))
	note("Save", s.Save(ctx, Step(p, 1)))
	note("RecordCall", s.RecordCall(ctx, stores.CallWrite{Call: Record(p, 1, 1)}))
	note("Delete", s.Delete(ctx, k))
	note("DeleteAt", s.DeleteAt(ctx, k, p.Incarnation, 0))
	note("Import", s.Import(ctx, imported(s.place("imported"))))
	_, err = s.Examine(ctx)
	note("Examine", err)
	_, err = s.Latest(ctx, k)
	note("Latest", err)
	_, err = s.ListUnfinished(ctx, stores.AnyOwner)
	note("ListUnfinished", err)
	_, err = s.Calls(ctx, k, 0)
	note("Calls", err)
	_, err = s.List(ctx, stores.Query{Filter: anyRun})
	note("List", err)
	_, err = s.Count(ctx, anyRun)
	note("Count", err)
	_, err = s.Head(ctx, k)
	note("Head", err)
	_, err = s.Owners(ctx)
	note("Owners", err)
	_, err = s.History(ctx, k, stores.HistoryQuery{})
	note("History", err)
	_, err = s.At(ctx, k, 0)
	note("At", err)
	_, err = s.Events(ctx, k, 0, 0)
	note("Events", err)
	_, err = s.Graph(ctx, "digest")
	note("Graph", err)
	_, err = s.Watch(ctx)
	note("Watch", err)
	_, err = s.Acquire(ctx, k, "worker", time.Minute, false)
	note("Acquire", err)
	_, err = s.Renew(ctx, k, "worker", time.Minute)
	note("Renew", err)
	_, err = s.Lease(ctx, k)
	note("Lease", err)
	note("Release", s.Release(ctx, k, "worker"))
	return errs
}

func contextEnded(s *suite) {
	p := s.steps("r", 0)
	before := s.whole(p.Key)
	ctx, cancel := context.WithCancel(s.ctx)
	cancel()
	for name, err := range s.everything(ctx) {
		if !errors.Is(err, context.Canceled) {
			s.Errorf("%s: got %v, want %v", name, err, context.Canceled)
		}
	}
	if after := s.whole(p.Key); !reflect.DeepEqual(before, after) {
		s.Error("something was written")
	}
	s.save(Step(p, 1)) // and the store still works
}

func closeTwice(s *suite) {
	s.steps("r", 0)
	notices, err := s.Watch(s.ctx)
	s.ok(err)
	s.ok(s.Close())
	s.ok(s.Close())
	for range notices { // ends because closing closes it
	}
	for name, err := range s.everything(s.ctx) {
		if !errors.Is(err, stores.ErrClosed) {
			s.Errorf("%s: got %v, want %v", name, err, stores.ErrClosed)
		}
	}
}

func prepareTwice(s *suite) {
	s.steps("r", 0)
	s.ok(s.Prepare(s.ctx))
	info, err := s.Info(s.ctx)
	s.ok(err)
	if info.ID != s.id {
		s.Errorf("the id changed from %s to %s", s.id, info.ID)
	}
}

// reopen: all that was saved is there, as it was, and can be gone on from.
func reopen(s *suite) {
	if s.h.Reopen == nil {
		return // the driver says that its stores end with the process
	}
	p := s.place("r")
	w := Step(p, 0)
	w.Graph, w.Events = []byte("graph"), []stores.Event{Event(p, 1)}
	s.save(w)
	s.record(Record(p, 1, 1))
	s.save(Step(p, 1, claim(2, 0)))
	_, err := s.Acquire(s.ctx, p.Key, "worker", time.Hour, false)
	s.ok(err)
	before := s.whole(p.Key)

	s.use(s.h.Reopen(s.T, s.All))
	if after := s.whole(p.Key); !reflect.DeepEqual(before, after) {
		s.Errorf("rows changed:\nbefore %+v\nafter  %+v", before, after)
	}
	s.graphIs("graph")
	info, err := s.Info(s.ctx)
	s.ok(err)
	if info.ID != s.id {
		s.Errorf("the id changed from %s to %s", s.id, info.ID)
	}
	s.fails(s.Save(s.ctx, Step(p, 1)), stores.ErrConflict)
	s.save(Step(p, 2, claim(2, 0)))
}
