package storetest

import (
	"github.com/flowtui/flowtui/stores"
)

var eventCases = []testCase{
	{"order and pages", eventPages},
}

func eventPages(s *suite) {
	p := s.place("r")
	w := Step(p, 0)
	w.Events = []stores.Event{Event(p, 1), Event(p, 2)}
	s.save(w)
	for n := range int64(10) {
		s.ok(s.RecordCall(s.ctx, stores.CallWrite{Call: Record(p, 1, n+1), Events: []stores.Event{Event(p, n+3)}}))
	}
	for _, c := range []struct {
		after       int64
		limit       int
		first, size int64
	}{
		{0, 0, 1, 12},
		{0, 5, 1, 5},
		{5, 3, 6, 3},
		{9, 100, 10, 3},
		{12, 0, 13, 0},
	} {
		events, err := s.Events(s.ctx, p.Key, c.after, c.limit)
		s.ok(err)
		if int64(len(events)) != c.size {
			s.Errorf("after %d, limit %d: %d events, want %d", c.after, c.limit, len(events), c.size)
		}
		for i, e := range events {
			if e.N != c.first+int64(i) {
				s.Errorf("after %d, limit %d: number %d in place %d", c.after, c.limit, e.N, i)
			}
		}
	}
}
