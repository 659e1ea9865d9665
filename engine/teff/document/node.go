package document

import (
	"math"
	"slices"
	"time"

	"github.com/flowtui/flowtui/engine/teff"
	"github.com/flowtui/flowtui/engine/teff/py"
)

// graph compiles steps and edges; ids get a prefix, "p/" or "". Of steps with
// one id the last counts, in the place of the first.
func (l *loader) graph(steps, edges []py.Value, prefix string) (*teff.Graph, error) {
	g := new(teff.Graph)
	places := map[string]int{}
	for _, v := range steps {
		step, ok := v.(*py.Dict)
		if !ok {
			return nil, fail(l.at(v), "TypeError", "a step must be a mapping, not %s", py.Repr(v))
		}
		id, ok := get(step, "id").(string)
		if !ok {
			return nil, fail(l.at(step), "KeyError", "a step has no id: 'id'")
		}
		n, err := l.node(step, prefix+id)
		if err != nil {
			return nil, err
		}
		if i, again := places[n.ID]; again {
			g.Nodes[i] = n
			continue
		}
		places[n.ID] = len(g.Nodes)
		g.Nodes = append(g.Nodes, n)
	}
	if len(g.Nodes) > 0 {
		g.Entry = g.Nodes[0].ID
	}
	for _, v := range edges {
		e, ok := v.(*py.Dict)
		if !ok {
			return nil, fail(l.at(v), "TypeError", "an edge must be a mapping, not %s", py.Repr(v))
		}
		edge, err := l.edge(e, prefix)
		if err != nil {
			return nil, err
		}
		g.Edges = append(g.Edges, edge)
	}
	return g, nil
}

func (l *loader) edge(e *py.Dict, prefix string) (teff.Edge, error) {
	var edge teff.Edge
	for _, end := range []struct {
		key string
		to  *string
	}{{"from", &edge.From}, {"to", &edge.To}} {
		id, ok := get(e, end.key).(string)
		if !ok {
			return edge, fail(l.at(e), "KeyError", "an edge needs from and to, both texts: %s", py.Repr(end.key))
		}
		*end.to = prefix + id
	}
	switch condition := get(e, "condition").(type) {
	case nil:
	case string:
		edge.Condition = &condition
	default:
		return edge, fail(l.valueAt(e, "condition"), config, "a condition must be a text, not %s", py.Repr(condition))
	}
	return edge, nil
}

// node compiles one step of a graph: {id, type, config, retry}.
func (l *loader) node(step *py.Dict, id string) (*teff.Node, error) {
	c := new(py.Dict)
	switch v := get(step, "config").(type) {
	case *py.Dict:
		c = v
	case nil:
	default:
		return nil, failNode(l.valueAt(step, "config"), id, config, "config must be a mapping, not %s", py.Repr(v))
	}
	n := &teff.Node{ID: id, Type: text(step, "type"), Config: c, Position: l.at(step)}
	if n.Type == "interrupt" {
		l.refuseChoices(step, id)
	}
	var err error
	if n.Retry, err = l.retry(step, id); err != nil {
		return nil, err
	}
	return n, l.compile(n, get(step, "type"))
}

// compile checks a node's type and compiles the steps inside it.
func (l *loader) compile(n *teff.Node, typ py.Value) error {
	c := n.Config
	switch {
	case typ == nil:
		return failNode(n.Position, n.ID, "KeyError", "a step has no type: 'type'")
	case n.Type == "" || !slices.Contains(nodeTypes, n.Type):
		return failNode(n.Position, n.ID, config, "unknown node type: %s", py.Str(typ))
	}
	for key, v := range c.All() {
		if !slices.Contains([]string{"graph", "branches", "body", "processor"}, key) { // their steps are looked at on their own
			l.refuseOdd(n.Position, v, n.ID, key)
		}
	}
	switch n.Type {
	case "subflow":
		return l.subflow(n)
	case "parallel":
		return l.branches(n)
	case "loop":
		body := get(c, "body")
		if !py.Truth(body) {
			return failNode(n.Position, n.ID, config, "loop requires config.body (a node spec or list)")
		}
		return l.chain(&n.Body, body, n)
	case "map":
		processor := get(c, "processor")
		if !py.Truth(processor) {
			return failNode(n.Position, n.ID, "KeyError", "map has no processor: 'type'")
		}
		return l.chain(&n.Body, processor, n)
	case "command":
		l.refuseShared(get(c, "update"), n.ID, "update")
	case "interrupt":
		l.refuseChoices(c, n.ID)
	}
	return nil
}

// refuseChoices refuses choices of an interrupt, which are a flow file's of our
// own: teff lets them pass and takes any answer.
func (l *loader) refuseChoices(interrupt *py.Dict, id string) {
	if interrupt.Has("choices") {
		l.refuse(l.valueAt(interrupt, "choices"), id, "an interrupt of teff has no choices: it takes any answer; "+
			"write dialect: flowtui for a flow file of our own, or judge the answer by a strategy")
	}
}

