package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

// put is a node that sets a key.
func put(key string, value any) engine.Node {
	return engine.NodeFunc(func(context.Context, engine.State) (engine.State, error) { return engine.State{key: value}, nil })
}

func execution(run string) engine.Execution { return engine.Execution{Key: key(run)} }

// "A crash or error resumes from the last safe point instead of starting over":
// the call that succeeded replays, the one that failed runs again.
func TestExecuteGoesOnAfterAnError(t *testing.T) {
	eachStore(t, func(t *testing.T, s full) {
		w := newWorld()
		w.do["charge_card"] = func(context.Context, tool.Input) (any, error) {
			if w.count("charge_card") < 3 {
				return nil, errors.New("the bank is closed")
			}
			return "paid", nil
		}
		f := engine.NewFlow("shop").
			Step("hold", engine.Call{Tool: "hold_seats", Into: "note"}).
			Step("pay", engine.NodeFunc(func(ctx context.Context, _ engine.State) (engine.State, error) {
				if _, err := engine.CallTool(ctx, "email_tickets", nil); err != nil {
					return nil, err
				}
				_, err := engine.CallTool(ctx, "charge_card", nil)
				return nil, err
			}))
		r := runner(t, s, w.ticketTools())
		for try := 1; try <= 2; try++ {
			_, err := r.Execute(ctx, f, execution("a"))
			if !errors.Is(err, engine.ErrHeld) || !strings.Contains(err.Error(), "the bank is closed") {
				t.Fatalf("try %d: %v", try, err)
			}
			if last, _ := mustLatest(t, s, "a"); last.Status != stores.StatusRunning {
				t.Fatalf("the run is %s", last.Status)
			}
			verified(t, s, "a")
		}
		res, err := r.Execute(ctx, f, execution("a"))
		if err != nil || res.Status != stores.StatusDone {
			t.Fatalf("%+v, %v", res, err)
		}
		if d := cmp.Diff(map[string]int{"hold_seats": 1, "email_tickets": 1, "charge_card": 3}, w.hits); d != "" {
			t.Error(d)
		}
		verified(t, s, "a")
	})
}

// A worker that dies at any operation of the store is followed by one that runs
// the same thing with the same id.
func TestExecuteCrashAtEveryStoreOperation(t *testing.T) {
	for _, after := range []bool{false, true} {
		for at := 1; ; at++ {
			s, w := newStore(), newWorld()
			c := &crashing{full: s, at: at, after: after}
			e := engine.Execution{Key: key("order-7"), State: order()}
			_, err := runner(t, c, w.ticketTools(idempotent), named("first")).Execute(ctx, tickets(), e)
			if err == nil {
				if at < 8 {
					t.Fatalf("operation %d was the last one", at)
				}
				break
			}
			expireLease(t, s, "order-7")
			e.State = engine.State{"show": "another one"} // the saved state wins, if there is one
			if _, err := s.Latest(ctx, key("order-7")); errors.Is(err, stores.ErrNotFound) {
				e.State = order()
			}
			res, err := runner(t, s, w.ticketTools(idempotent), named("second")).Execute(ctx, tickets(), e)
			if err != nil || res.Status != stores.StatusDone || res.State["show"] != "Hamlet" {
				t.Fatalf("at %d, after %v: %+v, %v", at, after, res, err)
			}
			verified(t, s, "order-7")
		}
	}
}

// An approval is for one call: when that failed, another try asks again.
func TestExecuteAsksAgainAfterAFailedCall(t *testing.T) {
	s, w := newStore(), newWorld()
	w.do["charge_card"] = func(context.Context, tool.Input) (any, error) {
		if w.count("charge_card") == 1 {
			return nil, errors.New("the bank is closed")
		}
		return "paid", nil
	}
	f := engine.NewFlow("shop").HoldOnError().Step("pay", engine.Call{Tool: "charge_card", Into: "paid"})
	r := runner(t, s, tool.NewRegistry(w.tool("charge_card", needsOK)))
	if _, err := r.Execute(ctx, f, execution("a")); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Resume(ctx, f, key("a"), approve("pay.1")); !errors.Is(err, engine.ErrHeld) {
		t.Fatal(err)
	}
	res, err := r.Execute(ctx, f, execution("a"))
	if err != nil || waitingIDs(res.Waiting) != "pay.1" || w.count("charge_card") != 1 {
		t.Fatalf("%+v, %v, %d charges", res, err, w.count("charge_card"))
	}
	verified(t, s, "a")
	if res, err = r.Resume(ctx, f, key("a"), approve("pay.1")); err != nil || res.State["paid"] != "paid" || w.count("charge_card") != 2 {
		t.Errorf("%+v, %v", res, err)
	}
	verified(t, s, "a")
}

