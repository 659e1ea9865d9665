package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

// mendable is code that fails until it is mended.
type mendable struct{ mended bool }

func (m *mendable) Run(context.Context, engine.State) (engine.State, error) {
	if !m.mended {
		return nil, errors.New("it broke")
	}
	return nil, nil
}

func asker(approved bool) func(*engine.Config) {
	return func(c *engine.Config) {
		c.Approver = func(context.Context, engine.Approval) (engine.Answer, error) {
			return engine.Answer{Approved: approved, By: "ana"}, nil
		}
	}
}

// What was mended stays mended while the run waits for a person: after the answer
// no old error replays, whether the flow still holds or not.
func TestAPauseKeepsWhatRunsAgain(t *testing.T) {
	yes := engine.Decide{Type: engine.DecideAnswer, Value: json.RawMessage(`"yes"`), By: "ana"}
	for name, c := range map[string]struct {
		flow func(code *mendable) *engine.Flow
		say  engine.Decide
	}{
		"a node beside one that asks": {func(code *mendable) *engine.Flow {
			retried := mustRetry(t, engine.Retry{Attempts: 2}, engine.NodeFunc(code.Run))
			return engine.NewFlow("f").Node("start", engine.NodeFunc(nothing)).Node("pay", engine.Call{Tool: "charge_card"}).Node("code", retried).Edge("start", "pay", "code")
		}, approve("pay.1")},
		"a node that asks": {func(code *mendable) *engine.Flow {
			return engine.NewFlow("f").Node("code", mustRetry(t, engine.Retry{Attempts: 2}, engine.NodeFunc(func(ctx context.Context, s engine.State) (engine.State, error) {
				if _, err := code.Run(ctx, s); err != nil {
					return nil, err
				}
				_, err := engine.Ask(ctx, engine.Question{Key: "sure"})
				return nil, err
			})))
		}, yes},
		"branches": {func(code *mendable) *engine.Flow {
			inner := engine.NewFlow("in").Node("code", mustRetry(t, engine.Retry{Attempts: 2}, engine.NodeFunc(code.Run))).Node("ask", engine.Interrupt{Key: "k"})
			return engine.NewFlow("f").Parallel("fan", engine.Parallel{Flow: inner, Branches: []string{"code", "ask"}})
		}, yes},
		"two calls of a node": {func(code *mendable) *engine.Flow {
			return engine.NewFlow("f").Node("n", engine.NodeFunc(func(ctx context.Context, _ engine.State) (engine.State, error) {
				_, first := engine.CallTool(ctx, "charge_card", nil)
				_, second := engine.CallTool(ctx, "lookup", nil)
				return nil, errors.Join(first, second)
			}))
		}, approve("n.1")},
	} {
		for _, holds := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				s, w, code := newStore(), newWorld(), &mendable{}
				w.do["lookup"] = func(context.Context, tool.Input) (any, error) {
					if !code.mended {
						return nil, errors.New("the bank is closed")
					}
					return 1, nil
				}
				w.do["charge_card"] = w.do["lookup"]
				tools := tool.NewRegistry(w.tool("charge_card", needsOK), w.tool("lookup", idempotent))
				r, f := runner(t, s, tools), c.flow(code)
				if _, err := runner(t, s, tools, asker(true)).Execute(ctx, f, execution("a")); !errors.Is(err, engine.ErrHeld) {
					t.Fatal(err)
				}
				code.mended = true
				before := w.count("charge_card")
				if res, err := r.Execute(ctx, f, execution("a")); err != nil || res.Status != stores.StatusPaused {
					t.Fatalf("%+v, %v", res, err)
				}
				if holds {
					f = f.HoldOnError()
				}
				res, err := r.Resume(ctx, f, key("a"), c.say)
				if err != nil || res.Status != stores.StatusDone || w.count("charge_card")-before > 1 {
					t.Errorf("holds %t, %d charges: %+v, %v", holds, w.count("charge_card")-before, res, err)
				}
				verified(t, s, "a")
			})
		}
	}
}

