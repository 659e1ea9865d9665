package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/flowtui/flowtui/engine"
)

// flowSpec is a flow as data, for the engine and for the model that foretells
// how it ends.
type flowSpec struct {
	nodes []nodeSpec
	edges []edgeSpec
}

type nodeSpec struct {
	id    string
	steps []stepSpec
	rude  bool // its code ignores errors
}

// stepSpec is one thing that a node does: it calls a tool, or asks when tool is "".
type stepSpec struct {
	tool  string
	args  argSpec
	keeps bool // an error of the tool goes into the state
}

// argSpec says what a call's arguments depend on.
type argSpec int

const (
	unique   argSpec = iota // on where the call is made
	constant                // on nothing: calls share them
	drifting                // on how often the node began: it is not deterministic
)

type edgeSpec struct {
	from    string
	to      []string
	when    *engine.Condition
	onError bool
}

// drawFlow makes a random flow: rounds of one node or several side by side, with
// conditions between them, error edges to a rescue, and a loop.
func drawFlow(r *rand.Rand) flowSpec {
	f := flowSpec{nodes: []nodeSpec{{id: "start"}}}
	before := []string{"start"}
	for round := range 1 + r.IntN(4) {
		var ids []string
		for i := range 1 + r.IntN(3)*r.IntN(3)/2 {
			n := drawNode(r, fmt.Sprintf("n%d%c", round, 'a'+i))
			f.nodes, ids = append(f.nodes, n), append(ids, n.id)
			if r.IntN(2) == 0 {
				f.edges = append(f.edges, edgeSpec{from: n.id, to: []string{"rescue"}, onError: true})
			}
		}
		for _, b := range before {
			e := edgeSpec{from: b, to: ids}
			if r.IntN(6) == 0 {
				e.when = conditions[r.IntN(len(conditions))]
			}
			f.edges = append(f.edges, e)
		}
		before = ids
	}
	if r.IntN(3) == 0 {
		f.edges = append(f.edges, edgeSpec{from: before[0], to: []string{"start"}, when: firstRound})
	}
	f.nodes = append(f.nodes, nodeSpec{id: "rescue"})
	return f
}

func drawNode(r *rand.Rand, id string) nodeSpec {
	n := nodeSpec{id: id, rude: r.IntN(7) == 0}
	for range 1 + r.IntN(4) {
		s := stepSpec{keeps: r.IntN(3) == 0, args: []argSpec{unique, unique, unique, unique, constant, constant, drifting}[r.IntN(7)]}
		s.tool = []string{"", once, once, once, once, once, again, again, again, asks, asks, askAgain, broken, opaque, picky}[r.IntN(15)]
		n.steps = append(n.steps, s)
	}
	return n
}

var firstRound = &engine.Condition{Text: "round < 2", Test: func(st engine.State) (bool, error) { return fmt.Sprint(st["round"]) == "1", nil }}

var conditions = []*engine.Condition{
	firstRound,
	{Text: "no error so far", Test: func(st engine.State) (bool, error) { return st["error"] == nil, nil }},
	{Text: "not no", Test: func(st engine.State) (bool, error) { return st["answer"] != "no", nil }},
}

func (f flowSpec) initial(run string) engine.State {
	return engine.State{"run": run, "round": 0, "log": []any{}}
}

// flow is the flow with code that runs in this process.
func (a *actor) flow() *engine.Flow {
	f := engine.NewFlow("sim").Reduce("log", engine.Append)
	for _, n := range a.sim.flow.nodes {
		f.Node(n.id, engine.NodeFunc(func(ctx context.Context, st engine.State) (engine.State, error) { return a.runNode(ctx, n, st) }))
	}
	for _, e := range a.sim.flow.edges {
		switch {
		case e.onError:
			f.OnError(e.from, e.to...)
		case e.when != nil:
			f.When(e.from, *e.when, e.to...)
		default:
			f.Edge(e.from, e.to...)
		}
	}
	return f
}

// runNode is the code of every node.
func (a *actor) runNode(ctx context.Context, n nodeSpec, st engine.State) (engine.State, error) {
	run, _ := st["run"].(string)
	switch a.pass(ctx, coding, "node "+run+" "+n.id) {
	case goes:
	case cancelled:
		return nil, ctx.Err()
	default:
		return nil, errCrash
	}
	out, drift := n.update(st), a.sim.drifts(run+n.id)
	calls := 0
	for i, s := range n.steps {
		if s.tool == "" {
			v, err := engine.Ask(ctx, question(n.id, i))
			if err != nil && !n.rude {
				return nil, err
			}
			if err == nil {
				out["answer"] = v
			}
			continue
		}
		calls++
		args := n.args(i, st, drift)
		v, err := engine.CallTool(context.WithValue(ctx, callName{}, engine.CallID(n.id, int64(calls))), s.tool, args)
		switch {
		case err == nil:
			out[n.key(i)] = map[string]any{"args": args, "result": v}
		case s.keeps && isOutcome(err):
			out[n.key(i)] = map[string]any{"args": args, "error": err.Error()}
		case !n.rude:
			return nil, err
		}
	}
	return out, nil
}

// isOutcome tells what is part of the run from what stops this process.
func isOutcome(err error) bool {
	var failed *engine.ToolError
	var denied *engine.DeniedError
	return errors.As(err, &failed) || errors.As(err, &denied)
}

// update is what a node changes whatever its calls say.
func (n nodeSpec) update(st engine.State) engine.State {
	out := engine.State{"log": n.id}
	if n.id == "start" {
		i, _ := st["round"].(json.Number).Int64()
		out["round"] = i + 1
	}
	return out
}

func (n nodeSpec) key(i int) string { return fmt.Sprint(n.id, ".", i) }

func (n nodeSpec) args(i int, st engine.State, drift int) map[string]any {
	switch n.steps[i].args {
	case constant:
		return map[string]any{"what": "the same"}
	case drifting:
		return map[string]any{"drift": drift, "node": n.id, "n": i, "round": st["round"]}
	}
	return map[string]any{"node": n.id, "n": i, "round": st["round"]}
}

func question(node string, i int) engine.Question {
	return engine.Question{Key: fmt.Sprint(node, ".", i), Prompt: "go on?", Choices: []string{"yes", "no"}}
}

// drifts counts how often a node began, anywhere: a number that no replay
// repeats, until the world has calmed down.
func (s *sim) drifts(node string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.calm {
		s.drift[node]++
	}
	return s.drift[node]
}
