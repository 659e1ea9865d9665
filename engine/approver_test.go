package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

func asking(a engine.Approver) func(*engine.Config) {
	return func(c *engine.Config) { c.Approver = a }
}

func says(a engine.Answer) engine.Approver {
	return func(context.Context, engine.Approval) (engine.Answer, error) { return a, nil }
}

// paying is one call that needs an approval.
func paying(w *world) (*engine.Flow, *tool.Registry) {
	f := engine.NewFlow("pay").Node("pay", engine.Call{
		Tool: "charge_card", Into: "charge",
		Args: func(s engine.State) (any, error) { return map[string]any{"seats": s["seats"]}, nil },
	})
	return f, tool.NewRegistry(w.tool("charge_card", needsOK))
}

func decisions(t *testing.T, s full, run string) string {
	t.Helper()
	events, err := s.Events(ctx, key(run), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range events {
		if e.Type == engine.EventDecision {
			out = append(out, string(e.Payload))
		}
	}
	return strings.Join(out, "\n")
}

func TestApproverIsAskedBeforeTheCallRuns(t *testing.T) {
	w, s := newWorld(), newStore()
	f, tools := paying(w)
	var asked []engine.Approval
	r := runner(t, s, tools, asking(func(_ context.Context, a engine.Approval) (engine.Answer, error) {
		asked = append(asked, a)
		if got := callList(t, s, "a"); got != "1.1 pay.1 started" {
			t.Errorf("while the person thinks the log says %q", got)
		}
		if w.count("charge_card") != 0 {
			t.Error("it ran before it was approved")
		}
		return engine.Answer{Approved: true, By: "ana", Note: "fine"}, nil
	}))
	res, err := r.Run(ctx, f, start("a"))
	if err != nil || res.Status != stores.StatusDone || w.count("charge_card") != 1 {
		t.Fatalf("got %s, %v, %d hits", res.Status, err, w.count("charge_card"))
	}
	if len(asked) != 1 || asked[0].Call != "pay.1" || string(asked[0].Args) != `{"seats":2}` || asked[0].Key != key("a") {
		t.Errorf("asked %+v", asked)
	}
	if got := decisions(t, s, "a"); got != `{"action":"approve","target":"pay.1","by":"ana","note":"fine"}` {
		t.Errorf("audit: %s", got)
	}
	verified(t, s, "a")
}

func TestApproverDenies(t *testing.T) {
	w, s := newWorld(), newStore()
	f, tools := paying(w)
	r := runner(t, s, tools, asking(says(engine.Answer{By: "ben", Note: "too dear"})))
	res, err := r.Run(ctx, f, start("a"))
	if err != nil || res.Status != stores.StatusFailed || res.Denied == nil || res.Denied.By != "ben" || res.Error != "charge_card was denied by ben: too dear" {
		t.Errorf("got %+v, %v", res, err)
	}
	if w.count("charge_card") != 0 {
		t.Error("a denied call ran")
	}
	if got := decisions(t, s, "a"); got != `{"action":"deny","target":"pay.1","by":"ben","note":"too dear"}` {
		t.Errorf("audit: %s", got)
	}
	verified(t, s, "a")
}

// A denial that was logged replays after a crash: nobody is asked again.
func TestDenialByTheApproverReplays(t *testing.T) {
	w, s := newWorld(), newStore()
	f, tools := paying(w)
	dying := &crashing{full: s}
	deny := func(context.Context, engine.Approval) (engine.Answer, error) {
		dying.mu.Lock()
		dying.at = dying.n + 1 // its record gets through, nothing after it
		dying.after = true
		dying.mu.Unlock()
		return engine.Answer{By: "ben"}, nil
	}
	dying.at = 1 << 30
	if _, err := runner(t, dying, tools, asking(deny), named("first")).Run(ctx, f, start("a")); err == nil {
		t.Fatal("the first worker did not crash")
	}
	expireLease(t, s, "a")
	nobody := func(context.Context, engine.Approval) (engine.Answer, error) {
		t.Error("somebody was asked again")
		return engine.Answer{}, errors.New("nobody is here")
	}
	res, err := runner(t, s, tools, asking(nobody)).Recover(ctx, f, key("a"), engine.RecoverOptions{})
	if err != nil || res.Status != stores.StatusFailed || res.Denied == nil || len(res.Replayed) != 1 {
		t.Errorf("got %+v, %v", res, err)
	}
	verified(t, s, "a")
}

// "A crash while a call waits on a synchronous approval port also leaves it in doubt."
func TestCrashWhileTheApproverWaitsLeavesTheCallInDoubt(t *testing.T) {
	w, s := newWorld(), newStore()
	f, tools := paying(w)
	dying := &crashing{full: s, at: 1 << 30}
	crash := func(context.Context, engine.Approval) (engine.Answer, error) {
		dying.mu.Lock()
		dying.at = dying.n // from here on nothing gets through
		dying.mu.Unlock()
		return engine.Answer{}, errCrash
	}
	if _, err := runner(t, dying, tools, asking(crash), named("first")).Run(ctx, f, start("a")); !errors.Is(err, errCrash) {
		t.Fatalf("got %v", err)
	}
	expireLease(t, s, "a")
	_, err := runner(t, s, tools).Recover(ctx, f, key("a"), engine.RecoverOptions{})
	var e *engine.Error
	if !errors.Is(err, engine.ErrRecoveryNeedsDecision) || !errors.As(err, &e) || len(e.Calls) != 1 || e.Calls[0].Tool != "charge_card" {
		t.Errorf("got %v", err)
	}
}

// When nobody decides, the call did not run and the log says so: the run is
// neither failed nor in doubt, and somebody else may be asked later.
func TestApproverWithoutADecisionLeavesTheRunRecoverable(t *testing.T) {
	var stop context.CancelFunc
	for name, a := range map[string]engine.Approver{
		"error": func(context.Context, engine.Approval) (engine.Answer, error) {
			return engine.Answer{}, errors.New("the line is dead")
		},
		"panic":  func(context.Context, engine.Approval) (engine.Answer, error) { panic("no screen") },
		"nobody": says(engine.Answer{Approved: true}),
		"cancelled": func(c context.Context, _ engine.Approval) (engine.Answer, error) {
			stop()
			return engine.Answer{}, c.Err()
		},
		"cancelled while it waits": func(c context.Context, _ engine.Approval) (engine.Answer, error) {
			stop()
			<-c.Done()
			return engine.Answer{}, c.Err()
		},
	} {
		w, s := newWorld(), newStore()
		f, tools := paying(w)
		c := ctx
		if strings.HasPrefix(name, "cancelled") {
			c, stop = context.WithCancel(ctx)
			t.Cleanup(stop)
		}
		if _, err := runner(t, s, tools, asking(a)).Run(c, f, start("a")); err == nil {
			t.Errorf("%s: no error", name)
		}
		if last, _ := mustLatest(t, s, "a"); last.Status != stores.StatusRunning || w.count("charge_card") != 0 {
			t.Errorf("%s: the run is %s, %d hits", name, last.Status, w.count("charge_card"))
		}
		res, err := runner(t, s, tools, asking(says(engine.Answer{Approved: true, By: "ana"}))).Recover(ctx, f, key("a"), engine.RecoverOptions{})
		if err != nil || res.Status != stores.StatusDone || w.count("charge_card") != 1 {
			t.Errorf("%s: recovered: %s, %v, %d hits", name, res.Status, err, w.count("charge_card"))
		}
		verified(t, s, "a")
	}
}

// An approval that an operator stored counts: the port is not asked again.
func TestApproverDefersToAStoredDecision(t *testing.T) {
	w, s := newWorld(), newStore()
	f, tools := paying(w)
	if _, err := runner(t, s, tools).Run(ctx, f, start("a")); err != nil {
		t.Fatal(err)
	}
	nobody := func(context.Context, engine.Approval) (engine.Answer, error) {
		t.Error("the port was asked")
		return engine.Answer{}, errors.New("nobody is here")
	}
	res, err := runner(t, s, tools, asking(nobody)).Resume(ctx, f, key("a"), engine.Decide{Type: engine.DecideApprove, By: "ana"})
	if err != nil || res.Status != stores.StatusDone || w.count("charge_card") != 1 {
		t.Errorf("got %s, %v", res.Status, err)
	}
}
