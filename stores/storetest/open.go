package storetest

import (
	"github.com/flowtui/flowtui/stores"
)

var openCases = []testCase{
	{"after records", openAfterRecords},
	{"after a save", openAfterSave},
}

// openAfterRecords: which records leave a call that may be in doubt.
func openAfterRecords(s *suite) {
	rec := func(p stores.Place, n, call int64, edits ...func(*stores.Call)) stores.Call {
		return Record(p, 1, n, append(edits, ordinal(call))...)
	}
	pending := func(c *stores.Call) { c.Status = stores.CallPending }
	resolved := func(c *stores.Call) { c.Status = stores.CallResolved }
	node := func(c *stores.Call) { c.Node = "other" }
	cases := []struct {
		name    string
		records func(p stores.Place) []stores.Call
		want    int64
	}{
		{"none", func(stores.Place) []stores.Call { return nil }, 0},
		{"started", func(p stores.Place) []stores.Call { return []stores.Call{rec(p, 1, 1)} }, 1},
		{"started, idempotent", func(p stores.Place) []stores.Call { return []stores.Call{rec(p, 1, 1, idempotent)} }, 0},
		{"done", func(p stores.Place) []stores.Call { return []stores.Call{rec(p, 1, 1), rec(p, 2, 1, finished)} }, 0},
		{"unrecordable", func(p stores.Place) []stores.Call { return []stores.Call{rec(p, 1, 1), rec(p, 2, 1, unrecordable)} }, 1},
		{"unrecordable, idempotent", func(p stores.Place) []stores.Call {
			return []stores.Call{rec(p, 1, 1, idempotent), rec(p, 2, 1, idempotent, unrecordable)}
		}, 0},
		{"resolved", func(p stores.Place) []stores.Call { return []stores.Call{rec(p, 1, 1), rec(p, 2, 1, resolved)} }, 0},
		{"pending", func(p stores.Place) []stores.Call { return []stores.Call{rec(p, 1, 1, pending)} }, 0},
		{"approved and started", func(p stores.Place) []stores.Call {
			return []stores.Call{rec(p, 1, 1, pending), rec(p, 2, 1)}
		}, 1},
		{"two of three", func(p stores.Place) []stores.Call {
			return []stores.Call{rec(p, 1, 1), rec(p, 2, 2), rec(p, 3, 3), rec(p, 4, 2, finished)}
		}, 2},
		{"same ordinal in two nodes", func(p stores.Place) []stores.Call {
			return []stores.Call{rec(p, 1, 1), rec(p, 2, 1, node), rec(p, 3, 1, finished)}
		}, 1},
		{"another superstep", func(p stores.Place) []stores.Call { return []stores.Call{rec(p, 1, 1, at(5))} }, 0},
	}
	for _, c := range cases {
		p := s.place(c.name)
		s.save(Step(p, 0))
		for _, r := range c.records(p) {
			s.record(r)
		}
		s.open(p.Key, c.want)
	}
}

func (s *suite) open(k stores.Key, want int64) {
	s.Helper()
	h, err := s.Head(s.ctx, k)
	s.ok(err)
	if h.Open != want {
		s.Errorf("%s: %d open, want %d", k.Run, h.Open, want)
	}
}

// openAfterSave: what a save makes of calls that were open.
func openAfterSave(s *suite) {
	prepare := func(run string) stores.Place {
		p := s.steps(run, 0)
		s.record(Record(p, 1, 1))
		s.open(p.Key, 1)
		return p
	}

	p := prepare("next superstep")
	s.save(Step(p, 1))
	s.open(p.Key, 0)

	p = prepare("claim")
	s.save(Step(p, 1, claim(2, 0)))
	s.open(p.Key, 1)
	s.record(Record(p, 1, 2, ordinal(1), finished)) // a late done, superseded by nothing
	s.open(p.Key, 0)

	p = prepare("started again by the next worker")
	s.save(Step(p, 1, claim(2, 0)))
	s.record(Record(p, 2, 1, ordinal(1)))
	s.record(Record(p, 1, 2, ordinal(1), finished)) // of an older segment
	s.open(p.Key, 1)

	p = prepare("pause")
	s.save(Step(p, 1, claim(1, 0), paused))
	s.open(p.Key, 0)
	s.record(Record(p, 1, 2, unrecordable))
	s.open(p.Key, 0)
	s.save(Step(p, 2, claim(2, 0)))
	s.open(p.Key, 2)

	p = prepare("end")
	s.save(Step(p, 1, claim(1, 0), failed))
	s.open(p.Key, 0)

	p = prepare("with its done record")
	w := Step(p, 1, claim(1, 0))
	w.Calls = []stores.Call{Record(p, 1, 2, ordinal(1), finished)}
	s.save(w)
	s.open(p.Key, 0)

	p = s.place("a head that claims to be open")
	w = Step(p, 0)
	w.Head.Open = 7
	s.save(w)
	s.open(p.Key, 0)
}
