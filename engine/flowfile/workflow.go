package flowfile

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/teff"
	teffdoc "github.com/flowtui/flowtui/engine/teff/document"
	"github.com/flowtui/flowtui/engine/teff/py"
	"github.com/flowtui/flowtui/engine/tool"
)

// workflow compiles a document of the teff format into a flow. Its nodes run by
// teff's rules and routes by teff's order; what pauses inside of a node is
// resumed there, where teff goes on behind the node and loses what was done.
type workflow struct {
	reader
	dir      string // of the file, which problems are told relative to
	written  written
	tools    []string
	reducers teff.Reducers
}

// loadWorkflow reads a document of teff.
func (o Options) loadWorkflow(f *File) (*File, error) {
	env := &noted{lookup: o.Env}
	w := &workflow{reader: newReader(filepath.Base(f.Path)), dir: filepath.Dir(f.Path)}
	doc, err := teffdoc.Load(f.Path, env.get)
	if doc != nil && doc.Name != "" {
		f.Name = doc.Name
	}
	var refused *teffdoc.Error
	var unsupported *teff.UnsupportedError
	var unread *fs.PathError
	switch {
	case errors.As(err, &refused):
		w.problems(refused.Problems)
		return f, w.err()
	case errors.As(err, &unsupported):
		w.problems(unsupported.Problems)
		return f, w.err()
	case errors.As(err, &unread):
		return f, fmt.Errorf("flow file: %w", err)
	case err != nil:
		w.fail(nil, "%s", err)
		return f, w.err()
	}
	if env.found {
		w.asWritten(doc, f.Path, env)
		if err := w.err(); err != nil {
			return f, err
		}
	}
	w.tools, w.reducers = doc.Tools, doc.Reducers
	flow := w.flow(doc.Graph, f.Name).HoldOnError()
	if initial, err := toState(doc.Initial); err != nil {
		w.fail(nil, "state.initial: %s", err)
	} else {
		flow.Initial(initial)
	}
	w.conversation(flow, teffdoc.Beside(f.Path, "conversation"))
	if err := w.err(); err != nil {
		return f, err
	}
	if err := flow.Check(); err != nil {
		w.fail(nil, "%s", err)
		return f, w.err()
	}
	f.Description, f.Flow, f.Tools = doc.Description, flow, tool.NewRegistry()
	return f, nil
}

// conversation makes the flow one, when the document says so by a key of ours:
// whether a workflow of teff is run by messages is said by who runs it.
func (w *workflow) conversation(f *engine.Flow, v py.Value) {
	if v == nil {
		return
	}
	root, err := fromPython(v)
	d, ok := root.(map[string]any)
	if err != nil || !ok {
		w.fail(nil, "conversation must be a mapping")
		return
	}
	var c engine.Conversation
	for key, v := range d {
		list, isList := v.([]any)
		switch text, isText := v.(string); {
		case key == "messages" && isText:
			c.Messages = text
		case key == "transient" && isList:
			for _, e := range list {
				name, ok := e.(string)
				if !ok {
					w.fail(nil, "conversation: transient must be a list of texts")
				}
				c.Transient = append(c.Transient, name)
			}
		default:
			w.fail(nil, "conversation has messages, a text, and transient, a list; not %s: %s", key, str(v))
		}
	}
	f.Conversation(c)
}

func (w *workflow) problems(list []teff.Problem) {
	for _, p := range list {
		w.problem(p.Position, p.Node, "%s", p.Reason)
	}
}

// problem tells what is wrong, in the main file or in one that it includes.
func (w *workflow) problem(at teff.Position, node, format string, args ...any) {
	file := w.file
	if rel, err := filepath.Rel(w.dir, at.File); at.File != "" && err == nil {
		file = rel
	}
	*w.errs = append(*w.errs, Error{File: file, Line: at.Line, Column: at.Column, Node: node, Message: plain(fmt.Sprintf(format, args...))})
}

