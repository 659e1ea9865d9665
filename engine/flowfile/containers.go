package flowfile

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/flowtui/flowtui/engine"
)

var (
	graphKeys    = keys{known: []string{"steps", "edges"}}
	subflowKeys  = keys{known: []string{"graph", "input_map", "output_map", "max_iterations"}, later: []string{"build", "id_prefix"}}
	parallelKeys = keys{known: []string{"branches"}, later: []string{"converge"}}
	mapKeys      = keys{known: []string{"input_keys", "output_key", "processor", "result_key", "chunk_size", "max_concurrency"}}
)

// inside is a document for the steps inside of the step that r reads: it has a
// flow of its own and shares all else.
func (d *document) inside(r reader) *document {
	in := *d
	in.reader = r.inside()
	in.flow = engine.NewFlow(cmp.Or(r.node, "inside")).Route(engine.RouteFirst)
	for key, reducer := range d.reducers {
		in.flow.Reduce(key, reducer)
	}
	in.steps, in.lostStep = nil, false
	return &in
}

// container is the node of a container, nil when something inside it is wrong:
// before is how many errors there were when it was begun.
func (r reader) container(cfg *item, before int, node func() (engine.Node, error)) engine.Node {
	if len(*r.errs) > before {
		return nil
	}
	n, err := node()
	if err != nil {
		r.fail(cfg, "%s", err)
		return nil
	}
	return n
}

// subflow reads a step that runs a graph of its own.
func (d *document) subflow(r reader, cfg *item) engine.Node {
	const what = "config of a subflow"
	before := len(*r.errs)
	if !r.mapping(cfg, what, subflowKeys) {
		return nil
	}
	graph := cfg.get("graph")
	if graph == nil {
		r.missing(cfg, "graph", what)
		return nil
	}
	if !r.mapping(graph, "graph", graphKeys) {
		return nil
	}
	in := d.inside(r)
	in.readSteps(graph)
	in.readEdges(graph.get("edges"))
	s := engine.Subflow{Flow: in.flow, In: r.names(cfg.get("input_map"), "input_map"), Out: r.names(cfg.get("output_map"), "output_map")}
	if most := r.whole(cfg.get("max_iterations"), "max_iterations"); most > 0 {
		in.flow.MaxSupersteps(most)
	}
	return r.container(cfg, before, s.Node)
}

// names is a mapping of keys to keys, nil when it is not given.
func (r reader) names(it *item, what string) map[string]string {
	if it == nil || it.kind == isNull || !r.mappingOf(it, what) {
		return nil
	}
	out := map[string]string{}
	for _, f := range it.fields {
		to := r.text(f.value, what)
		for from, other := range out {
			if other == to && f.value.kind == isText {
				r.fail(f.value, "%s gives both %q and %q the name %q", what, from, f.key.text, to)
			}
		}
		out[f.key.text] = to
	}
	return out
}

// parallel reads a step whose branches run side by side. A branch is a step or
// a list of them.
func (d *document) parallel(r reader, cfg *item) engine.Node {
	const what = "config of a parallel"
	before := len(*r.errs)
	if !r.mapping(cfg, what, parallelKeys) {
		return nil
	}
	list := cfg.get("branches")
	branches := r.items(list, "branches")
	if len(branches) == 0 && (list == nil || list.kind != broken) && len(*r.errs) == before {
		r.missing(cfg, "branches", what)
	}
	in := d.inside(r)
	p := engine.Parallel{Flow: in.flow}
	for i, b := range branches {
		if ids := in.chain(stepsOf(b), fmt.Sprintf("branch%d", i+1)); len(ids) > 0 {
			p.Branches = append(p.Branches, ids[0])
		} else if b.kind == isList {
			r.fail(b, "a branch has no steps")
		}
	}
	return r.container(cfg, before, p.Node)
}

// stepsOf is a list of steps, or one step.
func stepsOf(it *item) []*item {
	if it == nil || it.kind == isNull {
		return nil
	}
	if it.kind == isList {
		return it.list
	}
	return []*item{it}
}

// chain adds steps of which each follows the one before it, and returns their
// ids. One without an id gets the chain's name, from the second on with its
// number.
func (d *document) chain(steps []*item, name string) (ids []string) {
	for i, it := range steps {
		if it.kind != isMapping {
			d.wrong(it, "a step", isMapping)
			continue
		}
		id := name
		if i > 0 {
			id = fmt.Sprintf("%s:%d", name, i+1)
		}
		r := d.at(id)
		if named := it.get("id"); named != nil {
			id = d.required(it, "id", "a step")
			r = d.at(id)
			r.name(named, "id")
		}
		s := d.addStep(r, r.spec(it), id, nextOf(steps, i))
		r.noJumps(s.jumps)
		if n := len(ids); n > 0 && id != "" && ids[n-1] != "" {
			d.flow.Edge(d.step(ids[n-1]).exit, id)
		}
		ids = append(ids, s.id)
	}
	return ids
}

// noJumps refuses jumps in a list of steps, where they would lead nowhere.
func (r reader) noJumps(jumps []jump) {
	for _, j := range jumps {
		if j.to != "" {
			r.fail(j.at, "goto %q: a command in a list of steps cannot jump; make them the graph of a subflow", j.to)
			return
		}
	}
}

