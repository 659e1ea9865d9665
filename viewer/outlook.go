package viewer

import (
	"slices"
	"strings"

	"github.com/flowtui/flowtui/engine"
)

// outlook tells what a flow's graph says about what follows. It claims only
// what does not depend on conditions, and says "may" for the rest.
type outlook struct {
	topology engine.Topology
	known    bool // the store has the graph
	at       []string
}

// maxAhead is how many steps are told.
const maxAhead = 5

// then is what follows the nodes that the run stands at.
func (o outlook) then() string { return o.after(o.at) }

func (o outlook) after(nodes []string) string {
	if !o.known || len(nodes) == 0 {
		return ""
	}
	text, met := o.path(nodes)
	return text + o.failing(met)
}

// path is what follows nodes that do not fail, and all nodes that are told of.
func (o outlook) path(nodes []string) (text string, met []string) {
	var told []string
	met = slices.Clone(nodes)
	for range maxAhead {
		sure, perhaps := o.next(nodes)
		switch {
		case len(sure) == 0 && len(perhaps) == 0:
			return strings.Join(append(told, "then the run ends"), ", "), met
		case len(perhaps) > 0:
			may := "then, as its conditions decide, it may go on at " + strings.Join(perhaps, " or ")
			if len(sure) > 0 {
				may = "then " + strings.Join(sure, " and ") + ", and it may go on at " + strings.Join(perhaps, " or ")
			}
			return strings.Join(append(told, may), ", "), append(met, sure...)
		}
		told = append(told, "then "+strings.Join(sure, " and "))
		if pause := o.pause(sure); pause != "" { // what follows is decided by what comes then
			return strings.Join(append(told, pause), ", "), append(met, sure...)
		}
		if slices.ContainsFunc(sure, func(id string) bool { return slices.Contains(met, id) }) {
			return strings.Join(append(told, "again"), ", "), met
		}
		met, nodes = append(met, sure...), sure
	}
	return strings.Join(append(told, "and so on"), ", "), met
}

// failing is where the run goes on when nodes fail that have error edges.
func (o outlook) failing(nodes []string) string {
	var ways []string
	from := map[string][]string{}
	for _, id := range distinct(nodes) {
		to := strings.Join(o.onError(id), " or ")
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

// pause is why a run goes no further by itself than nodes, "" when it does.
func (o outlook) pause(nodes []string) string {
	for _, id := range nodes {
		switch o.nodeType(id) {
		case "turn":
			return "which waits for the next message"
		case "interrupt":
			return "which asks"
		}
	}
	return ""
}

// next is where the edges of nodes that do not fail lead.
func (o outlook) next(nodes []string) (sure, perhaps []string) {
	for _, id := range nodes {
		conditional := false
		for _, e := range o.topology.Edges {
			if e.From != id || e.OnError {
				continue
			}
			if e.Condition != "" || conditional && o.topology.Routing == engine.RouteFirst {
				perhaps = append(perhaps, e.To...)
				conditional = conditional || e.Condition != ""
				if e.Condition == "" {
					break
				}
				continue
			}
			sure = append(sure, e.To...)
			if o.topology.Routing == engine.RouteFirst {
				break
			}
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

// onError is where the node's error edges lead.
func (o outlook) onError(node string) []string {
	var to []string
	for _, e := range o.topology.Edges {
		if e.From == node && e.OnError {
			to = append(to, e.To...)
		}
	}
	return distinct(to)
}

// nodeType is what kind of node it is, "" when the graph is not known.
func (o outlook) nodeType(node string) string {
	for _, n := range o.topology.Nodes {
		if n.ID == node {
			return n.Type
		}
	}
	return ""
}