// An error that a person's denial made, and one that an error edge takes, are
// not held.
func TestExecuteHoldsOnlyErrors(t *testing.T) {
	s, w := newStore(), newWorld()
	w.do["hold_seats"] = func(context.Context, tool.Input) (any, error) { return nil, errors.New("sold out") }
	f := engine.NewFlow("shop").Node("hold", engine.Call{Tool: "hold_seats"}).Node("pay", engine.Call{Tool: "charge_card"}).OnError("hold", "pay")
	r := runner(t, s, tool.NewRegistry(w.tool("hold_seats"), w.tool("charge_card", needsOK)))
	res, err := r.Execute(ctx, f, execution("a"))
	if err != nil || res.Status != stores.StatusPaused {
		t.Fatalf("%+v, %v", res, err)
	}
	if res, err = r.Resume(ctx, f.HoldOnError(), key("a"), engine.Decide{Type: engine.DecideDeny, By: "ana", Note: "no"}); err != nil || res.Status != stores.StatusFailed {
		t.Errorf("%+v, %v", res, err)
	}
	res, err = r.Execute(ctx, f, execution("a"))
	if err != nil || res.Status != stores.StatusFailed || res.Denied == nil || res.Denied.By != "ana" || w.count("hold_seats") != 1 {
		t.Errorf("an ended run is given back as it is: %+v, %v", res, err)
	}
}

func approval() *engine.Flow {
	return engine.NewFlow("approval").
		Step("draft", put("draft", "plan A")).
		Interrupt(engine.Interrupt{Key: "approved", Prompt: engine.Fill("Approve {draft}?")}).
		Step("final", engine.NodeFunc(func(_ context.Context, s engine.State) (engine.State, error) {
			return engine.State{"final": fmt.Sprint(s["draft"], ": ", s["approved"])}, nil
		}))
}

func TestExecuteResumesByKey(t *testing.T) {
	eachStore(t, func(t *testing.T, s full) {
		r := runner(t, s, nil)
		res, err := r.Execute(ctx, approval(), execution("run-1"))
		if err != nil || res.Status != stores.StatusPaused || len(res.Waiting) != 1 || res.Waiting[0].Prompt != "Approve plan A?" || res.Waiting[0].Key != "approved" {
			t.Fatalf("%+v, %v", res, err)
		}
		again, err := r.Execute(ctx, approval(), execution("run-1"))
		if err != nil || again.Status != stores.StatusPaused || again.Step != res.Step {
			t.Errorf("without an answer it is given back as it is: %+v, %v", again, err)
		}
		wrong := engine.Execution{Key: key("run-1"), Resume: map[string]any{"aproved": "yes"}}
		if _, err := r.Execute(ctx, approval(), wrong); !errors.Is(err, engine.ErrCheckpointConflict) || !strings.Contains(err.Error(), `"aproved"`) {
			t.Errorf("a key that nothing waits for: %v", err)
		}
		if last, _ := mustLatest(t, s, "run-1"); last.Step != res.Step {
			t.Errorf("something was written: step %d", last.Step)
		}
		answer := engine.Execution{Key: key("run-1"), Resume: map[string]any{"approved": "yes"}, By: "ana", State: engine.State{"draft": "another"}}
		res, err = r.Execute(ctx, approval(), answer)
		if err != nil || res.Status != stores.StatusDone {
			t.Fatalf("%+v, %v", res, err)
		}
		if d := cmp.Diff(engine.State{"draft": "plan A", "approved": "yes", "final": "plan A: yes"}, res.State); d != "" {
			t.Error(d)
		}
		if _, err := r.Execute(ctx, approval(), answer); !errors.Is(err, engine.ErrCheckpointConflict) || !strings.Contains(err.Error(), "ana answered approved#1") {
			t.Errorf("a second answer learns who was first: %v", err)
		}
		none := engine.Execution{Key: key("nobody"), Resume: map[string]any{"approved": "yes"}}
		if _, err := r.Execute(ctx, approval(), none); !errors.Is(err, engine.ErrCheckpointNotFound) {
			t.Errorf("an answer to no run: %v", err)
		}
		verified(t, s, "run-1")
	})
}

