package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

// gate is a tool that tells when it was reached and waits to be let go.
type gate struct{ reached, open chan struct{} }

func newGate() gate { return gate{make(chan struct{}), make(chan struct{})} }

func (g gate) pass(context.Context, tool.Input) (any, error) {
	close(g.reached)
	<-g.open
	return "late", nil
}

// Scenario 9: recovery acts on a stale snapshot, or on a run that is alive.
func TestScenario09(t *testing.T) {
	everyStore(t, func(t *testing.T, s full) {
		w := newWorld()
		g := newGate()
		w.do["email_tickets"] = g.pass
		first := runner(t, s, w.ticketTools(), named("first"))
		done := make(chan error, 1)
		go func() {
			_, err := first.Run(ctx, tickets(), start("order-7"))
			done <- err
		}()
		<-g.reached
		second := runner(t, s, w.ticketTools(), named("second"))
		seen, err := engine.MakePlan(ctx, s, testKeys(t), key("order-7"))
		if err != nil {
			t.Fatal(err)
		}
		rerun := engine.RecoverOptions{RerunInDoubt: true, Version: seen.Version}
		if _, err := second.Recover(ctx, tickets(), key("order-7"), rerun); !errors.Is(err, engine.ErrCheckpointConflict) || !strings.Contains(err.Error(), "first") {
			t.Errorf("recovery of a live run: %v", err)
		}
		if err := second.Resolve(ctx, key("order-7"), engine.Resolution{Call: "send.1", NotRun: true, By: "olga"}); !errors.Is(err, engine.ErrCheckpointConflict) {
			t.Errorf("resolving a call that is running: %v", err)
		}
		close(g.open)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		_, err = second.Recover(ctx, tickets(), key("order-7"), rerun)
		if !errors.Is(err, engine.ErrCheckpointConflict) || !strings.Contains(err.Error(), "done") {
			t.Errorf("recovery of a run that finished meanwhile: %v", err)
		}
		if w.count("email_tickets") != 1 {
			t.Errorf("%d mails", w.count("email_tickets"))
		}
		verified(t, s, "order-7")
	})
}

// Scenario 9, second half: two operators recover the same run at once.
func TestScenario09TwoRecoverAtOnce(t *testing.T) {
	everyStore(t, func(t *testing.T, s full) {
		w := newWorld()
		c := &crashing{full: s, at: 6}
		if _, err := runner(t, c, w.ticketTools(), named("dead")).Run(ctx, tickets(), start("order-7")); err == nil {
			t.Fatal("the worker was to die")
		}
		expireLease(t, s, "order-7")
		var wg sync.WaitGroup
		errs := make([]error, 2)
		for i := range errs {
			wg.Go(func() {
				r := runner(t, s, w.ticketTools(), named(fmt.Sprint("op", i)))
				_, errs[i] = r.Recover(ctx, tickets(), key("order-7"), engine.RecoverOptions{RerunInDoubt: true})
			})
		}
		wg.Wait()
		if errs[0] != nil && errs[1] != nil {
			t.Errorf("nobody won: %v", errs)
		}
		for _, err := range errs {
			if err != nil && !errors.Is(err, engine.ErrCheckpointConflict) {
				t.Errorf("loser: %v", err)
			}
		}
		if c, _ := mustLatest(t, s, "order-7"); c.Status != stores.StatusDone || w.count("email_tickets") != 1 {
			t.Errorf("status %s, %d mails", c.Status, w.count("email_tickets"))
		}
		verified(t, s, "order-7")
	})
}

