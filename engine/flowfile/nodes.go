package flowfile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/teff"
	"github.com/flowtui/flowtui/engine/teff/py"
)

// dialectNodes are the step types that run by the rules of the teff format
// alone, with their options.
var dialectNodes = map[string]keys{
	"gate": {known: []string{
		"input_key", "ok_field", "output_key", "pass_value", "fail_value", "rounds_key", "max_rounds", "message_field", "message_key", "missing_is_ok",
	}},
	"validate": {
		known: []string{
			"input_key", "strategy", "equals", "any_of", "regex", "output_key", "pass_value", "fail_value", "value_key", "value_field", "rounds_key",
			"max_rounds", "ok_field", "clear_field", "clarify_value", "missing_is_ok", "hint",
		},
		later: []string{"check", "llm", "verdict_key"},
	},
	"context_builder":  {known: []string{"sections", "messages_key", "output_key", "reset_keys"}},
	"append_assistant": {known: []string{"output_key", "messages_key"}},
	"supervisor": {
		known: []string{"output_key", "max_rounds", "done_keys", "done_mode", "messages_key", "fill_order", "finish", "fallback_agent"},
		later: []string{"model", "provider"},
	},
}

// refusedTypes are step types of the dialect that do not run here, with the
// reason.
var refusedTypes = map[string]string{
	"react_agent": "its options are teff's own; a tool_loop does the same",
	"tool_exec":   "a tool_loop runs the tools of its model's replies itself",
	"fallback":    "it does nothing without a Python function; lead an edge with the condition __error__ to another step",
	"agent":       "it is an idiom for a model with tools; a tool_loop does the same",
	"agent_step":  "it is an idiom for a model with tools; a tool_loop does the same",
	"team":        "it is an idiom for several agents; lead edges between tool_loop steps",
	"supervise":   "it is an idiom for several agents; lead edges between tool_loop steps",
	"branch":      "it is an idiom of the flow form; lead edges with conditions to the steps",
	"route":       "it is an idiom of the flow form; write a command",
}

// dialectNode reads a step that runs by the rules of the teff format.
func (d *document) dialectNode(r reader, kind string, cfg *item) engine.Node {
	before := len(*r.errs)
	if !r.mapping(cfg, "config of a "+kind, dialectNodes[kind]) {
		return nil
	}
	return r.stepped(kind, cfg, before, nil)
}

// stepped is a node of the teff format, nil when something in its config is
// wrong or has no settled meaning.
func (r reader) stepped(kind string, cfg *item, before int, tools []string) engine.Node {
	if len(*r.errs) > before {
		return nil
	}
	values := cfg.value().(map[string]any)
	if kind == "validate" {
		r.text(cfg.get("hint"), "hint")
		delete(values, "hint") // it is for who answers
	}
	n := &teff.Node{ID: r.node, Type: kind, Config: toDict(values)}
	err := teff.Check(&teff.Workflow{Name: r.file, Graph: &teff.Graph{Nodes: []*teff.Node{n}}, Tools: tools})
	var unsupported *teff.UnsupportedError
	if errors.As(err, &unsupported) {
		for _, p := range unsupported.Problems {
			r.fail(r.optionOf(cfg, p.Reason), "%s", p.Reason)
		}
		return nil
	}
	if it := cfg.get("regex"); it != nil && it.kind == isText {
		if _, err := py.Compile(it.text); err != nil {
			r.fail(it, "regex: %s", err)
			return nil
		}
	}
	return stepped{n: n, tools: tools}
}

// optionOf is the option that a reason begins with, else the config.
func (r reader) optionOf(cfg *item, reason string) *item {
	name, _, _ := strings.Cut(reason, " ")
	if it := cfg.get(strings.TrimSuffix(name, ":")); it != nil {
		return it
	}
	return cfg
}

var (
	commandKeys  = keys{known: []string{"routes", "goto", "update"}}
	routeKeys    = keys{known: []string{"when", "goto"}}
	toolCallKeys = keys{known: []string{"tool", "args", "output_key", "on_error", "max_chars"}}
)

// command writes its update and says itself where the flow goes on.
type command struct{ update engine.State }

// Type is "command".
func (command) Type() string { return "command" }

// Run returns the update as it is written.
func (c command) Run(context.Context, engine.State) (engine.State, error) {
	return c.update.Clone(), nil
}

// jump is where a command goes: the first of its routes that holds decides.
type jump struct {
	at   *item // of the target
	to   string
	when []condition // the conditions of the routes; the last jump has none
	text string
}

