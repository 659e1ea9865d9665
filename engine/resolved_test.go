package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

// lateCharge is a flow that mails the receipt of a charge, with a worker that is
// at the charge: it comes to "Y" once open is closed.
func lateCharge(t *testing.T, s full) (w *world, f *engine.Flow, second *engine.Runner, open chan bool, first chan error) {
	w = newWorld()
	at, open := make(chan bool), make(chan bool)
	w.do["charge_card"] = func(context.Context, tool.Input) (any, error) { close(at); <-open; return "Y", nil }
	tools := tool.NewRegistry(w.tool("charge_card"), w.tool("email_tickets"))
	f = engine.NewFlow("f").Node("n", engine.NodeFunc(func(ctx context.Context, _ engine.State) (engine.State, error) {
		raw, err := engine.CallTool(ctx, "charge_card", nil)
		if err != nil {
			return nil, err
		}
		if _, err := engine.CallTool(ctx, "email_tickets", map[string]any{"receipt": raw}); err != nil {
			return nil, err
		}
		a, err := engine.Ask(ctx, engine.Question{Key: "ok"})
		return engine.State{"charge": raw, "a": a}, err
	}))
	first = make(chan error, 1)
	go func() {
		_, err := runner(t, s, tools, named("first")).Run(ctx, f, start("a"))
		first <- err
	}()
	<-at
	second = runner(t, s, tools, named("second"))
	if err := second.Resolve(ctx, key("a"), engine.Resolution{Call: "n.1", Result: json.RawMessage(`"X"`), By: "olga", Takeover: true}); err != nil {
		t.Fatal(err)
	}
	return w, f, second, open, first
}

func yes(t *testing.T, s full, r *engine.Runner, f *engine.Flow, w *world) {
	t.Helper()
	res, err := r.Resume(ctx, f, key("a"), engine.Decide{Type: engine.DecideAnswer, Value: json.RawMessage(`"yes"`), By: "ana"})
	if err != nil || res.Status != stores.StatusDone || res.State["charge"] != "X" || len(res.Unreplayed) > 0 {
		t.Errorf("%+v, %v", res, err)
	}
	if w.count("charge_card") != 1 || w.count("email_tickets") != 1 {
		t.Errorf("%d charges, %d mails", w.count("charge_card"), w.count("email_tickets"))
	}
	verified(t, s, "a")
}

// The run went on with the result that a person had found out: what the old
// worker says later must not make the calls after it run again.
func TestLateResultDoesNotUndoAResolution(t *testing.T) {
	eachStore(t, func(t *testing.T, s full) {
		w, f, second, open, first := lateCharge(t, s)
		res, err := second.Recover(ctx, f, key("a"), engine.RecoverOptions{Takeover: true, By: "olga"})
		if err != nil || res.Status != stores.StatusPaused {
			t.Fatalf("%+v, %v", res, err)
		}
		close(open)
		if err := <-first; !errors.Is(err, engine.ErrCheckpointConflict) {
			t.Errorf("the first worker: %v", err)
		}
		yes(t, s, second, f, w)
	})
}

// A worker that is still there stops at a call that was resolved meanwhile: it
// must not go on with another result than every recovery would.
func TestResolvedUnderALiveWorker(t *testing.T) {
	eachStore(t, func(t *testing.T, s full) {
		w, f, second, open, first := lateCharge(t, s)
		close(open)
		if err := <-first; !errors.Is(err, engine.ErrCheckpointConflict) || w.count("email_tickets") != 0 {
			t.Errorf("the first worker: %v, %d mails", err, w.count("email_tickets"))
		}
		res, err := second.Recover(ctx, f, key("a"), engine.RecoverOptions{Takeover: true, By: "olga"})
		if err != nil || res.Status != stores.StatusPaused {
			t.Fatalf("%+v, %v", res, err)
		}
		yes(t, s, second, f, w)
	})
}
