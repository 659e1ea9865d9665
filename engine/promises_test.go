package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

// A result with white space is digested, handed back and replayed in one form,
// so that a call whose arguments come from it is found again.
func TestReplayIsByteForByte(t *testing.T) {
	s, w := newStore(), newWorld()
	w.do["quote"] = func(context.Context, tool.Input) (any, error) { return json.RawMessage("{\n  \"x\": 1.0\n}\n"), nil }
	tools := tool.NewRegistry(w.tool("quote"), w.tool("charge"), w.tool("mail", needsOK))
	f := engine.NewFlow("f").Node("n", engine.NodeFunc(func(ctx context.Context, _ engine.State) (engine.State, error) {
		quote, err := engine.CallTool(ctx, "quote", nil)
		if err != nil {
			return nil, err
		}
		if _, err := engine.CallTool(ctx, "charge", quote); err != nil {
			return nil, err
		}
		_, err = engine.CallTool(ctx, "mail", quote)
		return nil, err
	}))
	r := runner(t, s, tools)
	if _, err := r.Run(ctx, f, start("a")); err != nil {
		t.Fatal(err)
	}
	res, err := r.Resume(ctx, f, key("a"), engine.Decide{Type: engine.DecideApprove, By: "ana"})
	if err != nil || res.Status != stores.StatusDone || w.count("charge") != 1 || len(res.Unreplayed) != 0 {
		t.Errorf("%+v, %v, %v", res, err, w.hits)
	}
}

// Two holds in one process are two workers: a run that is alive is not adopted
// by its own process, and who loses a race does not free the winner's lease.
func TestOwnProcessIsAnotherWorker(t *testing.T) {
	everyStore(t, func(t *testing.T, s full) {
		w, g := newWorld(), newGate()
		w.do["email_tickets"] = g.pass
		r := runner(t, s, w.ticketTools(idempotent))
		done := make(chan error, 1)
		go func() {
			_, err := r.Run(ctx, tickets(), start("order-7"))
			done <- err
		}()
		<-g.reached
		all, err := r.RecoverAll(ctx, stores.AnyOwner, func(string) (*engine.Flow, error) { return tickets(), nil }, engine.RecoverOptions{})
		if err != nil || !errors.Is(all[key("order-7")].Err, engine.ErrCheckpointConflict) {
			t.Errorf("%+v, %v", all, err)
		}
		if l, err := s.Lease(ctx, key("order-7")); err != nil || l == nil || !l.Live {
			t.Errorf("the loser freed the lease: %+v, %v", l, err)
		}
		close(g.open)
		if err := <-done; err != nil || w.count("email_tickets") != 1 {
			t.Errorf("%v, %v", err, w.hits)
		}
	})
}

// A run that moves while it is verified is never called tampered.
func TestVerifyARunThatMoves(t *testing.T) {
	everyStore(t, func(t *testing.T, s full) {
		f := engine.NewFlow("long").Node("n", engine.NodeFunc(nothing)).Edge("n", "n").MaxSupersteps(400)
		done := make(chan error, 1)
		go func() {
			_, err := runner(t, s, nil).Run(ctx, f, start("a"))
			done <- err
		}()
		checks := 0
		for running := true; running; {
			select {
			case err := <-done:
				if err != nil {
					t.Error(err)
				}
				running = false
			default:
			}
			rep, err := engine.Verify(ctx, s, testKeys(t), key("a"))
			if errors.Is(err, engine.ErrCheckpointNotFound) {
				continue
			}
			if checks++; err != nil || rep.Verdict != engine.Verified {
				t.Fatalf("check %d: %s %+v, %v", checks, rep.Verdict, rep.Findings, err)
			}
		}
	})
}

