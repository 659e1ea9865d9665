package viewer

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/stores"
)

// outlook is what is known of the way ahead of a planned run.
func (s *Service) outlook(ctx context.Context, a *attachment, h stores.Head, p engine.Plan) (o outlook, err error) {
	if o.topology, o.known, err = topology(ctx, a, h.Digest); err != nil {
		return outlook{}, err
	}
	o.digest = h.Digest
	if f, tools, err := s.flow(h); err == nil && tools != nil {
		o.tools = tools
		if _, o.inner, err = f.Topologies(); err != nil {
			return outlook{}, err
		}
		if o.loops, err = f.LoopTools(); err != nil {
			return outlook{}, err
		}
	}
	o.at = o.standing(p)
	return o, nil
}

// asker is the node that a call or a question is of, by its id.
func asker(id string) string { return ofAsker.ReplaceAllString(id, "") }

var ofAsker = regexp.MustCompile(`(#[0-9]+)?(\.[0-9]+)?$`)

// decidedNodes are the nodes of which it is decided what comes next: somebody answered
// or decided, their call is made already, or it is in doubt.
func decidedNodes(p engine.Plan) (nodes []string) {
	for _, d := range p.Decisions {
		nodes = append(nodes, asker(d.ID))
	}
	for _, c := range slices.Concat(p.Replay, p.InDoubt) {
		nodes = append(nodes, c.Node)
	}
	return nodes
}

// standing are the nodes that the run stands at. Of a container whose inside is
// known they are those in it that ask, or of which it is decided.
func (o outlook) standing(p engine.Plan) (at []string) {
	var waits []string
	for _, w := range p.Body.Waiting {
		waits = append(waits, w.Node)
	}
	decided := slices.DeleteFunc(decidedNodes(p), func(id string) bool { return slices.Contains(waits, id) })
	for _, node := range p.Body.Frontier {
		all := distinct(append(o.held(node, waits), o.held(node, decided)...))
		inside := slices.DeleteFunc(slices.Clone(all), func(id string) bool { // it is past that one
			return slices.ContainsFunc(all, func(later string) bool {
				return later != id && o.leads(id, later) && (slices.Contains(waits, later) || !o.leads(later, id))
			})
		})
		if len(inside) == 0 {
			inside = []string{node}
		}
		at = append(at, inside...)
	}
	return at
}

// held are those of the nodes that stand within a container whose inside is known.
func (o outlook) held(container string, ids []string) (inside []string) {
	for _, id := range ids {
		if p := o.find(id); p.container != "" && p.node.ID != "" && in(container, id) {
			inside = append(inside, id)
		}
	}
	return inside
}

// in reports whether a node stands within a container, at any visit of it.
func in(container, id string) bool {
	return strings.HasPrefix(id, container+"/") || strings.HasPrefix(id, container+"@")
}

// leads reports whether a run may come from one node to another within the
// containers that both are in.
func (o outlook) leads(from, to string) bool {
	for id := from; id != "" && !in(id, to); id = o.find(id).container {
		seen := []string{id}
		for i := 0; i < len(seen); i++ {
			p := o.find(seen[i])
			for _, e := range p.graph.Edges {
				if e.From != p.name {
					continue
				}
				for _, next := range p.within(e.To) {
					if next == to || in(next, to) {
						return true
					}
					if !slices.Contains(seen, next) {
						seen = append(seen, next)
					}
				}
			}
		}
	}
	return false
}

// goesOn is what a planned recovery comes to: of nodes at which nothing is decided
// that they wait for a person. For all other plans it is what follows.
func (o outlook) goesOn(p engine.Plan) string {
	if !o.known {
		return o.then()
	}
	if text, _ := o.denied(p); text != "" {
		return text
	}
	if p.Action != engine.PlanRecover {
		return o.then()
	}
	decided := decidedNodes(p)
	open := slices.DeleteFunc(slices.Clone(o.at), func(id string) bool { return slices.Contains(decided, id) })
	pause, stops := o.pause(open)
	unknown := o.unknown(open)
	switch {
	case stops:
		return "goes on at " + listed(open) + pause + o.failing(open)
	case pause != "" || unknown != "":
		return "goes on at " + listed(open) + pause + unknown + ", " + o.then()
	}
	return o.then()
}

// denied is what a stored denial makes of the run, "" without one, and whether the
// run surely fails of it.
func (o outlook) denied(p engine.Plan) (text string, ends bool) {
	for _, d := range p.Decisions {
		if d.Type != engine.DecideDeny {
			continue
		}
		what, fails := o.deniedBy(d)
		if text == "" || fails && !ends { // that counts more
			text, ends = what, fails
		}
	}
	return text, ends
}

func (o outlook) deniedBy(d engine.Decision) (text string, ends bool) {
	node := asker(d.ID)
	why := fmt.Sprintf("%s denied %s (%s)", d.By, d.Tool, d.ID)
	to := o.onError(node)
	pause, _ := o.pause(to)
	switch kind := o.find(node).node.Type; {
	case kind == "tools":
		return why + ": the model is told, and goes on", false
	case len(to) > 0:
		return why + ": the run goes on at " + strings.Join(to, " or ") + pause + ", its way for errors", false
	case kind == "call":
		return why + ": the run fails", true
	}
	return why + ": " + node + " is told, and the run fails unless its code handles that", false
}
