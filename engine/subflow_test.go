package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/model"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

func callsOf(tool, into string) engine.Node {
	return engine.Call{Tool: tool, Into: into, Args: func(s engine.State) (any, error) {
		return map[string]any{"item": s["item"], "round": s["sure_rounds"]}, nil
	}}
}

// careful is a flow that calls, asks until it is sure, with a call each time it
// is not, and then charges.
func careful() *engine.Flow {
	return engine.NewFlow("careful").
		Step("before", callsOf("hold_seats", "held")).
		InterruptLoop(engine.InterruptLoop{
			Key: "sure", Prompt: engine.Fill("Charge for {item}?"), Accept: engine.Strategy{Equals: "yes"},
			Body: []engine.Node{callsOf("log_refusal", "")}, Done: []engine.Node{callsOf("charge_card", "charge")},
		})
}

// nested asks in a subflow, beside a parallel node that calls, and for each item
// of a map.
func nested() *engine.Flow {
	return engine.NewFlow("nested").
		Node("start", engine.NodeFunc(nothing)).
		Node("mail", callsOf("email_tickets", "mail")).
		After("start").
		Subflow("one", engine.Subflow{Flow: careful(), In: map[string]string{"first": "item"}, Out: map[string]string{"charge": "one"}}).
		After("start").
		Map("all", engine.Map{Over: "items", As: "item", Flow: careful(), Pick: "charge", Into: "charges"}).
		Edge("start", "mail")
}

func (w *world) carefulTools() *tool.Registry {
	return tool.NewRegistry(w.tool("hold_seats"), w.tool("log_refusal"), w.tool("charge_card"), w.tool("email_tickets"))
}

func nestedStart() engine.Execution {
	return engine.Execution{Key: key("a"), State: engine.State{"first": "x", "items": []any{"y", "z"}}}
}

// Scenario 16, 21: an interrupt inside of a subflow, a loop, a map or beside a
// parallel node is resumed there. All that are open at once are listed, and no
// call, answer or result is lost or made twice.
func TestScenario21InsideContainers(t *testing.T) {
	eachStore(t, func(t *testing.T, s full) {
		w := newWorld()
		r := runner(t, s, w.carefulTools())
		res, err := r.Execute(ctx, nested(), nestedStart())
		if err != nil || waitingIDs(sortedWaiting(res)) != "all/0/sure#1 all/1/sure#1 one/sure#1" {
			t.Fatalf("%+v, %v", res.Waiting, err)
		}
		for i, c := range []struct{ id, answer, open string }{
			{"all/1/sure#1", "hm", "all/0/sure#1 all/1/sure@2#1 one/sure#1"},
			{"one/sure#1", "yes", "all/0/sure#1 all/1/sure@2#1"},
			{"all/1/sure@2#1", "yes", "all/0/sure#1"},
			{"all/0/sure#1", "yes", ""},
		} {
			d := engine.Decide{Type: engine.DecideAnswer, ID: c.id, Value: json.RawMessage(fmt.Sprintf("%q", c.answer)), By: "ana"}
			if res, err = r.Resume(ctx, nested(), key("a"), d); err != nil || waitingIDs(sortedWaiting(res)) != c.open {
				t.Fatalf("answer %d: %+v, %v", i, res.Waiting, err)
			}
			if _, err := r.Resume(ctx, nested(), key("a"), d); !errors.Is(err, engine.ErrCheckpointConflict) {
				t.Errorf("answer %d a second time: %v", i, err)
			}
		}
		if d := cmp.Diff(map[string]int{"hold_seats": 3, "log_refusal": 1, "charge_card": 3, "email_tickets": 1}, w.hits); d != "" {
			t.Error(d)
		}
		want := engine.State{"first": "x", "items": []any{"y", "z"}, "mail": "email_tickets 1", "one": "charge_card 1", "charges": []any{"charge_card 3", "charge_card 2"}}
		if d := cmp.Diff(want, res.State); res.Status != stores.StatusDone || d != "" {
			t.Errorf("%s: %s", res.Status, d)
		}
		verified(t, s, "a")
	})
}

