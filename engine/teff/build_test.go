package teff_test

import (
	"testing"

	"github.com/flowtui/flowtui/engine/teff"
	"github.com/flowtui/flowtui/engine/teff/py"
)

// node compiles one step of a graph document, with what it nests.
func node(step *py.Dict) (*teff.Node, error) {
	n := &teff.Node{ID: text(step, "id"), Type: text(step, "type"), Config: py.NewDict()}
	for key, v := range step.All() {
		if key != "id" && key != "type" && key != "config" {
			n.Config.Set(key, v)
		}
	}
	if config := dict(step, "config"); config != nil {
		n.Config.Update(config)
	}
	var err error
	switch n.Type {
	case "loop":
		if !n.Config.Has("body") {
			return nil, py.Errorf("ConfigError", "'loop requires config.body (a node spec or list)'")
		}
		n.Body, err = chain(n.Config.GetOr("body", nil))
	case "map":
		n.Body, err = chain(n.Config.GetOr("processor", nil))
	case "parallel":
		branches, _ := n.Config.GetOr("branches", py.NewList()).(*py.List)
		for _, branch := range branches.Items {
			steps, err := chain(branch)
			if err != nil {
				return nil, err
			}
			n.Branches = append(n.Branches, steps)
		}
	case "subflow":
		n.Graph, err = graph(dict(n.Config, "graph"))
	}
	return n, err
}

func chain(v py.Value) ([]*teff.Node, error) {
	l, ok := v.(*py.List)
	if !ok {
		l = py.NewList(v)
	}
	var steps []*teff.Node
	for _, item := range l.Items {
		step, ok := item.(*py.Dict)
		if !ok {
			return nil, py.Errorf("ConfigError", "'parallel branches must be a step mapping or a list of step mappings'")
		}
		n, err := node(step)
		if err != nil {
			return nil, err
		}
		steps = append(steps, n)
	}
	return steps, nil
}

func graph(d *py.Dict) (*teff.Graph, error) {
	g := &teff.Graph{}
	for _, step := range dicts(d.GetOr("steps", nil)) {
		n, err := node(step)
		if err != nil {
			return nil, err
		}
		g.Nodes = append(g.Nodes, n)
	}
	if len(g.Nodes) > 0 {
		g.Entry = g.Nodes[0].ID
	}
	for _, e := range dicts(d.GetOr("edges", nil)) {
		edge := teff.Edge{From: text(e, "from"), To: text(e, "to")}
		if condition, ok := e.GetOr("condition", nil).(string); ok {
			edge.Condition = &condition
		}
		g.Edges = append(g.Edges, edge)
	}
	return g, nil
}

// workflow compiles a graph document that is written as JSON, with "initial"
// and "reducers" beside its steps and edges.
func workflow(t *testing.T, document string) *teff.Workflow {
	t.Helper()
	v, err := py.Loads([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	d := v.(*py.Dict)
	g, err := graph(d)
	if err != nil {
		t.Fatal(err)
	}
	w := &teff.Workflow{
		Name: "test", Graph: g, Initial: dict(d, "initial"),
		Reducers: reducersOf(dict(d, "reducers")), Tools: []string{teff.Calculator},
	}
	if w.Initial == nil {
		w.Initial = py.NewDict()
	}
	return w
}

// object is a dict that is written as JSON.
func object(t *testing.T, text string) *py.Dict {
	t.Helper()
	v, err := py.Loads([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v.(*py.Dict)
}
