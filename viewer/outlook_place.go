package viewer

import (
	"regexp"
	"strings"

	"github.com/flowtui/flowtui/engine"
)

// spot is where in a flow a node stands, also within containers.
type spot struct {
	graph     engine.Topology
	digest    string // of its graph
	node      engine.TopologyNode
	name      string // in its graph
	prefix    string // of the ids of its graph's nodes
	container string // id of the container that it is in, "" for the flow itself
}

// How the engine names later visits of a node, and what stands between the ids of
// a container and of a node in it: of a map also the number of the item.
var (
	laterVisit = regexp.MustCompile(`@[0-9]+$`)
	inFlow     = regexp.MustCompile(`^(@[0-9]+)?/`)
	inItem     = regexp.MustCompile(`^(@[0-9]+)?/[0-9]+/`)
)

// find is the spot of a node by its id in the run.
func (o outlook) find(id string) spot { return o.findIn(o.topology, o.digest, id, "", "") }

func (o outlook) findIn(t engine.Topology, digest, id, prefix, container string) spot {
	for _, name := range []string{id, laterVisit.ReplaceAllString(id, "")} {
		for _, n := range t.Nodes {
			if n.ID == name {
				return spot{t, digest, n, name, prefix, container}
			}
		}
	}
	for _, n := range t.Nodes {
		rest, inside := strings.CutPrefix(id, n.ID)
		inner, known := o.inner[n.Flow]
		if !inside || !known {
			continue
		}
		between := inFlow
		if n.Type == "map" {
			between = inItem
		}
		if at := between.FindString(rest); at != "" {
			visit, _, _ := strings.Cut(at, "/")
			return o.findIn(inner, n.Flow, rest[len(at):], prefix+n.ID+at, prefix+n.ID+visit)
		}
	}
	return spot{graph: t, digest: digest, name: id, prefix: prefix, container: container}
}

// within are the ids in the run of nodes of the graph of the spot.
func (p spot) within(names []string) []string {
	ids := make([]string, len(names))
	for i, n := range names {
		ids[i] = p.prefix + n
	}
	return ids
}

// exits are where the node's edges lead when it does not fail. Those that are
// followed alone are tried first.
func (p spot) exits() (sure, perhaps []string) {
	first := p.graph.Routing == engine.RouteFirst
	var edges [2][]engine.TopologyEdge
	for _, e := range p.graph.Edges {
		switch {
		case e.From != p.name || e.OnError:
		case e.Inner || e.Goto:
			edges[0] = append(edges[0], e)
		default:
			edges[1] = append(edges[1], e)
		}
	}
	perhapsNot := false // an edge before may be followed instead
	for i, list := range edges {
		for _, e := range list {
			to := p.within(e.To)
			if len(to) == 0 {
				to = []string{theEnd}
			}
			alone := first || i == 0
			switch {
			case e.Condition != "" || perhapsNot:
				perhaps = append(perhaps, to...)
			default:
				sure = append(sure, to...)
			}
			if e.Condition == "" && alone {
				return sure, perhaps
			}
			perhapsNot = perhapsNot || alone
		}
	}
	return sure, perhaps
}
