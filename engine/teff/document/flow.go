package document

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowtui/flowtui/engine/teff/py"
)

// A flow expands a list of idioms into steps and edges of a graph.
type flow struct {
	*loader
	model  bool // the document has a default model
	steps  *py.List
	edges  *py.List
	ids    map[string]bool
	labels map[string]string // of loops, with the node that decides
	last   string            // the node that the next step follows, "" at the start
}

func (l *loader) newFlow(model bool) *flow {
	return &flow{loader: l, model: model, steps: py.NewList(), edges: py.NewList(), ids: map[string]bool{}, labels: map[string]string{}}
}

// expandFlow turns a flow document's steps into those of a graph.
func (l *loader) expandFlow(doc *py.Dict) (steps, edges []py.Value, err error) {
	f := l.newFlow(py.Truth(get(doc, "default_model")))
	for _, v := range items(get(doc, "steps")) {
		idiom, payload, err := f.idiom(v)
		if err != nil {
			return nil, nil, err
		}
		if err := f.step(idiom, payload); err != nil {
			return nil, nil, err
		}
	}
	return f.steps.Items, f.edges.Items, nil
}

// idiom splits a step into its word and its mapping.
func (f *flow) idiom(v py.Value) (string, *py.Dict, error) {
	step, ok := v.(*py.Dict)
	if !ok || step.Len() != 1 {
		return "", nil, fail(f.at(v), config, "each `steps` entry must be a single-key mapping (an idiom), got %s", py.Repr(v))
	}
	word := step.Keys()[0]
	if !slices.Contains(f.knownIdioms(), word) {
		return "", nil, fail(f.at(step), config, "unknown flow step %s — supported: %s", py.Repr(word), f.supported(f.knownIdioms()))
	}
	payload, ok := get(step, word).(*py.Dict)
	if !ok {
		v := get(step, word)
		return "", nil, fail(f.at(step), "AttributeError", "%s: '%s' object has no attribute 'get'", word, py.TypeName(v))
	}
	return word, payload, nil
}

// A spec is a node that is not yet in a graph.
type spec struct {
	typ    string
	id     string // "" to have one made
	config *py.Dict
	from   *py.Dict // where it is written
}

// add puts a node into the graph without an edge to it.
func (f *flow) add(s spec) (string, error) {
	id := s.id
	if id == "" {
		id = fmt.Sprintf("%s_%d", s.typ, len(f.steps.Items)+1)
	}
	if f.ids[id] {
		return "", failNode(f.at(s.from), id, "ValueError", "duplicate node id: %s", id)
	}
	f.ids[id] = true
	f.steps.Items = append(f.steps.Items, f.like(dict("id", id, "type", s.typ, "config", s.config), s.from))
	return id, nil
}

// only is a name of which teff's documents have one; in flow files of our own the
// others are named after their places, "".
func (f *flow) only(name string) string {
	if f.own != nil && f.ids[name] {
		return ""
	}
	return name
}

func (f *flow) link(from, to, condition string) {
	e := dict("from", from, "to", to)
	if condition != "" {
		e.Set("condition", condition)
	}
	f.edges.Items = append(f.edges.Items, e)
}

// follow adds nodes behind the last one.
func (f *flow) follow(specs ...spec) error {
	for _, s := range specs {
		id, err := f.add(s)
		if err != nil {
			return err
		}
		if f.last != "" {
			f.link(f.last, id, "")
		}
		f.last = id
	}
	return nil
}

// chain adds nodes behind each other; the first one is linked by the caller.
func (f *flow) chain(specs []spec) (first, last string, err error) {
	for i, s := range specs {
		id, err := f.add(s)
		if err != nil {
			return "", "", err
		}
		if i == 0 {
			first = id
		} else {
			f.link(last, id, "")
		}
		last = id
	}
	return first, last, nil
}

// step adds one step of the document.
func (f *flow) step(word string, p *py.Dict) error {
	switch word {
	case "branch":
		return f.branch(p)
	case "loop":
		return f.loop(p)
	case "parallel":
		return f.parallel(p)
	case "context_builder", "append_assistant":
		return f.follow(spec{word, text(p, "id"), f.like(without(p, "id"), p), p})
	case "route":
		return f.follow(spec{"command", text(p, "id"), f.routes(p), p})
	}
	specs, err := f.nodes(word, p, true)
	if err != nil {
		return err
	}
	return f.follow(specs...)
}

