package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

func TestConditionsVisitsAndLoops(t *testing.T) {
	f := engine.NewFlow("loop").
		Node("count", engine.NodeFunc(func(_ context.Context, s engine.State) (engine.State, error) {
			n, _ := s["n"].(json.Number)
			i, _ := n.Int64()
			return engine.State{"n": i + 1}, nil
		})).
		Node("end", engine.NodeFunc(nothing)).
		When("count", engine.Condition{Text: "n<3", Test: func(s engine.State) (bool, error) {
			i, err := s["n"].(json.Number).Int64()
			return i < 3, err
		}}, "count").
		When("count", engine.Condition{Text: "n>=3", Test: func(s engine.State) (bool, error) {
			i, err := s["n"].(json.Number).Int64()
			return i >= 3, err
		}}, "end")
	s := newStore()
	res, err := runner(t, s, nil).Run(ctx, f, engine.Start{Key: key("a"), State: engine.State{"n": 0}})
	if err != nil || res.Status != stores.StatusDone || res.Step != 4 {
		t.Fatalf("%+v, %v", res, err)
	}
	_, b := mustLatest(t, s, "a")
	if diff := cmp.Diff(map[string]int64{"count": 3, "end": 1}, b.Visits); diff != "" {
		t.Error(diff)
	}
}

func TestFlowThatNeverEndsFails(t *testing.T) {
	ran := 0
	f := engine.NewFlow("forever").Node("n", engine.NodeFunc(func(context.Context, engine.State) (engine.State, error) {
		ran++
		return nil, nil
	})).Edge("n", "n").MaxSupersteps(5)
	s := newStore()
	res, err := runner(t, s, nil).Run(ctx, f, start("a"))
	if err != nil || res.Status != stores.StatusFailed || !strings.Contains(res.Error, "more than 5 supersteps") || ran != 5 {
		t.Errorf("%+v, %v, ran %d times", res, err, ran)
	}
	verified(t, s, "a")
	one := engine.NewFlow("one").Node("ask", engine.Interrupt{Key: "k"}).MaxSupersteps(1)
	if _, err := runner(t, s, nil).Run(ctx, one, start("b")); err != nil {
		t.Fatal(err)
	}
	res, err = runner(t, s, nil).Resume(ctx, one, key("b"), engine.Decide{Type: engine.DecideAnswer, Value: json.RawMessage("1"), By: "ana"})
	if err != nil || res.Status != stores.StatusDone {
		t.Errorf("a pause and a decision count as supersteps: %+v, %v", res, err)
	}
}

func TestErrorEdge(t *testing.T) {
	f := engine.NewFlow("risky").
		Node("try", engine.NodeFunc(func(context.Context, engine.State) (engine.State, error) { return nil, errors.New("no luck") })).
		Node("cure", engine.NodeFunc(nothing)).OnError("try", "cure")
	s := newStore()
	res, err := runner(t, s, nil).Run(ctx, f, engine.Start{Key: key("a"), State: engine.State{}})
	want := engine.State{"error": map[string]any{"node": "try", "message": "no luck"}}
	if diff := cmp.Diff(want, res.State); diff != "" || err != nil || res.Status != stores.StatusDone {
		t.Errorf("%s, %v, %s", res.Status, err, diff)
	}
}

func TestPanicsAreErrors(t *testing.T) {
	s, w := newStore(), newWorld()
	boom := engine.NewFlow("boom").Node("n", engine.NodeFunc(func(context.Context, engine.State) (engine.State, error) { panic("ouch") }))
	res, err := runner(t, s, nil).Run(ctx, boom, start("node"))
	if err != nil || res.Status != stores.StatusFailed || !strings.Contains(res.Error, "ouch") {
		t.Errorf("%+v, %v", res, err)
	}
	w.do["charge_card"] = func(context.Context, tool.Input) (any, error) { panic("ouch") }
	f := engine.NewFlow("one").Node("pay", engine.Call{Tool: "charge_card"})
	if _, err := runner(t, s, w.ticketTools()).Run(ctx, f, start("tool")); !errors.Is(err, engine.ErrRecoveryNeedsDecision) {
		t.Errorf("a tool that panicked may have run: %v", err)
	}
}

