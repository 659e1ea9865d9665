package draw

import (
	"fmt"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/teff"
	"github.com/flowtui/flowtui/engine/teff/py"
	"github.com/flowtui/flowtui/viewer"
)

// A Graph is a flow as it is drawn.
type Graph struct {
	Title string // of the flow, or of a part of a node
	Entry string
	Nodes []Node
	Edges []Edge
}

// A Node is one step.
type Node struct {
	ID, Type string
	Detail   string  // what it calls, if anything
	Parts    []Graph // what runs inside it
}

// An Edge leads from one step to another. To is also an end that is no node,
// such as STOP.
type Edge struct {
	From, To string
	Label    string // when it is followed, "" for always
	Kind     Kind
}

// A Kind says what makes a run follow an edge.
type Kind int

// The kinds of edges.
const (
	Plain Kind = iota
	Error      // its node failed
	Goto       // its node jumps
)

// Flow is the drawing of a flow of the bundled engine.
func Flow(f *engine.Flow) (Graph, error) {
	outer, inner, err := f.Topologies()
	if err != nil {
		return Graph{}, err
	}
	return topology(outer, inner), nil
}

func topology(t engine.Topology, inner map[string]engine.Topology) Graph {
	g := Graph{Title: t.Flow, Entry: t.Entry}
	for _, n := range t.Nodes {
		node := Node{ID: n.ID, Type: n.Type, Detail: n.Tool}
		if part, ok := inner[n.Flow]; ok && n.Flow != "" {
			p := topology(part, inner)
			p.Title = ""
			node.Parts = []Graph{p}
			if len(n.Branches) > 0 {
				node.Parts = branches(p, n.Branches)
			}
		}
		g.Nodes = append(g.Nodes, node)
	}
	for _, e := range t.Edges {
		kind := Plain
		switch {
		case e.OnError:
			kind = Error
		case e.Goto:
			kind = Goto
		}
		if len(e.To) == 0 {
			g.Edges = append(g.Edges, Edge{e.From, "STOP", e.Condition, kind})
		}
		for _, to := range e.To {
			g.Edges = append(g.Edges, Edge{e.From, to, e.Condition, kind})
		}
	}
	return g
}

// branches parts a drawing by where its branches start.
func branches(g Graph, starts []string) []Graph {
	parts := make([]Graph, len(starts))
	of := map[string]int{}
	for i, id := range starts {
		parts[i] = Graph{Title: fmt.Sprintf("branch %d", i+1), Entry: id}
		of[id] = i
		for todo := []string{id}; len(todo) > 0; todo = todo[1:] {
			for _, e := range g.Edges {
				if _, known := of[e.To]; e.From == todo[0] && !known {
					of[e.To] = i
					todo = append(todo, e.To)
				}
			}
		}
	}
	for _, n := range g.Nodes {
		if i, ok := of[n.ID]; ok {
			parts[i].Nodes = append(parts[i].Nodes, n)
		}
	}
	for _, e := range g.Edges {
		if i, ok := of[e.From]; ok {
			parts[i].Edges = append(parts[i].Edges, e)
		}
	}
	return parts
}

// Workflow is the drawing of a workflow of teff.
func Workflow(w *teff.Workflow) Graph { return teffGraph(w.Name, w.Graph) }

func teffGraph(title string, from *teff.Graph) Graph {
	g := Graph{Title: title}
	if from == nil {
		return g
	}
	g.Entry = from.Entry
	for _, n := range from.Nodes {
		g.Nodes = append(g.Nodes, teffNode(n))
		g.Edges = append(g.Edges, jumps(n)...)
	}
	for _, e := range from.Edges {
		edge := Edge{From: e.From, To: e.To}
		switch {
		case e.IsError():
			edge.Kind = Error
		case e.Condition != nil:
			edge.Label = *e.Condition
		}
		g.Edges = append(g.Edges, edge)
	}
	return g
}

func teffNode(n *teff.Node) Node {
	node := Node{ID: n.ID, Type: n.Type}
	switch n.Type {
	case "tool_call":
		node.Detail = text(n.Config, "tool")
	case "transform":
		node.Detail = text(n.Config, "action")
	}
	if n.Graph != nil {
		node.Parts = append(node.Parts, teffGraph("", n.Graph))
	}
	if len(n.Body) > 0 {
		node.Parts = append(node.Parts, sequence("", n.Body))
	}
	for i, branch := range n.Branches {
		node.Parts = append(node.Parts, sequence(fmt.Sprintf("branch %d", i+1), branch))
	}
	return node
}

// sequence are steps that run one after the other and have no ids of their own.
func sequence(title string, steps []*teff.Node) Graph {
	g := Graph{Title: title}
	for i, n := range steps {
		node := teffNode(n)
		node.ID = fmt.Sprintf("step %d", i+1)
		g.Nodes = append(g.Nodes, node)
		if i > 0 {
			g.Edges = append(g.Edges, Edge{From: g.Nodes[i-1].ID, To: node.ID})
		}
	}
	if len(steps) > 0 {
		g.Entry = g.Nodes[0].ID
	}
	return g
}

// jumps are where a command leads.
func jumps(n *teff.Node) []Edge {
	if n.Type != "command" {
		return nil
	}
	var all []Edge
	add := func(d *py.Dict, label string) {
		if to := text(d, "goto"); to != "" {
			all = append(all, Edge{n.ID, to, label, Goto})
		}
	}
	if routes, ok := n.Config.GetOr("routes", nil).(*py.List); ok {
		for _, r := range routes.Items {
			if route, ok := r.(*py.Dict); ok {
				add(route, text(route, "when"))
			}
		}
	}
	add(n.Config, "")
	return all
}

func text(d *py.Dict, key string) string {
	s, _ := d.GetOr(key, nil).(string)
	return s
}

// maxName is how many characters of a name are drawn.
const maxName = 200

// shown is a name that does nothing to a terminal or a page, and is not endless.
func shown(s string) string {
	runes := []rune(viewer.Scrub(s))
	if len(runes) > maxName {
		return string(runes[:maxName]) + "…"
	}
	return string(runes)
}

// label says when an edge is followed, "" for always.
func (e Edge) label() string {
	switch {
	case e.Kind == Error && e.Label != "":
		return "on error, if " + shown(e.Label)
	case e.Kind == Error:
		return "on error"
	case e.Kind == Goto && e.Label != "":
		return "jumps if " + shown(e.Label)
	case e.Kind == Goto:
		return "jumps"
	case e.Label != "":
		return "if " + shown(e.Label)
	}
	return ""
}

// kind is what a node is, in words.
func (n Node) kind() string {
	if n.Detail != "" {
		return shown(n.Type) + " " + shown(n.Detail)
	}
	return shown(n.Type)
}

func (g Graph) ids() map[string]bool {
	all := map[string]bool{}
	for _, n := range g.Nodes {
		all[n.ID] = true
	}
	return all
}