func (l *loader) subflow(n *teff.Node) error {
	c := n.Config
	if py.Truth(get(c, "build")) {
		l.refuse(l.valueAt(c, "build"), n.ID, "config.build is a recipe for an agent, which needs a model")
		return nil
	}
	g, ok := get(c, "graph").(*py.Dict)
	if !ok {
		return failNode(n.Position, n.ID, config,
			"subflow requires config.graph (a mapping with steps/edges) or config.build (an agent_step recipe)")
	}
	prefix := ""
	switch p := get(c, "id_prefix").(type) {
	case nil:
	case string:
		if prefix = p; p != "" {
			prefix += "/"
		}
	default:
		l.refuse(l.valueAt(c, "id_prefix"), n.ID, "id_prefix must be a text, not %s", py.Repr(p))
	}
	for _, key := range []string{"steps", "edges"} {
		if v, has := g.Get(key); has && !hasType(v, "array") {
			return failNode(l.valueAt(g, key), n.ID, "TypeError", "graph.%s must be a list, not %s", key, py.Repr(v))
		}
	}
	var err error
	n.Graph, err = l.graph(items(get(g, "steps")), items(get(g, "edges")), prefix)
	return err
}

// branches compiles the branches of a parallel node: steps or lists of steps.
func (l *loader) branches(n *teff.Node) error {
	list, ok := n.Config.GetOr("branches", py.NewList()).(*py.List) // none is fine
	if !ok {
		return failNode(n.Position, n.ID, config, "parallel requires config.branches to be a list")
	}
	for _, branch := range list.Items {
		var steps []*teff.Node
		for _, v := range listOf(branch) {
			step, ok := v.(*py.Dict)
			if !ok {
				return failNode(n.Position, n.ID, config, "parallel branches must be a step mapping or a list of step mappings")
			}
			for _, key := range step.Keys() {
				if !slices.Contains([]string{"id", "type", "config", "retry", "name", "description"}, key) {
					l.refuse(l.at(step), n.ID, "a branch's step has %s beside its config: whether that counts is not known", py.Repr(key))
				}
			}
			inner, err := l.node(step, text(step, "id"))
			if err != nil {
				return err
			}
			steps = append(steps, inner)
		}
		n.Branches = append(n.Branches, steps)
	}
	return nil
}

// chain compiles the body of a loop or the processor of a map: its specs hold
// options beside the type or in a config, which wins.
func (l *loader) chain(into *[]*teff.Node, v py.Value, n *teff.Node) error {
	for _, item := range listOf(v) {
		spec, ok := item.(*py.Dict)
		if !ok {
			return failNode(n.Position, n.ID, config, "%s requires node specs that are mappings, not %s", n.Type, py.Repr(item))
		}
		c := without(spec, "type", "config", "retry")
		switch own := get(spec, "config").(type) {
		case *py.Dict:
			c.Update(own)
			l.like(c, own)
		case nil:
			l.like(c, spec)
		default:
			return failNode(l.at(spec), n.ID, config, "config must be a mapping, not %s", py.Repr(own))
		}
		inner := &teff.Node{ID: text(spec, "id"), Type: text(spec, "type"), Config: c, Position: l.at(spec)}
		if err := l.compile(inner, get(spec, "type")); err != nil {
			return err
		}
		*into = append(*into, inner)
	}
	return nil
}

// retry reads how often a step is tried; nil is once.
func (l *loader) retry(step *py.Dict, id string) (*teff.Retry, error) {
	v := get(step, "retry")
	if v == nil {
		return nil, nil
	}
	d, ok := v.(*py.Dict)
	if !ok {
		return nil, failNode(l.valueAt(step, "retry"), id, config, "retry must be a mapping, not %s", py.Repr(v))
	}
	if d.Len() == 0 || !py.Truth(d.GetOr("enabled", true)) {
		return nil, nil
	}
	check := &validator{loader: l}
	if check.retry(d, "retry", id); len(check.problems) > 0 {
		return nil, &Error{Class: config, Problems: check.problems}
	}
	r := &teff.Retry{Enabled: true, Backoff: number(d, "backoff", 1)}
	attempts := number(d, "max_retries", 3)
	r.Attempts = int(min(attempts, math.MaxInt32))
	r.Delay, r.Timeout = seconds(number(d, "delay", 0)), seconds(number(d, "timeout", 0))
	for _, on := range items(get(d, "retry_on")) {
		r.On = append(r.On, py.Str(on))
	}
	return r, nil
}

// number is a number that has been checked, or what is meant without it.
func number(d *py.Dict, key string, missing float64) float64 {
	f, err := py.Float(get(d, key))
	if err != nil {
		return missing
	}
	return f
}

// seconds is a duration, the longest there is for more than that.
func seconds(s float64) time.Duration {
	if s >= math.MaxInt64/float64(time.Second) || math.IsNaN(s) {
		return math.MaxInt64
	}
	return time.Duration(s * float64(time.Second))
}