// Both take it over at once, and both have said that what they saw in doubt may
// run again: one of them wins, and the other one's word does not hold for what
// the winner is at.
func TestScenario09TwoTakeOverAtOnce(t *testing.T) {
	everyStore(t, func(t *testing.T, s full) {
		for i := range 10 {
			w, run := newWorld(), fmt.Sprint("order-", i)
			c := &crashing{full: s, at: 6}
			if _, err := runner(t, c, w.ticketTools(), named("dead")).Run(ctx, tickets(), start(run)); err == nil {
				t.Fatal("the worker was to die")
			}
			seen, err := engine.MakePlan(ctx, s, testKeys(t), key(run))
			if err != nil {
				t.Fatal(err)
			}
			var wg sync.WaitGroup
			errs := make([]error, 2)
			for j := range errs {
				wg.Go(func() {
					r := runner(t, s, w.ticketTools(), named(fmt.Sprint("op", j)))
					_, errs[j] = r.Recover(ctx, tickets(), key(run), engine.RecoverOptions{RerunInDoubt: true, Takeover: true, Version: seen.Version})
				})
			}
			wg.Wait()
			won := 0
			for _, err := range errs {
				switch {
				case err == nil:
					won++
				case !errors.Is(err, engine.ErrCheckpointConflict):
					t.Errorf("%s: %v", run, err)
				}
			}
			if won != 1 {
				t.Errorf("%s: %d took it over", run, won)
			}
			for name, n := range w.hits {
				if n > 1 {
					t.Errorf("%s: %s acted %d times", run, name, n)
				}
			}
			verified(t, s, run)
		}
	})
}

// Scenario 10: two writers from one parent. Both workers hold the same
// checkpoint and finish the superstep; one save wins, the loser logs nothing more.
func TestScenario10(t *testing.T) {
	everyStore(t, func(t *testing.T, s full) {
		w := newWorld()
		g := newGate()
		w.do["charge_card"] = g.pass
		done := make(chan error, 1)
		go func() {
			_, err := runner(t, s, w.ticketTools(idempotent), named("slow")).Run(ctx, tickets(), start("order-7"))
			done <- err
		}()
		<-g.reached
		w.mu.Lock()
		w.do["charge_card"] = nil
		w.mu.Unlock()
		res, err := runner(t, s, w.ticketTools(idempotent), named("fast")).Recover(ctx, tickets(), key("order-7"), engine.RecoverOptions{Takeover: true})
		if err != nil || res.Status != stores.StatusDone {
			t.Fatalf("%+v, %v", res, err)
		}
		close(g.open)
		if err := <-done; !errors.Is(err, engine.ErrCheckpointConflict) {
			t.Errorf("the cut-off worker: %v", err)
		}
		if w.count("email_tickets") != 1 {
			t.Errorf("%d mails", w.count("email_tickets"))
		}
		if _, b := mustLatest(t, s, "order-7"); !strings.Contains(string(b.State), `"charge":"charge_card 2"`) {
			t.Errorf("state %s", b.State)
		}
		if log := callList(t, s, "order-7"); !strings.Contains(log, "1.4 pay.1 done") {
			t.Errorf("the late result was lost:\n%s", log)
		}
		verified(t, s, "order-7")
	})
}

// Scenario 10, inside one engine: 40 parallel nodes, none of whose results is lost.
func TestScenario10ParallelNodes(t *testing.T) {
	rounds := 500
	if testing.Short() {
		rounds = 20
	}
	f := engine.NewFlow("wide").Node("start", engine.NodeFunc(func(context.Context, engine.State) (engine.State, error) { return nil, nil }))
	for i := range 40 {
		id := fmt.Sprintf("n%02d", i)
		f.Node(id, engine.NodeFunc(func(context.Context, engine.State) (engine.State, error) {
			return engine.State{id: i}, nil
		})).Edge("start", id)
	}
	s := newStore()
	r := runner(t, s, nil)
	for i := range rounds {
		res, err := r.Run(ctx, f, engine.Start{Key: key(fmt.Sprint("r", i)), State: engine.State{}})
		if err != nil || len(res.State) != 40 {
			t.Fatalf("round %d: %d results, %v", i, len(res.State), err)
		}
	}
}

