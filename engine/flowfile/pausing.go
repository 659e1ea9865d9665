package flowfile

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/teff"
	"github.com/flowtui/flowtui/engine/teff/py"
)

// container compiles a node of a teff document in which a person is asked, so
// that the answer is taken inside of it.
func (w *workflow) container(n *teff.Node) (engine.Node, error) {
	in := *w
	in.reader = w.inside()
	switch n.Type {
	case "subflow":
		return in.subflow(n).Node()
	case "parallel":
		return in.parallel(n).Node()
	case "map":
		return in.mapped(n).Node()
	case "loop":
		s, err := in.loop(n)
		if err != nil {
			return nil, err
		}
		return s.Node()
	}
	return nil, fmt.Errorf("a step of type %q cannot hold one that asks", n.Type)
}

func keyNames(d *py.Dict, option string) map[string]string {
	names, ok := d.GetOr(option, nil).(*py.Dict)
	if !ok {
		return nil
	}
	out := map[string]string{}
	for from, to := range names.All() {
		out[from] = py.Str(to)
	}
	return out
}

func (w *workflow) subflow(n *teff.Node) engine.Subflow {
	inner := w.flow(n.Graph, cmp.Or(n.ID, n.Type))
	if most, ok := n.Config.GetOr("max_iterations", nil).(int64); ok {
		inner.MaxSupersteps(most)
	}
	out, _ := n.Config.GetOr("output_map", nil).(*py.Dict)
	return engine.Subflow{Flow: inner, In: keyNames(n.Config, "input_map"), Result: func(saw, end engine.State) (engine.State, error) {
		d, returned := toDict(saw), py.NewDict()
		if out == nil {
			returned = w.delta(saw, end)
		} else {
			for from, to := range out.All() {
				returned.Set(py.Str(to), toPython(end[from]))
			}
		}
		return merged(saw, w.reducers, d, returned)
	}}
}

// delta is what steps that began with one state and ended with another have
// returned: the keys that changed, of a list that appends only its new tail.
func (w *workflow) delta(saw, end engine.State) *py.Dict {
	returned, before := py.NewDict(), toDict(saw)
	for key, v := range toDict(end).All() {
		old, known := before.Get(key)
		if known && identical(old, v) {
			continue
		}
		was, isList := old.(*py.List)
		if is, ok := v.(*py.List); ok && isList && w.reducers[key] == teff.Append {
			if n := len(was.Items); n <= len(is.Items) && identical(was, py.NewList(is.Items[:n]...)) {
				v = py.NewList(is.Items[n:]...)
			}
		}
		returned.Set(key, v)
	}
	return returned
}

