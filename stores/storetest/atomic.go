package storetest

import (
	"reflect"

	"github.com/flowtui/flowtui/stores"
)

var atomicCases = []testCase{
	{"save", saveIsAtomic},
	{"record call", recordIsAtomic},
}

// saveIsAtomic: when the last part of a save cannot be written, no part is.
func saveIsAtomic(s *suite) {
	p := s.place("r")
	first := Step(p, 0)
	first.Events = []stores.Event{Event(p, 1)}
	first.Calls = []stores.Call{Record(p, 1, 1, finished)}
	s.save(first)
	before := s.whole(p.Key)

	w := Step(p, 1)
	w.Graph = []byte("new graph")
	w.Checkpoint.Digest, w.Head.Digest = "new digest", "new digest"
	bad := map[string]func(*stores.Save){
		"event number taken":   func(w *stores.Save) { w.Events = []stores.Event{Event(p, 2), Event(p, 1)} },
		"event number twice":   func(w *stores.Save) { w.Events = []stores.Event{Event(p, 2), Event(p, 2)} },
		"call number taken":    func(w *stores.Save) { w.Calls = []stores.Call{Record(p, 1, 2, finished), Record(p, 1, 1, finished)} },
		"call number twice":    func(w *stores.Save) { w.Calls = []stores.Call{Record(p, 1, 2, finished), Record(p, 1, 2, finished)} },
		"unclaimed segment":    func(w *stores.Save) { w.Calls = []stores.Call{Record(p, 2, 1, finished)} },
		"good call, bad event": func(w *stores.Save) { w.Calls, w.Events = []stores.Call{Record(p, 1, 2, finished)}, first.Events },
	}
	for name, spoil := range bad {
		w := w
		spoil(&w)
		s.fails(s.Save(s.ctx, w), stores.ErrConflict)
		if after := s.whole(p.Key); !reflect.DeepEqual(before, after) {
			s.Errorf("%s: a part was written:\nbefore %+v\nafter  %+v", name, before, after)
		}
		_, err := s.Graph(s.ctx, "new digest")
		s.fails(err, stores.ErrNotFound)
	}
	s.save(w)
}

func recordIsAtomic(s *suite) {
	p := s.steps("r", 0)
	s.ok(s.RecordCall(s.ctx, stores.CallWrite{Call: Record(p, 1, 1), Events: []stores.Event{Event(p, 1)}}))
	before := s.whole(p.Key)
	for _, w := range []stores.CallWrite{
		{Call: Record(p, 1, 2), Events: []stores.Event{Event(p, 2), Event(p, 1)}},
		{Call: Record(p, 1, 1), Events: []stores.Event{Event(p, 2)}},
		{Call: Record(p, 2, 1), Events: []stores.Event{Event(p, 2)}},
	} {
		s.fails(s.RecordCall(s.ctx, w), stores.ErrConflict)
		if after := s.whole(p.Key); !reflect.DeepEqual(before, after) {
			s.Errorf("a part was written:\nbefore %+v\nafter  %+v", before, after)
		}
	}
	s.ok(s.RecordCall(s.ctx, stores.CallWrite{Call: Record(p, 1, 2), Events: []stores.Event{Event(p, 2)}}))
}
