package flowfile

import (
	"slices"

	"github.com/flowtui/flowtui/engine/teff"
	teffdoc "github.com/flowtui/flowtui/engine/teff/document"
	"github.com/flowtui/flowtui/engine/teff/py"
)

// noted is the environment, and notes whether anything of it was used.
type noted struct {
	lookup func(string) (string, bool)
	found  bool
}

func (e *noted) get(name string) (string, bool) {
	if e.lookup == nil {
		return "", false
	}
	v, ok := e.lookup(name)
	e.found = e.found || ok
	return v, ok
}

// written finds the parts of a document of teff as they stand in its file, for
// those in which the environment was filled. Without variables it has none.
type written struct {
	graphs map[*teff.Graph]*teff.Graph
	nodes  map[*teff.Node]*teff.Node
}

func (w written) graph(g *teff.Graph) *teff.Graph {
	if is := w.graphs[g]; is != nil {
		return is
	}
	return g
}

func (w written) node(n *teff.Node) *teff.Node {
	if is := w.nodes[n]; is != nil {
		return is
	}
	return n
}

// hides reports whether a variable says what a validate node lets pass.
func (w written) hides(v *teff.Node) bool {
	if v == nil {
		return false
	}
	for _, option := range []string{"equals", "any_of", "regex"} {
		if !identical(v.Config.GetOr(option, nil), w.node(v).Config.GetOr(option, nil)) {
			return true
		}
	}
	return false
}

// asWritten reads a document once more without the environment. What teff keeps
// in its rows, the state and the prompts, is kept here as well. What only our
// stores keep is kept as it is written: the conditions, and what passes. Names
// that it would change are refused.
func (w *workflow) asWritten(doc *teff.Workflow, path string, env *noted) {
	files := map[string]bool{}
	variablesIn(teffdoc.Beside(path, "include"), files)
	raw, err := teffdoc.Load(path, func(name string) (string, bool) {
		if files[name] { // else the files would not be found
			return env.get(name)
		}
		return "", false
	})
	w.written = written{map[*teff.Graph]*teff.Graph{}, map[*teff.Node]*teff.Node{}}
	switch {
	case err != nil:
		w.fail(nil, "a variable stands where the document cannot be read without it, so that it would be kept in the store: write the text itself: %s", err)
	case !w.pair(doc.Graph, raw.Graph):
		w.fail(nil, "a variable decides which steps the document has, so that it would be kept in the store: write the text itself")
	case doc.Name != raw.Name:
		w.fail(nil, "the name %q of the flow is kept in the store: write it without a variable", raw.Name)
	}
}

// variablesIn notes the variables that a value names.
func variablesIn(v py.Value, names map[string]bool) {
	switch v := v.(type) {
	case string:
		for _, reference := range variable.FindAllString(v, -1) {
			names[reference[len("${"):len(reference)-1]] = true
		}
	case *py.List:
		for _, e := range v.Items {
			variablesIn(e, names)
		}
	case *py.Dict:
		for _, e := range v.All() {
			variablesIn(e, names)
		}
	}
}

// pair notes the parts of a graph as they are written, and reports whether there
// are as many.
func (w *workflow) pair(g, raw *teff.Graph) bool {
	if g == nil || raw == nil {
		return g == raw
	}
	if w.written.graphs[g] = raw; len(g.Edges) != len(raw.Edges) {
		return false
	}
	for i, e := range g.Edges {
		if (e.Condition == nil) != (raw.Edges[i].Condition == nil) || e.IsError() != raw.Edges[i].IsError() {
			return false
		}
	}
	if !w.pairs(g.Nodes, raw.Nodes) {
		return false
	}
	for i, n := range g.Nodes {
		is := raw.Nodes[i]
		if n.ID != is.ID {
			w.problem(is.Position, is.ID, "the id of a step is kept in the store: write it without a variable")
		}
		leads := slices.EqualFunc(n.Targets(), is.Targets(), func(t, written teff.Target) bool { return t.To == written.To })
		for e, edge := range g.Edges {
			leads = leads && (edge.From != n.ID || edge.From == raw.Edges[e].From && edge.To == raw.Edges[e].To)
		}
		if !leads {
			w.problem(is.Position, is.ID, "where a step leads is kept in the store: write it without a variable")
		}
	}
	return true
}

func (w *workflow) pairs(nodes, raw []*teff.Node) bool {
	if len(nodes) != len(raw) {
		return false
	}
	for i, n := range nodes {
		is := raw[i]
		w.written.nodes[n] = is
		if len(n.Targets()) != len(is.Targets()) || len(n.Branches) != len(is.Branches) || !w.pair(n.Graph, is.Graph) || !w.pairs(n.Body, is.Body) {
			return false
		}
		for b := range n.Branches {
			if !w.pairs(n.Branches[b], is.Branches[b]) {
				return false
			}
		}
	}
	return true
}
