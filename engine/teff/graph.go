package teff

import (
	"time"

	"github.com/flowtui/flowtui/engine/teff/py"
)

// ErrorCondition is the condition of an edge that is taken when its node raised.
const ErrorCondition = "__error__"

// Stop is the goto of a command that ends the run.
const Stop = "STOP"

// A Workflow is a document that has been read and compiled: includes, idioms
// and strategies are expanded. It is not changed by running it, except by
// teff's own defect 5 (lists in a command's update are used by reference), for
// which each process loads it afresh.
type Workflow struct {
	Name        string
	Description string
	Graph       *Graph
	Initial     *py.Dict // state.initial; never nil
	Reducers    Reducers // from state.schema; a key that is absent overrides
	Tools       []string // types of the tools, in document order
	// Refused is what its document holds that cannot be run here and that the graph
	// does not show, such as hooks. [Check] tells it.
	Refused []Problem
}

// A Graph is one level of a workflow: that of the document or of a subflow.
type Graph struct {
	Entry string  // id of the first step; "" when there are no steps
	Nodes []*Node // by unique id, in the place of each id's first definition
	Edges []Edge  // in document order, which decides routing
}

// Node gives the node with an id, or nil.
func (g *Graph) Node(id string) *Node {
	for _, n := range g.Nodes {
		if n.ID == id {
			return n
		}
	}
	return nil
}

// An Edge leads from one node to another when its condition holds. Its ends
// need not exist in a subflow, whose edges teff does not check.
type Edge struct {
	From, To  string
	Condition *string // nil: always; ErrorCondition: when From raised
}

// IsError reports whether the edge is for a node that raised.
func (e Edge) IsError() bool { return e.Condition != nil && *e.Condition == ErrorCondition }

// A Node is one step. Nodes inside parallel, loop and map are not part of a
// graph: they have no edges, and their ids mean nothing.
type Node struct {
	ID     string
	Type   string   // "transform", "interrupt", ...: see nodes.go
	Config *py.Dict // as in the document after interpolation; never nil
	Retry  *Retry   // nil: one attempt

	Graph    *Graph    // subflow
	Branches [][]*Node // parallel
	Body     []*Node   // loop: its body; map: its processor

	Position Position // where the step is written
}

// A Retry says how often a node is tried. Interrupts are never retried.
type Retry struct {
	Enabled  bool
	Attempts int           // in all, at least 1 (teff: max_retries)
	Delay    time.Duration // before the second attempt
	Backoff  float64       // each further wait is longer by this factor
	Timeout  time.Duration // of one attempt; 0: none
	On       []string      // exception class names or HTTP codes; empty: all
}

// A Position is a place in a document; lines and columns count from 1, 0 is unknown.
type Position struct {
	File         string
	Line, Column int
}

// A Reducer says how a value that a node returned is merged into the state.
type Reducer string

// The reducers of state.schema; unknown words override.
const (
	Override Reducer = "override" // replace
	Keep     Reducer = "keep"     // set only when the key is absent
	Append   Reducer = "append"   // extend or append to a list, else replace
)
