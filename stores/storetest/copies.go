package storetest

import (
	"reflect"
	"time"

	"github.com/flowtui/flowtui/stores"
)

var copyCases = []testCase{
	{"arguments", copyArguments},
	{"results", copyResults},
}

func spoil(slices ...[]byte) {
	for _, b := range slices {
		for i := range b {
			b[i] ^= 0xff
		}
	}
}

// copyArguments: what the caller does with its rows later changes nothing.
func copyArguments(s *suite) {
	p := s.place("r")
	w := Step(p, 0)
	w.Events = []stores.Event{Event(p, 1)}
	w.Calls = []stores.Call{Record(p, 1, 1, finished)}
	w.Graph = []byte("graph")
	s.save(w)
	c := stores.CallWrite{Call: Record(p, 1, 2), Events: []stores.Event{Event(p, 2)}}
	s.ok(s.RecordCall(s.ctx, c))
	before := s.whole(p.Key)
	spoil(w.Checkpoint.Payload, w.Checkpoint.MAC, w.Head.Payload, w.Head.MAC, w.Graph,
		w.Events[0].Payload, w.Events[0].MAC, w.Calls[0].Payload, w.Calls[0].MAC,
		c.Call.Payload, c.Call.MAC, c.Events[0].Payload, c.Events[0].MAC)
	if after := s.whole(p.Key); !reflect.DeepEqual(before, after) {
		s.Errorf("rows changed:\nbefore %+v\nafter  %+v", before, after)
	}
	s.graphIs("graph")
}

// copyResults: nor what it does with rows that it got.
func copyResults(s *suite) {
	p := s.place("r")
	w := Step(p, 0)
	w.Events = []stores.Event{Event(p, 1)}
	w.Graph = []byte("graph")
	s.save(w)
	s.record(Record(p, 1, 1))
	_, err := s.Acquire(s.ctx, p.Key, "worker", time.Hour, false)
	s.ok(err)
	before, mine := s.whole(p.Key), s.whole(p.Key)
	for _, c := range append(mine.history, mine.last) {
		spoil(c.Payload, c.MAC, c.Prev)
	}
	spoil(mine.head.Payload, mine.head.MAC, mine.calls[0].Payload, mine.calls[0].MAC, mine.events[0].Payload, mine.events[0].MAC)
	mine.head.Lease.Holder = "thief"
	graph, err := s.Graph(s.ctx, "digest")
	s.ok(err)
	spoil(graph)
	page, err := s.List(s.ctx, stores.Query{Filter: anyRun})
	s.ok(err)
	spoil(page.Heads[0].Payload, page.Heads[0].MAC)
	one, err := s.At(s.ctx, p.Key, 0)
	s.ok(err)
	spoil(one.Payload, one.MAC)
	if after := s.whole(p.Key); !reflect.DeepEqual(before, after) {
		s.Errorf("rows changed:\nbefore %+v\nafter  %+v", before, after)
	}
	s.graphIs("graph")
}
