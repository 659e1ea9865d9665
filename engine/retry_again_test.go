package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

// once slow is a tool whose first call takes longer than the attempt may.
func onceSlow(w *world, name string) tool.Tool {
	t, slow := w.tool(name, idempotent), true
	run := t.Run
	t.Run = func(ctx context.Context, in tool.Input) (any, error) {
		if slow {
			slow = false
			<-ctx.Done()
			time.Sleep(time.Millisecond) // it does not listen at once
		}
		return run(context.WithoutCancel(ctx), in)
	}
	return t
}

// calling calls tools one after the other, and fails in between so many times.
func calling(flakes int, names ...string) engine.Node {
	return engine.NodeFunc(func(ctx context.Context, _ engine.State) (engine.State, error) {
		for i, name := range names {
			if i == len(names)-1 && flakes > 0 {
				flakes--
				return nil, errors.New("dns")
			}
			if _, err := engine.CallTool(ctx, name, map[string]any{"n": 1}); err != nil {
				return nil, err
			}
		}
		return engine.State{"paid": true}, nil
	})
}

// A node that was tried more than once runs again after an answer in another
// branch, or beside it: the attempts that failed stay failed, whatever made them
// fail, and no call is taken for another attempt's.
func TestAttemptsThatFailedStayFailed(t *testing.T) {
	ask := engine.Interrupt{Key: "sure"}
	beside := func(pay engine.Node) *engine.Flow {
		return engine.NewFlow("f").Node("s", appends("s")).Node("pay", pay).Node("ask", ask).Edge("s", "pay", "ask")
	}
	within := func(pay engine.Node) *engine.Flow {
		inner := engine.NewFlow("inner").Node("pay", pay).Node("ask", ask)
		return engine.NewFlow("f").Parallel("fan", engine.Parallel{Flow: inner, Branches: []string{"pay", "ask"}})
	}
	limit := engine.Retry{Attempts: 3, Timeout: 100 * time.Millisecond}
	for name, c := range map[string]struct {
		flow  func(engine.Node) *engine.Flow
		retry engine.Retry
		node  engine.Node
	}{
		"a limit, in a branch":  {within, limit, calling(0, "slow", "lookup", "charge_card")},
		"a limit, beside":       {beside, limit, calling(0, "slow", "lookup", "charge_card")},
		"an error, in a branch": {within, engine.Retry{Attempts: 3}, calling(1, "lookup", "charge_card")},
		"two errors, beside":    {beside, engine.Retry{Attempts: 3}, calling(2, "lookup", "charge_card")},
	} {
		t.Run(name, func(t *testing.T) {
			w, s := newWorld(), newStore()
			r := runner(t, s, tool.NewRegistry(onceSlow(w, "slow"), w.tool("lookup", idempotent), w.tool("charge_card")))
			f := c.flow(mustRetry(t, c.retry, c.node))
			res, err := r.Run(ctx, f, start("a"))
			if err != nil || res.Status != stores.StatusPaused || w.count("charge_card") != 1 {
				t.Fatalf("%+v, %v, %d charges", res, err, w.count("charge_card"))
			}
			res, err = r.Resume(ctx, f, key("a"), engine.Decide{Type: engine.DecideAnswer, Value: json.RawMessage(`"yes"`), By: "ana"})
			if err != nil || res.Status != stores.StatusDone || w.count("charge_card") != 1 || len(res.Unreplayed) > 0 {
				t.Errorf("%+v, %v, %d charges", res, err, w.count("charge_card"))
			}
			verified(t, s, "a")
		})
	}
}

// An error edge that was taken inside a container is taken again, also when what
// went wrong goes right the next time.
func TestTheWayThatWasTakenIsTakenAgain(t *testing.T) {
	w, s := newWorld(), newStore()
	r := runner(t, s, tool.NewRegistry(onceSlow(w, "slow"), w.tool("lookup", idempotent), w.tool("charge_card"), w.tool("refund")))
	look := mustRetry(t, engine.Retry{Attempts: 1, Timeout: 100 * time.Millisecond}, calling(0, "slow", "lookup"))
	inner := engine.NewFlow("inner").Node("look", look).
		Node("refund", callsOf("refund", "x")).Node("ask", engine.Interrupt{Key: "sure"}).Node("charge", callsOf("charge_card", "y")).
		OnError("look", "refund").Edge("refund", "ask").Edge("look", "charge")
	f := engine.NewFlow("f").Subflow("sub", engine.Subflow{Flow: inner})
	if res, err := r.Run(ctx, f, start("a")); err != nil || res.Status != stores.StatusPaused || w.count("refund") != 1 {
		t.Fatalf("%+v, %v", res, err)
	}
	res, err := r.Resume(ctx, f, key("a"), engine.Decide{Type: engine.DecideAnswer, Value: json.RawMessage(`"no"`), By: "ana"})
	if err != nil || res.Status != stores.StatusDone || res.State["sure"] != "no" || w.count("refund") != 1 || w.count("charge_card") != 0 {
		t.Errorf("%+v, %v, %d refunds, %d charges", res, err, w.count("refund"), w.count("charge_card"))
	}
	verified(t, s, "a")
}