// A tool's error is its outcome: it is recorded, and a recovered run meets it again.
func TestToolErrorReplays(t *testing.T) {
	s, w := newStore(), newWorld()
	w.do["hold_seats"] = func(context.Context, tool.Input) (any, error) { return nil, errors.New("sold out") }
	f := func() *engine.Flow {
		return engine.NewFlow("two").Node("n", engine.NodeFunc(func(ctx context.Context, _ engine.State) (engine.State, error) {
			_, err := engine.CallTool(ctx, "hold_seats", nil)
			var te *engine.ToolError
			if !errors.As(err, &te) || te.Message != "sold out" {
				return nil, fmt.Errorf("want the tool's error, got %v", err)
			}
			_, err = engine.CallTool(ctx, "email_tickets", nil)
			return engine.State{"told": true}, err
		}))
	}
	tools := tool.NewRegistry(w.tool("hold_seats"), w.tool("email_tickets", idempotent))
	crashIn(t, s, w, "email_tickets", f(), tools)
	expireLease(t, s, "order-7")
	res, err := runner(t, s, tools).Recover(ctx, f(), key("order-7"), engine.RecoverOptions{})
	if err != nil || res.Status != stores.StatusDone || w.count("hold_seats") != 1 {
		t.Errorf("%+v, %v, %v", res, err, w.hits)
	}
}

// An interrupt node beside calls: A and C once in total, B after the answer.
func TestScenario21AskBetweenCalls(t *testing.T) {
	everyStore(t, func(t *testing.T, s full) {
		w := newWorld()
		tools := tool.NewRegistry(w.tool("a"), w.tool("b"), w.tool("c"))
		f := engine.NewFlow("ask").
			Node("start", engine.NodeFunc(nothing)).
			Node("n", engine.NodeFunc(func(ctx context.Context, _ engine.State) (engine.State, error) {
				if _, err := engine.CallTool(ctx, "a", nil); err != nil {
					return nil, err
				}
				out := engine.State{}
				for i := range 5 {
					v, err := engine.Ask(ctx, engine.Question{Key: fmt.Sprint("q", i), Prompt: "?"})
					if err != nil {
						return nil, err
					}
					out[fmt.Sprint("q", i)] = v
				}
				_, err := engine.CallTool(ctx, "b", nil)
				return out, err
			})).
			Node("side", engine.Call{Tool: "c"}).Edge("start", "n", "side")
		r := runner(t, s, tools)
		res, err := r.Run(ctx, f, start("order-7"))
		for i := range 5 {
			if err != nil || res.Status != stores.StatusPaused || len(res.Waiting) != 1 || res.Waiting[0].Key != fmt.Sprint("q", i) {
				t.Fatalf("question %d: %+v, %v", i, res, err)
			}
			res, err = r.Resume(ctx, f, key("order-7"), engine.Decide{Type: engine.DecideAnswer, Value: json.RawMessage(fmt.Sprint(i)), By: "ana"})
		}
		if err != nil || res.Status != stores.StatusDone || w.count("a") != 1 || w.count("b") != 1 || w.count("c") != 1 {
			t.Errorf("%+v, %v, %v", res, err, w.hits)
		}
		verified(t, s, "order-7")
	})
}

// Scenario 16 and 17 for approvals: several are open, one is decided, and a
// decision for an earlier round does not count for the next.
func TestSeveralApprovals(t *testing.T) {
	everyStore(t, func(t *testing.T, s full) {
		w := newWorld()
		pay := func(to string) engine.Call {
			return engine.Call{Tool: "pay", Args: func(engine.State) (any, error) { return map[string]any{"to": to}, nil }, Into: to}
		}
		f := engine.NewFlow("payout").Node("start", engine.NodeFunc(nothing)).
			Node("alice", pay("alice")).Node("bob", pay("bob")).Edge("start", "alice", "bob")
		r := runner(t, s, tool.NewRegistry(w.tool("pay", needsOK)))
		res, err := r.Run(ctx, f, start("order-7"))
		if err != nil || len(res.Waiting) != 2 {
			t.Fatalf("%+v, %v", res, err)
		}
		if _, err := r.Resume(ctx, f, key("order-7"), engine.Decide{Type: engine.DecideApprove, By: "ana"}); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("which one? %v", err)
		}
		seen, err := engine.MakePlan(ctx, s, testKeys(t), key("order-7"))
		if err != nil {
			t.Fatal(err)
		}
		res, err = r.Resume(ctx, f, key("order-7"), engine.Decide{Type: engine.DecideApprove, ID: "bob.1", By: "ana", Version: seen.Version})
		if err != nil || res.Status != stores.StatusPaused || len(res.Waiting) != 1 || res.Waiting[0].ID != "alice.1" || w.count("pay") != 1 {
			t.Fatalf("%+v, %v", res, err)
		}
		_, err = r.Resume(ctx, f, key("order-7"), engine.Decide{Type: engine.DecideApprove, ID: "alice.1", By: "ben", Version: seen.Version})
		if !errors.Is(err, engine.ErrCheckpointConflict) || !strings.Contains(err.Error(), "changed since you looked") {
			t.Errorf("a decision on what was seen before: %v", err)
		}
		res, err = r.Record(ctx, key("order-7"), engine.Decide{Type: engine.DecideDeny, ID: "alice.1", By: "ana", Note: "twice"})
		if err != nil || res.Status != stores.StatusRunning || !res.Recorded {
			t.Fatalf("%+v, %v", res, err)
		}
		res, err = r.Recover(ctx, f, key("order-7"), engine.RecoverOptions{})
		if err != nil || res.Status != stores.StatusFailed || w.count("pay") != 1 {
			t.Errorf("%+v, %v, %v", res, err, w.hits)
		}
		verified(t, s, "order-7")
	})
}