// Falsy answers arrive as they are given.
func TestExecuteTakesAnyAnswer(t *testing.T) {
	for i, v := range []any{false, 0, "", nil, map[string]any{}, []any{}} {
		s := newStore()
		r := runner(t, s, nil)
		run := fmt.Sprint("a", i)
		if _, err := r.Execute(ctx, approval(), execution(run)); err != nil {
			t.Fatal(err)
		}
		res, err := r.Execute(ctx, approval(), engine.Execution{Key: key(run), Resume: map[string]any{"approved": v}})
		want, _ := json.Marshal(v)
		got, _ := json.Marshal(res.State["approved"])
		if err != nil || string(got) != string(want) {
			t.Errorf("%s arrived as %s, %v", want, got, err)
		}
	}
}

// "The same checkpoint_id under different owners never collides", and a
// person's runs can be listed.
func TestExecuteOwners(t *testing.T) {
	everyStore(t, func(t *testing.T, s full) {
		r := runner(t, s, nil)
		for i, owner := range []string{"alice", "bob", ""} {
			e := engine.Execution{Key: stores.Key{Owner: owner, Run: "chat-1"}, State: engine.State{"n": i}}
			if res, err := r.Execute(ctx, approval(), e); err != nil || res.State["n"] != json.Number(fmt.Sprint(i)) {
				t.Fatalf("%q: %+v, %v", owner, res.State, err)
			}
		}
		if _, err := r.Execute(ctx, approval(), engine.Execution{Key: stores.Key{Owner: "alice", Run: "a-2"}}); err != nil {
			t.Fatal(err)
		}
		answer := engine.Execution{Key: stores.Key{Owner: "alice", Run: "chat-1"}, Resume: map[string]any{"approved": "yes"}}
		if res, err := r.Execute(ctx, approval(), answer); err != nil || res.Status != stores.StatusDone {
			t.Fatalf("%+v, %v", res, err)
		}
		if bob, err := s.Latest(ctx, stores.Key{Owner: "bob", Run: "chat-1"}); err != nil || bob.Status != stores.StatusPaused {
			t.Errorf("bob's run is %s, %v", bob.Status, err)
		}
		for owner, want := range map[string][]string{"alice": {"a-2", "chat-1"}, "bob": {"chat-1"}, stores.DefaultOwner: {"chat-1"}, "eve": {}} {
			got, err := engine.Runs(ctx, s, owner)
			if d := cmp.Diff(want, got); err != nil || d != "" {
				t.Errorf("%s: %s, %v", owner, d, err)
			}
		}
		if _, err := engine.Runs(ctx, s, stores.AnyOwner); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("ids without owners: %v", err)
		}
	})
}

func TestRunsOfManyPages(t *testing.T) {
	s := newStore()
	r := runner(t, s, nil)
	f := engine.NewFlow("one").Step("a", put("a", 1))
	for i := range 1005 {
		if _, err := r.Execute(ctx, f, execution(fmt.Sprintf("r%04d", i))); err != nil {
			t.Fatal(err)
		}
	}
	got, err := engine.Runs(ctx, s, stores.DefaultOwner)
	if err != nil || len(got) != 1005 || got[0] != "r0000" || got[1004] != "r1004" {
		t.Errorf("%d runs, %v", len(got), err)
	}
}

