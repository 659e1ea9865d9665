package engine

import (
	"errors"
	"fmt"
	"slices"
)

// Topology is a flow's shape: what the digest covers and what a viewer draws.
// It is stored once per digest, so a flow can be drawn without its code.
type Topology struct {
	Flow     string             `json:"flow"`
	Kind     string             `json:"kind,omitempty"` // loop; a flow's is left out
	Entry    string             `json:"entry"`
	Routing  Routing            `json:"routing"`
	Nodes    []TopologyNode     `json:"nodes"`
	Edges    []TopologyEdge     `json:"edges"`
	Ends     []string           `json:"ends,omitempty"`
	Reducers map[string]Reducer `json:"reducers,omitempty"`
}

// TopologyNode is one node.
type TopologyNode struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	Tool string `json:"tool,omitempty"` // of a call
	Flow string `json:"flow,omitempty"` // digest of the flow that a container runs
	// Branches are where the branches of a parallel node start in its flow.
	Branches []string `json:"branches,omitempty"`
}

// TopologyEdge is one edge, in the order in which edges are tried.
type TopologyEdge struct {
	From      string   `json:"from"`
	To        []string `json:"to"`
	Condition string   `json:"condition,omitempty"`
	OnError   bool     `json:"on_error,omitempty"`
	Inner     bool     `json:"inner,omitempty"` // within a tool loop: followed alone when it matches
	Goto      bool     `json:"goto,omitempty"`  // decided by its node: followed alone when it matches; without an end it leads to the end
}

// graph is a checked flow.
type graph struct {
	*Flow
	byID     map[string]Node
	rank     map[string]int // the nodes' order, in which updates are merged
	exits    map[string]exits
	topology []byte
	digest   string
}

// Digest returns the flow's graph digest, or why the flow is not valid.
func (f *Flow) Digest() (string, error) {
	g, err := f.compile()
	if err != nil {
		return "", err
	}
	return g.digest, nil
}

// Check returns every error of the flow's definition.
func (f *Flow) Check() error {
	_, err := f.compile()
	return err
}

func (f *Flow) compile() (*graph, error) {
	g := &graph{Flow: f, byID: map[string]Node{}, rank: map[string]int{}, exits: exitsOf(f.edges)}
	errs := slices.Clone(f.errs)
	add := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("flow %q: "+format, append([]any{f.name}, args...)...))
	}
	if f.name == "" {
		add("it has no name")
	}
	if len(f.nodes) == 0 {
		add("it has no nodes")
	}
	for i, n := range f.nodes {
		g.byID[n.id], g.rank[n.id] = n.node, i
	}
	known := func(what, id string) {
		if _, ok := g.byID[id]; !ok {
			add("%s %q is not a node", what, id)
		}
	}
	for _, e := range f.edges {
		known("edge start", e.from)
		if len(e.to) == 0 && !e.jump {
			add("an edge from %q goes nowhere", e.from)
		}
		for _, to := range e.to {
			known("edge end", to)
		}
	}
	for _, id := range f.ends {
		known("end", id)
		if slices.ContainsFunc(f.edges, func(e edge) bool { return e.from == id && !e.onError && !e.inner && !e.jump }) {
			add("%q is an end, but an edge goes on from it", id)
		}
	}
	if f.entry != "" {
		known("entry", f.entry)
	}
	if err := f.checkState(); err != nil {
		errs = append(errs, err)
	}
	errs = append(errs, f.checkContainers()...)
	if len(errs) > 0 {
		return nil, &Error{Class: ErrFlow, Reason: errors.Join(errs...).Error()}
	}
	t := g.shape()
	var err error
	if g.topology, err = marshal(t); err != nil {
		return nil, fmt.Errorf("flow %q: %w", f.name, err)
	}
	g.digest = digest(g.topology)
	return g, nil
}

func (g *graph) start() string {
	if g.entry != "" {
		return g.entry
	}
	return g.nodes[0].id
}

func (g *graph) shape() Topology {
	t := Topology{Flow: g.name, Entry: g.start(), Routing: g.routing, Ends: g.ends, Reducers: g.reducers}
	if g.kind != KindFlow {
		t.Kind = g.kind
	}
	for _, n := range g.nodes {
		tn := TopologyNode{ID: n.id, Type: n.node.Type()}
		if c, ok := unwrapped(n.node).(interface{ ToolName() string }); ok {
			tn.Tool = c.ToolName()
		}
		if c, ok := n.node.(container); ok {
			tn.Flow = c.inner().digest
		}
		if p, ok := n.node.(parallel); ok {
			tn.Branches = p.Branches
		}
		t.Nodes = append(t.Nodes, tn)
	}
	for _, e := range g.edges {
		te := TopologyEdge{From: e.from, To: e.to, OnError: e.onError, Inner: e.inner, Goto: e.jump}
		if e.cond != nil {
			te.Condition = e.cond.Text
		}
		t.Edges = append(t.Edges, te)
	}
	t.Edges = append(t.Edges, g.turnEdges()...)
	return t
}

// next returns the frontier after the given nodes, in the nodes' order: saw is
// the state that they ran on, s what they made of it. Failed nodes follow their
// error edges, the others their plain ones.
func (g *graph) next(saw, s State, frontier []string, failed map[string]bool) (out []string, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("a condition panicked: %v", r)
		}
	}()
	for _, id := range frontier {
		to, err := g.successors(saw, s, id, failed[id])
		if err != nil {
			return nil, err
		}
		out = append(out, to...)
	}
	return g.sorted(out), nil
}

func (g *graph) successors(saw, s State, id string, failed bool) ([]string, error) {
	var out []string
	edges := g.exits[id].plain
	if failed {
		edges = g.exits[id].onError
	}
	for _, e := range edges {
		if e.cond != nil {
			on := s
			if e.jump {
				on = saw
			}
			ok, err := e.cond.Test(on)
			if err != nil {
				return nil, fmt.Errorf("condition %q after %q: %w", e.cond.Text, id, err)
			}
			if !ok {
				continue
			}
		}
		out = append(out, e.to...)
		if g.routing == RouteFirst || e.inner || e.jump {
			break
		}
	}
	return out, nil
}

// exits are the edges of one node in the order in which they are tried.
type exits struct{ plain, onError []edge }

// exitsOf sorts a flow's edges by the node that they leave, those first that are
// followed alone.
func exitsOf(edges []edge) map[string]exits {
	out := map[string]exits{}
	for _, alone := range []bool{true, false} {
		for _, e := range edges {
			x := out[e.from]
			switch {
			case (e.inner || e.jump) != alone:
				continue
			case e.onError:
				x.onError = append(x.onError, e)
			default:
				x.plain = append(x.plain, e)
			}
			out[e.from] = x
		}
	}
	return out
}

func (g *graph) hasErrorEdge(id string) bool { return g.talks(id) || len(g.exits[id].onError) > 0 }

// sorted puts node ids into the flow's order, each once.
func (g *graph) sorted(ids []string) []string {
	slices.SortFunc(ids, func(a, b string) int { return g.rank[a] - g.rank[b] })
	return slices.Compact(ids)
}

// failure is what an error edge keeps of its node's error in the state. That an
// error ended its turn is always kept: nothing else says so.
func (g *graph) failure(node, message string) State {
	m := map[string]any{"node": node, "message": message}
	switch {
	case g.talks(node) && len(g.exits[node].onError) == 0:
		m[endedTurn] = true
		return State{errorKey: m}
	case g.errorKey == "":
		return State{}
	}
	return State{g.errorKey: m}
}
