package storetest

import (
	"context"
	"time"

	"github.com/flowtui/flowtui/stores"
)

var watchCases = []testCase{
	{"a notice for a write", watchNotice},
	{"one notice for many", watchCoalesced},
	{"ends with its context", watchEnds},
}

// patience is how long a notice may take; drivers are much faster.
const patience = 10 * time.Second

func (s *suite) notice(ch <-chan struct{}, after string) {
	s.Helper()
	select {
	case _, ok := <-ch:
		if !ok {
			s.Fatalf("the watch ended %s", after)
		}
	case <-time.After(patience):
		s.Fatalf("no notice %s", after)
	}
}

func watchNotice(s *suite) {
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	ch, err := s.Watch(ctx)
	s.ok(err)
	second, err := s.Watch(ctx)
	s.ok(err)
	p := s.steps("r", 0)
	s.notice(ch, "after a save")
	s.notice(second, "for the second watcher")
	s.record(Record(p, 1, 1))
	s.notice(ch, "after a call record")
	_, err = s.Acquire(s.ctx, p.Key, "worker", time.Hour, false)
	s.ok(err)
	s.notice(ch, "after a lease")
	s.ok(s.Delete(s.ctx, p.Key))
	s.notice(ch, "after a deletion")
}

// watchCoalesced: a reader that does not come does not stop the writer.
func watchCoalesced(s *suite) {
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	ch, err := s.Watch(ctx)
	s.ok(err)
	s.steps("r", 50)
	s.notice(ch, "after many saves")
	if n := len(ch); n > 1 {
		s.Errorf("%d more notices wait", n)
	}
}

func watchEnds(s *suite) {
	ctx, cancel := context.WithCancel(s.ctx)
	ch, err := s.Watch(ctx)
	s.ok(err)
	cancel()
	for end := time.After(patience); ; {
		select {
		case _, ok := <-ch:
			if !ok {
				s.save(Step(s.place("r"), 0, func(*stores.Checkpoint) {})) // no one to tell
				return
			}
		case <-end:
			s.Fatal("the watch goes on")
		}
	}
}
