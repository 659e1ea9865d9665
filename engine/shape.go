package engine

// Topologies gives the shape of the flow and, by their digests, those of the
// flows that its containers run, or why the flow is not valid.
func (f *Flow) Topologies() (outer Topology, inner map[string]Topology, err error) {
	g, err := f.compile()
	if err != nil {
		return Topology{}, nil, err
	}
	inner = map[string]Topology{}
	g.innerShapes(inner)
	return g.shape(), inner, nil
}

func (g *graph) innerShapes(found map[string]Topology) {
	for _, n := range g.nodes {
		c, ok := n.node.(container)
		if !ok {
			continue
		}
		inner := c.inner()
		found[inner.digest] = inner.shape()
		inner.innerShapes(found)
	}
}
