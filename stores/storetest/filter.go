package storetest

import (
	"maps"

	"github.com/flowtui/flowtui/stores"
)

var filterCases = []testCase{
	{"by status, owner, flow and open", filters},
	{"text is literal", filterText},
	{"counts", counts},
}

// zoo saves runs that differ in everything a filter asks for. In the order of
// lists: z, y, x, w, v.
func (s *suite) zoo() {
	flow := func(name string) func(*stores.Checkpoint) {
		return func(c *stores.Checkpoint) { c.Flow = name }
	}
	s.save(Step(s.place("v"), 0, seconds(1)))
	s.save(Step(s.place("w"), 0, seconds(2), paused))
	s.save(Step(s.placeOf(stores.Key{Owner: "alice", Run: "x"}), 0, seconds(3), flow("tickets")))
	s.save(Step(s.placeOf(stores.Key{Owner: "alice", Run: "y"}), 0, seconds(4), flow("tickets"), done))
	s.save(Step(s.place("z"), 0, seconds(5), failed))
	s.record(Record(s.placeOf(stores.Key{Owner: "alice", Run: "x"}), 1, 1))
}

func filters(s *suite) {
	s.zoo()
	running, paused, done, failed := stores.StatusRunning, stores.StatusPaused, stores.StatusDone, stores.StatusFailed
	statuses := func(st ...stores.Status) []stores.Status { return st }
	for _, c := range []struct {
		f    stores.Filter
		want []string
	}{
		{stores.Filter{Owner: stores.AnyOwner}, []string{"z", "y", "x", "w", "v"}},
		{stores.Filter{Owner: stores.DefaultOwner}, []string{"z", "w", "v"}},
		{stores.Filter{Owner: "alice"}, []string{"y", "x"}},
		{stores.Filter{Owner: "bob"}, nil},
		{stores.Filter{Owner: stores.AnyOwner, Statuses: statuses(running)}, []string{"x", "v"}},
		{stores.Filter{Owner: stores.AnyOwner, Statuses: statuses(done, failed, done)}, []string{"z", "y"}},
		{stores.Filter{Owner: stores.AnyOwner, Statuses: statuses(running, paused, done, failed)}, []string{"z", "y", "x", "w", "v"}},
		{stores.Filter{Owner: stores.AnyOwner, Statuses: statuses("odd")}, nil},
		{stores.Filter{Owner: stores.AnyOwner, Open: true}, []string{"x"}},
		{stores.Filter{Owner: stores.DefaultOwner, Open: true}, nil},
		{stores.Filter{Owner: stores.AnyOwner, Flow: "tickets"}, []string{"y", "x"}},
		{stores.Filter{Owner: stores.AnyOwner, Flow: "ticket"}, nil},
		{stores.Filter{Owner: "alice", Flow: "tickets", Statuses: statuses(running), Open: true, Text: "X"}, []string{"x"}},
	} {
		s.listed(c.f, c.want...)
	}
}

// filterText: no character of the text has a meaning of its own.
func filterText(s *suite) {
	ids := []string{"100%", "a_b", "it's", `say "hi"`, `back\slash`, "a.c", "a*c", "[x]", "$.x') --", "Großes", "plain"}
	for i, id := range ids {
		s.save(Step(s.place(id), 0, seconds(-i)))
	}
	any := func(text string) stores.Filter { return stores.Filter{Owner: stores.AnyOwner, Text: text} }
	for _, id := range ids {
		s.listed(any(id), id)
	}
	s.listed(any("%"), "100%")
	s.listed(any("_"), "a_b")
	s.listed(any("'"), "it's", "$.x') --")
	s.listed(any(`"`), `say "hi"`)
	s.listed(any(`\`), `back\slash`)
	s.listed(any("A*C"), "a*c")
	s.listed(any("PLAIN"), "plain")
	s.listed(any("GROß"), "Großes")
	s.listed(any("100"), "100%")
	s.listed(any("a\x00"))
	s.listed(any(""), ids...)
}

func counts(s *suite) {
	s.zoo()
	type byStatus = map[stores.Status]int64
	for _, c := range []struct {
		f    stores.Filter
		want byStatus
		open int64
	}{
		{anyRun, byStatus{"running": 2, "paused": 1, "done": 1, "failed": 1}, 1},
		{stores.Filter{Owner: stores.DefaultOwner}, byStatus{"running": 1, "paused": 1, "failed": 1}, 0},
		{stores.Filter{Owner: "alice"}, byStatus{"running": 1, "done": 1}, 1},
		{stores.Filter{Owner: stores.AnyOwner, Open: true}, byStatus{"running": 1}, 1},
		{stores.Filter{Owner: stores.AnyOwner, Statuses: []stores.Status{"paused", "done"}}, byStatus{"paused": 1, "done": 1}, 0},
		{stores.Filter{Owner: stores.AnyOwner, Flow: "tickets"}, byStatus{"running": 1, "done": 1}, 1},
		{stores.Filter{Owner: stores.AnyOwner, Text: "W"}, byStatus{"paused": 1}, 0},
		{stores.Filter{Owner: "bob"}, byStatus{}, 0},
	} {
		n, err := s.Count(s.ctx, c.f)
		s.ok(err)
		if !maps.Equal(n.ByStatus, c.want) || n.Open != c.open {
			s.Errorf("%+v counts %+v, want %v with %d open", c.f, n, c.want, c.open)
		}
	}
}
