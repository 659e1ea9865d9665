package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

// The worker dies at every store operation, before it and after it. A second
// worker brings the run on; in doubt, an operator who looks at the world says
// what happened. No tool hits the world twice, and the run ends the same.
func TestCrashAtEveryStoreOperation(t *testing.T) {
	for _, after := range []bool{false, true} {
		for at := 1; ; at++ {
			s, w := newStore(), newWorld()
			c := &crashing{full: s, at: at, after: after}
			_, err := runner(t, c, w.ticketTools()).Run(ctx, tickets(), start("order-7"))
			if err == nil {
				if at < 10 {
					t.Fatalf("only %d operations", at)
				}
				break
			}
			t.Run(fmt.Sprintf("op%d,after=%v", at, after), func(t *testing.T) { bringHome(t, s, w) })
		}
	}
}

func bringHome(t *testing.T, s full, w *world) {
	expireLease(t, s, "order-7")
	second := runner(t, s, w.ticketTools(), named("second"))
	_, err := second.Recover(ctx, tickets(), key("order-7"), engine.RecoverOptions{})
	if errors.Is(err, engine.ErrCheckpointNotFound) {
		_, err = second.Run(ctx, tickets(), start("order-7"))
	}
	var e *engine.Error
	if errors.Is(err, engine.ErrRecoveryNeedsDecision) && errors.As(err, &e) {
		for _, c := range e.Calls {
			res := engine.Resolution{Call: c.ID, By: "olga"}
			if w.count(c.Tool) == 0 {
				res.NotRun = true
			} else {
				res.Result = json.RawMessage(fmt.Sprintf(`"%s 1"`, c.Tool))
			}
			if err := second.Resolve(ctx, key("order-7"), res); err != nil {
				t.Fatal(err)
			}
		}
		_, err = second.Recover(ctx, tickets(), key("order-7"), engine.RecoverOptions{})
	}
	if err != nil && !strings.Contains(err.Error(), "it has ended") {
		t.Fatal(err)
	}
	cp, b := mustLatest(t, s, "order-7")
	if cp.Status != stores.StatusDone {
		t.Errorf("status %s", cp.Status)
	}
	want := `{"charge":"charge_card 1","mail":"email_tickets 1","note":"hold_seats 1","seats":2,"show":"Hamlet"}`
	if string(b.State) != want {
		t.Errorf("state %s", b.State)
	}
	for name, n := range w.hits {
		if n > 1 {
			t.Errorf("%s hit the world %d times", name, n)
		}
	}
	verified(t, s, "order-7")
}

// expireLease does at once what time does to a dead worker's lease.
func expireLease(t *testing.T, s full, run string) {
	t.Helper()
	l, err := s.Lease(ctx, key(run))
	if err == nil && l != nil {
		err = s.Release(ctx, key(run), l.Holder)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// crashIn runs the flow until a tool's call, and dies inside it: the effect
// happened, nothing was recorded.
func crashIn(t *testing.T, s full, w *world, name string, f *engine.Flow, tools *tool.Registry) {
	t.Helper()
	dead := false
	c := &crashing{full: s, at: math.MaxInt}
	w.do[name] = func(context.Context, tool.Input) (any, error) {
		c.mu.Lock()
		if !dead {
			c.at, dead = 0, true
		}
		c.mu.Unlock()
		return name + " ran", nil
	}
	if _, err := runner(t, c, tools, named("first")).Run(ctx, f, start("order-7")); err == nil {
		t.Fatal("the worker was to die")
	}
}

func TestInDoubtFailsClosedAndChangesNothing(t *testing.T) {
	s, w := newStore(), newWorld()
	crashIn(t, s, w, "email_tickets", tickets(), w.ticketTools())
	before, calls := mustLatestRow(t, s), callList(t, s, "order-7")
	second := runner(t, s, w.ticketTools(), named("second"))
	_, err := second.Recover(ctx, tickets(), key("order-7"), engine.RecoverOptions{Takeover: true})
	var e *engine.Error
	if !errors.Is(err, engine.ErrRecoveryNeedsDecision) || !errors.As(err, &e) || len(e.Calls) != 1 || e.Calls[0].Tool != "email_tickets" {
		t.Fatalf("error %v", err)
	}
	if diff := cmp.Diff(before, mustLatestRow(t, s)); diff != "" || calls != callList(t, s, "order-7") {
		t.Errorf("recover changed the store: %s", diff)
	}
	p, err := engine.MakePlan(ctx, s, testKeys(t), key("order-7"))
	if err != nil || p.Action != engine.PlanRecover || len(p.InDoubt) != 1 || p.InDoubt[0].ID != "send.1" || len(p.Replay) != 0 {
		t.Errorf("plan %+v, %v", p, err)
	}
	res, err := second.Recover(ctx, tickets(), key("order-7"), engine.RecoverOptions{Takeover: true, RerunInDoubt: true})
	if err != nil || res.Status != stores.StatusDone || w.count("email_tickets") != 2 || w.count("charge_card") != 1 {
		t.Errorf("rerun: %+v, %v, hits %v", res, err, w.hits)
	}
	if diff := cmp.Diff([]string{"send.1"}, res.Rerun); diff != "" {
		t.Error(diff)
	}
	if k := w.keys["email_tickets"]; k[0] != k[1] || k[0] == "" {
		t.Errorf("idempotency keys differ: %v", k)
	}
	verified(t, s, "order-7")
}

func mustLatestRow(t testing.TB, s full) stores.Checkpoint {
	c, _ := mustLatest(t, s, "order-7")
	return c
}

func TestIdempotentCallRunsAgain(t *testing.T) {
	s, w := newStore(), newWorld()
	tools := w.ticketTools(idempotent)
	crashIn(t, s, w, "email_tickets", tickets(), tools)
	res, err := runner(t, s, tools, named("second")).Recover(ctx, tickets(), key("order-7"), engine.RecoverOptions{Takeover: true})
	if err != nil || res.Status != stores.StatusDone || w.count("email_tickets") != 2 {
		t.Errorf("%+v, %v", res, err)
	}
}
