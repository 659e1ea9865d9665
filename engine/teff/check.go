package teff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowtui/flowtui/engine/teff/py"
)

// A Problem is one thing in a workflow that the bundled engine cannot run
// exactly as teff does.
type Problem struct {
	Node     string // its id, or the path to a step inside another node; "" for the workflow
	Position Position
	Reason   string

	node bool // the engine lacks the node, which matters only to a run that comes to it
}

// String is one line: where, which node, why.
func (p Problem) String() string {
	var b strings.Builder
	if p.Position.File != "" {
		b.WriteString(p.Position.File + ":")
	}
	if p.Position.Line > 0 {
		fmt.Fprintf(&b, "%d:", p.Position.Line)
	}
	if b.Len() > 0 {
		b.WriteByte(' ')
	}
	if p.Node != "" {
		b.WriteString(p.Node + ": ")
	}
	return b.String() + p.Reason
}

// An UnsupportedError lists everything in a workflow that cannot be run here.
type UnsupportedError struct {
	Workflow string
	Problems []Problem
}

// Error lists the problems.
func (e *UnsupportedError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return fmt.Sprintf("the workflow %s cannot be run exactly as teff runs it, so nothing was run or saved:\n  %s\nLet teff itself run it",
		e.Workflow, strings.Join(lines, "\n  "))
}

// Check refuses a workflow before anything of it is run or saved: what its
// document refused, node types and tools that the engine lacks, and options whose
// meaning teff's format does not settle. It is an [UnsupportedError] with all of them.
func Check(w *Workflow) error {
	if w == nil {
		return ErrNoWorkflow
	}
	c := &checker{w: w, problems: slices.Clone(w.Refused)}
	if w.Graph == nil {
		c.problem(&Node{}, "", "there is no graph")
	} else {
		c.graph(w.Graph, "")
	}
	if len(c.problems) == 0 {
		return nil
	}
	return &UnsupportedError{Workflow: w.Name, Problems: c.problems}
}

// onlyNodes reports that a run which comes to none of the nodes can be run.
func (e *UnsupportedError) onlyNodes() bool {
	return !slices.ContainsFunc(e.Problems, func(p Problem) bool { return !p.node })
}

type checker struct {
	w        *Workflow
	problems []Problem
}

func (c *checker) problem(n *Node, path, format string, args ...any) {
	c.problems = append(c.problems, Problem{Node: path, Position: n.Position, Reason: fmt.Sprintf(format, args...)})
}

// lacks is a problem of a node that cannot run here at all.
func (c *checker) lacks(n *Node, path, format string, args ...any) {
	c.problem(n, path, format, args...)
	c.problems[len(c.problems)-1].node = true
}

func (c *checker) graph(g *Graph, path string) {
	for _, n := range g.Nodes {
		c.node(n, path+n.ID)
	}
	for _, e := range g.Edges {
		if e.Condition == nil || *e.Condition != "" {
			continue
		}
		at := g.Node(e.From)
		if at == nil {
			at = &Node{}
		}
		c.problem(at, path+e.From, "an edge has an empty condition, which may hold always or never")
	}
}

func (c *checker) node(n *Node, path string) {
	options, known := optionsOf(n.Type)
	if !known {
		c.lacks(n, path, "its type %q %s", n.Type, lacking(n.Type))
		return
	}
	if n.Config != nil {
		for name, v := range n.Config.All() {
			if o, ok := options[name]; ok && !o.allows(v) {
				c.problem(n, path, "%s must be %s here, not %s", name, o, py.TypeName(v))
			}
		}
		c.special(n, path)
	}
	c.retry(n, path)
	c.steps(n.Body, path)
	for i, branch := range n.Branches {
		c.steps(branch, fmt.Sprintf("%s, branch %d", path, i+1))
	}
	if n.Graph != nil {
		c.graph(n.Graph, path+" > ")
	}
}

// lacking is why a node of a type cannot run here.
func lacking(typ string) string {
	switch typ {
	case "llm_chat":
		return "asks a model, and the teff format does not say which request it sends or what it writes of the reply"
	case "react_agent", "tool_exec":
		return "is of an agent, and the teff format does not say how its model and its tools take turns or what they write"
	}
	return "is not one of teff's own: it needs Python code"
}

func (c *checker) steps(steps []*Node, path string) {
	for i, step := range steps {
		c.node(step, fmt.Sprintf("%s, step %d", path, i+1))
	}
}

// Python looks for a class in retry_on by name or by inheritance; the format
// does not say which, and for these classes it decides.
var baseClasses = []string{"BaseException", "Exception", "ArithmeticError", "LookupError", "RuntimeError", "SyntaxError", "OSError"}

