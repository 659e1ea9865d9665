package flowfile

import (
	"slices"
	"strings"

	"github.com/flowtui/flowtui/engine"
)

var (
	stepKeys      = keys{known: []string{"id", "type", "config", "retry"}}
	callKeys      = keys{known: []string{"tool", "args", "into"}}
	interruptKeys = keys{known: []string{"key", "prompt", "choices", "strategy"}}

	stepTypes = []string{
		"call", "transform", "interrupt", "tool_loop", "llm", "interrupt_loop", "loop", "subflow", "parallel", "map",
		"command", "tool_call", "gate", "validate", "context_builder", "append_assistant", "supervisor", "llm_chat",
	}
)

// step is a step with what its edges need.
type step struct {
	id    string
	at    *item
	exit  string   // the node that its edges leave, of the nodes that it stands for
	next  []string // of all its edges
	goes  bool     // an edge leaves it that is not an error edge
	jumps []jump   // of a command
}

func (d *document) step(id string) *step {
	i := slices.IndexFunc(d.steps, func(s *step) bool { return s.id == id })
	if i < 0 {
		return nil
	}
	return d.steps[i]
}

func (d *document) readSteps(root *item) {
	it := root.get("steps")
	steps := d.items(it, "steps")
	if len(steps) == 0 && (it == nil || it.kind == isNull || it.kind == isList) {
		if it == nil {
			it = root
		}
		d.fail(it, "the flow has no steps")
	}
	for _, e := range steps {
		d.readStep(e, root)
	}
}

// readStep reads one of the steps of a graph.
func (d *document) readStep(it, graph *item) {
	if it.kind != isMapping {
		d.wrong(it, "a step", isMapping)
		d.lostStep = true
		return
	}
	if len(it.fields) == 1 && it.get("id") == nil {
		if idiom := it.fields[0].key.text; refusedTypes[idiom] != "" || slices.Contains(stepTypes, idiom) {
			d.fail(it, "steps of the form {%s: …} cannot stand here; write {id, type: %s, config}", idiom, idiom)
			d.lostStep = true
			return
		}
	}
	r := d.reader
	if named := it.get("id"); named != nil && named.kind == isText {
		r = d.at(named.text)
	}
	r.mapping(it, "a step", stepKeys)
	id := d.required(it, "id", "a step")
	d.lostStep = d.lostStep || id == ""
	r.name(it.get("id"), "id")
	d.addStep(r, it, id, d.judgeAt(graph, id))
}

// addStep adds a step under an id, which is "" when it could not be read; next is
// the step that surely follows it, nil when there is none.
func (d *document) addStep(r reader, it *item, id string, next *item) *step {
	s := &step{id: id, at: it, exit: id}
	if id != "" {
		if first := d.step(id); first != nil {
			r.fail(it.get("id"), "a step with this id stands already at line %d", first.at.line)
		} else {
			d.steps = append(d.steps, s)
		}
	}
	if kind := it.get("type"); kind != nil && kind.kind == isText && d.severalNodes(r, s, kind.text, config(it)) {
		r.noRetry(it, kind.text)
		return s
	}
	node := r.judgedAt(d.readNode(r, it), next)
	if id != "" && node != nil {
		d.flow.Node(id, node)
	}
	return s
}

// noRetry refuses the retry of a step that has nothing to try again.
func (r reader) noRetry(it *item, kind string) {
	if retry := it.get("retry"); retry != nil && retry.kind != isNull {
		r.fail(retry, "retry of a step of type %q, which is more than one node or cannot fail: put it on other steps", kind)
	}
}

