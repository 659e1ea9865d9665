package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/flowtui/flowtui/internal/testservers"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/postgres"
	"github.com/flowtui/flowtui/stores/storetest"
)

var pooled struct {
	sync.Once
	pooler *testservers.Server
}

// pooler is a pgbouncer in transaction mode, with two connections, before the
// shared server.
func pooler(t testing.TB) string {
	t.Helper()
	server(t)
	pooled.Do(func() {
		lasts.TB = t
		pooled.pooler = testservers.PgBouncer(&lasts, shared.server)
	})
	if pooled.pooler == nil {
		testservers.PgBouncer(t, shared.server) // says why there is none
	}
	return pooled.pooler.URL
}

// TestScenario46ConformanceBehindAPooler: every rule of the contract holds
// where two transactions of one client go to two sessions.
func TestScenario46ConformanceBehindAPooler(t *testing.T) {
	conformance(t, pooler(t))
}

// TestScenario46NothingStaysInASession: three programs share two sessions with
// a schema that search_path does not name, and leave neither a prepared
// statement nor a LISTEN nor a lock behind.
func TestScenario46NothingStaysInASession(t *testing.T) {
	address := fresh(t, pooler(t))
	stored := []*postgres.Store{create(t, address), open(t, address, postgres.Options{}), open(t, address, postgres.Options{})}
	if _, err := stored[1].Watch(t.Context()); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i, s := range stored {
		all.Go(func() {
			p := place(fmt.Sprint("run ", i))
			for n := range int64(20) {
				err1 := s.Save(t.Context(), storetest.Step(p, n))
				_, err2 := s.Acquire(t.Context(), p.Key, "worker", time.Minute, false)
				_, err3 := s.List(t.Context(), stores.Query{Filter: stores.Filter{Owner: stores.AnyOwner}})
				if err := errors.Join(err1, err2, err3); err != nil {
					t.Errorf("run %d, step %d: %v", i, n, err)
				}
			}
		})
	}
	all.Wait()
	storetest.Check(t, stored[2])
	for _, what := range []string{
		"SELECT count(*) FROM pg_prepared_statements WHERE name LIKE 'flowtui%'", // the statement that asks has no name, or one of pgx
		"SELECT count(*) FROM pg_listening_channels()",
		"SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'",
	} {
		for range 10 { // whichever session it comes to
			got := rows(t, with(t, address, "default_query_exec_mode", "exec"), what)
			if got[0][0] != int64(0) {
				t.Fatalf("%s gives %v", what, got[0][0])
			}
		}
	}
}

// TestScenario46CancelledReads: leaving a view in the middle of slow reads does
// not break the writes after it.
func TestScenario46CancelledReads(t *testing.T) {
	for name, base := range map[string]string{"direct": server(t), "pooler": pooler(t)} {
		t.Run(name, func(t *testing.T) {
			address := fresh(t, base)
			s := create(t, address)
			p := place("r")
			if err := s.Save(t.Context(), storetest.Step(p, 0)); err != nil {
				t.Fatal(err)
			}
			for n := range int64(5) {
				slow := hold(t, with(t, server(t), "schema", schemaOf(t, address)), "LOCK TABLE {runs} IN ACCESS EXCLUSIVE MODE")
				var reads sync.WaitGroup
				ctx, leave := context.WithCancel(t.Context())
				for range 3 {
					reads.Go(func() {
						_, err := s.List(ctx, stores.Query{Filter: stores.Filter{Owner: stores.AnyOwner}})
						if !errors.Is(err, context.Canceled) {
							t.Errorf("a read that was left: %v", err)
						}
					})
				}
				waiting(t, 2)
				leave()
				reads.Wait()
				slow()
				if err := s.Save(t.Context(), storetest.Step(p, n+1)); err != nil {
					t.Fatalf("the write after it: %v", err)
				}
			}
			storetest.Check(t, s)
		})
	}
}

// TestScenario46WatcherPolls: notices do not come through a pooler, changes are
// noticed all the same.
func TestScenario46WatcherPolls(t *testing.T) {
	address := fresh(t, pooler(t))
	s := create(t, address)
	ch, err := open(t, address, postgres.Options{}).Watch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for n := range int64(3) {
		if err := s.Save(t.Context(), storetest.Step(place("r"), n)); err != nil {
			t.Fatal(err)
		}
		noticed(t, ch)
	}
}

func noticed(t *testing.T, ch <-chan struct{}) {
	t.Helper()
	select {
	case _, ok := <-ch:
		if !ok {
			t.Fatal("the watch ended")
		}
	case <-time.After(30 * time.Second):
		t.Fatal("no notice")
	}
}