// Another try of a run that is held at a node is one more attempt, after those
// that failed.
func TestAHeldNodeIsTriedOnceMore(t *testing.T) {
	w, s := newWorld(), newStore()
	r := runner(t, s, tool.NewRegistry(w.tool("lookup", idempotent), w.tool("charge_card")))
	f := engine.NewFlow("f").Node("pay", mustRetry(t, engine.Retry{Attempts: 2}, calling(2, "lookup", "charge_card")))
	if _, err := r.Execute(ctx, f, execution("a")); !errors.Is(err, engine.ErrHeld) || w.count("lookup") != 2 {
		t.Fatalf("%v, %d lookups", err, w.count("lookup"))
	}
	res, err := r.Execute(ctx, f, execution("a"))
	if err != nil || res.Status != stores.StatusDone || w.count("lookup") != 2 || w.count("charge_card") != 1 {
		t.Errorf("%+v, %v, %d lookups, %d charges", res, err, w.count("lookup"), w.count("charge_card"))
	}
	verified(t, s, "a")
}

// A node that is not deterministic may fail, after a crash, before it comes to a
// call that it made then: that call is not repeated by another attempt, and its
// record stands for who tries the node again later.
func TestRetryKnowsTheCallsOfADeadWorker(t *testing.T) {
	for name, quote := range map[string]func(ctx context.Context, pass int) error{
		"a call failed": func(ctx context.Context, pass int) error {
			_, err := engine.CallTool(ctx, "quote", map[string]any{"pass": pass})
			return err
		},
		"its code failed": func(_ context.Context, pass int) error {
			if pass == 2 {
				return errors.New("no quote today")
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, w, pass := newStore(), newWorld(), 0
			w.do["quote"] = func(context.Context, tool.Input) (any, error) {
				if pass == 2 {
					return nil, errors.New("no quote today")
				}
				return 1, nil
			}
			tools := tool.NewRegistry(w.tool("quote", idempotent), w.tool("charge_card"))
			node := engine.NodeFunc(func(ctx context.Context, _ engine.State) (engine.State, error) {
				if pass++; pass > 3 {
					t.Fatal("it is tried again")
				}
				if err := quote(ctx, pass); err != nil {
					return nil, err
				}
				_, err := engine.CallTool(ctx, "charge_card", nil)
				return nil, err
			})
			f := engine.NewFlow("shop").HoldOnError().Node("pay", mustRetry(t, engine.Retry{Attempts: 3}, node))
			died := &diesKnowing{full: s, at: stores.CallDone, tool: "charge_card"}
			if _, err := runner(t, died, tools).Run(ctx, f, start("a")); err == nil || w.count("charge_card") != 1 {
				t.Fatalf("%v", err)
			}
			second := runner(t, s, tools, named("second"))
			if _, err := second.Recover(ctx, f, key("a"), engine.RecoverOptions{Takeover: true}); !errors.Is(err, engine.ErrHeld) || w.count("charge_card") != 1 {
				t.Fatalf("%d charges: %v", w.count("charge_card"), err)
			}
			if res, err := second.Recover(ctx, f, key("a"), engine.RecoverOptions{}); err != nil || res.Status != stores.StatusDone || w.count("charge_card") != 1 {
				t.Errorf("%d charges: %+v, %v", w.count("charge_card"), res, err)
			}
			verified(t, s, "a")
		})
	}
}

// diesKnowing is a store whose worker dies once it has a record of a call.
type diesKnowing struct {
	full
	at   stores.CallStatus
	tool string
	dead bool
}

func (d *diesKnowing) RecordCall(ctx context.Context, w stores.CallWrite) error {
	if d.dead {
		return errCrash
	}
	err := d.full.RecordCall(ctx, w)
	d.dead = w.Call.Status == d.at && w.Call.Tool == d.tool
	return err
}

func (d *diesKnowing) Save(ctx context.Context, w stores.Save) error {
	if d.dead {
		return errCrash
	}
	return d.full.Save(ctx, w)
}
