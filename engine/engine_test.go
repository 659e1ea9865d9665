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

	"github.com/google/go-cmp/cmp"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

func TestTicketsRunsToTheEnd(t *testing.T) {
	s, w := newStore(), newWorld()
	res, err := runner(t, s, w.ticketTools()).Run(ctx, tickets(), start("order-7"))
	if err != nil {
		t.Fatal(err)
	}
	want := engine.State{
		"show": "Hamlet", "seats": json.Number("2"),
		"note": "hold_seats 1", "charge": "charge_card 1", "mail": "email_tickets 1",
	}
	if diff := cmp.Diff(want, res.State); diff != "" || res.Status != stores.StatusDone || res.Step != 3 {
		t.Errorf("status %s, step %d, state %s", res.Status, res.Step, diff)
	}
	wantLog := "1.1 hold.1 started\n1.2 hold.1 done\n1.3 pay.1 started\n1.4 pay.1 done\n1.5 send.1 started\n1.6 send.1 done"
	if diff := cmp.Diff(wantLog, callList(t, s, "order-7")); diff != "" {
		t.Error(diff)
	}
	verified(t, s, "order-7")
}

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

func TestApproval(t *testing.T) {
	flow := func() (*world, *tool.Registry) {
		w := newWorld()
		return w, tool.NewRegistry(w.tool("hold_seats"), w.tool("charge_card", needsOK), w.tool("email_tickets"))
	}
	t.Run("approve", func(t *testing.T) {
		s := newStore()
		w, tools := flow()
		r := runner(t, s, tools)
		res, err := r.Run(ctx, tickets(), start("order-7"))
		if err != nil || res.Status != stores.StatusPaused || len(res.Waiting) != 1 || res.Waiting[0].ID != "pay.1" || w.count("charge_card") != 0 {
			t.Fatalf("%+v, %v", res, err)
		}
		verified(t, s, "order-7")
		again, err := r.Recover(ctx, tickets(), key("order-7"), engine.RecoverOptions{})
		if err != nil || again.Status != stores.StatusPaused || again.Step != res.Step {
			t.Errorf("recover of a paused run: %+v, %v", again, err)
		}
		res, err = r.Resume(ctx, tickets(), key("order-7"), engine.Decide{Type: engine.DecideApprove, By: "ana"})
		if err != nil || res.Status != stores.StatusDone || w.count("charge_card") != 1 || w.count("hold_seats") != 1 {
			t.Errorf("%+v, %v, %v", res, err, w.hits)
		}
		_, err = r.Resume(ctx, tickets(), key("order-7"), engine.Decide{Type: engine.DecideApprove, By: "ben"})
		if !errors.Is(err, engine.ErrCheckpointConflict) || !strings.Contains(err.Error(), "ana approved pay.1") {
			t.Errorf("second approval: %v", err)
		}
		verified(t, s, "order-7")
	})
	t.Run("deny", func(t *testing.T) {
		s := newStore()
		w, tools := flow()
		r := runner(t, s, tools)
		if _, err := r.Run(ctx, tickets(), start("order-7")); err != nil {
			t.Fatal(err)
		}
		res, err := r.Resume(ctx, tickets(), key("order-7"), engine.Decide{Type: engine.DecideDeny, By: "ana", Note: "too dear"})
		if err != nil || res.Status != stores.StatusFailed || !strings.Contains(res.Error, "charge_card was denied by ana: too dear") || w.count("charge_card") != 0 {
			t.Errorf("%+v, %v", res, err)
		}
		verified(t, s, "order-7")
	})
	t.Run("deny with an error edge", func(t *testing.T) {
		s := newStore()
		w, tools := flow()
		f := tickets().Node("release", engine.NodeFunc(func(_ context.Context, st engine.State) (engine.State, error) {
			return engine.State{"released": true}, nil
		})).OnError("pay", "release")
		r := runner(t, s, tools)
		if _, err := r.Run(ctx, f, start("order-7")); err != nil {
			t.Fatal(err)
		}
		res, err := r.Resume(ctx, f, key("order-7"), engine.Decide{Type: engine.DecideDeny, By: "ana"})
		if err != nil || res.Status != stores.StatusDone || res.State["released"] != true || w.count("email_tickets") != 0 {
			t.Errorf("%+v, %v", res, err)
		}
	})
	t.Run("stored, then spent by a recovery", func(t *testing.T) {
		s := newStore()
		w, tools := flow()
		r := runner(t, s, tools)
		if _, err := r.Run(ctx, tickets(), start("order-7")); err != nil {
			t.Fatal(err)
		}
		res, err := r.Record(ctx, key("order-7"), engine.Decide{Type: engine.DecideApprove, By: "ana"})
		if err != nil || res.Status != stores.StatusRunning || w.count("charge_card") != 0 {
			t.Fatalf("%+v, %v", res, err)
		}
		p, err := engine.MakePlan(ctx, s, testKeys(t), key("order-7"))
		if err != nil || len(p.Decisions) != 1 || p.Decisions[0].By != "ana" {
			t.Errorf("plan %+v, %v", p, err)
		}
		res, err = r.Recover(ctx, tickets(), key("order-7"), engine.RecoverOptions{})
		if err != nil || res.Status != stores.StatusDone || w.count("charge_card") != 1 {
			t.Errorf("%+v, %v", res, err)
		}
		if _, b := mustLatest(t, s, "order-7"); len(b.Decisions) != 0 {
			t.Errorf("the decision is not spent: %+v", b.Decisions)
		}
		verified(t, s, "order-7")
	})
}