// severalNodes adds a step that stands for more than one node, or that routes.
func (d *document) severalNodes(r reader, s *step, kind string, cfg *item) bool {
	switch {
	case kind == "tool_loop":
		d.toolLoop(r, s.id, cfg)
	case kind == "interrupt" && cfg.get("strategy") != nil:
		d.ask(r, s, cfg)
	case kind == "interrupt_loop":
		d.interruptLoop(r, s, cfg)
	case kind == "loop":
		d.loop(r, s, cfg)
	case kind == "command":
		before := len(*r.errs)
		var n engine.Node
		if n, s.jumps = d.command(r, cfg); len(*r.errs) == before && s.id != "" {
			d.flow.Node(s.id, n)
		}
	default:
		return false
	}
	return true
}

// readNode reads a step that is one node.
func (d *document) readNode(r reader, it *item) engine.Node {
	kind := r.required(it, "type", "a step")
	return d.retried(r, it, d.nodeOf(r, it, kind, config(it)))
}

func (d *document) nodeOf(r reader, it *item, kind string, cfg *item) engine.Node {
	switch kind {
	case "call":
		return d.call(r, cfg)
	case "interrupt":
		return r.interrupt(cfg)
	case "llm":
		return d.llm(r, cfg)
	case "llm_chat":
		return d.llmChat(r, cfg)
	case "subflow":
		return d.subflow(r, cfg)
	case "parallel":
		return d.parallel(r, cfg)
	case "map":
		return d.mapped(r, cfg)
	case "tool_call":
		return d.toolCall(r, cfg)
	case "transform":
		if t := r.transform(cfg, d.reducers); t != nil {
			return t
		}
		return nil
	}
	_, dialect := dialectNodes[kind]
	switch {
	case dialect:
		return d.dialectNode(r, kind, cfg)
	case refusedTypes[kind] != "":
		r.fail(it.get("type"), "steps of type %q do not run here: %s", kind, refusedTypes[kind])
	case kind != "":
		r.fail(it.get("type"), "no step type is named %q; known types: %s", kind, strings.Join(stepTypes, ", "))
	}
	return nil
}

// config is a step's config, an empty one when it has none.
func config(it *item) *item {
	cfg := it.get("config")
	if cfg == nil || cfg.kind == isNull {
		return &item{kind: isMapping, line: it.line, column: it.column}
	}
	return cfg
}

func (d *document) call(r reader, cfg *item) engine.Node {
	if !r.mapping(cfg, "config of a call", callKeys) {
		return nil
	}
	c := engine.Call{Tool: r.required(cfg, "tool", "config of a call")}
	d.mustHaveTool(r, cfg.get("tool"), c.Tool)
	if it := cfg.get("into"); it != nil {
		c.Into = r.required(cfg, "into", "config of a call")
	}
	if it := cfg.get("args"); it != nil && it.kind != isNull {
		args := r.arguments(it)
		c.Args = func(s engine.State) (any, error) { return args(s) }
	}
	return c
}

func (d *document) mustHaveTool(r reader, it *item, name string) {
	if name == "" || d.opts.AllowUnknownTools || d.declared[name] || d.lostTool {
		return
	}
	if _, ok := d.tools.Get(name); !ok {
		r.fail(it, "no tool is named %q; %s", name, known(d.tools.Names()))
	}
}

func known(names []string) string {
	if len(names) == 0 {
		return `declare it under "tools"`
	}
	return "known tools: " + strings.Join(names, ", ")
}

func (r reader) interrupt(cfg *item) engine.Node {
	if !r.mapping(cfg, "config of an interrupt", interruptKeys) {
		return nil
	}
	return r.question(cfg, "config of an interrupt")
}

// question is what an interrupt asks.
func (r reader) question(cfg *item, what string) engine.Interrupt {
	i := engine.Interrupt{Key: r.required(cfg, "key", what)}
	if it := cfg.get("prompt"); it != nil {
		i.Prompt = r.template(it, r.text(it, "prompt")).render
	}
	i.Choices = r.texts(cfg.get("choices"), "choices")
	for n, c := range i.Choices {
		at := cfg.get("choices").list[n]
		if at.kind == isText && slices.Contains(i.Choices[:n], c) { // else it is told already
			r.fail(at, "the choice %q stands twice", c)
		}
	}
	return i
}
