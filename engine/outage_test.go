package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

// outage is a store that is away for a while.
type outage struct {
	full
	away atomic.Bool
	ops  atomic.Int64
	from int64 // operation at which it goes away, 0: never by itself
}

func (o *outage) gone() error {
	if n := o.ops.Add(1); o.from > 0 && n == o.from {
		o.away.Store(true)
	}
	if o.away.Load() {
		return fmt.Errorf("%w: connection refused", stores.ErrUnavailable)
	}
	return nil
}

func (o *outage) Save(ctx context.Context, s stores.Save) error {
	if err := o.gone(); err != nil {
		return err
	}
	return o.full.Save(ctx, s)
}

func (o *outage) RecordCall(ctx context.Context, w stores.CallWrite) error {
	if err := o.gone(); err != nil {
		return err
	}
	return o.full.RecordCall(ctx, w)
}

func (o *outage) Latest(ctx context.Context, k stores.Key) (stores.Checkpoint, error) {
	if err := o.gone(); err != nil {
		return stores.Checkpoint{}, err
	}
	return o.full.Latest(ctx, k)
}

func (o *outage) Calls(ctx context.Context, k stores.Key, since int64) ([]stores.Call, error) {
	if err := o.gone(); err != nil {
		return nil, err
	}
	return o.full.Calls(ctx, k, since)
}

// Scenario 13: the store goes away in the middle of recovering 100 runs. Each
// run has a result or a reason, none has a wrong status, and doing it again
// finishes them all; every tool acts once.
func TestScenario13StoreOutageWhileRecoveringAll(t *testing.T) {
	const runs = 100
	for _, from := range []int64{1, 5, 200, 900} {
		s, w := newStore(), newWorld()
		tools := w.ticketTools()
		for i := range runs {
			c := &crashing{full: s, at: 6}
			if _, err := runner(t, c, tools).Run(ctx, tickets(), start(fmt.Sprint("order-", i))); err == nil {
				t.Fatal("the worker was to die")
			}
			expireLease(t, s, fmt.Sprint("order-", i))
		}
		flows := func(string) (*engine.Flow, error) { return tickets(), nil }
		o := &outage{full: s, from: from}
		first, err := runner(t, o, tools).RecoverAll(ctx, stores.DefaultOwner, flows, engine.RecoverOptions{})
		if err != nil || len(first) != runs {
			t.Fatalf("from %d: %d results, %v", from, len(first), err)
		}
		done, failed := 0, 0
		for k, one := range first {
			last, _ := mustLatest(t, s, k.Run)
			switch {
			case one.Err == nil && one.Result.Status == stores.StatusDone && last.Status == stores.StatusDone:
				done++
			case one.Err != nil && one.Err.Error() != "" && last.Status != stores.StatusFailed:
				failed++
			default:
				t.Errorf("from %d: %s: %+v, stored as %s", from, k.Run, one, last.Status)
			}
		}
		if done+failed != runs || failed == 0 {
			t.Errorf("from %d: %d done, %d failed", from, done, failed)
		}
		// The store is back. What was in a call when it went is in doubt: nobody
		// has heard of its result. All else is finished by doing it again.
		second, err := runner(t, s, tools).RecoverAll(ctx, stores.DefaultOwner, flows, engine.RecoverOptions{Takeover: true})
		if err != nil {
			t.Fatal(err)
		}
		for k, one := range second {
			if one.Err != nil && !errors.Is(one.Err, engine.ErrRecoveryNeedsDecision) {
				t.Errorf("from %d: %s again: %v", from, k.Run, one.Err)
			}
		}
		for i := range runs {
			run := fmt.Sprint("order-", i)
			if last, _ := mustLatest(t, s, run); last.Status == stores.StatusFailed {
				t.Errorf("from %d: %s is failed", from, run)
			}
			verified(t, s, run)
		}
		for name, n := range w.hits {
			if n > runs {
				t.Errorf("from %d: %s acted %d times for %d runs", from, name, n, runs)
			}
		}
	}
}