// An answer is for one question: another key, prompt or choice asks again.
func TestAnswerBelongsToItsQuestion(t *testing.T) {
	ask := func(q engine.Question) *engine.Flow {
		return engine.NewFlow("f").Node("n", engine.Interrupt{Key: q.Key, Choices: q.Choices, Prompt: func(engine.State) (string, error) { return q.Prompt, nil }})
	}
	asked := engine.Question{Key: "ok", Prompt: "Refund 10?", Choices: []string{"yes", "no"}}
	for name, now := range map[string]engine.Question{
		"prompt": {Key: "ok", Prompt: "Wipe the database?", Choices: asked.Choices},
		"key":    {Key: "wipe", Prompt: asked.Prompt, Choices: asked.Choices},
		"choice": {Key: "ok", Prompt: asked.Prompt, Choices: []string{"yes"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore()
			r := runner(t, s, nil)
			if _, err := r.Run(ctx, ask(asked), start("a")); err != nil {
				t.Fatal(err)
			}
			if _, err := r.Record(ctx, key("a"), engine.Decide{Type: engine.DecideAnswer, Value: json.RawMessage(`"yes"`), By: "ana"}); err != nil {
				t.Fatal(err)
			}
			res, err := r.Recover(ctx, ask(now), key("a"), engine.RecoverOptions{})
			if err != nil || res.Status != stores.StatusPaused {
				t.Errorf("another question took the answer: %+v, %v", res, err)
			}
		})
	}
}

// Scenario 39: an approval is for one call with its arguments, in one superstep.
func TestScenario39(t *testing.T) {
	amount := "10"
	flow := func() *engine.Flow {
		return engine.NewFlow("loop").Node("pay", engine.Call{Tool: "charge", Args: func(engine.State) (any, error) {
			return map[string]any{"amount": json.Number(amount)}, nil
		}}).Edge("pay", "pay").MaxSupersteps(3)
	}
	eachStore(t, func(t *testing.T, s full) {
		amount = "10"
		w := newWorld()
		r := runner(t, s, tool.NewRegistry(w.tool("charge", needsOK)))
		approve := engine.Decide{Type: engine.DecideApprove, By: "ana"}
		if _, err := r.Run(ctx, flow(), start("a")); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Record(ctx, key("a"), approve); err != nil {
			t.Fatal(err)
		}
		amount = "1000000"
		res, err := r.Recover(ctx, flow(), key("a"), engine.RecoverOptions{})
		if err != nil || res.Status != stores.StatusPaused || w.count("charge") != 0 {
			t.Errorf("other arguments took the approval: %+v, %v, %v", res, err, w.hits)
		}
		res, err = r.Resume(ctx, flow(), key("a"), approve)
		if err != nil || res.Status != stores.StatusPaused || w.count("charge") != 1 {
			t.Errorf("round 2 took round 1's approval: %+v, %v, %v", res, err, w.hits)
		}
		verified(t, s, "a")
	})
}

// A node that swallows the pause acts no further.
func TestSwallowedPauseStopsTheNode(t *testing.T) {
	s, w := newStore(), newWorld()
	f := engine.NewFlow("f").Node("n", engine.NodeFunc(func(ctx context.Context, _ engine.State) (engine.State, error) {
		if _, err := engine.CallTool(ctx, "charge", nil); err != nil {
			_, err = engine.CallTool(ctx, "apologise", nil)
			return nil, err
		}
		return nil, nil
	}))
	r := runner(t, s, tool.NewRegistry(w.tool("charge", needsOK), w.tool("apologise")))
	if res, err := r.Run(ctx, f, start("a")); err != nil || res.Status != stores.StatusPaused || w.count("apologise") != 0 {
		t.Errorf("%+v, %v, %v", res, err, w.hits)
	}
	if res, err := r.Resume(ctx, f, key("a"), engine.Decide{Type: engine.DecideApprove, By: "ana"}); err != nil || res.Status != stores.StatusDone || w.count("apologise") != 0 {
		t.Errorf("%+v, %v, %v", res, err, w.hits)
	}
}

