package postgres_test

import (
	"errors"
	"testing"
	"time"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/postgres"
	"github.com/flowtui/flowtui/stores/storetest"
)

// Scenario 26: the server's clock is ten minutes ahead of ours, and leases are
// given and judged by it alone. (PostgreSQL finds clock_timestamp in the schema
// that the session names first.)
func TestScenario26LeasesGoByTheServersClock(t *testing.T) {
	const ahead = 10 * time.Minute
	address := fresh(t, server(t))
	create(t, address)
	execute(t, address, `CREATE FUNCTION {schema}.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS
		$$SELECT pg_catalog.clock_timestamp() + interval '10 minutes'$$`)
	skewed := with(t, address, "search_path", `"`+schemaOf(t, address)+`",pg_catalog`)
	s, k := open(t, skewed, postgres.Options{}), place("r").Key
	if err := s.Save(t.Context(), storetest.Step(place("r"), 0)); err != nil {
		t.Fatal(err)
	}
	judged := func(want bool) {
		t.Helper()
		l, err1 := s.Lease(t.Context(), k)
		h, err2 := s.Head(t.Context(), k)
		heads, err3 := s.ListUnfinished(t.Context(), stores.AnyOwner)
		if err := errors.Join(err1, err2, err3); err != nil {
			t.Fatal(err)
		}
		for where, l := range map[string]*stores.Lease{"lease": l, "head": h.Lease, "list": heads[0].Lease} {
			if l == nil || l.Live != want || !l.Expires.After(time.Now().Add(ahead/2)) {
				t.Errorf("%s: %+v, want one of the server's time that is live: %v", where, l, want)
			}
		}
	}
	l, err := s.Acquire(t.Context(), k, "one", time.Minute, false)
	if err != nil || !l.Live || !l.Expires.After(time.Now().Add(ahead)) {
		t.Errorf("acquired %+v, %v", l, err)
	}
	judged(true)
	if _, err := s.Acquire(t.Context(), k, "two", time.Minute, false); !errors.Is(err, stores.ErrConflict) {
		t.Errorf("a live lease was taken: %v", err)
	}
	execute(t, address, `UPDATE {leases} SET expires = expires - 120000000`) // for us it has eight minutes left
	judged(false)
	if l, err := s.Acquire(t.Context(), k, "two", time.Minute, false); err != nil || l.Holder != "two" {
		t.Errorf("an expired lease was not given: %+v, %v", l, err)
	}
	if x, err := s.Examine(t.Context()); err != nil || !x.Clock.After(time.Now().Add(ahead/2)) {
		t.Errorf("the store's clock is %s, %v", x.Clock, err)
	}
}