// spec is a step of a list with all its options in its config: they may also
// stand beside its type, but each only once.
func (r reader) spec(it *item) *item {
	cfg := *config(it)
	out := *it
	out.fields = nil
	for _, f := range it.fields {
		if slices.Contains(stepKeys.known, f.key.text) || slices.Contains(stepKeys.later, f.key.text) {
			out.fields = append(out.fields, f)
		} else if cfg.kind == isMapping {
			if cfg.get(f.key.text) != nil {
				r.fail(f.key, "%q stands both beside the type and in the config of the step: give it once", f.key.text)
				continue
			}
			cfg.fields = append(slices.Clip(cfg.fields), f)
		}
	}
	r.mapping(&out, "a step", stepKeys)
	out.fields = slices.DeleteFunc(out.fields, func(f field) bool { return f.key.text == "config" })
	out.fields = append(out.fields, field{&item{kind: isText, text: "config"}, &cfg})
	return &out
}

// mapped reads a step that runs its processor once for each item of its lists.
func (d *document) mapped(r reader, cfg *item) engine.Node {
	const what = "config of a map"
	before := len(*r.errs)
	if !r.mapping(cfg, what, mapKeys) {
		return nil
	}
	m := lists{keys: r.inputKeys(cfg, what), size: int(max(1, r.whole(cfg.get("chunk_size"), "chunk_size")))}
	in := d.inside(r)
	steps := stepsOf(cfg.get("processor"))
	if len(steps) == 0 {
		r.missing(cfg, "processor", what)
	}
	in.chain(steps, "item")
	out := engine.Map{
		Flow: in.flow, Items: m.items, Into: r.required(cfg, "output_key", what), Pick: r.text(cfg.get("result_key"), "result_key"),
		Limit: int(r.whole(cfg.get("max_concurrency"), "max_concurrency")),
	}
	if out.Pick == "" && len(steps) == 1 && steps[0].kind == isMapping {
		out.Pick = r.written(steps[0])
	}
	out.Pick = cmp.Or(out.Pick, out.Into)
	return r.container(cfg, before, out.Node)
}

// written is the key that a step names for what it brings, "" when it names none.
func (r reader) written(step *item) string {
	cfg := config(r.quiet().spec(step))
	option := map[string]string{"interrupt": "key", "interrupt_loop": "key", "call": "into", "llm": "into", "llm_chat": "into", "tool_loop": "into"}[textAt(step, "type")]
	return cmp.Or(textAt(cfg, "output_key"), textAt(cfg, option))
}

// quiet returns a reader that tells nobody what is wrong.
func (r reader) quiet() reader {
	r.errs = new([]Error)
	return r
}

func (r reader) inputKeys(cfg *item, what string) []string {
	it := cfg.get("input_keys")
	if it != nil && it.kind == isText && it.text != "" {
		return []string{it.text}
	}
	list := r.texts(it, "input_keys")
	if len(list) == 0 && (it == nil || it.kind == isList || it.kind == isNull) {
		r.missing(cfg, "input_keys", what)
	}
	return list
}

// lists are what a map goes through: lists of the state, zipped.
type lists struct {
	keys []string
	size int // items of a chunk; 1: each item by itself
}

// items are the keys that each item or chunk puts over the state (teff format,
// map): lists that are missing are empty, and if the first is, so is the map.
func (l lists) items(s engine.State) ([]engine.State, error) {
	all := make([][]any, len(l.keys))
	for i, key := range l.keys {
		v, given := s[key]
		list, ok := v.([]any)
		switch {
		case given && !ok:
			return nil, fmt.Errorf("%q is %s, not a list", key, describe(v))
		case i > 0 && len(all[0]) > 0 && len(list) != len(all[0]):
			return nil, fmt.Errorf("%q has %d items, %q has %d", key, len(list), l.keys[0], len(all[0]))
		}
		all[i] = list
	}
	var out []engine.State
	for from := 0; from < len(all[0]); from += l.size {
		item := engine.State{}
		for i, key := range l.keys {
			if chunk := all[i][from:min(from+l.size, len(all[i]))]; l.size > 1 {
				item[key] = slices.Clone(chunk)
			} else {
				item[key] = chunk[0]
			}
		}
		out = append(out, item)
	}
	return out, nil
}

// severalNodesOf are the types of steps that are several nodes.
var severalNodesOf = []string{"tool_loop", "interrupt_loop", "loop"}

// body reads the steps inside a loop as nodes. One that is several nodes runs
// as a subflow.
func (d *document) body(r reader, it *item, what string) []engine.Node {
	var nodes []engine.Node
	steps := stepsOf(it)
	for i, e := range steps {
		if e.kind != isMapping {
			r.wrong(e, "each of "+what, isMapping)
			continue
		}
		inner := r
		inner.node = fmt.Sprintf("%s:%s", r.node, nth(what, i+1))
		if id := e.get("id"); id != nil {
			inner.fail(id, "a step of %s has no id of its own: it is named after its place", what)
		}
		kind := e.get("type")
		if kind != nil && (slices.Contains(severalNodesOf, kind.text) || kind.text == "interrupt" && config(inner.quiet().spec(e)).get("strategy") != nil) {
			before := len(*r.errs)
			in := d.inside(inner)
			in.chain([]*item{e}, kind.text)
			if n := inner.container(e, before, engine.Subflow{Flow: in.flow}.Node); n != nil {
				nodes = append(nodes, n)
			}
			continue
		}
		spec := inner.spec(e)
		if kind != nil && kind.text == "command" {
			inner.noRetry(spec, kind.text)
			n, jumps := d.command(inner, config(spec))
			inner.noJumps(jumps)
			if n != nil {
				nodes = append(nodes, n)
			}
			continue
		}
		if n := d.readNode(inner, spec); n != nil {
			nodes = append(nodes, inner.judgedAt(n, nextOf(steps, i)))
		}
	}
	return nodes
}
