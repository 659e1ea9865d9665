package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

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
