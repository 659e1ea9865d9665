package engine_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowtui/flowtui/engine"
)

// appends is a node that adds to the key log, and says so in last.
func appends(text string) engine.Node {
	return engine.NodeFunc(func(context.Context, engine.State) (engine.State, error) {
		return engine.State{"log": []any{text}, "last": text}, nil
	})
}

// branches calls in each of its branches; the second one asks between two calls.
func branches() *engine.Flow {
	inner := engine.NewFlow("inner").Route(engine.RouteFirst).Reduce("log", engine.Append).
		Node("hold", callsOf("hold_seats", "held")).Node("left", appends("left")).Edge("hold", "left").
		Node("mail", callsOf("email_tickets", "mail")).Node("ask", engine.Interrupt{Key: "sure"}).Node("charge", callsOf("charge_card", "charge")).
		Node("right", appends("right")).Edge("mail", "ask").Edge("ask", "charge").Edge("charge", "right")
	return engine.NewFlow("branches").Reduce("log", engine.Append).
		Node("start", appends("start")).After("start").
		Parallel("fan", engine.Parallel{Flow: inner, Branches: []string{"hold", "mail"}}).
		Step("end", appends("end"))
}

// An interrupt in the second branch is resumed there, also by another worker:
// what was called in either branch is not called again.
func TestParallelResumesInsideABranch(t *testing.T) {
	eachStore(t, func(t *testing.T, s full) {
		w := newWorld()
		res, err := runner(t, s, w.carefulTools()).Run(ctx, branches(), engine.Start{Key: key("p")})
		if err != nil || waitingIDs(res.Waiting) != "fan/ask#1" {
			t.Fatalf("%+v, %v", res.Waiting, err)
		}
		other := runner(t, s, w.carefulTools(), named("other"))
		res, err = other.Resume(ctx, branches(), key("p"), engine.Decide{Type: engine.DecideAnswer, Value: json.RawMessage(`"yes"`), By: "ana"})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]any{"start", "left", "right", "end"}, res.State["log"]); diff != "" {
			t.Error(diff)
		}
		for _, tool := range []string{"hold_seats", "email_tickets", "charge_card"} {
			if n := w.count(tool); n != 1 {
				t.Errorf("%s was called %d times", tool, n)
			}
		}
		verified(t, s, "p")
	})
}

// A branch does not see what another one writes, and the last branch wins where
// both write, also with the value that was there before.
func TestParallelMergesInTheOrderOfBranches(t *testing.T) {
	set := func(v string) engine.Node {
		return engine.NodeFunc(func(_ context.Context, s engine.State) (engine.State, error) {
			return engine.State{"x": v, "saw" + v: s["x"]}, nil
		})
	}
	inner := engine.NewFlow("inner").Node("new", set("new")).Node("old", set("old"))
	f := engine.NewFlow("f").Parallel("fan", engine.Parallel{Flow: inner, Branches: []string{"new", "old"}}).Initial(engine.State{"x": "old"})
	res, err := runner(t, newStore(), nil).Run(ctx, f, engine.Start{Key: key("p")})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(engine.State{"x": "old", "sawnew": "old", "sawold": "old"}, res.State); diff != "" {
		t.Error(diff)
	}
}

func TestParallelRefusesBranches(t *testing.T) {
	inner := engine.NewFlow("inner").Node("a", appends("a")).Node("b", appends("b")).Edge("a", "b")
	for name, c := range map[string]struct {
		p    engine.Parallel
		want string
	}{
		"no flow": {engine.Parallel{}, "no flow"},
		"unknown": {engine.Parallel{Flow: inner, Branches: []string{"c"}}, `starts at "c"`},
		"shared":  {engine.Parallel{Flow: inner, Branches: []string{"a", "b"}}, `node "b" is in two branches, 1 and 2`},
	} {
		if err := engine.NewFlow("f").Parallel("fan", c.p).Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A map over several lists at once.
func TestMapItems(t *testing.T) {
	inner := engine.NewFlow("inner").Step("pair", engine.NodeFunc(func(_ context.Context, s engine.State) (engine.State, error) {
		return engine.State{"pair": []any{s["a"], s["b"]}}, nil
	}))
	f := engine.NewFlow("f").Map("all", engine.Map{Flow: inner, Pick: "pair", Into: "pairs", Items: func(s engine.State) ([]engine.State, error) {
		return []engine.State{{"a": "1", "b": "x"}, {"a": "2", "b": "y"}}, nil
	}})
	res, err := runner(t, newStore(), nil).Run(ctx, f, engine.Start{Key: key("p")})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]any{[]any{"1", "x"}, []any{"2", "y"}}, res.State["pairs"]); diff != "" {
		t.Error(diff)
	}
}

// What a container makes of its results can be said in Go.
func TestContainersWithAResult(t *testing.T) {
	inner := engine.NewFlow("inner").Node("a", appends("a")).Node("b", appends("b"))
	f := engine.NewFlow("f").
		Subflow("s", engine.Subflow{Flow: inner, Kind: "round", Result: func(saw, end engine.State) (engine.State, error) {
			return engine.State{"s": []any{saw["x"], end["last"]}}, nil
		}}).
		Map("m", engine.Map{Flow: inner, Over: "items", As: "item", Pick: "item", Result: func(saw engine.State, results []any) (engine.State, error) {
			return engine.State{"m": append(results, saw["x"])}, nil
		}}).
		Parallel("p", engine.Parallel{Flow: inner, Branches: []string{"a", "b"}, Result: func(saw engine.State, ends []engine.State) (engine.State, error) {
			return engine.State{"p": []any{saw["x"], ends[0]["last"], ends[1]["last"]}}, nil
		}})
	res, err := runner(t, newStore(), nil).Run(ctx, f, engine.Start{State: engine.State{"x": "old", "items": []any{"i"}}})
	if err != nil {
		t.Fatal(err)
	}
	want := engine.State{"x": "old", "items": []any{"i"}, "s": []any{"old", "a"}, "m": []any{"i", "old"}, "p": []any{"old", "a", "b"}}
	if diff := cmp.Diff(want, res.State); diff != "" {
		t.Error(diff)
	}
	outer, _, err := f.Topologies()
	if err != nil || outer.Nodes[0].Type != "round" {
		t.Errorf("%+v, %v", outer, err)
	}
}