func TestRecoverAll(t *testing.T) {
	everyStore(t, func(t *testing.T, s full) {
		w := newWorld()
		tools := tool.NewRegistry(w.tool("hold_seats"), w.tool("charge_card"), w.tool("email_tickets"))
		die := func(run string, at int, id stores.Identity) {
			c := &crashing{full: s, at: at}
			if _, err := runner(t, c, tools).Run(ctx, tickets(), engine.Start{Key: key(run), State: order(), Identity: id}); err == nil {
				t.Fatal("the worker was to die")
			}
			expireLease(t, s, run)
		}
		die("between", 6, stores.Identity{})
		die("in-call", 7, stores.Identity{})
		die("principal", 6, stores.Identity{Principal: "svc"})
		other := engine.NewFlow("other").Node("n", engine.Interrupt{Key: "k"})
		if _, err := runner(t, s, tools).Run(ctx, other, start("unknown-flow")); err != nil {
			t.Fatal(err)
		}
		flows := func(name string) (*engine.Flow, error) {
			if name == "tickets" {
				return tickets(), nil
			}
			return nil, fmt.Errorf("no flow %q here", name)
		}
		got, err := runner(t, s, tools).RecoverAll(ctx, stores.AnyOwner, flows, engine.RecoverOptions{})
		if err != nil || len(got) != 4 {
			t.Fatalf("%v, %v", got, err)
		}
		if r := got[key("between")]; r.Err != nil || r.Result.Status != stores.StatusDone {
			t.Errorf("between: %+v", r)
		}
		for run, class := range map[string]error{"in-call": engine.ErrRecoveryNeedsDecision, "principal": engine.ErrRefused, "unknown-flow": engine.ErrRefused} {
			if err := got[key(run)].Err; !errors.Is(err, class) {
				t.Errorf("%s: %v, want %v", run, err, class)
			}
		}
	})
}

// robbed is a store in which another worker takes the lease just before write
// number at, and this worker hears of it while it waits for the store.
type robbed struct {
	full
	t  *testing.T
	at int
}

func (r *robbed) write(ctx context.Context, k stores.Key, do func() error) error {
	if r.at--; r.at == 0 {
		if _, err := r.Acquire(ctx, k, "other", time.Minute, true); err != nil {
			r.t.Error(err)
		}
		<-ctx.Done()
	}
	return do()
}

func (r *robbed) Save(ctx context.Context, w stores.Save) error {
	return r.write(ctx, w.Checkpoint.Key, func() error { return r.full.Save(ctx, w) })
}

func (r *robbed) RecordCall(ctx context.Context, w stores.CallWrite) error {
	if w.Call.Status != stores.CallStarted {
		return r.full.RecordCall(ctx, w) // this one is kept whatever happens
	}
	return r.write(ctx, w.Call.Key, func() error { return r.full.RecordCall(ctx, w) })
}

// A worker that loses its lease while it writes says so, at every write.
func TestLeaseLostWhileWriting(t *testing.T) {
	everyStore(t, func(t *testing.T, s full) {
		for at := 1; at <= 7; at++ {
			w, run := newWorld(), fmt.Sprint("order-", at)
			quick := func(c *engine.Config) { c.LeaseTTL = 30 * time.Millisecond }
			_, err := runner(t, &robbed{full: s, t: t, at: at}, w.ticketTools(), quick).Run(ctx, tickets(), start(run))
			if !errors.Is(err, engine.ErrCheckpointConflict) || !strings.Contains(err.Error(), "another worker took the run over") {
				t.Errorf("write %d: %v", at, err)
			}
			if at == 1 {
				continue // the run was never there
			}
			r := runner(t, s, w.ticketTools())
			if _, err := r.Recover(ctx, tickets(), key(run), engine.RecoverOptions{Takeover: true}); err != nil || w.count("email_tickets") != 1 {
				t.Errorf("write %d: %v, %v", at, err, w.hits)
			}
		}
	})
}

