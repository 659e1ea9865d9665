package engine

import (
	"context"
	"fmt"
	"slices"
)

// Node is one step of a flow. Run gets a copy of the superstep's state and
// returns the keys to change. It runs again after a crash, so it must be
// deterministic and act on the world only through [CallTool].
type Node interface {
	// Type names the kind of node in the graph: "call", "transform", …
	Type() string
	Run(ctx context.Context, s State) (State, error)
}

// NodeFunc is a node of plain Go code; its type is "func".
type NodeFunc func(ctx context.Context, s State) (State, error)

// Type is "func".
func (NodeFunc) Type() string { return "func" }

// Run calls f.
func (f NodeFunc) Run(ctx context.Context, s State) (State, error) { return f(ctx, s) }

// Condition decides whether an edge is followed. Text is what the graph shows
// and what the digest covers; it must change when Test does.
type Condition struct {
	Text string
	Test func(State) (bool, error)
}

// Routing says which of a node's matching edges are followed.
type Routing string

// The routings.
const (
	RouteAll   Routing = "all"   // every edge that matches: the default of flows made in Go
	RouteFirst Routing = "first" // the first edge that matches, in order: flow files
)

// Flow is a graph of named nodes. Build it with the methods, then give it to a
// [Runner]. Errors of the builder are kept and returned by [Flow.Check].
type Flow struct {
	name     string
	kind     string
	nodes    []namedNode
	edges    []edge
	entry    string
	ends     []string
	reducers map[string]Reducer
	routing  Routing
	initial  State
	errorKey string     // gets the error that an error edge takes, "": none
	typed    *stateType // nil: any JSON object
	maxSteps int64
	after    []string // what the builder's next step follows
	again    string   // where a loop of the builder goes back to
	talk     *Conversation
	holds    bool
	errs     []error
}

type namedNode struct {
	id   string
	node Node
}

type edge struct {
	from    string
	to      []string
	cond    *Condition
	onError bool
	inner   bool // stays within a tool loop: when it matches, it is the only one that does
	jump    bool // as inner, and decided on the state that the node saw
}

// DefaultMaxSupersteps bounds a run of a flow that never ends.
const DefaultMaxSupersteps = 10_000

// NewFlow starts a flow. The first node is the entry unless Entry says otherwise.
func NewFlow(name string) *Flow {
	return &Flow{name: name, kind: KindFlow, reducers: map[string]Reducer{}, errorKey: errorKey, routing: RouteAll, maxSteps: DefaultMaxSupersteps}
}

// Name returns the flow's name.
func (f *Flow) Name() string { return f.name }

// Node adds a node.
func (f *Flow) Node(id string, n Node) *Flow {
	switch {
	case id == "":
		f.fail("a node has no id")
	case n == nil:
		f.fail("node %q has no code", id)
	case f.has(id):
		f.fail("node %q is defined twice", id)
	}
	f.nodes = append(f.nodes, namedNode{id, n})
	return f
}

// Edge goes from one node to one or, concurrently, several others.
func (f *Flow) Edge(from string, to ...string) *Flow {
	f.edges = append(f.edges, edge{from: from, to: to})
	return f
}

// When goes from one node to others when the condition holds on the merged state.
func (f *Flow) When(from string, c Condition, to ...string) *Flow {
	if c.Test == nil || c.Text == "" {
		f.fail("edge from %q has an empty condition", from)
	}
	f.edges = append(f.edges, edge{from: from, to: to, cond: &c})
	return f
}

// OnError goes from a node to others when the node fails. The error's text is
// put into the state under "error" as {"node", "message"}, see [Flow.ErrorKey].
func (f *Flow) OnError(from string, to ...string) *Flow {
	f.edges = append(f.edges, edge{from: from, to: to, onError: true})
	return f
}

// Goto goes from a node to others, or with none to the end, as the node itself
// decides: the condition is tested on the state that the node saw, not on what it
// made of it. Such an edge is tried before those that are no Goto, and when it
// matches it is the only one that is followed.
func (f *Flow) Goto(from string, c Condition, to ...string) *Flow {
	if c.Test == nil || c.Text == "" {
		f.fail("edge from %q has an empty condition", from)
	}
	f.edges = append(f.edges, edge{from: from, to: to, cond: &c, jump: true})
	return f
}

// ErrorKey sets the key of the state that gets {node, message} of an error that
// an error edge takes; without it the key is "error". "" keeps it in the run's
// steps only.
func (f *Flow) ErrorKey(key string) *Flow {
	f.errorKey = key
	return f
}

// End marks nodes after which nothing follows. It documents what the edges
// say: a run ends when no edge matches.
func (f *Flow) End(ids ...string) *Flow {
	f.ends = append(f.ends, ids...)
	return f
}

// Entry names the first node.
func (f *Flow) Entry(id string) *Flow {
	f.entry = id
	return f
}

// Reduce sets the reducer of one key of the state.
func (f *Flow) Reduce(key string, r Reducer) *Flow {
	if r != Override && r != Keep && r != Append {
		f.fail("key %q: unknown reducer %q", key, r)
	}
	f.reducers[key] = r
	return f
}

// Route sets which of several matching edges are followed.
func (f *Flow) Route(r Routing) *Flow {
	if r != RouteAll && r != RouteFirst {
		f.fail("unknown routing %q", r)
	}
	f.routing = r
	return f
}

// Initial sets the state of a run that is started without one.
func (f *Flow) Initial(s State) *Flow {
	f.initial = s
	return f
}

// InitialState is a copy of the state that a run starts with when it gets none.
func (f *Flow) InitialState() State { return f.initial.Clone() }

// MaxSupersteps bounds a run; the default is DefaultMaxSupersteps.
func (f *Flow) MaxSupersteps(n int64) *Flow {
	if n < 1 {
		f.fail("at least one superstep must be allowed")
	}
	f.maxSteps = n
	return f
}

func (f *Flow) fail(format string, args ...any) {
	f.errs = append(f.errs, fmt.Errorf("flow %q: "+format, append([]any{f.name}, args...)...))
}

func (f *Flow) has(id string) bool {
	return slices.ContainsFunc(f.nodes, func(n namedNode) bool { return n.id == id })
}