// identical is equality in which 1, 1.0 and True differ.
func identical(a, b py.Value) bool {
	x, errX := py.Dumps(a)
	y, errY := py.Dumps(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// chain adds nodes of which each follows the one before it.
func (w *workflow) chain(f *engine.Flow, steps []*teff.Node, name string) (first, last string) {
	for i, n := range steps {
		id := name
		if i > 0 {
			id = fmt.Sprintf("%s:%d", name, i+1)
		}
		at := *w
		at.reader = w.at(id)
		var judge *teff.Node
		if i+1 < len(steps) && judges(steps[i+1], n) {
			judge = steps[i+1]
		}
		if node := at.step(n, judge); node != nil {
			f.Node(id, node)
		}
		if i == 0 {
			first = id
		} else {
			f.Edge(last, id)
		}
		last = id
	}
	return first, last
}

func (w *workflow) parallel(n *teff.Node) engine.Parallel {
	p := engine.Parallel{Flow: engine.NewFlow(n.Type).Route(engine.RouteFirst)}
	for i, branch := range n.Branches {
		if first, _ := w.chain(p.Flow, branch, fmt.Sprintf("branch%d", i+1)); first != "" {
			p.Branches = append(p.Branches, first)
		}
	}
	p.Result = func(saw engine.State, ends []engine.State) (engine.State, error) {
		total := py.NewDict()
		for _, end := range ends {
			if err := w.reducers.Merge(total, w.delta(saw, end)); err != nil {
				return nil, err
			}
		}
		return merged(saw, w.reducers, toDict(saw), total)
	}
	return p
}

func (w *workflow) mapped(n *teff.Node) engine.Map {
	m := engine.Map{Flow: engine.NewFlow(n.Type).Route(engine.RouteFirst), Pick: n.Collected()}
	if len(n.Body) == 1 && n.Body[0].Type == "interrupt" && n.Config.GetOr("result_key", nil) == nil {
		m.Pick, _ = n.Body[0].Config.GetOr("key", "").(string) // teff goes on behind the map and has no result to collect
	}
	w.chain(m.Flow, n.Body, "item")
	size, _ := n.Config.GetOr("chunk_size", int64(1)).(int64)
	if most, ok := n.Config.GetOr("max_concurrency", nil).(int64); ok {
		m.Limit = int(most)
	}
	m.Items = func(s engine.State) ([]engine.State, error) { return zipped(n, toDict(s), int(max(1, size))) }
	into, _ := n.Config.GetOr("output_key", "").(string)
	m.Result = func(saw engine.State, results []any) (engine.State, error) {
		return merged(saw, w.reducers, toDict(saw), py.NewDict(py.Entry{Key: into, Value: toPython(results)}))
	}
	return m
}

// zipped are the keys that each item or chunk of a map puts over the state.
func zipped(n *teff.Node, state *py.Dict, size int) ([]engine.State, error) {
	keys, all, err := n.MapInput(state)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	var out []engine.State
	for from := 0; from < len(all[0]); from += size {
		item := py.NewDict()
		for i, key := range keys {
			if chunk := all[i][from:min(from+size, len(all[i]))]; size > 1 {
				item.Set(key, py.NewList(slices.Clone(chunk)...))
			} else {
				item.Set(key, chunk[0])
			}
		}
		s, err := toState(item)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// roundsKey counts the rounds of a loop in its inner state, and nowhere else.
const roundsKey = "\x00rounds"

// loop is a subflow that goes round: its body, and back while the condition does
// not hold and rounds are left.
func (w *workflow) loop(n *teff.Node) (engine.Subflow, error) {
	key, _ := n.Config.GetOr("key", "").(string)
	if key == "" {
		return engine.Subflow{}, py.Errorf("ValueError", "loop requires config.key")
	}
	most := n.Config.GetOr("max_rounds", nil)
	if !py.Truth(most) {
		most = int64(defaultMaxRounds)
	}
	rounds, err := py.Int(most)
	if err != nil {
		return engine.Subflow{}, err
	}
	limit, small := rounds.(int64)
	if !small || limit < 1 {
		return engine.Subflow{}, fmt.Errorf("max_rounds must be a whole number from 1 on, not %s", py.Repr(most))
	}
	f := engine.NewFlow(n.Type).Route(engine.RouteFirst)
	first, last := w.chain(f, n.Body, "body")
	test := func(n *teff.Node) string { return key + "=" + py.Str(n.Config.GetOr("until", nil)) }
	until := holding(test(n), test(w.written.node(n)))
	f.Node("begin", engine.NodeFunc(func(context.Context, engine.State) (engine.State, error) { return engine.State{roundsKey: 0}, nil }))
	f.Entry("begin").Edge("begin", first).Node("again", engine.NodeFunc(nextRound)).Edge("again", first).Repeat(last, engine.Condition{
		Text: fmt.Sprintf("not %s, at most %d rounds", until.Text, limit),
		Test: func(s engine.State) (bool, error) {
			done, err := until.Test(s)
			return !done && countOf(s, roundsKey)+1 < limit, err
		},
	}, "again")
	return engine.Subflow{Flow: f, Kind: n.Type, Result: func(saw, end engine.State) (engine.State, error) {
		delete(end, roundsKey)
		return changed(saw, toDict(end)) // the body has merged into the live state
	}}, nil
}

// nextRound counts one more round.
func nextRound(_ context.Context, s engine.State) (engine.State, error) {
	return engine.State{roundsKey: countOf(s, roundsKey) + 1}, nil
}

// countOf is a counter of a state, 0 when there is none.
func countOf(s engine.State, key string) int64 {
	v, _ := s[key].(json.Number)
	n, err := v.Int64()
	if err != nil {
		return 0
	}
	return n
}
