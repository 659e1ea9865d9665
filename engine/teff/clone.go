package teff

import (
	"maps"
	"slices"

	"github.com/flowtui/flowtui/engine/teff/py"
)

// clone is a copy that a call may change.
func (w *Workflow) clone() (*Workflow, error) {
	c := *w
	c.Reducers = maps.Clone(w.Reducers)
	c.Tools = slices.Clone(w.Tools)
	initial := w.Initial
	if initial == nil {
		initial = py.NewDict()
	}
	v, err := py.DeepCopy(initial)
	if err != nil {
		return nil, err
	}
	c.Initial = v.(*py.Dict)
	c.Graph, err = w.Graph.clone()
	return &c, err
}

func (g *Graph) clone() (*Graph, error) {
	if g == nil {
		return nil, nil
	}
	nodes, err := cloneNodes(g.Nodes)
	return &Graph{Entry: g.Entry, Nodes: nodes, Edges: slices.Clone(g.Edges)}, err
}

func cloneNodes(nodes []*Node) ([]*Node, error) {
	var all []*Node
	for _, n := range nodes {
		c, err := n.clone()
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

func (n *Node) clone() (*Node, error) {
	c := *n
	config := n.Config
	if config == nil {
		config = py.NewDict()
	}
	v, err := py.DeepCopy(config)
	if err != nil {
		return nil, err
	}
	c.Config = v.(*py.Dict)
	if c.Graph, err = n.Graph.clone(); err != nil {
		return nil, err
	}
	if c.Body, err = cloneNodes(n.Body); err != nil {
		return nil, err
	}
	c.Branches = nil
	for _, branch := range n.Branches {
		steps, err := cloneNodes(branch)
		if err != nil {
			return nil, err
		}
		c.Branches = append(c.Branches, steps)
	}
	return &c, nil
}
