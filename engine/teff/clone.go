package teff

import (
	"maps"
	"slices"

	"github.com/flowtui/flowtui/engine/teff/py"
)

// clone is a copy that a call may change. All of it is copied at once, so that
// what is one list in two places of the document stays one list.
func (w *Workflow) clone() (*Workflow, error) {
	c := *w
	c.Reducers = maps.Clone(w.Reducers)
	c.Tools = slices.Clone(w.Tools)
	if c.Initial == nil {
		c.Initial = py.NewDict()
	}
	dicts := []**py.Dict{&c.Initial}
	c.Graph = w.Graph.clone(&dicts)
	all := py.NewList()
	for _, d := range dicts {
		all.Items = append(all.Items, *d)
	}
	v, err := py.DeepCopy(all)
	if err != nil {
		return nil, err
	}
	for i, item := range v.(*py.List).Items {
		*dicts[i] = item.(*py.Dict)
	}
	return &c, nil
}

// clone copies the graph but not the configs of its nodes: those it adds to
// dicts, with where the copy is to go.
func (g *Graph) clone(dicts *[]**py.Dict) *Graph {
	if g == nil {
		return nil
	}
	return &Graph{Entry: g.Entry, Nodes: cloneNodes(g.Nodes, dicts), Edges: slices.Clone(g.Edges)}
}

func cloneNodes(nodes []*Node, dicts *[]**py.Dict) []*Node {
	var all []*Node
	for _, n := range nodes {
		c := *n
		if c.Config == nil {
			c.Config = py.NewDict()
		}
		*dicts = append(*dicts, &c.Config)
		c.Graph = n.Graph.clone(dicts)
		c.Body = cloneNodes(n.Body, dicts)
		c.Branches = nil
		for _, branch := range n.Branches {
			c.Branches = append(c.Branches, cloneNodes(branch, dicts))
		}
		all = append(all, &c)
	}
	return all
}