// A try that does not come to a call of the hold leaves it to the next one.
func TestAHoldKeepsWhatWasNotTriedAgain(t *testing.T) {
	s, w, code := newStore(), newWorld(), &mendable{mended: true}
	w.closed("lookup", 1)
	r := runner(t, s, tool.NewRegistry(w.tool("lookup")))
	f := engine.NewFlow("f").HoldOnError().Node("n", engine.NodeFunc(func(ctx context.Context, st engine.State) (engine.State, error) {
		if _, err := code.Run(ctx, st); err != nil {
			return nil, err
		}
		_, err := engine.CallTool(ctx, "lookup", nil)
		return nil, err
	}))
	for _, mended := range []bool{true, false} {
		code.mended = mended
		if _, err := r.Execute(ctx, f, execution("a")); !errors.Is(err, engine.ErrHeld) || w.count("lookup") != 1 {
			t.Fatal(err)
		}
	}
	code.mended = true
	res, err := r.Execute(ctx, f, execution("a"))
	if err != nil || res.Status != stores.StatusDone || w.count("lookup") != 2 {
		t.Errorf("%d lookups: %+v, %v", w.count("lookup"), res, err)
	}
	verified(t, s, "a")
}

// An attempt whose error an edge took is over, also when something after it holds
// the superstep: only one of two ways is taken.
func TestAHoldLeavesAnAttemptThatAnEdgeTook(t *testing.T) {
	s, w, code := newStore(), newWorld(), &mendable{}
	r := runner(t, s, tool.NewRegistry(w.tool("charge_card"), w.tool("refund")))
	inner := engine.NewFlow("inner").
		Node("look", mustRetry(t, engine.Retry{Attempts: 2}, engine.NodeFunc(code.Run))).
		Node("charge", engine.Call{Tool: "charge_card"}).Node("refund", engine.Call{Tool: "refund"}).Node("after", engine.NodeFunc(code.Run)).
		Edge("look", "charge").OnError("look", "refund").Edge("refund", "after")
	f := engine.NewFlow("f").Subflow("sub", engine.Subflow{Flow: inner}).HoldOnError()
	if _, err := r.Run(ctx, f, start("a")); !errors.Is(err, engine.ErrHeld) {
		t.Fatal(err)
	}
	code.mended = true
	res, err := r.Recover(ctx, f, key("a"), engine.RecoverOptions{})
	if err != nil || res.Status != stores.StatusDone || w.count("refund") != 1 || w.count("charge_card") != 0 {
		t.Errorf("%d refunds, %d charges: %+v, %v", w.count("refund"), w.count("charge_card"), res, err)
	}
}

// A person's no ends a run, also beside an error that would hold it: nothing is
// tried again for a run that somebody has said no to.
func TestANoCountsMoreThanAnError(t *testing.T) {
	inner := engine.NewFlow("in").Node("look", engine.Call{Tool: "lookup"}).Node("pay", engine.Call{Tool: "charge_card"})
	for name, f := range map[string]*engine.Flow{
		"nodes":    engine.NewFlow("f").Node("start", engine.NodeFunc(nothing)).Node("look", engine.Call{Tool: "lookup"}).Node("pay", engine.Call{Tool: "charge_card"}).Edge("start", "look", "pay"),
		"branches": engine.NewFlow("f").Parallel("fan", engine.Parallel{Flow: inner, Branches: []string{"look", "pay"}}),
	} {
		s, w := newStore(), newWorld()
		w.closed("lookup", 1)
		r := runner(t, s, tool.NewRegistry(w.tool("charge_card", needsOK), w.tool("lookup")), asker(false))
		res, err := r.Run(ctx, f.HoldOnError(), start("a"))
		if err != nil || res.Status != stores.StatusFailed || res.Denied == nil || res.Denied.By != "ana" || w.count("lookup") != 1 {
			t.Errorf("%s: %+v, %v, %d lookups", name, res, err, w.count("lookup"))
		}
	}
}

// A yes whose call was not made, since the node had given up, stands.
func TestAYesThatNoCallUsedStands(t *testing.T) {
	s, w, late := newStore(), newWorld(), false
	r := runner(t, s, tool.NewRegistry(w.tool("charge_card", needsOK)))
	f := engine.NewFlow("f").HoldOnError().Node("n", engine.NodeFunc(func(ctx context.Context, _ engine.State) (engine.State, error) {
		own, stop := context.WithCancel(ctx)
		defer stop()
		if late {
			stop()
		}
		_, err := engine.CallTool(own, "charge_card", nil)
		return nil, err
	}))
	if res, err := r.Run(ctx, f, start("a")); err != nil || res.Status != stores.StatusPaused {
		t.Fatalf("%+v, %v", res, err)
	}
	late = true
	if _, err := r.Resume(ctx, f, key("a"), approve("n.1")); !errors.Is(err, engine.ErrHeld) || w.count("charge_card") != 0 {
		t.Fatal(err)
	}
	late = false
	res, err := r.Recover(ctx, f, key("a"), engine.RecoverOptions{})
	if err != nil || res.Status != stores.StatusDone || w.count("charge_card") != 1 {
		t.Errorf("%d charges: %+v, %v", w.count("charge_card"), res, err)
	}
}

