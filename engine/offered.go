package engine

import "slices"

// LoopTools are the tools that the models of a flow's tool loops may call: by the
// digest of the graph, which is the flow's own or that of a container, and by the
// id of the node that runs them. nil is every tool of the Runner.
func (f *Flow) LoopTools() (map[string]map[string][]string, error) {
	g, err := f.compile()
	if err != nil {
		return nil, err
	}
	found := map[string]map[string][]string{}
	g.loopTools(found)
	return found, nil
}

func (g *graph) loopTools(found map[string]map[string][]string) {
	for _, n := range g.nodes {
		switch node := n.node.(type) {
		case container:
			node.inner().loopTools(found)
		case loopTools:
			if found[g.digest] == nil {
				found[g.digest] = map[string][]string{}
			}
			names := slices.Clone(node.l.Tools)
			// Which tools a loop has is no part of a digest: two graphs may have the same.
			if other, ok := found[g.digest][n.id]; ok && names != nil && other != nil {
				names = append(names, other...)
			} else if ok {
				names = nil
			}
			found[g.digest][n.id] = names
		}
	}
}