func (c *checker) retry(n *Node, path string) {
	if n.Retry == nil || !n.Retry.Enabled {
		return
	}
	for _, class := range n.Retry.On {
		if slices.Contains(baseClasses, strings.TrimPrefix(class, "builtins.")) {
			c.problem(n, path, "retry_on %s: whether classes derived from it count is not known", class)
		}
	}
}

// special are the refusals that need more than the kind of one option.
func (c *checker) special(n *Node, path string) {
	switch n.Type {
	case "subflow":
		c.subflow(n, path)
	case "map":
		c.mapped(n, path)
	case "validate":
		c.validate(n, path)
	case "tool_call":
		c.tool(n, path)
	case "command":
		for _, item := range list(n.Config, "routes") {
			route, ok := item.(*py.Dict)
			if !ok || !textOrNone(route, "when") || !textOrNone(route, "goto") {
				c.problem(n, path, "routes must be mappings with texts for when and goto")
			}
		}
	case "supervisor":
		for _, item := range list(n.Config, "fill_order") {
			if pair, ok := item.(*py.List); !ok || len(strs(pair.Items)) != 2 || len(pair.Items) != 2 {
				c.problem(n, path, "fill_order must hold pairs of an agent and a key")
			}
		}
	}
}

func textOrNone(d *py.Dict, key string) bool {
	v := d.GetOr(key, nil)
	_, ok := v.(string)
	return ok || v == nil
}

func (c *checker) subflow(n *Node, path string) {
	for _, option := range []string{"input_map", "output_map"} {
		names := dict(n.Config, option)
		if names == nil {
			continue
		}
		if names.Len() == 0 {
			c.problem(n, path, "%s is empty, which may mean no keys or all of them", option)
		}
		for _, to := range names.All() {
			name, ok := to.(string)
			if !ok {
				c.problem(n, path, "%s must map keys to keys", option)
			} else if option == "input_map" && c.w.Reducers[name] == Append && n.Graph != nil && extends(n.Graph.Nodes, name) {
				c.problem(n, path, "input_map gives %q, which has the append reducer and which the subflow appends to: whether to "+
					"the list of the outer state or to its own is not known", name)
			}
		}
	}
	if most, ok := n.Config.GetOr("max_iterations", nil).(int64); ok && most <= 0 {
		c.problem(n, path, "max_iterations is %d, which may mean none or no node at all", most)
	}
	if n.Graph == nil {
		c.problem(n, path, "it has no graph")
	}
}

// extends reports whether a node returns a value for a key, and so may extend
// its list in place. A transform writes a new list first.
func extends(nodes []*Node, key string) bool {
	for _, n := range nodes {
		if n.Type == "command" && dict(n.Config, "update") != nil && dict(n.Config, "update").Has(key) {
			return true
		}
		if n.Type == "append_assistant" && text(n.Config, "messages_key", "messages") == key {
			return true
		}
		inner := slices.Concat(n.Body, slices.Concat(n.Branches...))
		if n.Graph != nil {
			inner = slices.Concat(inner, n.Graph.Nodes)
		}
		if extends(inner, key) {
			return true
		}
	}
	return false
}

func (c *checker) mapped(n *Node, path string) {
	if len(list(n.Config, "input_keys")) == 0 && text(n.Config, "input_keys", "") == "" {
		c.problem(n, path, "it has no input_keys")
	}
	if text(n.Config, "result_key", "") == "" && len(n.Body) == 1 {
		only := n.Body[0]
		if only.Config != nil && !only.Config.Has("output_key") && hasOutputKey(only.Type) {
			c.problem(n, path, "neither result_key nor the processor's output_key is given: which key is collected is not known")
		}
	}
}

// hasOutputKey reports whether a node type writes to a key by default.
func hasOutputKey(typ string) bool {
	return slices.Contains([]string{"tool_call", "gate", "validate", "context_builder", "append_assistant", "supervisor", "map"}, typ)
}

func (c *checker) validate(n *Node, path string) {
	if byModel(n.Config) {
		c.lacks(n, path, "the strategy llm judges what a model said, and the teff format does not say what that is")
	}
	if n.Config.GetOr("check", nil) != nil {
		c.problem(n, path, "check needs a Python function")
	}
	if strings.Contains(text(n.Config, "regex", ""), `\N{`) {
		c.problem(n, path, `regex: characters named by \N{...} are not known here`)
	}
}

func (c *checker) tool(n *Node, path string) {
	if tool := text(n.Config, "tool", ""); tool != Calculator && slices.Contains(c.w.Tools, tool) {
		c.problem(n, path, "the bundled engine does not have the tool %q, only %s", tool, Calculator)
	}
	if args := dict(n.Config, "args"); args != nil && args.Has("expression") && args.GetOr("expression", nil) == nil {
		c.problem(n, path, "expression is null: how teff turns that into a text is not known")
	}
	if by := text(n.Config, "on_error", "raise"); by != "raise" && by != "message" {
		c.problem(n, path, "on_error must be raise or message, not %q", by)
	}
}
