package viewer

import (
	"slices"
	"strings"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
)

// outlook tells what a flow's graph says about what follows. It claims only
// what does not depend on conditions, and says "may" for the rest.
type outlook struct {
	topology engine.Topology
	digest   string
	known    bool // the store has the graph
	at       []string
	// The tools of the flow, the graphs inside of its containers, by digest, and the
	// tools of its loops, by digest and node; nil where there is no flow file.
	tools *tool.Registry
	inner map[string]engine.Topology
	loops map[string]map[string][]string
}

// maxAhead is how many steps are told.
const maxAhead = 5

// then is what follows the nodes that the run stands at.
func (o outlook) then() string { return o.after(o.at) }

func (o outlook) after(nodes []string) string {
	if !o.known || len(nodes) == 0 {
		return ""
	}
	text, met, perhaps := o.path(nodes)
	named := append(slices.Clone(met[len(nodes):]), perhaps...)
	for _, id := range nodes { // the rest of a container comes before what follows it
		if o.find(id).node.Flow != "" {
			named = append(named, id)
		}
	}
	return text + o.failing(met) + o.unknown(named)
}

// path is what follows nodes that do not fail, all nodes that are told of, and
// those of them that conditions may lead to.
func (o outlook) path(nodes []string) (text string, met, perhaps []string) {
	var told []string
	met = slices.Clone(nodes)
	for range maxAhead {
		var sure []string
		sure, perhaps = o.next(nodes)
		pause, stops := o.pause(sure)
		switch {
		case len(sure) == 0 && len(perhaps) == 0:
			return strings.Join(append(told, "then the run ends"), ", "), met, nil
		case len(perhaps) > 0:
			may := "then, as its conditions decide, it may " + o.ways(perhaps)
			if len(sure) > 0 {
				may = "then " + strings.Join(sure, " and ") + pause + ", and it may " + o.ways(perhaps)
			}
			return strings.Join(append(told, may), ", "), append(met, sure...), perhaps
		}
		told = append(told, "then "+strings.Join(sure, " and ")+pause)
		if stops { // what follows is decided by what comes then
			return strings.Join(told, ", "), append(met, sure...), nil
		}
		if slices.ContainsFunc(sure, func(id string) bool { return slices.Contains(met, id) }) {
			return strings.Join(append(told, "again"), ", "), met, nil
		}
		met, nodes = append(met, sure...), sure
	}
	return strings.Join(append(told, "and so on"), ", "), met, nil
}

// theEnd is where a condition may lead instead of to a node.
const theEnd = ""

// ways are where conditions may lead.
func (o outlook) ways(to []string) string {
	nodes := slices.DeleteFunc(slices.Clone(to), func(id string) bool { return id == theEnd })
	pause, _ := o.pause(nodes)
	switch {
	case len(nodes) == 0:
		return "end"
	case len(nodes) < len(to):
		return "end or go on at " + strings.Join(nodes, " or ") + pause
	}
	return "go on at " + strings.Join(nodes, " or ") + pause
}

// failing is where the run goes on when nodes fail that have error edges.
func (o outlook) failing(nodes []string) string {
	var ways []string
	from := map[string][]string{}
	for _, id := range distinct(nodes) {
		on := o.onError(id)
		pause, _ := o.pause(on)
		to := strings.Join(on, " or ") + pause
		if to != "" && from[to] == nil {
			ways = append(ways, to)
		}
		from[to] = append(from[to], id)
	}
	var text strings.Builder
	for _, to := range ways {
		text.WriteString("; if " + strings.Join(from[to], " or ") + " fails, it goes on at " + to)
	}
	return text.String()
}

// next is where the edges of nodes that do not fail lead. A node at the end of a
// container leads on from the container, once no other node in it goes on.
func (o outlook) next(nodes []string) (sure, perhaps []string) {
	var left []string
	for _, id := range nodes {
		p := o.find(id)
		s, m := p.exits()
		if len(s)+len(m) == 0 && p.container != "" {
			left = append(left, p.container)
		}
		sure, perhaps = append(sure, s...), append(perhaps, m...)
	}
	for _, c := range distinct(left) {
		inside := func(id string) bool { return strings.HasPrefix(id, c+"/") }
		if !slices.ContainsFunc(sure, inside) && !slices.ContainsFunc(perhaps, inside) {
			s, m := o.next([]string{c})
			sure, perhaps = append(sure, s...), append(perhaps, m...)
		}
	}
	return distinct(sure), distinct(perhaps)
}

func distinct(ids []string) []string {
	var out []string
	for _, id := range ids {
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// onError is where the node's error edges lead, or those of the container that
// fails with it.
func (o outlook) onError(node string) []string {
	p := o.find(node)
	var to []string
	for _, e := range p.graph.Edges {
		if e.From == p.name && e.OnError {
			to = append(to, p.within(e.To)...)
		}
	}
	if len(to) == 0 && p.container != "" {
		return o.onError(p.container)
	}
	return distinct(to)
}

// nodeType is what kind of node of the flow itself it is, "" when the graph is not known.
func (o outlook) nodeType(node string) string {
	p := o.find(node)
	if p.container != "" {
		return ""
	}
	return p.node.Type
}