// command reads a step that jumps.
func (d *document) command(r reader, cfg *item) (engine.Node, []jump) {
	if !r.mapping(cfg, "config of a command", commandKeys) {
		return nil, nil
	}
	c := command{}
	if it := cfg.get("update"); it != nil && it.kind != isNull && r.mappingOf(it, "update") {
		c.update = it.value().(map[string]any)
	}
	otherwise := cfg.get("goto")
	if otherwise != nil && otherwise.kind == isNull {
		otherwise = nil
	}
	var jumps []jump
	for i, e := range r.items(cfg.get("routes"), "routes") {
		if e.kind != isMapping {
			r.wrong(e, "each of routes", isMapping)
			continue
		}
		r.mapping(e, "a route", routeKeys)
		var cond condition
		when, ok := "", false
		if r.required(e, "when", "a route") != "" {
			when = e.get("when").written()
			cond, ok = conditionOf(e.get("when"))
		}
		if !ok && when != "" {
			r.fail(e.get("when"), "condition %q has no operator: want `key OP value` with one of >= <= != > < =", when)
		}
		to := e.get("goto")
		if to == nil || to.kind == isNull { // a route that holds and goes nowhere ends the search
			to = otherwise
		}
		jumps = append(jumps, jump{to, r.text(to, "goto"), []condition{cond}, fmt.Sprintf("%d. %s", i+1, when)})
	}
	if len(jumps) > 0 || otherwise != nil {
		jumps = append(jumps, jump{otherwise, r.text(otherwise, "goto"), nil, "else"})
	}
	return c, jumps
}

// addJumps adds the edges of a command once all steps are known. A jump without
// a target leaves it to the command's edges.
func (d *document) addJumps(s *step) {
	for i, j := range s.jumps {
		if j.to == "" {
			continue
		}
		before := s.jumps[:i]
		c := engine.Condition{Text: j.text, Test: func(state engine.State) (bool, error) {
			for _, earlier := range before {
				if ok, err := earlier.holds(state); ok || err != nil {
					return false, err
				}
			}
			return j.holds(state)
		}}
		switch {
		case j.to == teff.Stop && d.step(j.to) == nil:
			d.flow.Goto(s.exit, c)
		case d.step(j.to) != nil:
			s.next = append(s.next, j.to)
			d.flow.Goto(s.exit, c, j.to)
		case !d.lostStep:
			d.at(s.id).fail(j.at, "goto %q is no step of its graph", j.to)
		}
	}
}

func (j jump) holds(s engine.State) (bool, error) {
	for _, c := range j.when {
		if ok, err := c.test(s); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// toolCall calls a tool and keeps its result as text.
type toolCall struct {
	tool    string
	args    argument
	into    string
	message bool // a call that fails gives its error as the result
	chars   int64
}

// Type is "tool_call".
func (toolCall) Type() string { return "tool_call" }

// ToolName is the tool, for the graph.
func (t toolCall) ToolName() string { return t.tool }

// Run makes the call.
func (t toolCall) Run(ctx context.Context, s engine.State) (engine.State, error) {
	args, err := t.args(s)
	if err != nil {
		return nil, fmt.Errorf("arguments of %s: %w", t.tool, err)
	}
	raw, err := engine.CallTool(ctx, t.tool, args)
	var failed *engine.ToolError
	var text string
	switch {
	case errors.As(err, &failed) && t.message:
		text = "error: " + failed.Message
	case err != nil:
		return nil, err
	default:
		v, err := engine.DecodeValue(raw)
		if err != nil {
			return nil, fmt.Errorf("result of %s: %w", t.tool, err)
		}
		text = str(v)
	}
	if all := []rune(text); t.chars > 0 && int64(len(all)) > t.chars {
		text = string(all[:t.chars])
	}
	return engine.State{t.into: text}, nil
}

// toolCall reads a step that calls a tool: one that the file declares, or the
// calculator, which is no program and is not logged.
func (d *document) toolCall(r reader, cfg *item) engine.Node {
	const what = "config of a tool_call"
	before := len(*r.errs)
	if !r.mapping(cfg, what, toolCallKeys) {
		return nil
	}
	name := r.required(cfg, "tool", what)
	_, declared := d.tools.Get(name)
	if name == teff.Calculator && !declared && !d.declared[name] {
		return r.stepped("tool_call", cfg, before, []string{teff.Calculator})
	}
	d.mustHaveTool(r, cfg.get("tool"), name)
	t := toolCall{tool: name, into: "output", chars: r.whole(cfg.get("max_chars"), "max_chars"), args: func(engine.State) (any, error) { return map[string]any{}, nil }}
	if it := cfg.get("output_key"); it != nil {
		t.into = r.required(cfg, "output_key", what)
	}
	if it := cfg.get("args"); it != nil && it.kind != isNull && r.mappingOf(it, "args") {
		t.args = r.textArguments(it)
	}
	if it := cfg.get("on_error"); it != nil {
		word := r.text(it, "on_error")
		if t.message = word == "message"; it.kind == isText && !slices.Contains([]string{"raise", "message"}, word) {
			r.fail(it, "on_error must be raise or message, not %q", word)
		}
	}
	return t
}

// textArguments are arguments of which the texts are templates; all else stays
// as it is written.
func (r reader) textArguments(it *item) argument {
	var m []namedArgument
	for _, f := range it.fields {
		v := f.value.value()
		a := argument(func(engine.State) (any, error) { return v, nil })
		if f.value.kind == isText {
			t := r.template(f.value, f.value.text)
			a = func(s engine.State) (any, error) { return t.render(s) }
		}
		m = append(m, namedArgument{f.key.text, a})
	}
	return mappingArgument(m)
}
