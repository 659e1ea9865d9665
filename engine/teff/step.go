package teff

import (
	"context"
	"fmt"
	"time"

	"github.com/flowtui/flowtui/engine/teff/py"
)

// A Stepper runs single nodes for an engine that keeps the state and routes by
// itself: by teff's rules, but without its checkpoints.
type Stepper struct {
	Reducers Reducers // for what runs inside a node
	Tools    []string
	Now      func() time.Time // nil: time.Now
}

// A Step is what a node came to.
type Step struct {
	Update *py.Dict // what it returned, to be merged by the reducers; nil: nothing
	Goto   string   // the node to jump to, "" for the edges
	Stop   bool     // the run ends
}

// Run runs a node, with what it holds and with its retries, on a state, which it
// may change as teff's node does. A node that pauses is an *[Interrupt]: what it
// did is lost. The node itself stays as it is (see defect 5 of the format).
func (s Stepper) Run(ctx context.Context, n *Node, state *py.Dict) (Step, error) {
	w, err := (&Workflow{Graph: &Graph{Nodes: []*Node{n}}}).clone()
	if err != nil {
		return Step{}, err
	}
	now := s.Now
	if now == nil {
		now = time.Now
	}
	x := executor{call: &call{reducers: s.Reducers, tools: s.Tools, now: now, wait: sleep, cancelled: ctx.Err}}
	r, err := x.attempt(ctx, w.Graph.Nodes[0], state)
	if err != nil {
		return Step{}, err
	}
	return Step{r.update, r.goTo, r.stop}, nil
}

// Goto is where a command goes on a state: a node's id, [Stop], or "" for its
// edges.
func (n *Node) Goto(state *py.Dict) (string, error) {
	if n.Type != "command" {
		return "", nil
	}
	return commandGoto(n.Config, state)
}

// A Target is where a command may go.
type Target struct {
	To   string // a node's id, or Stop
	When string // in words
}

// Targets are all places where a command may go, each once.
func (n *Node) Targets() []Target {
	if n.Type != "command" {
		return nil
	}
	var all []Target
	add := func(to, when string) {
		if to == "" {
			return
		}
		for i := range all {
			if all[i].To == to {
				all[i].When += " or " + when
				return
			}
		}
		all = append(all, Target{to, when})
	}
	for i, item := range list(n.Config, "routes") {
		route, ok := item.(*py.Dict)
		if !ok {
			continue
		}
		to := text(route, "goto", "")
		if to == "" { // it ends the search
			to = text(n.Config, "goto", "")
		}
		add(to, fmt.Sprintf("%d. %s", i+1, text(route, "when", "")))
	}
	add(text(n.Config, "goto", ""), "else")
	return all
}

// Pauses reports whether the node or one inside it asks a person.
func (n *Node) Pauses() bool {
	if n.Type == "interrupt" {
		return true
	}
	for _, inner := range n.Inner() {
		if inner.Pauses() {
			return true
		}
	}
	return false
}

// Inner are the nodes that a node holds.
func (n *Node) Inner() []*Node {
	all := append([]*Node(nil), n.Body...)
	for _, branch := range n.Branches {
		all = append(all, branch...)
	}
	if n.Graph != nil {
		all = append(all, n.Graph.Nodes...)
	}
	return all
}

// MapInput gives the lists that a map zips, with their keys (teff format, map).
func (n *Node) MapInput(state *py.Dict) (keys []string, lists [][]py.Value, err error) {
	return mapInput(n.Config, state)
}

// Collected is the key whose value a map takes from each item.
func (n *Node) Collected() string { return collected(n) }
