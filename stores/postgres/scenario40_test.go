package postgres_test

import (
	"crypto/rand"
	"errors"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/postgres"
	"github.com/flowtui/flowtui/stores/storetest"
)

// TestScenario40Names: odd but valid names of schemas and prefixes open, and two
// stores never mix, however alike their names are.
func TestScenario40Names(t *testing.T) {
	long := strings.Repeat("é", 31)
	names := [][2]string{
		{"My-Schema", ""}, {"my-schema", ""}, {`a"; drop table x; --`, `it's "`}, {"{runs}", "{runs}"}, {"s p", "a.b"}, {"s", ""}, {"s", "x_"}, {"s", "X_"},
		{"1", "$1"}, {"select", "%s"}, {"ﬁ", "\u202e"}, {long, strings.Repeat("x", 51)}, {"a+b", "c&d=e"},
	}
	for _, n := range names {
		s := create(t, with(t, server(t), "schema", n[0], "prefix", n[1]))
		p := place("r")
		p.Incarnation = n[0] + n[1]
		if err := s.Save(t.Context(), storetest.Step(p, 0)); err != nil {
			t.Errorf("%q: %v", n, err)
		}
	}
	for _, n := range names {
		s := open(t, with(t, server(t), "schema", n[0], "prefix", n[1]), postgres.Options{})
		storetest.Check(t, s)
		last, err := s.Latest(t.Context(), place("r").Key)
		if err != nil || last.Incarnation != n[0]+n[1] {
			t.Errorf("%q has the run of %q, %v", n, last.Incarnation, err)
		}
		info, err := s.Info(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		again := open(t, withPassword(t, info.Location), postgres.Options{}) // a location can be opened
		if same, err := again.Info(t.Context()); err != nil || same.ID != info.ID {
			t.Errorf("%q: %s is another store: %v", n, info.Location, err)
		}
		t.Cleanup(func() { execute(t, with(t, server(t), "schema", n[0]), `DROP SCHEMA IF EXISTS {schema} CASCADE`) })
	}
}

// withPassword is a location as somebody opens it who knows the password.
func withPassword(t *testing.T, location string) string {
	t.Helper()
	_, rest, ok := strings.Cut(location, "@")
	before, _, ok2 := strings.Cut(server(t), "@")
	if !ok || !ok2 {
		t.Fatalf("location %s", location)
	}
	if strings.Contains(rest, "?") {
		return before + "@" + rest + "&sslmode=disable"
	}
	return before + "@" + rest + "?sslmode=disable"
}

// TestTheLongestNames: owners and ids of full length that no compression makes
// shorter fit into every index.
func TestTheLongestNames(t *testing.T) {
	s := create(t, fresh(t, server(t)))
	random := func() string {
		var b strings.Builder
		for b.Len() < stores.MaxIDBytes {
			b.WriteString(rand.Text())
		}
		return b.String()[:stores.MaxIDBytes]
	}
	p := stores.Place{Key: stores.Key{Owner: random(), Run: random()}, Store: "test", Incarnation: "first"}
	w := storetest.Step(p, 0, func(c *stores.Checkpoint) { c.Flow = random()[:300] })
	w.Events = []stores.Event{storetest.Event(p, 1)}
	record := stores.CallWrite{Call: storetest.Record(p, 1, 1, func(c *stores.Call) { c.Node = random()[:300] })}
	if err := errors.Join(s.Save(t.Context(), w), s.RecordCall(t.Context(), record)); err != nil {
		t.Fatal(err)
	}
	storetest.Check(t, s)
}

// TestTextsThatCannotBeKept are refused before anything is sent.
func TestTextsThatCannotBeKept(t *testing.T) {
	s := create(t, fresh(t, server(t)))
	p := place("r")
	if err := s.Save(t.Context(), storetest.Step(p, 0)); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"a\x00b", "a\xffb", "\xed\xa0\x80"} {
		w := storetest.Step(p, 1)
		w.Checkpoint.Flow, w.Head.Flow = bad, bad
		record := stores.CallWrite{Call: storetest.Record(p, 1, 1, func(c *stores.Call) { c.Node = bad })}
		event := stores.CallWrite{Call: storetest.Record(p, 1, 1), Events: []stores.Event{storetest.Event(p, 1)}}
		event.Events[0].Type = bad
		_, latest := s.Latest(t.Context(), stores.Key{Owner: "o", Run: bad})
		_, lease := s.Acquire(t.Context(), p.Key, bad, 1e9, false)
		for what, err := range map[string]error{
			"save": s.Save(t.Context(), w), "record": s.RecordCall(t.Context(), record), "event": s.RecordCall(t.Context(), event),
			"latest": latest, "lease": lease,
		} {
			if !errors.Is(err, stores.ErrInvalid) || errors.Is(err, stores.ErrUnknown) {
				t.Errorf("%s of %q: %v", what, bad, err)
			}
		}
		page, err := s.List(t.Context(), stores.Query{Filter: stores.Filter{Owner: stores.AnyOwner, Text: bad}})
		if err != nil || len(page.Heads) > 0 {
			t.Errorf("a filter with %q: %+v, %v", bad, page, err)
		}
	}
	if err := s.Save(t.Context(), storetest.Step(p, 1)); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	storetest.Check(t, s)
}