// flow compiles a graph.
func (w *workflow) flow(g *teff.Graph, name string) *engine.Flow {
	f := engine.NewFlow(name).Route(engine.RouteFirst).ErrorKey("")
	for _, n := range g.Nodes {
		at := *w
		at.reader = w.at(n.ID)
		if node := at.step(n, judgeIn(g, n)); node != nil {
			f.Node(n.ID, node)
		}
		at.jumps(f, g, n)
	}
	if g.Entry != "" {
		f.Entry(g.Entry)
	}
	for i := range g.Edges {
		w.edge(f, g, i)
	}
	return f
}

// jumps are the edges of a command that says itself where the flow goes on.
func (w *workflow) jumps(f *engine.Flow, g *teff.Graph, n *teff.Node) {
	for i, t := range n.Targets() {
		c := engine.Condition{Text: w.written.node(n).Targets()[i].When, Test: func(s engine.State) (bool, error) {
			to, err := n.Goto(toDict(s))
			return to == t.To, err
		}}
		switch {
		case t.To == teff.Stop:
			f.Goto(n.ID, c)
		case g.Node(t.To) == nil:
			w.problem(n.Position, w.node, "goto %q is no step of its graph", t.To)
		default:
			f.Goto(n.ID, c, t.To)
		}
	}
}

func (w *workflow) edge(f *engine.Flow, g *teff.Graph, i int) {
	e := g.Edges[i]
	from := g.Node(e.From)
	switch {
	case from == nil: // in a subflow, where teff never looks at it
	case g.Node(e.To) == nil:
		w.problem(from.Position, w.at(e.From).node, "an edge leads to %q, which is no step of its graph", e.To)
	case e.IsError():
		f.OnError(e.From, e.To)
	case e.Condition == nil:
		f.Edge(e.From, e.To)
	default:
		f.When(e.From, holding(*e.Condition, *w.written.graph(g).Edges[i].Condition), e.To)
	}
}

// holding is a condition of the condition language, with its text as it is
// written; without an operator it never holds.
func holding(text, written string) engine.Condition {
	return engine.Condition{Text: written, Test: func(s engine.State) (bool, error) { return teff.Holds(text, toDict(s)) }}
}

// step compiles a node, nil when it cannot be run; judge is what judges the
// answer of an interrupt.
func (w *workflow) step(n, judge *teff.Node) engine.Node {
	switch {
	case n.Type == "interrupt":
		return w.interrupt(n, judge)
	case !n.Pauses():
		return stepped{n, w.tools, w.reducers}
	case n.Retry != nil && n.Retry.Enabled:
		w.problem(n.Position, w.node, "retry of a step in which a person is asked: give it to the steps inside")
		return nil
	}
	before := len(*w.errs)
	node, err := w.container(n)
	if len(*w.errs) > before {
		return nil
	}
	if err != nil {
		w.problem(n.Position, w.node, "%s", err)
		return nil
	}
	return node
}

// interrupt asks; judge is the validate node that surely follows it and judges
// the answer, nil when there is none.
func (w *workflow) interrupt(n, judge *teff.Node) engine.Node {
	key, _ := n.Config.GetOr("key", "").(string)
	prompt, _ := n.Config.GetOr("prompt", "").(string)
	return judgedBy(engine.Interrupt{Key: key, Prompt: func(s engine.State) (string, error) { return py.Render(prompt, toDict(s)) }}, judge, w.written.hides(judge))
}

// judgeIn is the validate node that surely follows an interrupt of a graph and
// judges its answer.
func judgeIn(g *teff.Graph, n *teff.Node) *teff.Node {
	for _, e := range g.Edges {
		if e.From != n.ID || e.IsError() {
			continue
		}
		if v := g.Node(e.To); e.Condition == nil && judges(v, n) {
			return v
		}
		return nil
	}
	return nil
}
