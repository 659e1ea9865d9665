package views

import (
	"time"

	"github.com/flowtui/flowtui/viewer"
)

// source is one thing that is read from the backend, with at most one request
// in flight. A read that fails leaves what was there before.
type source[T any] struct {
	slot
	value   T
	loaded  bool
	problem *viewer.Problem
	since   time.Time // when reading began to fail
	tried   time.Time // last failed try
	read    time.Time // last good read
}

// got takes a reply. It reports false for a reply to something else.
func (s *source[T]) got(msg reply[T], now time.Time) bool {
	if !s.take(msg.ticket) {
		return false
	}
	if msg.Problem != nil {
		if s.problem == nil {
			s.since = now
		}
		s.problem, s.tried = msg.Problem, now
		return true
	}
	s.value, s.loaded, s.problem, s.read = msg.Value, true, nil, now
	return true
}

// forget throws away what was read, and what is on its way.
func (s *source[T]) forget() { *s = source[T]{} }

// failed tells why what is shown is old or missing, nil when it is neither.
func (s *source[T]) failed() *failure {
	if s.problem == nil {
		return nil
	}
	return &failure{problem: *s.problem, since: s.since, tried: s.tried, read: s.read, busy: s.busy}
}

// due reports that a failed read should be tried again.
func (s *source[T]) due(now time.Time) bool {
	return s.problem != nil && !s.busy && now.Sub(s.tried) >= retryAfter
}

// failure is a read that did not work.
type failure struct {
	problem viewer.Problem
	since   time.Time
	tried   time.Time
	read    time.Time // zero: never
	busy    bool      // it is being tried again
}
