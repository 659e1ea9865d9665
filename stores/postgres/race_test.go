package postgres_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/postgres"
	"github.com/flowtui/flowtui/stores/storetest"
)

// levels are what a database may have as the isolation of transactions that do
// not say theirs.
var levels = []string{"read committed", "repeatable read", "serializable"}

// claimOf makes a step that a new worker saves when it takes the run over.
func claimOf(p stores.Place, step, segment int64) stores.Save {
	return storetest.Step(p, step, func(c *stores.Checkpoint) { c.Segment, c.Base, c.Kind = segment, 0, "claim" })
}

// TestNothingStartsAfterAClaim: workers start calls while another one claims
// their run. What is started is in the log when the claim has been saved, and
// not one record comes after it.
func TestNothingStartsAfterAClaim(t *testing.T) {
	for _, level := range levels {
		t.Run(level, func(t *testing.T) {
			address := with(t, fresh(t, server(t)), "default_transaction_isolation", level)
			s, claimer := create(t, address), open(t, address, postgres.Options{})
			started, refused := 0, 0
			for round := range 15 {
				p := place(fmt.Sprint("run ", round))
				if err := s.Save(t.Context(), storetest.Step(p, 0)); err != nil {
					t.Fatal(err)
				}
				var workers sync.WaitGroup
				var ok, no atomic.Int64
				for n := range int64(20) {
					workers.Go(func() {
						switch err := s.RecordCall(t.Context(), stores.CallWrite{Call: storetest.Record(p, 1, n+1)}); {
						case err == nil:
							ok.Add(1)
						case errors.Is(err, stores.ErrConflict):
							no.Add(1)
						default:
							t.Errorf("started: %v", err)
						}
					})
				}
				if err := claimer.Save(t.Context(), claimOf(p, 1, 2)); err != nil {
					t.Fatal(err)
				}
				atClaim, err := claimer.Calls(t.Context(), p.Key, 0)
				if err != nil {
					t.Fatal(err)
				}
				workers.Wait()
				after, err := s.Calls(t.Context(), p.Key, 0)
				if err != nil || len(after) != len(atClaim) || int64(len(after)) != ok.Load() {
					t.Fatalf("%d records when the run was claimed, %d afterwards, %d acknowledged, %v", len(atClaim), len(after), ok.Load(), err)
				}
				head, err := s.Head(t.Context(), p.Key)
				if want := stores.OpenCalls(head, after); err != nil || head.Open != want {
					t.Errorf("%d open, want %d, %v", head.Open, want, err)
				}
				started, refused = started+int(ok.Load()), refused+int(no.Load())
			}
			if started == 0 || refused == 0 {
				t.Errorf("%d started, %d refused: the test showed little", started, refused)
			}
		})
	}
}

// TestARecordThatWaitedForAClaimIsRefused: both wait for the same lock, so that
// the record is looked at while the claim commits.
func TestARecordThatWaitedForAClaimIsRefused(t *testing.T) {
	for _, level := range levels {
		address := with(t, fresh(t, server(t)), "default_transaction_isolation", level)
		s := create(t, address)
		p := place("r")
		if err := s.Save(t.Context(), storetest.Step(p, 0)); err != nil {
			t.Fatal(err)
		}
		release := hold(t, address, `SELECT FROM {runs} FOR UPDATE`)
		claimed, recorded := make(chan error, 1), make(chan error, 1)
		go func() { claimed <- s.Save(t.Context(), claimOf(p, 1, 2)) }()
		waiting(t, 1)
		go func() { recorded <- s.RecordCall(t.Context(), stores.CallWrite{Call: storetest.Record(p, 1, 1)}) }()
		waiting(t, 2)
		release()
		if err := <-claimed; err != nil {
			t.Errorf("%s: the claim: %v", level, err)
		}
		if err := <-recorded; !errors.Is(err, stores.ErrConflict) {
			t.Errorf("%s: the record: %v", level, err)
		}
	}
}