// routes is a command's config; labels of loops stand for their deciders.
func (f *flow) routes(p *py.Dict) *py.Dict {
	resolve := func(d *py.Dict) *py.Dict {
		out := f.like(d.Copy(), d)
		if label, ok := get(d, "goto").(string); ok {
			if id, known := f.labels[label]; known {
				out.Set("goto", id)
			}
		}
		return out
	}
	c := resolve(without(p, "id", "key"))
	if routes, ok := get(c, "routes").(*py.List); ok {
		list := py.NewList()
		for _, route := range routes.Items {
			if d, ok := route.(*py.Dict); ok {
				route = resolve(d)
			}
			list.Items = append(list.Items, route)
		}
		c.Set("routes", list)
	}
	return f.like(c, p)
}

// parallel adds a node for branches, and one where they meet.
func (f *flow) parallel(p *py.Dict) error {
	list, ok := get(p, "branches").(*py.List)
	if !ok {
		return fail(f.at(p), config, "parallel requires branches: a list of steps or lists of steps")
	}
	branches := py.NewList()
	for _, branch := range list.Items {
		specs, err := f.list(branch, false)
		if err != nil {
			return err
		}
		branches.Items = append(branches.Items, f.specList(specs))
	}
	id := text(p, "id")
	if id == "" {
		id = f.only("parallel")
	}
	var meet []spec
	if v := get(p, "converge"); v != nil {
		word, payload, err := f.idiom(v)
		if err != nil {
			return err
		}
		if word != "transform" {
			return fail(f.at(v), config, "parallel `converge:` only supports a Transform node in this release")
		}
		f.nameless(word, payload)
		if meet, err = f.nodes(word, payload, false); err != nil {
			return err
		}
	}
	return f.follow(append([]spec{{"parallel", id, f.like(dict("branches", branches), p), p}}, meet...)...)
}

// specList are nodes as the steps of a container's config.
func (f *flow) specList(specs []spec) *py.List {
	list := py.NewList()
	for _, s := range specs {
		list.Items = append(list.Items, f.like(dict("type", s.typ, "config", s.config), s.from))
	}
	return list
}

// branch adds the chains of its cases and the default behind the last node.
func (f *flow) branch(p *py.Dict) error {
	decider := f.last
	if decider == "" {
		return fail(f.at(p), "AssertionError", "branch requires a step before it to decide from")
	}
	key, ok := get(p, "key").(string)
	if !ok {
		return fail(f.at(p), "KeyError", "branch requires a key: 'key'")
	}
	var ends, values []string
	for _, v := range items(get(p, "cases")) {
		c, ok := v.(*py.Dict)
		if !ok || !c.Has("value") || !c.Has("steps") {
			return fail(f.at(p), "KeyError", "each case of a branch requires value and steps")
		}
		value := py.Str(get(c, "value"))
		values = append(values, value)
		specs, err := f.list(get(c, "steps"), false)
		if err != nil {
			return err
		}
		if len(specs) == 0 {
			return fail(f.at(c), "AssertionError", "a case of a branch has no steps")
		}
		first := len(f.edges.Items)
		f.link(decider, "", key+"="+value)
		from, to, err := f.chain(specs)
		if err != nil {
			return err
		}
		f.edges.Items[first].(*py.Dict).Set("to", from)
		ends = append(ends, to)
	}
	if v := get(p, "default"); v != nil {
		end, err := f.otherwise(v, p)
		if err != nil {
			return err
		}
		f.link(decider, end, key+"!="+strings.Join(values, ","))
		ends = append(ends, end)
	}
	if len(ends) == 0 {
		return fail(f.at(p), "AssertionError", "a branch has neither cases nor a default")
	}
	f.last = ends[len(ends)-1]
	return f.converge(p, ends)
}

// otherwise adds the default of a branch; several steps become a subflow.
func (f *flow) otherwise(v py.Value, p *py.Dict) (string, error) {
	specs, err := f.list(v, false)
	if err != nil {
		return "", err
	}
	switch len(specs) {
	case 0:
		return "", fail(f.at(p), "AssertionError", "the default of a branch has no steps")
	case 1:
		return f.add(specs[0])
	}
	inner := f.newFlow(f.model)
	if err := inner.follow(specs...); err != nil {
		return "", err
	}
	graph := dict("steps", inner.steps, "edges", inner.edges)
	return f.add(spec{"subflow", "", f.like(dict("graph", graph), p), p})
}

// converge adds the node where the branches meet, if one is given.
func (f *flow) converge(p *py.Dict, ends []string) error {
	v := get(p, "converge")
	if v == nil {
		return nil
	}
	specs, err := f.list(v, false)
	if err != nil {
		return err
	}
	if len(specs) != 1 {
		return fail(f.at(p), config, "a branch converges in one step, not %d", len(specs))
	}
	id, err := f.add(specs[0])
	if err != nil {
		return err
	}
	for _, end := range ends {
		f.link(end, id, "")
	}
	f.last = id
	return nil
}
