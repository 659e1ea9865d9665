package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/flowtui/flowtui/engine"
)

// flowSpec is a flow as data, for the engine and for the model that foretells
// how it ends.
type flowSpec struct {
	nodes []nodeSpec
	edges []edgeSpec
	holds bool // see engine.Flow.HoldOnError
}

type nodeSpec struct {
	id       string
	path     []stage // the containers that it is in, then itself
	steps    []stepSpec
	rude     bool // its code ignores errors
	attempts int  // how often it is tried, when it has code of its own
	breaks   bool // its code fails at times, until the world has calmed down
	excused  bool // in a container: its error leads to the node after it too

	box      box
	branches [][]nodeSpec // what a box runs
	items    int          // of a map
	limit    int          // of a map
	laps     bool         // a subflow that runs its branch twice

	loop      *loopSpec // of both nodes of a tool loop
	runsTools string    // the node of the model whose tools this one runs
}

// stage is a part of the name of a node in a container.
type stage struct {
	name string
	item string // key of the state that has the number which stands here instead
	lap  string // key of the state that says which visit it is
}

// box is what kind of container a node is.
type box int

const (
	noBox       box = iota
	subflowBox      // one branch
	mapBox          // one branch for each item
	parallelBox     // each branch on its own
)

// itemKey is where the number of a map's item stands in the state.
func (n nodeSpec) itemKey() string { return fmt.Sprint("item ", n.path) }

// lapKey is where the lap of a subflow stands in the state.
func (n nodeSpec) lapKey() string { return fmt.Sprint("lap ", n.path) }

// place names the node in the run that has this state: a map has a place for
// each item, and a later visit has a name of its own.
func (n nodeSpec) place(st engine.State) string {
	var names []string
	for _, s := range n.path {
		switch {
		case s.item != "":
			names = append(names, fmt.Sprint(st[s.item]))
		case s.lap != "" && fmt.Sprint(st[s.lap]) != "1":
			names = append(names, fmt.Sprintf("%s@%v", s.name, st[s.lap]))
		default:
			names = append(names, s.name)
		}
	}
	return strings.Join(names, "/")
}

// stepSpec is one thing that a node does: it calls a tool, or asks when tool is "".
type stepSpec struct {
	tool  string
	args  argSpec
	keeps bool // an error of the tool goes into the state
}

// argSpec says what a call's arguments depend on.
type argSpec int

const (
	unique   argSpec = iota // on where the call is made
	constant                // on nothing: calls share them
	drifting                // on how often the node began: it is not deterministic
)

type edgeSpec struct {
	from    string
	to      []string
	when    *engine.Condition
	onError bool
}

// drawFlow makes a random flow: rounds of one node or several side by side, with
// conditions between them, error edges to a rescue, and a loop. Some nodes are
// containers, some are tried again.
func drawFlow(r *rand.Rand) flowSpec {
	f := flowSpec{nodes: []nodeSpec{{id: "start", path: []stage{{name: "start"}}}}, holds: r.IntN(4) == 0}
	before := []string{"start"}
	for round := range 1 + r.IntN(4) {
		var ids []string
		beside := r.IntN(3) * r.IntN(3) / 2
		for i := range 1 + beside {
			id := fmt.Sprintf("n%d%c", round, 'a'+i)
			n := f.drawNode(r, nil, "", id)
			if beside == 0 && r.IntN(5) == 0 { // what is beside a loop goes on without it, and would enter it again
				f.nodes, ids = append(f.nodes, drawLoop(r, id)...), append(ids, id)
				continue
			}
			f.nodes, ids = append(f.nodes, n), append(ids, n.id)
			if r.IntN(2) == 0 {
				f.edges = append(f.edges, edgeSpec{from: n.id, to: []string{"rescue"}, onError: true})
			}
		}
		for _, b := range before {
			e := edgeSpec{from: b, to: ids}
			if r.IntN(6) == 0 {
				e.when = conditions[r.IntN(len(conditions))]
			}
			f.edges = append(f.edges, e)
		}
		before = ids
	}
	for i, n := range f.nodes { // only a hold says what came of such an error
		f.nodes[i].breaks = f.holds && i > 0 && n.box == noBox && n.loop == nil && !f.rescued(n.id) && r.IntN(4) == 0
	}
	if r.IntN(3) == 0 {
		f.edges = append(f.edges, edgeSpec{from: before[0], to: []string{"start"}, when: firstRound})
	}
	f.nodes = append(f.nodes, nodeSpec{id: "rescue", path: []stage{{name: "rescue"}}})
	return f
}

