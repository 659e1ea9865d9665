package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/postgres"
	"github.com/flowtui/flowtui/stores/storetest"
)

// behind opens a store through a proxy; the other handle goes straight to it.
func behind(t *testing.T) (p *proxy, through, straight *postgres.Store) {
	t.Helper()
	p = newProxy(t, server(t))
	address := fresh(t, p.url)
	through = create(t, address)
	return p, through, open(t, with(t, server(t), "schema", schemaOf(t, address)), postgres.Options{})
}

// writes are the ways to write of which it must be clear what became of them.
var writes = map[string]struct {
	do   func(ctx context.Context, s *postgres.Store, p stores.Place) error
	done func(ctx context.Context, s *postgres.Store, p stores.Place) (bool, error)
}{
	"save": {
		func(ctx context.Context, s *postgres.Store, p stores.Place) error {
			w := storetest.Step(p, 1)
			w.Events = []stores.Event{storetest.Event(p, 1)}
			return s.Save(ctx, w)
		},
		func(ctx context.Context, s *postgres.Store, p stores.Place) (bool, error) {
			last, err := s.Latest(ctx, p.Key)
			return last.Step == 1, err
		},
	},
	"record call": {
		func(ctx context.Context, s *postgres.Store, p stores.Place) error {
			return s.RecordCall(ctx, stores.CallWrite{Call: storetest.Record(p, 1, 1), Events: []stores.Event{storetest.Event(p, 1)}})
		},
		func(ctx context.Context, s *postgres.Store, p stores.Place) (bool, error) {
			calls, err := s.Calls(ctx, p.Key, 0)
			return len(calls) == 1, err
		},
	},
	"delete": {
		func(ctx context.Context, s *postgres.Store, p stores.Place) error { return s.Delete(ctx, p.Key) },
		func(ctx context.Context, s *postgres.Store, p stores.Place) (bool, error) {
			_, err := s.Latest(ctx, p.Key)
			if errors.Is(err, stores.ErrNotFound) {
				return true, nil
			}
			return false, err
		},
	},
}

// TestScenario03TheAnswerToCommitIsLost: the write took effect, and the writer
// hears that nobody knows; done again it is a conflict, never a second row.
func TestScenario03TheAnswerToCommitIsLost(t *testing.T) {
	for name, w := range writes {
		t.Run(name, func(t *testing.T) {
			p, through, straight := behind(t)
			run := place("r")
			if err := through.Save(t.Context(), storetest.Step(run, 0)); err != nil {
				t.Fatal(err)
			}
			p.at(1, fault{forward: everything, drop: true})
			if err := w.do(t.Context(), through, run); !errors.Is(err, stores.ErrUnknown) {
				t.Fatalf("got %v", err)
			}
			if done, err := w.done(t.Context(), through, run); err != nil || !done {
				t.Errorf("read back: %v, %v", done, err)
			}
			if err := w.do(t.Context(), through, run); !errors.Is(err, stores.ErrConflict) && !errors.Is(err, stores.ErrNotFound) {
				t.Errorf("done again: %v", err)
			}
			storetest.Check(t, straight)
		})
	}
}

// TestScenario03TheWriteIsCutOff: of a write that broke off at any byte nothing
// is there, and the writer does not hear that it failed for certain, because it
// cannot know.
func TestScenario03TheWriteIsCutOff(t *testing.T) {
	for name, w := range writes {
		t.Run(name, func(t *testing.T) {
			p, through, straight := behind(t)
			for i, bytes := range []int{0, 1, 40, 200, 400, 800, 1200} {
				run := place(fmt.Sprint("run ", i))
				if err := through.Save(t.Context(), storetest.Step(run, 0)); err != nil {
					t.Fatal(err)
				}
				p.at(1, fault{forward: bytes, drop: true})
				err := w.do(t.Context(), through, run)
				done, readErr := w.done(t.Context(), straight, run)
				if !errors.Is(err, stores.ErrUnknown) || readErr != nil {
					t.Fatalf("cut after %d bytes: %v, %v", bytes, err, readErr)
				}
				if again := w.do(t.Context(), through, run); done != (again != nil) {
					t.Errorf("cut after %d bytes: done %v, and done again %v", bytes, done, again)
				}
			}
			storetest.Check(t, straight)
		})
	}
}

