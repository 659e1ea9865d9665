package views

import (
	"time"

	"github.com/flowtui/flowtui/viewer"
)

// ticket says which screen asked, and which of its requests it was.
type ticket struct{ screen, n int }

func (t ticket) to() ticket { return t }

// addressed is a message for one screen.
type addressed interface{ to() ticket }

// reply is the answer to a request.
type reply[T any] struct {
	ticket
	Value   T
	Problem *viewer.Problem
}

// slot is a place for one kind of request of a screen, with at most one in
// flight: what is asked for meanwhile is asked once more afterwards.
type slot struct {
	n     int
	busy  bool
	again bool
	asked time.Time // start of the last request
}

// ask opens a request. Whatever was asked before in this slot is stale now.
func (s *slot) ask(e *env) ticket {
	e.seq++
	s.n, s.busy, s.again, s.asked = e.seq, true, false, e.now()
	return ticket{screen: e.id, n: s.n}
}

// wait reports that a request is in flight, and remembers to ask again.
func (s *slot) wait() bool {
	s.again = s.again || s.busy
	return s.busy
}

// take reports whether t answers the newest request of the slot, and closes it.
func (s *slot) take(t ticket) bool {
	if !s.busy || t.n != s.n {
		return false
	}
	s.busy = false
	return true
}

// slow reports that the request in flight takes long.
func (s *slot) slow(now time.Time) bool { return s.busy && now.Sub(s.asked) > slowAfter }

// drop makes the answer to what is in flight stale.
func (s *slot) drop() { s.n, s.busy, s.again = 0, false, false }
