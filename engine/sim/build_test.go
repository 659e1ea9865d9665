package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/flowtui/flowtui/engine"
)

// flow is the flow with code that runs in this process.
func (a *actor) flow() *engine.Flow {
	f := engine.NewFlow("sim").Reduce("log", engine.Append)
	if a.sim.flow.holds {
		f.HoldOnError()
	}
	for _, n := range a.sim.flow.nodes {
		switch {
		case n.loop == nil:
			f.Node(n.id, a.node(n))
		case n.runsTools == "":
			f.ToolLoop(n.id, a.toolLoop(n)) // both nodes
		}
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

// node is a node with code that runs in this process.
func (a *actor) node(n nodeSpec) (out engine.Node) {
	var err error
	switch code := engine.NodeFunc(func(ctx context.Context, st engine.State) (engine.State, error) { return a.runNode(ctx, n, st) }); {
	case n.box == subflowBox:
		out, err = engine.Subflow{Flow: a.inner(n)}.Node()
	case n.box == parallelBox:
		var starts []string
		for _, chain := range n.branches {
			starts = append(starts, chain[0].id)
		}
		out, err = engine.Parallel{Flow: a.inner(n), Branches: starts}.Node()
	case n.box == mapBox:
		out, err = engine.Map{Items: n.itemStates, Flow: a.inner(n), Pick: packed, Limit: n.limit, Result: n.gather}.Node()
	case n.attempts > 1:
		out, err = engine.Retry{Attempts: n.attempts, Delay: time.Second}.Wrap(code)
	default:
		return code
	}
	if err != nil {
		panic(err)
	}
	return out
}

// inner is the flow that a box runs. At the end of a map's the whole state is
// packed up, for gather.
func (a *actor) inner(n nodeSpec) *engine.Flow {
	f := engine.NewFlow("in "+n.id).Reduce("log", engine.Append)
	if n.laps {
		f.Node(nextLap, engine.NodeFunc(func(_ context.Context, st engine.State) (engine.State, error) { return n.nextLap(st), nil }))
	}
	for _, chain := range n.branches {
		for i, m := range chain {
			f.Node(m.id, a.node(m))
			if i > 0 {
				f.Edge(chain[i-1].id, m.id)
			}
			if m.excused && i < len(chain)-1 {
				f.OnError(m.id, chain[i+1].id)
			}
		}
		if n.laps {
			f.Edge(nextLap, chain[0].id)
			f.When(chain[len(chain)-1].id, engine.Condition{Text: "once more", Test: n.onceMore}, nextLap)
		}
		if n.box == mapBox {
			f.Node(packed, engine.NodeFunc(func(_ context.Context, st engine.State) (engine.State, error) {
				return engine.State{packed: map[string]any(st)}, nil
			}))
			f.Edge(chain[len(chain)-1].id, packed)
		}
	}
	return f
}

const (
	packed  = "packed"
	nextLap = "lap"
)

// nextLap counts to two and begins again.
func (n nodeSpec) nextLap(st engine.State) engine.State {
	if again, _ := n.onceMore(st); again {
		return engine.State{n.lapKey(): 2}
	}
	return engine.State{n.lapKey(): 1}
}

func (n nodeSpec) onceMore(st engine.State) (bool, error) {
	return fmt.Sprint(st[n.lapKey()]) == "1", nil
}

func (n nodeSpec) itemStates(engine.State) ([]engine.State, error) {
	var items []engine.State
	for i := range n.items {
		items = append(items, engine.State{n.itemKey(): i})
	}
	return items, nil
}

// gather makes the update of a map: what its items changed, in their order.
func (n nodeSpec) gather(saw engine.State, ends []any) (engine.State, error) {
	update := engine.State{}
	for _, end := range ends {
		all, ok := end.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("an item of %s has no state: %v", n.id, end)
		}
		for k, v := range all {
			switch {
			case k == n.itemKey() || canonical(v) == canonical(saw[k]):
			case k == "log":
				if update[k] == nil {
					update[k] = saw[k]
				}
				update[k] = slices.Concat(list(update[k]), list(v)[len(list(saw[k])):])
			default:
				update[k] = v
			}
		}
	}
	return update, nil
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

// runNode is the code of every node.
func (a *actor) runNode(ctx context.Context, n nodeSpec, st engine.State) (engine.State, error) {
	run, _ := st["run"].(string)
	place := n.place(st)
	switch a.pass(ctx, coding, "node "+run+" "+place) {
	case goes:
	case cancelled:
		return nil, ctx.Err()
	default:
		return nil, errCrash
	}
	ctx = context.WithValue(ctx, nodePlace{}, place)
	out, drift := n.update(st), a.sim.drifts(run+place)
	for i, s := range n.steps {
		if s.tool == "" {
			v, err := engine.Ask(ctx, question(place, i))
			if err != nil && !n.rude {
				return nil, err
			}
			if err == nil {
				out["answer"] = v
			}
			continue
		}
		args := n.args(i, st, drift)
		v, err := engine.CallTool(ctx, s.tool, args)
		switch {
		case err == nil:
			out[entryOf(place, i)] = map[string]any{"args": args, "result": v}
		case s.keeps && isOutcome(err):
			out[entryOf(place, i)] = map[string]any{"args": args, "error": err.Error()}
		case !n.rude:
			return nil, err
		}
	}
	if n.breaks && !a.sim.isCalm() && drift%2 == 1 {
		return nil, errBroke
	}
	return out, nil
}

var errBroke = errors.New("its code broke")

// nodePlace is where in the run the node stands whose code calls a tool.
type nodePlace struct{}

// isOutcome tells what is part of the run from what stops this process.
func isOutcome(err error) bool {
	var failed *engine.ToolError
	var denied *engine.DeniedError
	return errors.As(err, &failed) || errors.As(err, &denied)
}

// update is what a node changes whatever its calls say.
func (n nodeSpec) update(st engine.State) engine.State {
	out := engine.State{"log": n.place(st)}
	if n.id == "start" {
		i, _ := st["round"].(json.Number).Int64()
		out["round"] = i + 1
	}
	return out
}

// entryOf is the key of the state where a node keeps what its step came to.
func entryOf(place string, i int) string { return fmt.Sprint(place, ".", i) }

func (n nodeSpec) args(i int, st engine.State, drift int) map[string]any {
	switch n.steps[i].args {
	case constant:
		return map[string]any{"what": "the same"}
	case drifting:
		return map[string]any{"drift": drift, "node": n.place(st), "n": i, "round": st["round"]}
	}
	return map[string]any{"node": n.place(st), "n": i, "round": st["round"]}
}

func question(place string, i int) engine.Question {
	return engine.Question{Key: entryOf(place, i), Prompt: "go on?", Choices: []string{"yes", "no"}}
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