// TestScenario03TheAnswerIsLate: whoever waits no longer hears both that its time
// is up and that the outcome is unknown; the write is there when it is.
func TestScenario03TheAnswerIsLate(t *testing.T) {
	p, through, straight := behind(t)
	run := place("r")
	if err := through.Save(t.Context(), storetest.Step(run, 0)); err != nil {
		t.Fatal(err)
	}
	hold := make(chan struct{})
	p.at(1, fault{forward: everything, hold: hold})
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	err := through.Save(ctx, storetest.Step(run, 1))
	if !errors.Is(err, stores.ErrUnknown) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	close(hold)
	if last, err := straight.Latest(t.Context(), run.Key); err != nil || last.Step != 1 {
		t.Errorf("latest is step %d, %v", last.Step, err)
	}
	if err := through.Save(t.Context(), storetest.Step(run, 2)); err != nil {
		t.Errorf("the next step: %v", err)
	}
}

// TestAWriteUnderWayIsHeardOut: a worker that is told to stop while its save is
// on the way learns that it was saved.
func TestAWriteUnderWayIsHeardOut(t *testing.T) {
	p, through, _ := behind(t)
	run := place("r")
	if err := through.Save(t.Context(), storetest.Step(run, 0)); err != nil {
		t.Fatal(err)
	}
	hold := make(chan struct{})
	p.at(1, fault{forward: everything, hold: hold})
	ctx, cancel := context.WithCancel(t.Context())
	saved := make(chan error, 1)
	go func() { saved <- through.Save(ctx, storetest.Step(run, 1)) }()
	eventually(t, "the save is on its way", func() bool { return p.seen() == 1 })
	cancel()
	close(hold)
	if err := <-saved; err != nil {
		t.Errorf("got %v", err)
	}
}

// TestALeaseWhoseAnswerIsLostIsLookedUp: to have it is all that counts.
func TestALeaseWhoseAnswerIsLostIsLookedUp(t *testing.T) {
	p, through, straight := behind(t)
	k := place("r").Key
	for n, do := range []func() (stores.Lease, error){
		func() (stores.Lease, error) { return through.Acquire(t.Context(), k, "worker", time.Hour, false) },
		func() (stores.Lease, error) { return through.Renew(t.Context(), k, "worker", time.Hour) },
	} {
		p.at(1, fault{forward: everything, drop: true})
		got, err := do()
		stored, readErr := straight.Lease(t.Context(), k)
		if err != nil || readErr != nil || stored == nil || got != *stored || got.Holder != "worker" {
			t.Errorf("%d: %+v, %v; stored %+v, %v", n, got, err, stored, readErr)
		}
	}
	p.at(1, fault{drop: true})
	if _, err := through.Acquire(t.Context(), place("other").Key, "worker", time.Hour, false); !errors.Is(err, stores.ErrUnknown) {
		t.Errorf("one that was not given: %v", err)
	}
}

// TestRefusalsOfTheServer: what a code of the server means for a write.
func TestRefusalsOfTheServer(t *testing.T) {
	p, through, straight := behind(t)
	run := place("r")
	if err := through.Save(t.Context(), storetest.Step(run, 0)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		severity, code string
		want           error
	}{
		{"ERROR", "53100", stores.ErrFull},        // disk_full
		{"ERROR", "40001", stores.ErrBusy},        // serialization_failure
		{"ERROR", "40P01", stores.ErrBusy},        // deadlock_detected
		{"ERROR", "40003", stores.ErrUnknown},     // statement_completion_unknown
		{"ERROR", "55P03", stores.ErrBusy},        // lock_not_available
		{"ERROR", "57014", stores.ErrBusy},        // query_canceled
		{"ERROR", "23505", stores.ErrConflict},    // unique_violation
		{"ERROR", "25006", stores.ErrReadOnly},    // read_only_sql_transaction
		{"ERROR", "42501", stores.ErrReadOnly},    // insufficient_privilege
		{"ERROR", "42P01", stores.ErrUnreadable},  // undefined_table
		{"ERROR", "XX001", stores.ErrUnreadable},  // data_corrupted
		{"ERROR", "22P05", stores.ErrInvalid},     // untranslatable_character
		{"FATAL", "57P01", stores.ErrUnavailable}, // admin_shutdown
		{"FATAL", "57P03", stores.ErrUnavailable}, // cannot_connect_now
		{"FATAL", "53300", stores.ErrUnavailable}, // too_many_connections
		{"FATAL", "08P01", stores.ErrUnknown},     // what pgbouncer says when its server is gone
		{"PANIC", "XX000", stores.ErrUnknown},     // internal_error
	} {
		p.at(1, fault{answer: refusal(c.severity, c.code)})
		err := through.Save(t.Context(), storetest.Step(run, 1))
		if !errors.Is(err, c.want) || c.want != stores.ErrUnknown && errors.Is(err, stores.ErrUnknown) {
			t.Errorf("%s %s: got %v, want %v", c.severity, c.code, err, c.want)
		}
	}
	if err := through.Save(t.Context(), storetest.Step(run, 1)); err != nil {
		t.Errorf("after all that: %v", err)
	}
	storetest.Check(t, straight)
}