// TestOneSaveWinsAtEveryLevel: of many workers one saves the step, also the
// first one, and of many that end a run or delete it nothing is left half.
func TestOneSaveWinsAtEveryLevel(t *testing.T) {
	for _, level := range levels {
		t.Run(level, func(t *testing.T) {
			address := with(t, fresh(t, server(t)), "default_transaction_isolation", level)
			workers := []*postgres.Store{create(t, address), open(t, address, postgres.Options{}), open(t, address, postgres.Options{})}
			for step := range int64(6) {
				var wins atomic.Int64
				var all sync.WaitGroup
				for i := range 24 {
					all.Go(func() {
						p := place("r")
						if step == 0 {
							p.Incarnation = fmt.Sprint("first ", i)
						} else if last, err := workers[0].Latest(t.Context(), p.Key); err == nil {
							p.Incarnation = last.Incarnation
						}
						w := storetest.Step(p, step, func(c *stores.Checkpoint) { c.Payload = fmt.Append(nil, i) })
						w.Events = []stores.Event{storetest.Event(p, step+1)}
						switch err := workers[i%3].Save(t.Context(), w); {
						case err == nil:
							wins.Add(1)
						case !errors.Is(err, stores.ErrConflict):
							t.Errorf("a loser got %v", err)
						}
					})
				}
				all.Wait()
				if wins.Load() != 1 {
					t.Errorf("step %d: %d workers won", step, wins.Load())
				}
			}
			storetest.Check(t, workers[1])
		})
	}
}

// TestDeleteAgainstSaves: runs are deleted and started anew while workers save,
// record and take leases. What is left keeps every rule.
func TestDeleteAgainstSaves(t *testing.T) {
	s := create(t, fresh(t, server(t)))
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for life := range 12 {
				p := place("r")
				p.Incarnation = fmt.Sprintf("worker %d, life %d", i, life)
				errs := []error{s.Save(t.Context(), storetest.Step(p, 0)), s.RecordCall(t.Context(), stores.CallWrite{Call: storetest.Record(p, 1, 1)}),
					s.Save(t.Context(), storetest.Step(p, 1))}
				if life%3 == 0 {
					errs = append(errs, s.Delete(t.Context(), p.Key))
				}
				for _, err := range errs {
					if err != nil && !errors.Is(err, stores.ErrConflict) && !errors.Is(err, stores.ErrNotFound) {
						t.Errorf("worker %d: %v", i, err)
					}
				}
			}
		})
	}
	all.Wait()
	storetest.Check(t, s)
	if orphans, err := s.Orphans(t.Context(), stores.AnyOwner); err != nil || len(orphans) > 0 {
		t.Errorf("orphans %v, %v", orphans, err)
	}
}

// TestOneOfManyGetsTheLease, and the next one when it has expired by the
// server's clock.
func TestOneOfManyGetsTheLease(t *testing.T) {
	address := fresh(t, server(t))
	s := create(t, address)
	k := place("r").Key
	for round := range 5 {
		var wins atomic.Int64
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				_, err := s.Acquire(t.Context(), k, fmt.Sprint(round, " ", i), time.Hour, false)
				if err == nil {
					wins.Add(1)
				} else if !errors.Is(err, stores.ErrConflict) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if wins.Load() != 1 {
			t.Errorf("round %d: %d got it", round, wins.Load())
		}
		execute(t, address, `UPDATE {leases} SET expires = expires - $1`, (2 * time.Hour).Microseconds())
	}
}

// TestAHeldRunIsBusy: a save that waits for a lock too long gives up for
// certain, and others are not held up.
func TestAHeldRunIsBusy(t *testing.T) {
	address := fresh(t, server(t))
	create(t, address)
	s := open(t, address, postgres.Options{LockTimeout: 100 * time.Millisecond})
	for _, run := range []string{"held", "free"} {
		if err := s.Save(t.Context(), storetest.Step(place(run), 0)); err != nil {
			t.Fatal(err)
		}
	}
	release := hold(t, address, `SELECT FROM {runs} WHERE run = 'held' FOR UPDATE`)
	err := s.Save(t.Context(), storetest.Step(place("held"), 1))
	if !errors.Is(err, stores.ErrBusy) {
		t.Errorf("got %v", err)
	}
	if err := s.Save(t.Context(), storetest.Step(place("free"), 1)); err != nil {
		t.Errorf("another run: %v", err)
	}
	if last, err := s.Latest(t.Context(), place("held").Key); err != nil || last.Step != 0 {
		t.Errorf("reading it: step %d, %v", last.Step, err)
	}
	release()
	if err := s.Save(t.Context(), storetest.Step(place("held"), 1)); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