// drawNode draws a node that stands within containers.
func (f flowSpec) drawNode(r *rand.Rand, within []stage, lap, id string) nodeSpec {
	n := nodeSpec{id: id, path: append(slices.Clone(within), stage{name: id, lap: lap}), excused: len(within) > 0 && r.IntN(4) == 0}
	deep := len(within) // a map counts twice
	if deep < 3 && r.IntN(7) == 0 {
		return f.drawBox(r, n)
	}
	n.rude = r.IntN(7) == 0
	tools := []string{"", once, once, once, once, again, again, asks, asks, askAgain, broken, opaque, picky, flaky, flakyAgain, flakyAsks}
	if f.holds {
		tools = append(tools, flaky, flaky, flakyAgain, flakyAgain, flakyAsks, flakyAsks)
	}
	if r.IntN(6) == 0 {
		n.attempts = 2 + r.IntN(2)
		tools = append(tools, again, again, flakyAgain, flakyAgain, flakyAgain, flakyAgain, flakyAgain, askAgain, broken, broken)
	}
	size := 1 + r.IntN(4)
	if deep > 0 {
		size = 1 + r.IntN(2)
	}
	for range size {
		s := stepSpec{keeps: r.IntN(3) == 0, args: []argSpec{unique, unique, unique, unique, constant, constant, drifting}[r.IntN(7)]}
		s.tool = tools[r.IntN(len(tools))]
		if f.holds && s.tool == broken {
			s.tool = flaky // what never works would hold the run for ever
		}
		if n.attempts > 0 && s.args == drifting {
			s.args = unique // which attempt a call is of would not be foretold
		}
		if deep > 0 && isAsking[s.tool] {
			s.args = unique // which of several denials ends a container is not foretold
		}
		n.steps = append(n.steps, s)
	}
	return n
}

func (f flowSpec) drawBox(r *rand.Rand, n nodeSpec) nodeSpec {
	n.box = subflowBox + box(r.IntN(3))
	within, branches, lap := n.path, 1, ""
	switch n.box {
	case subflowBox:
		if n.laps = r.IntN(3) == 0; n.laps {
			lap = n.lapKey()
		}
	case mapBox:
		n.items, n.limit = r.IntN(4), r.IntN(3)
		within = append(slices.Clone(within), stage{item: n.itemKey()})
	case parallelBox:
		branches = 2 + r.IntN(2)
	}
	for b := range branches {
		var chain []nodeSpec
		for i := range 1 + r.IntN(2) {
			chain = append(chain, f.drawNode(r, within, lap, fmt.Sprintf("%c%d", 'p'+b, i)))
		}
		n.branches = append(n.branches, chain)
	}
	return n
}

var firstRound = &engine.Condition{Text: "round < 2", Test: func(st engine.State) (bool, error) { return fmt.Sprint(st["round"]) == "1", nil }}

var conditions = []*engine.Condition{
	firstRound,
	{Text: "no error so far", Test: func(st engine.State) (bool, error) { return st["error"] == nil, nil }},
	{Text: "not no", Test: func(st engine.State) (bool, error) { return st["answer"] != "no", nil }},
}

func (f flowSpec) initial(run string) engine.State {
	return engine.State{"run": run, "round": 0, "log": []any{}}
}