func sortedWaiting(res engine.Result) []engine.Waiting {
	list := slices.Clone(res.Waiting)
	slices.SortFunc(list, func(a, b engine.Waiting) int { return strings.Compare(a.ID, b.ID) })
	return list
}

// Scenario 21: the worker dies at every operation of the store.
func TestScenario21ContainersCrashAtEveryStoreOperation(t *testing.T) {
	for _, after := range []bool{false, true} {
		for at := 1; ; at++ {
			s, w := newStore(), newWorld()
			c := &crashing{full: s, at: at, after: after}
			if !nestedHome(t, runner(t, c, w.carefulTools(), named("first")), s, w) {
				if at < 25 {
					t.Fatalf("operation %d was the last one", at)
				}
				break
			}
			expireLease(t, s, "a")
			if nestedHome(t, runner(t, s, w.carefulTools(), named("second")), s, w) {
				t.Fatal("the second worker crashed too")
			}
			if last, b := mustLatest(t, s, "a"); last.Status != stores.StatusDone || !strings.Contains(string(b.State), `"charges":["charge_card`) {
				t.Errorf("at %d, after %v: %s %s", at, after, last.Status, b.State)
			}
			if d := cmp.Diff(map[string]int{"hold_seats": 3, "log_refusal": 1, "charge_card": 3, "email_tickets": 1}, w.hits); d != "" {
				t.Errorf("at %d, after %v: %s", at, after, d)
			}
			verified(t, s, "a")
		}
	}
}

// nestedHome answers what is open, one at a time.
func nestedHome(t *testing.T, r *engine.Runner, s full, w *world) (crashed bool) {
	t.Helper()
	for range 50 {
		res, err := r.Execute(ctx, nested(), nestedStart())
		for err == nil && res.Status == stores.StatusPaused {
			id, value := res.Waiting[0].ID, `"yes"`
			if id == "all/1/sure#1" {
				value = `"hm"`
			}
			res, err = r.Resume(ctx, nested(), key("a"), engine.Decide{Type: engine.DecideAnswer, ID: id, Value: json.RawMessage(value), By: "ana"})
		}
		var e *engine.Error
		switch {
		case errors.Is(err, errCrash):
			return true
		case errors.Is(err, engine.ErrRecoveryNeedsDecision) && errors.As(err, &e):
			w.settle(t, s, r, e)
		case err != nil:
			t.Fatal(err)
		default:
			return false
		}
	}
	t.Fatal("it does not end")
	return false
}