// A worker that loses its lease starts no further call.
func TestLostLeaseStopsTheWorker(t *testing.T) {
	s, w := newStore(), newWorld()
	lost := make(chan struct{})
	w.do["hold_seats"] = func(ctx context.Context, _ tool.Input) (any, error) {
		if _, err := s.Acquire(ctx, key("order-7"), "thief", time.Minute, true); err != nil {
			return nil, err
		}
		<-ctx.Done() // the renewal found out
		close(lost)
		return "held", nil
	}
	r := runner(t, s, w.ticketTools(), func(c *engine.Config) { c.LeaseTTL = 30 * time.Millisecond })
	_, err := r.Run(ctx, tickets(), start("order-7"))
	<-lost
	if !errors.Is(err, engine.ErrCheckpointConflict) || w.count("charge_card") != 0 {
		t.Errorf("%v, %v", err, w.hits)
	}
	if log := callList(t, s, "order-7"); !strings.HasSuffix(log, "1.2 hold.1 done") {
		t.Errorf("the result of the call that ran was lost:\n%s", log)
	}
}

func TestBadIDsAreRefused(t *testing.T) {
	r := runner(t, newStore(), nil)
	f := engine.NewFlow("f").Node("n", engine.NodeFunc(nothing))
	for _, id := range []string{"a\x1b[2Jb", "a\nb", "a\x00b", "\xff", strings.Repeat("x", 2000), "a\u009bb"} {
		if _, err := r.Run(ctx, f, engine.Start{Key: key(id)}); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("id %q: %v", id, err)
		}
	}
}

func TestFlowErrors(t *testing.T) {
	tests := []struct {
		name string
		flow *engine.Flow
		want string
	}{
		{"no name", engine.NewFlow("").Node("n", engine.NodeFunc(nothing)), "no name"},
		{"no nodes", engine.NewFlow("f"), "no nodes"},
		{"twice", engine.NewFlow("f").Node("n", engine.NodeFunc(nothing)).Node("n", engine.NodeFunc(nothing)), `"n" is defined twice`},
		{"unknown end", engine.NewFlow("f").Node("n", engine.NodeFunc(nothing)).Edge("n", "m"), `edge end "m" is not a node`},
		{"unknown start", engine.NewFlow("f").Node("n", engine.NodeFunc(nothing)).Edge("m", "n"), `edge start "m" is not a node`},
		{"nowhere", engine.NewFlow("f").Node("n", engine.NodeFunc(nothing)).Edge("n"), "goes nowhere"},
		{"no code", engine.NewFlow("f").Node("n", nil), `node "n" has no code`},
		{"reducer", engine.NewFlow("f").Node("n", engine.NodeFunc(nothing)).Reduce("k", "sum"), `unknown reducer "sum"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := tt.flow.Check(); !errors.Is(err, engine.ErrFlow) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

// Whatever the updates are, a merge does not depend on the order in which keys
// of one update are visited, and never changes its input.
func TestMergeProperties(t *testing.T) {
	value := rapid.Custom(func(t *rapid.T) any {
		return rapid.OneOf(
			rapid.Just[any](nil), rapid.Map(rapid.String(), func(s string) any { return s }),
			rapid.Map(rapid.SliceOfN(rapid.String(), 0, 3), func(l []string) any {
				out := []any{}
				for _, s := range l {
					out = append(out, s)
				}
				return out
			})).Draw(t, "value")
	})
	state := rapid.Map(rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c"}), value, 0, 3), func(m map[string]any) engine.State { return m })
	rapid.Check(t, func(t *rapid.T) {
		s, u1, u2 := state.Draw(t, "state"), state.Draw(t, "u1"), state.Draw(t, "u2")
		red := map[string]engine.Reducer{"a": engine.Append, "b": engine.Keep}
		before := s.Clone()
		once := engine.Merge(s, red, u1, u2)
		if diff := cmp.Diff(before, s); diff != "" {
			t.Fatalf("the input changed: %s", diff)
		}
		if diff := cmp.Diff(once, engine.Merge(engine.Merge(s, red, u1), red, u2)); diff != "" {
			t.Errorf("merging in one go differs: %s", diff)
		}
		if v, ok := s["b"]; ok && !cmp.Equal(v, once["b"]) {
			t.Error("keep did not keep")
		}
	})
}

func FuzzDecodeValue(f *testing.F) {
	for _, s := range []string{`{"a":1.0}`, `"\ud800"`, `"\ud83d\ude00"`, `[[[`, `1e999`, "\"\xff\"", `"\\ud800"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := engine.DecodeValue(data)
		if err != nil {
			return
		}
		raw, err := engine.Seal(v)
		if err != nil {
			t.Fatalf("what was read cannot be kept: %v", err)
		}
		back, err := engine.DecodeValue(raw)
		if err != nil || !cmp.Equal(v, back) {
			t.Errorf("%s became %s, %v", data, raw, err)
		}
	})
}