func TestApproversRace(t *testing.T) {
	for range 20 {
		s, w := newStore(), newWorld()
		tools := tool.NewRegistry(w.tool("hold_seats"), w.tool("charge_card", needsOK), w.tool("email_tickets"))
		if _, err := runner(t, s, tools).Run(ctx, tickets(), start("order-7")); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		errs := make([]error, 4)
		for i := range errs {
			wg.Go(func() {
				r := runner(t, s, tools)
				_, errs[i] = r.Resume(ctx, tickets(), key("order-7"), engine.Decide{Type: engine.DecideApprove, By: fmt.Sprintf("op%d", i)})
			})
		}
		wg.Wait()
		won := 0
		for _, err := range errs {
			if err == nil {
				won++
			} else if !errors.Is(err, engine.ErrCheckpointConflict) {
				t.Errorf("loser: %v", err)
			}
		}
		if won != 1 || w.count("charge_card") != 1 {
			t.Errorf("%d won, %d charges, %v", won, w.count("charge_card"), errs)
		}
		verified(t, s, "order-7")
	}
}

func TestInterrupt(t *testing.T) {
	f := engine.NewFlow("approval").
		Node("ask", engine.Interrupt{Key: "approved", Prompt: func(s engine.State) (string, error) { return fmt.Sprintf("Approve %v?", s["plan"]), nil }}).
		Node("end", engine.NodeFunc(func(_ context.Context, s engine.State) (engine.State, error) {
			return engine.State{"final": s["approved"]}, nil
		})).Edge("ask", "end")
	s := newStore()
	r := runner(t, s, nil)
	res, err := r.Run(ctx, f, engine.Start{Key: key("order-7"), State: engine.State{"plan": "B"}})
	if err != nil || res.Status != stores.StatusPaused || res.Waiting[0].Prompt != "Approve B?" || res.Waiting[0].Key != "approved" {
		t.Fatalf("%+v, %v", res, err)
	}
	for _, falsy := range []string{`false`, `0`, `""`, `null`, `{}`, `9007199254740993`} {
		run := "falsy-" + falsy
		if _, err := r.Run(ctx, f, engine.Start{Key: key(run), State: engine.State{"plan": "B"}}); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Resume(ctx, f, key(run), engine.Decide{Type: engine.DecideAnswer, ID: "approved", Value: json.RawMessage(falsy), By: "ana"}); err != nil {
			t.Fatal(err)
		}
		_, b := mustLatest(t, s, run)
		if want := fmt.Sprintf(`{"approved":%s,"final":%s,"plan":"B"}`, falsy, falsy); string(b.State) != want {
			t.Errorf("state %s, want %s", b.State, want)
		}
		verified(t, s, run)
	}
	if _, err := r.Resume(ctx, f, key("order-7"), engine.Decide{Type: engine.DecideAnswer, ID: "other", Value: json.RawMessage(`1`), By: "ana"}); !errors.Is(err, engine.ErrCheckpointConflict) {
		t.Errorf("answer for an unknown interrupt: %v", err)
	}
}