// What still runs of a node after it returned can neither call nor ask, and a
// call under way is waited for, so that it is logged in its own superstep.
func TestNodeThatLeavesSomethingRunning(t *testing.T) {
	s, w := newStore(), newWorld()
	inCall, late := make(chan struct{}), make(chan error, 1)
	var node context.Context
	w.do["slow"] = func(context.Context, tool.Input) (any, error) {
		close(inCall)
		for { // until the node has returned: no question that could be asked is in the way
			if _, err := engine.Ask(node, engine.Question{Prompt: "\xff"}); strings.Contains(err.Error(), "the node has returned") {
				return 1, nil
			}
			time.Sleep(time.Millisecond)
		}
	}
	f := engine.NewFlow("f").
		Node("n", engine.NodeFunc(func(ctx context.Context, _ engine.State) (engine.State, error) {
			node = ctx
			go func() {
				_, _ = engine.CallTool(ctx, "slow", nil)
				_, err := engine.CallTool(ctx, "slow", nil)
				late <- err
			}()
			<-inCall
			return nil, nil
		})).
		Node("end", engine.NodeFunc(nothing)).Edge("n", "end")
	res, err := runner(t, s, tool.NewRegistry(w.tool("slow"))).Run(ctx, f, start("a"))
	if err != nil || res.Status != stores.StatusDone {
		t.Fatalf("%+v, %v", res, err)
	}
	if err := <-late; err == nil || w.count("slow") != 1 {
		t.Errorf("a call after the node returned: %v, %v", err, w.hits)
	}
	rows, _ := s.Calls(ctx, key("a"), 0)
	for _, r := range rows {
		if r.Step != 0 {
			t.Errorf("record %d is logged at step %d", r.N, r.Step)
		}
	}
}

// A node's own deadline is not the process's: a call that it cuts off may have
// run, and the error says of which run.
func TestNodesOwnDeadline(t *testing.T) {
	s, w := newStore(), newWorld()
	w.do["charge"] = func(ctx context.Context, _ tool.Input) (any, error) { <-ctx.Done(); return nil, ctx.Err() }
	f := engine.NewFlow("f").Node("n", engine.NodeFunc(func(ctx context.Context, _ engine.State) (engine.State, error) {
		ctx, stop := context.WithTimeout(ctx, time.Millisecond)
		defer stop()
		_, err := engine.CallTool(ctx, "charge", nil)
		return nil, err
	}))
	_, err := runner(t, s, tool.NewRegistry(w.tool("charge"))).Run(ctx, f, start("a"))
	if !errors.Is(err, engine.ErrRecoveryNeedsDecision) || !strings.Contains(err.Error(), `"a"`) {
		t.Errorf("error %v", err)
	}
}

// A tool whose program is missing did not run: the run stays as it is, also a
// stored approval, and goes on where the program is.
func TestToolThatCannotStart(t *testing.T) {
	s, w := newStore(), newWorld()
	missing := true
	w.do["charge"] = func(context.Context, tool.Input) (any, error) {
		if missing {
			return nil, fmt.Errorf("charge: %w: no such file", tool.ErrNotStarted)
		}
		return "ch", nil
	}
	f := engine.NewFlow("f").Node("n", engine.Call{Tool: "charge", Into: "c"})
	r := runner(t, s, tool.NewRegistry(w.tool("charge", needsOK)))
	if _, err := r.Run(ctx, f, start("a")); err != nil {
		t.Fatal(err)
	}
	_, err := r.Resume(ctx, f, key("a"), engine.Decide{Type: engine.DecideApprove, By: "ana"})
	if !errors.Is(err, engine.ErrRefused) || !strings.Contains(err.Error(), "did not run") {
		t.Errorf("error %v", err)
	}
	missing = false
	res, err := r.Recover(ctx, f, key("a"), engine.RecoverOptions{})
	if err != nil || res.Status != stores.StatusDone || res.State["c"] != "ch" {
		t.Errorf("%+v, %v", res, err)
	}
	verified(t, s, "a")
}