// A call of a hold that failed again before its worker died is not tried once
// more under the approval of that try, nor when its node took the new error.
func TestAHoldIsTriedAgainOnce(t *testing.T) {
	f := engine.NewFlow("shop").HoldOnError().Step("pay", engine.Call{Tool: "charge_card", Into: "paid"})
	for at := 1; at < 12; at++ {
		for then := 1; then < 8; then++ {
			s, w := newStore(), newWorld()
			w.closed("charge_card", 2)
			tools := tool.NewRegistry(w.tool("charge_card", needsOK, idempotent))
			r := runner(t, s, tools)
			if res, err := r.Run(ctx, f, start("a")); err != nil || res.Status != stores.StatusPaused {
				t.Fatalf("%+v, %v", res, err)
			}
			if _, err := r.Resume(ctx, f, key("a"), approve("pay.1")); !errors.Is(err, engine.ErrHeld) {
				t.Fatal(err)
			}
			if res, err := r.Recover(ctx, f, key("a"), engine.RecoverOptions{}); err != nil || res.Status != stores.StatusPaused {
				t.Fatalf("%+v, %v", res, err)
			}
			if _, err := r.Record(ctx, key("a"), approve("pay.1")); err != nil {
				t.Fatal(err)
			}
			for i, crash := range []int{at, then} { // whatever comes of it
				_, _ = runner(t, &crashing{full: s, at: crash, after: true}, tools, named(fmt.Sprint("w", i))).Recover(ctx, f, key("a"), engine.RecoverOptions{Takeover: true})
			}
			_, _ = runner(t, s, tools, named("sweep")).RecoverAll(ctx, stores.DefaultOwner, engine.Flows(f), engine.RecoverOptions{Takeover: true})
			_, _ = runner(t, s, tools, named("last")).Recover(ctx, f, key("a"), engine.RecoverOptions{Takeover: true})
			if n := len(w.keys["charge_card"]); n > 2 && !repeated(t, s) {
				t.Errorf("crashes at %d and %d: %d charges on two approvals", at, then, n)
			}
			verified(t, s, "a")
		}
	}
}

// repeated reports whether the log has a started record without an outcome: an
// idempotent call that a dead worker had under way runs again.
func repeated(t *testing.T, s stores.Store) bool {
	t.Helper()
	rows, err := s.Calls(ctx, key("a"), 0)
	if err != nil {
		t.Fatal(err)
	}
	started, ended := 0, 0
	for _, r := range rows {
		switch r.Status {
		case stores.CallStarted:
			started++
		case stores.CallDone, stores.CallPending: // one that waits has both of its records at once
			ended++
		}
	}
	return started > ended
}

func TestAHoldLeavesAnErrorThatItsNodeTookSince(t *testing.T) {
	for _, change := range [][]func(*tool.Tool){nil, {idempotent}} {
		for at := 8; at < 14; at++ { // the charge has failed again, and that is in the log
			s, w := newStore(), newWorld()
			w.do["charge_card"] = func(context.Context, tool.Input) (any, error) {
				return "charged", []error{errors.New("closed"), errors.New("declined"), nil}[w.count("charge_card")-1]
			}
			tools := tool.NewRegistry(w.tool("charge_card", change...), w.tool("mail", idempotent))
			f := engine.NewFlow("shop").HoldOnError().Node("pay", engine.NodeFunc(func(ctx context.Context, _ engine.State) (engine.State, error) {
				_, err := engine.CallTool(ctx, "charge_card", nil)
				if err != nil && strings.Contains(err.Error(), "declined") {
					_, err = engine.CallTool(ctx, "mail", "declined")
					return engine.State{"paid": "no"}, err
				}
				return engine.State{"paid": "yes"}, err
			}))
			if _, err := runner(t, s, tools).Run(ctx, f, start("a")); !errors.Is(err, engine.ErrHeld) {
				t.Fatal(err)
			}
			_, _ = runner(t, &crashing{full: s, at: at, after: true}, tools, named("second")).Recover(ctx, f, key("a"), engine.RecoverOptions{})
			if w.count("charge_card") != 2 {
				continue
			}
			_, _ = runner(t, s, tools, named("third")).Recover(ctx, f, key("a"), engine.RecoverOptions{Takeover: true})
			if last, body := mustLatest(t, s, "a"); w.count("charge_card") != 2 || last.Status != stores.StatusDone || !strings.Contains(string(body.State), `"paid":"no"`) {
				t.Errorf("crash at %d: %d charges, %s, %s", at, w.count("charge_card"), last.Status, body.State)
			}
		}
	}
}