// Scenario 11: a call whose worker was slow or dead does not run twice. The
// zombie wakes up after another worker took over: it can neither save nor call.
func TestScenario11(t *testing.T) {
	everyStore(t, func(t *testing.T, s full) {
		w := newWorld()
		g := newGate()
		w.do["charge_card"] = g.pass
		done := make(chan error, 1)
		go func() {
			_, err := runner(t, s, w.ticketTools(), named("zombie")).Run(ctx, tickets(), start("order-7"))
			done <- err
		}()
		<-g.reached
		second := runner(t, s, w.ticketTools(), named("second"))
		_, err := second.Recover(ctx, tickets(), key("order-7"), engine.RecoverOptions{Takeover: true})
		if !errors.Is(err, engine.ErrRecoveryNeedsDecision) {
			t.Fatalf("a call that is still running is in doubt: %v", err)
		}
		close(g.open)
		if err := <-done; err != nil {
			t.Fatalf("nobody claimed the run, so its worker goes on: %v", err)
		}
		for _, name := range []string{"hold_seats", "charge_card", "email_tickets"} {
			if w.count(name) != 1 {
				t.Errorf("%s ran %d times", name, w.count(name))
			}
		}
		verified(t, s, "order-7")
	})
}

// Scenario 11: three parallel calls, of which one is done when the worker dies.
func TestScenario11ParallelCalls(t *testing.T) {
	everyStore(t, func(t *testing.T, s full) {
		w := newWorld()
		tools := tool.NewRegistry(w.tool("a"), w.tool("b"), w.tool("c"))
		f := engine.NewFlow("three").Node("start", engine.NodeFunc(func(context.Context, engine.State) (engine.State, error) { return nil, nil }))
		for _, id := range []string{"a", "b", "c"} {
			f.Node(id, engine.Call{Tool: id, Into: id}).Edge("start", id)
		}
		cr := &crashing{full: s, at: math.MaxInt}
		aDone := make(chan struct{})
		var reached sync.WaitGroup
		reached.Add(2)
		wait := func(context.Context, tool.Input) (any, error) {
			reached.Done()
			reached.Wait()
			<-aDone
			cr.mu.Lock()
			cr.at = 0
			cr.mu.Unlock()
			return "ran", nil
		}
		w.do["b"], w.do["c"] = wait, wait
		watched := &watchDone{full: cr, node: "a", done: aDone}
		if _, err := runner(t, watched, tools, named("first")).Run(ctx, f, start("order-7")); err == nil {
			t.Fatal("the worker was to die")
		}
		expireLease(t, s, "order-7")
		second := runner(t, s, tools, named("second"))
		_, err := second.Recover(ctx, f, key("order-7"), engine.RecoverOptions{})
		var e *engine.Error
		if !errors.As(err, &e) || len(e.Calls) != 2 {
			t.Fatalf("b and c are in doubt: %v", err)
		}
		for _, c := range e.Calls {
			if err := second.Resolve(ctx, key("order-7"), engine.Resolution{Call: c.ID, Result: json.RawMessage(`"ran"`), By: "olga"}); err != nil {
				t.Fatal(err)
			}
		}
		res, err := second.Recover(ctx, f, key("order-7"), engine.RecoverOptions{})
		if err != nil || res.Status != stores.StatusDone || len(res.Replayed) != 3 {
			t.Errorf("%+v, %v", res, err)
		}
		for _, name := range []string{"a", "b", "c"} {
			if w.count(name) != 1 {
				t.Errorf("%s ran %d times", name, w.count(name))
			}
		}
		verified(t, s, "order-7")
	})
}

func nothing(context.Context, engine.State) (engine.State, error) { return nil, nil }

// watchDone closes a channel when a node's call was recorded as done.
type watchDone struct {
	full
	node string
	done chan struct{}
}

func (w *watchDone) RecordCall(ctx context.Context, c stores.CallWrite) error {
	err := w.full.RecordCall(ctx, c)
	if err == nil && c.Call.Node == w.node && c.Call.Status == stores.CallDone {
		close(w.done)
	}
	return err
}
