package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

// closed lets a tool fail until it has been called some times.
func (w *world) closed(name string, times int) {
	w.do[name] = func(context.Context, tool.Input) (any, error) {
		if w.count(name) <= times {
			return nil, errors.New("the bank is closed")
		}
		return "charged", nil
	}
}

// payOrTell charges a card and tells the customer when that was declined.
func payOrTell(ctx context.Context, _ engine.State) (engine.State, error) {
	if _, err := engine.CallTool(ctx, "charge_card", nil); err == nil {
		return engine.State{"paid": true}, nil
	}
	_, err := engine.CallTool(ctx, "email_tickets", map[string]any{"text": "declined"})
	return engine.State{"paid": false}, err
}

// Another try is one of the calls that ended their nodes. A failed call that was
// taken, by its node's code or by an error edge, stays failed, whatever else
// holds the superstep.
func TestHeldRunRetriesOnlyWhatHeldIt(t *testing.T) {
	mended := false
	breaks := engine.NodeFunc(func(context.Context, engine.State) (engine.State, error) {
		if !mended {
			return nil, errors.New("it broke")
		}
		return nil, nil
	})
	beside := func(id string, n engine.Node) *engine.Flow {
		return engine.NewFlow("f").Node("start", engine.NodeFunc(nothing)).Node(id, n).Node("broken", breaks).Edge("start", id, "broken")
	}
	within := func(inner *engine.Flow) *engine.Flow {
		return engine.NewFlow("f").Subflow("sub", engine.Subflow{Flow: inner})
	}
	inner := func(id string, n engine.Node) *engine.Flow {
		return engine.NewFlow("inner").Node("start", engine.NodeFunc(nothing)).Node(id, n).Node("broken", breaks).Edge("start", id, "broken")
	}
	for name, f := range map[string]*engine.Flow{
		"by the node beside":             beside("pay", engine.NodeFunc(payOrTell)),
		"by the node beside, in subflow": within(inner("pay", engine.NodeFunc(payOrTell))),
		"by the node itself": engine.NewFlow("f").Step("pay", engine.NodeFunc(func(ctx context.Context, s engine.State) (engine.State, error) {
			update, err := payOrTell(ctx, s)
			if err == nil {
				_, err = breaks(ctx, s)
			}
			return update, err
		})),
		"by an error edge": beside("pay", engine.Call{Tool: "charge_card"}).Node("tell", engine.Call{Tool: "email_tickets"}).OnError("pay", "tell"),
		"by an error edge, in subflow": within(inner("pay", engine.Call{Tool: "charge_card"}).
			Node("tell", engine.Call{Tool: "email_tickets"}).OnError("pay", "tell")),
	} {
		t.Run(name, func(t *testing.T) {
			mended = false
			w := newWorld()
			w.closed("charge_card", 1)
			s := newStore()
			r := runner(t, s, w.ticketTools())
			if _, err := r.Execute(ctx, f, execution("a")); !errors.Is(err, engine.ErrHeld) {
				t.Fatal(err)
			}
			mended = true
			res, err := r.Execute(ctx, f, execution("a"))
			if err != nil || res.Status != stores.StatusDone {
				t.Fatalf("%+v, %v", res, err)
			}
			if d := cmp.Diff(map[string]int{"charge_card": 1, "email_tickets": 1}, w.hits); d != "" {
				t.Error(d)
			}
			verified(t, s, "a")
		})
	}
}