// "On resume the saved state wins; a State instance keeps its schema and
// reducers."
func TestResumedStateKeepsItsTypeAndReducers(t *testing.T) {
	type talk struct {
		Log  []string `json:"log"`
		Seat int      `json:"seat"`
		Who  string   `json:"who"`
	}
	f := func() *engine.Flow {
		return engine.NewFlow("typed").State(talk{Seat: 4}).Reduce("log", engine.Append).Reduce("who", engine.Keep).
			Step("a", put("log", []any{"one"})).
			Interrupt(engine.Interrupt{Key: "seat"}).
			Step("b", engine.Step(func(_ context.Context, s *talk) error {
				s.Log = append(s.Log, fmt.Sprint("seat ", s.Seat))
				s.Who = "nobody"
				return nil
			}))
	}
	s := newStore()
	r := runner(t, s, nil)
	if _, err := r.Execute(ctx, f(), engine.Execution{Key: key("a"), State: engine.State{"who": "ana"}}); err != nil {
		t.Fatal(err)
	}
	bad := engine.Execution{Key: key("a"), Resume: map[string]any{"seat": "first row"}}
	if _, err := r.Execute(ctx, f(), bad); !errors.Is(err, engine.ErrInvalid) || !strings.Contains(err.Error(), "whole number") {
		t.Errorf("an answer that is not of the key's type: %v", err)
	}
	res, err := r.Execute(ctx, f(), engine.Execution{Key: key("a"), State: engine.State{"who": "eve", "log": []any{}}, Resume: map[string]any{"seat": 7}})
	if err != nil {
		t.Fatal(err)
	}
	want := engine.State{"log": []any{"one", "seat 7"}, "seat": json.Number("7"), "who": "ana"}
	if d := cmp.Diff(want, res.State); d != "" {
		t.Error(d)
	}
}

// three asks three questions at once, and one more in between.
func three() *engine.Flow {
	f := engine.NewFlow("three").Node("start", engine.NodeFunc(nothing))
	for _, id := range []string{"a", "b", "c"} {
		f.Node(id, engine.Interrupt{Key: id, Prompt: engine.Text("Pay?")}).Edge("start", id)
	}
	return f
}

// Scenario 16: several questions are open at once. An answer is for the one that
// it names; without a name it is an error that lists them.
func TestScenario16Interrupts(t *testing.T) {
	everyStore(t, func(t *testing.T, s full) {
		r := runner(t, s, nil)
		res, err := r.Execute(ctx, three(), execution("x"))
		if err != nil || waitingIDs(res.Waiting) != "a#1 b#1 c#1" {
			t.Fatalf("%+v, %v", res, err)
		}
		digests := map[string]bool{}
		for _, w := range res.Waiting {
			digests[w.Digest] = true
		}
		if len(digests) != 3 {
			t.Errorf("questions that differ in their key share a digest: %+v", res.Waiting)
		}
		unnamed := engine.Decide{Type: engine.DecideAnswer, Value: json.RawMessage(`"yes"`), By: "ana"}
		if _, err := r.Resume(ctx, three(), key("x"), unnamed); !errors.Is(err, engine.ErrInvalid) || !strings.Contains(err.Error(), "a#1 (a), b#1 (b), c#1 (c)") {
			t.Errorf("an answer without a name: %v", err)
		}
		res, err = r.Execute(ctx, three(), engine.Execution{Key: key("x"), Resume: map[string]any{"b": false}})
		if err != nil || waitingIDs(res.Waiting) != "a#1 c#1" {
			t.Fatalf("%+v, %v", res, err)
		}
		if _, err := r.Execute(ctx, three(), engine.Execution{Key: key("x"), Resume: map[string]any{"b": "yes"}}); !errors.Is(err, engine.ErrCheckpointConflict) {
			t.Errorf("b was answered already: %v", err)
		}
		both := engine.Execution{Key: key("x"), Resume: map[string]any{"a": 0, "d": 1}}
		if _, err := r.Execute(ctx, three(), both); !errors.Is(err, engine.ErrCheckpointConflict) {
			t.Errorf("one of two is not asked: %v", err)
		}
		res, err = r.Execute(ctx, three(), engine.Execution{Key: key("x"), Resume: map[string]any{"a": 0, "c": ""}})
		if err != nil || res.Status != stores.StatusDone {
			t.Fatalf("%+v, %v", res, err)
		}
		if d := cmp.Diff(engine.State{"a": json.Number("0"), "b": false, "c": ""}, res.State); d != "" {
			t.Error(d)
		}
		verified(t, s, "x")
	})
}