func TestParallelFrontierMergesInNodeOrder(t *testing.T) {
	const n = 40
	f := engine.NewFlow("wide").Reduce("log", engine.Append)
	f.Node("start", engine.NodeFunc(func(context.Context, engine.State) (engine.State, error) {
		return engine.State{"log": []any{}}, nil
	}))
	var tools []tool.Tool
	w := newWorld()
	var want []any
	for i := range n {
		id := fmt.Sprintf("n%02d", i)
		tools = append(tools, w.tool("tool-"+id))
		f.Node(id, engine.Call{Tool: "tool-" + id, Into: "log"}).Edge("start", id)
		want = append(want, fmt.Sprintf("tool-%s 1", id))
	}
	s := newStore()
	res, err := runner(t, s, tool.NewRegistry(tools...)).Run(ctx, f, start("order-7"))
	if err != nil || res.Step != 2 {
		t.Fatalf("%+v, %v", res, err)
	}
	if diff := cmp.Diff(want, res.State["log"]); diff != "" {
		t.Error(diff)
	}
	verified(t, s, "order-7")
}

func TestGraphChangeIsAFlowError(t *testing.T) {
	s, w := newStore(), newWorld()
	crashIn(t, s, w, "email_tickets", tickets(), w.ticketTools(idempotent))
	changed := tickets().Node("survey", engine.Call{Tool: "hold_seats"}).Edge("send", "survey")
	_, err := runner(t, s, w.ticketTools(idempotent)).Recover(ctx, changed, key("order-7"), engine.RecoverOptions{Takeover: true})
	if !errors.Is(err, engine.ErrFlow) {
		t.Errorf("error %v", err)
	}
}

func TestUnreplayedCallRunsAgainAndIsReported(t *testing.T) {
	s, w := newStore(), newWorld()
	extra := "first"
	f := func() *engine.Flow {
		return engine.NewFlow("two").Node("n", engine.NodeFunc(func(ctx context.Context, _ engine.State) (engine.State, error) {
			if _, err := engine.CallTool(ctx, "hold_seats", map[string]any{"extra": extra}); err != nil {
				return nil, err
			}
			_, err := engine.CallTool(ctx, "email_tickets", nil)
			return nil, err
		}))
	}
	tools := w.ticketTools(idempotent)
	crashIn(t, s, w, "email_tickets", f(), tools)
	extra = "second"
	var saved []stores.Event
	r := runner(t, s, tools, func(c *engine.Config) { c.Events = func(e stores.Event) { saved = append(saved, e) } })
	res, err := r.Recover(ctx, f(), key("order-7"), engine.RecoverOptions{Takeover: true})
	if err != nil || w.count("hold_seats") != 2 {
		t.Fatalf("%+v, %v", res, err)
	}
	if diff := cmp.Diff([]string{"n.1"}, res.Unreplayed); diff != "" {
		t.Error(diff)
	}
	last := saved[len(saved)-1]
	if last.Type != engine.EventSaved || !strings.Contains(string(last.Payload), `"unreplayed":["n.1"]`) {
		t.Errorf("event %s %s", last.Type, last.Payload)
	}
}

func TestIdentity(t *testing.T) {
	s, w := newStore(), newWorld()
	tools := tool.NewRegistry(w.tool("hold_seats"), w.tool("charge_card"), w.tool("email_tickets", idempotent))
	die := func(run string, id stores.Identity) {
		c := &crashing{full: s, at: 6}
		if _, err := runner(t, c, tools).Run(ctx, tickets(), engine.Start{Key: key(run), State: order(), Identity: id}); err == nil {
			t.Fatal("the worker was to die")
		}
	}
	die("a", stores.Identity{User: "alice", Thread: "t1"})
	die("b", stores.Identity{User: "alice", Principal: "svc"})
	r := runner(t, s, tools)
	rec := func(run string, id stores.Identity) error {
		_, err := r.Recover(ctx, tickets(), key(run), engine.RecoverOptions{Takeover: true, Identity: id, RerunInDoubt: true})
		return err
	}
	if err := rec("a", stores.Identity{User: "bob"}); !errors.Is(err, engine.ErrRefused) {
		t.Errorf("another user: %v", err)
	}
	if err := rec("a", stores.Identity{}); err != nil {
		t.Errorf("without identity: %v", err)
	}
	if c, _ := mustLatest(t, s, "a"); c.User != "alice" || c.Thread != "t1" {
		t.Errorf("identity %+v", c.Identity)
	}
	if err := rec("b", stores.Identity{}); !errors.Is(err, engine.ErrRefused) {
		t.Errorf("principal missing: %v", err)
	}
	if err := rec("b", stores.Identity{Principal: "svc"}); err != nil {
		t.Errorf("principal given: %v", err)
	}
}