func TestDecisionsThatMeanNothing(t *testing.T) {
	s, w := newStore(), newWorld()
	r := runner(t, s, tool.NewRegistry(w.tool("hold_seats"), w.tool("charge_card", needsOK), w.tool("email_tickets")))
	if _, err := r.Run(ctx, tickets(), start("order-7")); err != nil {
		t.Fatal(err)
	}
	before := mustLatestRow(t, s)
	_, typo := r.Record(ctx, key("order-7"), engine.Decide{Type: "aprove", By: "ana"})
	_, nobody := r.Record(ctx, key("order-7"), engine.Decide{Type: engine.DecideApprove})
	both := r.Resolve(ctx, key("order-7"), engine.Resolution{Call: "pay.1", By: "ana", NotRun: true, Result: json.RawMessage(`1`)})
	neither := r.Resolve(ctx, key("order-7"), engine.Resolution{Call: "pay.1", By: "ana"})
	for what, err := range map[string]error{"typo": typo, "nobody": nobody, "both": both, "neither": neither} {
		if !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if now := mustLatestRow(t, s); now.Step != before.Step {
		t.Error("something was stored")
	}
}

// A condition that panics fails its run and nothing else.
func TestPanickingCondition(t *testing.T) {
	f := engine.NewFlow("f").Node("n", engine.NodeFunc(nothing)).
		When("n", engine.Condition{Text: "boom", Test: func(engine.State) (bool, error) { panic("ouch") }}, "n")
	res, err := runner(t, newStore(), nil).Run(ctx, f, start("a"))
	if err != nil || res.Status != stores.StatusFailed || !strings.Contains(res.Error, "ouch") {
		t.Errorf("%+v, %v", res, err)
	}
}

// The age of a question does not change because another one was answered.
func TestSinceIsKept(t *testing.T) {
	var now atomic.Int64
	clock := func() time.Time { return time.Unix(1_800_000_000+now.Load(), 0) }
	w := newWorld()
	s := newStore()
	f := engine.NewFlow("f").Node("s", engine.NodeFunc(nothing)).
		Node("a", engine.Call{Tool: "pay"}).Node("b", engine.Call{Tool: "pay"}).Edge("s", "a", "b")
	r := runner(t, s, tool.NewRegistry(w.tool("pay", needsOK)), func(c *engine.Config) { c.Clock = clock })
	res, err := r.Run(ctx, f, start("a"))
	if err != nil {
		t.Fatal(err)
	}
	asked := res.Waiting[1].Since
	now.Store(36000)
	res, err = r.Resume(ctx, f, key("a"), engine.Decide{Type: engine.DecideApprove, ID: "a.1", By: "ana"})
	if err != nil || len(res.Waiting) != 1 || !res.Waiting[0].Since.Equal(asked) {
		t.Errorf("%+v, %v, want since %s", res.Waiting, err, asked)
	}
}

func TestSealRefusesWhatTwoReadersReadDifferently(t *testing.T) {
	type inner struct{ Name string }
	type outer struct {
		inner
		Skipped string `json:"-"`
	}
	for name, v := range map[string]any{
		"duplicate key": json.RawMessage(`{"id":1,"id":2}`), "nested duplicate": json.RawMessage(`[{"a":{"b":1,"b":1}}]`),
		"embedded": outer{inner: inner{"\xff"}}, "an error": map[string]any{"err": errors.New("x")},
	} {
		if raw, err := engine.Seal(v); err == nil {
			t.Errorf("%s became %s", name, raw)
		}
	}
	for name, v := range map[string]any{
		"same key in two objects": json.RawMessage(`[{"a":1},{"a":2},"a"]`), "skipped field": outer{Skipped: "\xff"}, "a key as value": json.RawMessage(`{"a":"a","b":["a"]}`),
	} {
		if _, err := engine.Seal(v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