// A denial that comes while the run is being finished says whether it took
// effect: exactly one of the two decisions does.
func TestScenario13DenyAtTheSameTime(t *testing.T) {
	for range 30 {
		s, w := newStore(), newWorld()
		if _, err := runner(t, s, w.shop()).Run(ctx, tickets(), start("order-7")); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		errs := map[string]error{}
		var mu sync.Mutex
		for _, typ := range []string{engine.DecideApprove, engine.DecideDeny} {
			wg.Go(func() {
				_, err := runner(t, s, w.shop()).Resume(ctx, tickets(), key("order-7"), engine.Decide{Type: typ, ID: "pay.1", By: "by-" + typ})
				mu.Lock()
				defer mu.Unlock()
				errs[typ] = err
			})
		}
		wg.Wait()
		last, _ := mustLatest(t, s, "order-7")
		approved := errs[engine.DecideApprove] == nil
		if approved == (errs[engine.DecideDeny] == nil) {
			t.Fatalf("both or none took effect: %v", errs)
		}
		want, hits, loser := stores.StatusDone, 1, errs[engine.DecideDeny]
		if !approved {
			want, hits, loser = stores.StatusFailed, 0, errs[engine.DecideApprove]
		}
		if last.Status != want || w.count("charge_card") != hits || !errors.Is(loser, engine.ErrCheckpointConflict) {
			t.Errorf("approved %v: it is %s, %d charged, the loser hears %v", approved, last.Status, w.count("charge_card"), loser)
		}
	}
}

// A worker that is told to stop leaves each run as it is: in a call, waiting
// for an approval, between supersteps.
func TestScenario13ShutdownIsNoFactOfTheRun(t *testing.T) {
	for name, c := range map[string]struct {
		stopIn string
		want   stores.Status
	}{
		"in a call":           {"charge_card", stores.StatusRunning},
		"between supersteps":  {"between", stores.StatusRunning},
		"while it is paused":  {"paused", stores.StatusPaused},
		"in a call that ends": {"email_tickets", stores.StatusRunning},
	} {
		s, w := newStore(), newWorld()
		cancelled, stop := context.WithCancelCause(ctx)
		told := errors.New("SIGTERM")
		w.do["charge_card"] = func(ctx context.Context, _ tool.Input) (any, error) {
			if c.stopIn == "charge_card" {
				stop(told)
				return nil, context.Cause(ctx)
			}
			return "paid", nil
		}
		w.do["email_tickets"] = func(context.Context, tool.Input) (any, error) {
			stop(told) // and still does what it was called for
			return "sent", nil
		}
		w.do["hold_seats"] = func(context.Context, tool.Input) (any, error) {
			if c.stopIn == "between" {
				stop(told)
			}
			return "held", nil
		}
		tools := w.ticketTools()
		if c.stopIn == "paused" {
			tools = w.shop()
		}
		_, err := runner(t, s, tools).Run(cancelled, tickets(), start("order-7"))
		stop(told)
		last, b := mustLatest(t, s, "order-7")
		if last.Status != c.want || b.Error != nil {
			t.Errorf("%s: the run is %s, %+v", name, last.Status, b.Error)
		}
		if c.want == stores.StatusRunning && !errors.Is(err, told) {
			t.Errorf("%s: error %v", name, err)
		}
		rows, _ := s.Calls(ctx, key("order-7"), 0)
		for _, r := range rows {
			if strings.Contains(string(r.Payload), "SIGTERM") || strings.Contains(string(r.Payload), "canceled") {
				t.Errorf("%s: the log says %s", name, r.Payload)
			}
		}
		if c.stopIn == "email_tickets" && !strings.HasSuffix(callList(t, s, "order-7"), "send.1 done") {
			t.Errorf("%s: what returned is kept:\n%s", name, callList(t, s, "order-7"))
		}
		verified(t, s, "order-7")
	}
}