// All calls that ended nodes of the superstep run again in one try, also where
// several did in a container or where the node's error has several.
func TestHeldRunRetriesAllThatHeldIt(t *testing.T) {
	pay := func(s engine.State) (any, error) { return map[string]any{"who": s["who"]}, nil }
	one := engine.NewFlow("one").Step("pay", engine.Call{Tool: "charge_card", Args: pay, Into: "paid"})
	people := engine.NodeFunc(func(context.Context, engine.State) (engine.State, error) {
		return engine.State{"people": []any{"ann", "bob", "cy"}}, nil
	})
	both := engine.NodeFunc(func(ctx context.Context, _ engine.State) (engine.State, error) {
		var errs []error
		for i := range 3 {
			_, err := engine.CallTool(ctx, "charge_card", map[string]any{"n": i})
			errs = append(errs, err)
		}
		return nil, errors.Join(errs...)
	})
	three := engine.NewFlow("three").Node("start", engine.NodeFunc(nothing))
	for _, id := range []string{"a", "b", "c"} {
		three.Node(id, engine.NodeFunc(func(ctx context.Context, _ engine.State) (engine.State, error) {
			_, err := engine.CallTool(ctx, "charge_card", nil)
			if err != nil {
				return nil, fmt.Errorf("pay: %w", err)
			}
			return nil, nil
		})).Edge("start", id)
	}
	for name, f := range map[string]*engine.Flow{
		"map":                  engine.NewFlow("f").Step("people", people).Map("each", engine.Map{Over: "people", As: "who", Flow: one, Pick: "paid", Into: "paid"}),
		"joined errors":        engine.NewFlow("f").Step("pay", both),
		"nodes":                three,
		"nodes of a subflow":   engine.NewFlow("f").Subflow("sub", engine.Subflow{Flow: three}),
		"a subflow in another": engine.NewFlow("f").Subflow("out", engine.Subflow{Flow: engine.NewFlow("g").Subflow("in", engine.Subflow{Flow: three})}),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.closed("charge_card", 3)
			s := newStore()
			r := runner(t, s, w.ticketTools())
			if _, err := r.Execute(ctx, f, execution("a")); !errors.Is(err, engine.ErrHeld) {
				t.Fatal(err)
			}
			res, err := r.Execute(ctx, f, execution("a"))
			if err != nil || res.Status != stores.StatusDone || w.count("charge_card") != 6 {
				t.Errorf("%+v, %v, %d charges", res, err, w.count("charge_card"))
			}
			verified(t, s, "a")
		})
	}
}

// Nobody asks for a run that RecoverAll finds: a call that failed and is not
// idempotent runs again only for who brings this run on.
func TestRecoverAllLeavesHeldCalls(t *testing.T) {
	for name, c := range map[string]struct {
		change []func(*tool.Tool)
		swept  int // charges after one recovery of all
	}{
		"not idempotent": {nil, 1},
		"idempotent":     {[]func(*tool.Tool){idempotent}, 2},
	} {
		for _, holds := range []bool{true, false} {
			t.Run(fmt.Sprint(name, ", holds ", holds), func(t *testing.T) {
				w := newWorld()
				w.closed("charge_card", 1)
				s := newStore()
				r := runner(t, s, w.ticketTools(c.change...))
				if _, err := r.Execute(ctx, tickets(), engine.Execution{Key: key("a"), State: order()}); !errors.Is(err, engine.ErrHeld) {
					t.Fatal(err)
				}
				before, _ := mustLatest(t, s, "a")
				plan, err := engine.MakePlan(ctx, s, testKeys(t), key("a"))
				if err != nil || len(plan.Rerun) != 1 || plan.Rerun[0].ID != "pay.1" || slices.ContainsFunc(plan.Replay, func(c engine.CallInfo) bool { return c.ID == "pay.1" }) {
					t.Errorf("the plan says %+v, %v", plan, err)
				}
				swept := tickets()
				if holds {
					swept.HoldOnError()
				}
				all, err := r.RecoverAll(ctx, stores.DefaultOwner, engine.Flows(swept), engine.RecoverOptions{})
				if err != nil || len(all) != 1 {
					t.Fatalf("%+v, %v", all, err)
				}
				if name == "idempotent" {
					if got := all[key("a")]; got.Err != nil || got.Result.Status != stores.StatusDone || w.count("charge_card") != c.swept {
						t.Errorf("%+v, %d charges", got, w.count("charge_card"))
					}
					return
				}
				if err := all[key("a")].Err; !errors.Is(err, engine.ErrHeld) || !strings.Contains(err.Error(), "pay.1, which failed and is not idempotent") {
					t.Errorf("got %v", err)
				}
				if now, _ := mustLatest(t, s, "a"); now.Step != before.Step || w.count("charge_card") != c.swept {
					t.Errorf("step %d became %d, %d charges", before.Step, now.Step, w.count("charge_card"))
				}
				res, err := r.Recover(ctx, tickets().HoldOnError(), key("a"), engine.RecoverOptions{})
				if err != nil || res.Status != stores.StatusDone || w.count("charge_card") != 2 {
					t.Errorf("recovered by name: %+v, %v, %d charges", res, err, w.count("charge_card"))
				}
				verified(t, s, "a")
			})
		}
	}
}