// settle resolves calls in doubt by whether the world has seen their arguments.
func (w *world) settle(t *testing.T, s full, r *engine.Runner, e *engine.Error) {
	t.Helper()
	rows, err := s.Calls(ctx, e.Key, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range engine.FoldCalls(rows) {
		if !c.Open() {
			continue
		}
		res := engine.Resolution{Call: c.ID, By: "olga", NotRun: true}
		w.mu.Lock()
		if i := slices.Index(w.args[c.Tool], string(c.Args)); i >= 0 {
			res.NotRun, res.Result = false, json.RawMessage(fmt.Sprintf("%q", fmt.Sprint(c.Tool, " ", i+1)))
		}
		w.mu.Unlock()
		if err := r.Resolve(ctx, e.Key, res); err != nil && !errors.Is(err, errCrash) {
			t.Fatal(err)
		}
	}
}

// A container that fails withdraws what it asked: an error edge is taken at once,
// and nobody is asked for nothing.
func TestContainerThatFailsAsksNothing(t *testing.T) {
	inner := engine.NewFlow("inner").Node("start", engine.NodeFunc(nothing)).
		Node("ask", engine.Interrupt{Key: "ok"}).
		Node("pay", engine.Call{Tool: "charge_card"}).
		Node("load", engine.NodeFunc(func(_ context.Context, s engine.State) (engine.State, error) {
			if s["item"] == "bad" {
				return nil, errors.New("it broke")
			}
			return nil, nil
		})).
		Edge("start", "ask", "pay", "load")
	for name, f := range map[string]*engine.Flow{
		"subflow": engine.NewFlow("f").Subflow("c", engine.Subflow{Flow: inner}),
		"map":     engine.NewFlow("f").Map("c", engine.Map{Over: "items", As: "item", Flow: inner, Pick: "ok", Into: "out"}),
	} {
		s, w := newStore(), newWorld()
		f.Node("sorry", put("sorry", true)).OnError("c", "sorry")
		state := engine.State{"item": "bad", "items": []any{"good", "bad"}}
		res, err := runner(t, s, tool.NewRegistry(w.tool("charge_card", needsOK))).Run(ctx, f, engine.Start{Key: key("a"), State: state})
		if err != nil || res.Status != stores.StatusDone || res.State["sorry"] != true || len(res.Waiting) != 0 || w.count("charge_card") != 0 {
			t.Errorf("%s: %+v, %v", name, res, err)
		}
		verified(t, s, "a")
	}
}

// A tool loop inside of a subflow keeps the calls of its rounds apart.
func TestToolLoopInASubflow(t *testing.T) {
	s, w := newStore(), newWorld()
	m := talks(wants(`hold_seats {}`, `charge_card {"n":1}`), wants(`charge_card {"n":1}`), model.Message{Content: "Done."})
	inner := engine.NewFlow("inner").ToolLoop("talk", engine.ToolLoop{Model: m, Into: "said", Prompt: engine.Text("go"), MaxSteps: 3}).After("talk").
		Interrupt(engine.Interrupt{Key: "ok"})
	f := engine.NewFlow("outer").Subflow("sub", engine.Subflow{Flow: inner, In: map[string]string{}, Out: map[string]string{"said": "said", "ok": "ok"}})
	r := runner(t, s, w.ticketTools())
	res, err := r.Execute(ctx, f, execution("a"))
	if err != nil || waitingIDs(res.Waiting) != "sub/ok#1" || w.count("charge_card") != 2 {
		t.Fatalf("%+v, %v, %v", res, err, w.hits)
	}
	res, err = r.Execute(ctx, f, engine.Execution{Key: key("a"), Resume: map[string]any{"ok": true}})
	if err != nil || res.State["said"] != "Done." || w.count("charge_card") != 2 || len(res.Unreplayed) != 0 {
		t.Errorf("%+v, %v, %v", res, err, w.hits)
	}
	want := `1.1 sub/talk.1 started
1.2 sub/talk.1 done
1.3 sub/talk:tools.1 started
1.4 sub/talk:tools.1 done
1.5 sub/talk:tools.2 started
1.6 sub/talk:tools.2 done
1.7 sub/talk@2.1 started
1.8 sub/talk@2.1 done
1.9 sub/talk:tools@2.1 started
1.10 sub/talk:tools@2.1 done
1.11 sub/talk@3.1 started
1.12 sub/talk@3.1 done`
	if d := cmp.Diff(want, callList(t, s, "a")); d != "" {
		t.Error(d)
	}
	if n := m.asked(); n != 3 {
		t.Errorf("the model was asked %d times: another reply could call other tools", n)
	}
}

// Lists that append get only what is new; errors, limits and bad flows are told.
func TestContainers(t *testing.T) {
	s := newStore()
	r := runner(t, s, nil)
	fails := engine.NodeFunc(func(context.Context, engine.State) (engine.State, error) { return nil, errors.New("it broke") })
	log := engine.NewFlow("log").Reduce("log", engine.Append).Step("add", put("log", "b"))
	start := engine.State{"log": []any{"a"}, "keep": true, "l": []any{json.Number("1")}}
	for name, c := range map[string]struct {
		f    *engine.Flow
		want string // of the state, or of the error
	}{
		"all":     {engine.NewFlow("f").Reduce("log", engine.Append).Subflow("s", engine.Subflow{Flow: log}), `{"keep":true,"l":[1],"log":["a","b"]}`},
		"out":     {engine.NewFlow("f").Reduce("log", engine.Append).Subflow("s", engine.Subflow{Flow: log, Out: map[string]string{"log": "log"}}), `{"keep":true,"l":[1],"log":["a","b"]}`},
		"renamed": {engine.NewFlow("f").Subflow("s", engine.Subflow{Flow: log, In: map[string]string{"log": "log"}, Out: map[string]string{"log": "l"}}), `{"keep":true,"l":["a","b"],"log":["a"]}`},
		"map": {engine.NewFlow("f").Map("m", engine.Map{Over: "log", As: "x", Flow: engine.NewFlow("i").Step("n", engine.NodeFunc(func(_ context.Context, s engine.State) (engine.State, error) {
			return engine.State{"y": fmt.Sprint(s["x"], "!")}, nil
		})), Pick: "y", Into: "l", Limit: 1}), `{"keep":true,"l":["a!"],"log":["a"]}`},
		"nothing": {engine.NewFlow("f").Map("m", engine.Map{Over: "none", As: "x", Flow: log, Pick: "y", Into: "l"}), `{"keep":true,"l":[],"log":["a"]}`},
		"no list": {engine.NewFlow("f").Map("m", engine.Map{Over: "keep", As: "x", Flow: log, Pick: "y", Into: "l"}), `"keep" in the state is no list`},
		"error":   {engine.NewFlow("f").Subflow("s", engine.Subflow{Flow: engine.NewFlow("i").Step("n", fails)}), "n: it broke"},
		"mended":  {engine.NewFlow("f").Subflow("s", engine.Subflow{Flow: engine.NewFlow("i").Step("n", fails).Node("m", put("m", 1)).OnError("n", "m"), Out: map[string]string{"m": "keep"}}), `{"keep":1,"l":[1],"log":["a"]}`},
		"endless": {engine.NewFlow("f").Subflow("s", engine.Subflow{Flow: engine.NewFlow("i").Step("n", put("n", 1)).Edge("n", "n").MaxSupersteps(9)}), "more than 9 supersteps"},
		"panic":   {engine.NewFlow("f").Subflow("s", engine.Subflow{Flow: engine.NewFlow("i").Step("n", engine.NodeFunc(func(context.Context, engine.State) (engine.State, error) { panic("oh") }))}), "the node panicked: oh"},
	} {
		res, err := r.Run(ctx, c.f, engine.Start{State: start})
		got := res.Error
		if raw, merr := json.Marshal(res.State); got == "" && merr == nil {
			got = string(raw)
		}
		if err != nil || !strings.Contains(got, c.want) {
			t.Errorf("%s: want %s, got %s, %v", name, c.want, got, err)
		}
	}
	one := engine.Subflow{Flow: log}
	for want, f := range map[string]*engine.Flow{
		`"s": it has no flow`:                            engine.NewFlow("f").Subflow("s", engine.Subflow{}),
		"a conversation cannot run":                      engine.NewFlow("f").Subflow("s", engine.Subflow{Flow: renovation()}),
		"it has no nodes":                                engine.NewFlow("f").Subflow("s", engine.Subflow{Flow: engine.NewFlow("i")}),
		`"s/add" is named like one`:                      engine.NewFlow("f").Subflow("s", one).Step("s/add", put("x", 1)),
		"like a later visit":                             engine.NewFlow("f").Subflow("s", engine.Subflow{Flow: engine.NewFlow("i").Step("n@2", fails)}),
		"needs Over and As, or Items, and Pick and Into": engine.NewFlow("f").Map("m", engine.Map{Flow: log}),
	} {
		if err := f.Check(); !errors.Is(err, engine.ErrFlow) || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
	a, _ := engine.NewFlow("f").Subflow("s", one).Digest()
	b, _ := engine.NewFlow("f").Subflow("s", engine.Subflow{Flow: log.Step("more", put("x", 1))}).Digest()
	if a == b {
		t.Error("another inner flow leaves the digest as it was")
	}
}
