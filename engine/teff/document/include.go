package document

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/flowtui/flowtui/engine/teff"
	"github.com/flowtui/flowtui/engine/teff/py"
)

// open reads a document and puts what it includes into it. A graph document's
// strategies are expanded.
func (l *loader) open(file string) (*py.Dict, error) {
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		real = file // whoever reads it says why
	}
	if slices.Contains(l.including, real) {
		return nil, fail(teff.Position{File: file}, "RecursionError", "the document includes itself")
	}
	if l.files++; l.files > maxFiles {
		return nil, fail(teff.Position{File: file}, config, "the document includes more than %d files, each as often as it is named: include fewer, or each only once", maxFiles-1)
	}
	l.including = append(l.including, real)
	defer func() { l.including = l.including[:len(l.including)-1] }()
	doc, err := l.read(file)
	if err != nil {
		return nil, err
	}
	if doc, err = l.include(doc, file); err != nil {
		return nil, err
	}
	if l.own == nil && !l.looksLikeFlow(get(doc, "steps")) {
		return l.expandStrategies(doc)
	}
	return doc, nil
}

// include merges the parts that a document names into it (teff format,
// include): their steps and edges come first, their tools last, and their
// state gives way to whole keys of the document's own.
func (l *loader) include(doc *py.Dict, file string) (*py.Dict, error) {
	if !doc.Has("include") {
		return doc, nil
	}
	steps, edges, tools := py.NewList(), py.NewList(), py.NewList()
	state := new(py.Dict)
	tools.Items = slices.Clone(items(get(doc, "tools")))
	for _, item := range listOf(get(doc, "include")) {
		part, err := l.part(doc, item, file)
		if err != nil {
			return nil, err
		}
		steps.Items = append(steps.Items, items(get(part, "steps"))...)
		edges.Items = append(edges.Items, items(get(part, "edges"))...)
		tools.Items = append(tools.Items, items(get(part, "tools"))...)
		mergeState(state, get(part, "state"))
	}
	merged := l.like(without(doc, "include"), doc)
	merge := func(key string, all *py.List) {
		own, has := l.given(doc, key)
		if list, ok := own.(*py.List); ok || !has {
			if key != "tools" && ok {
				all.Items = append(all.Items, list.Items...)
			}
			merged.Set(key, all)
		}
	}
	merge("steps", steps)
	merge("edges", edges)
	merge("tools", tools)
	own, has := l.given(doc, "state")
	if block, ok := own.(*py.Dict); ok || !has {
		if ok {
			for _, key := range block.Keys() {
				if v, has := l.given(block, key); has {
					state.Set(key, v)
				}
			}
			l.like(state, block)
		}
		merged.Set("state", state)
	}
	return merged, nil
}

// given is a key's value in the document that includes others; in a flow file of
// our own a null counts as none.
func (l *loader) given(d *py.Dict, key string) (py.Value, bool) {
	v, has := d.Get(key)
	return v, has && (v != nil || l.own == nil)
}

// mergeState lays a part's schema and initial over those of earlier parts.
func mergeState(state *py.Dict, part py.Value) {
	block, ok := part.(*py.Dict)
	if !ok {
		return
	}
	for _, key := range []string{"schema", "initial"} {
		v, ok := get(block, key).(*py.Dict)
		if !ok {
			continue
		}
		all := new(py.Dict)
		if old, ok := get(state, key).(*py.Dict); ok {
			all.Update(old)
		}
		all.Update(v)
		state.Set(key, all)
	}
}

// part reads one included document under its prefix.
func (l *loader) part(doc *py.Dict, item py.Value, file string) (*py.Dict, error) {
	at := l.valueAt(doc, "include")
	prefix := ""
	path, ok := item.(string)
	if d, isDict := item.(*py.Dict); isDict {
		at = l.at(d)
		path, ok = get(d, "path").(string)
		if p := get(d, "prefix"); p != nil {
			prefix = py.Str(p)
		} else if d.Has("prefix") {
			l.refuse(at, "", "include: the prefix is null: what that stands for is not known")
		}
	}
	if !ok || path == "" {
		return nil, fail(at, config, "include: expected a path or {path, prefix}, not %s", py.Repr(item))
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(file), path)
	}
	part, err := l.open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fail(at, config, "include: file not found: %s", path)
	}
	var wrong *Error
	if err != nil && !errors.As(err, &wrong) {
		err = fail(at, "OSError", "include: %v", err)
	}
	if err != nil {
		return nil, err
	}
	if l.own != nil {
		l.ownPart(part)
	}
	for _, key := range []string{"plugins", "hooks", "providers"} {
		if l.own == nil && py.Truth(get(part, key)) {
			l.refuse(l.valueAt(part, key), "", "an included document has %s: whether they count is not known", key)
		}
	}
	return l.prefixed(part, prefix), nil
}

// prefixed puts a prefix before the ids of a document's steps and where its
// edges and commands name them.
func (l *loader) prefixed(doc *py.Dict, prefix string) *py.Dict {
	if prefix == "" {
		return doc
	}
	out := l.like(doc.Copy(), doc)
	if list, ok := get(doc, "steps").(*py.List); ok {
		steps := py.NewList()
		for _, step := range list.Items {
			if d, ok := step.(*py.Dict); ok {
				step = l.prefixedStep(d, prefix)
			}
			steps.Items = append(steps.Items, step)
		}
		out.Set("steps", steps)
	}
	if list, ok := get(doc, "edges").(*py.List); ok {
		edges := py.NewList()
		for _, edge := range list.Items {
			if d, ok := edge.(*py.Dict); ok {
				edge = l.prefixedEdge(d, prefix)
			}
			edges.Items = append(edges.Items, edge)
		}
		out.Set("edges", edges)
	}
	return out
}

// withPrefix puts a prefix before the texts under some keys.
func (l *loader) withPrefix(d *py.Dict, prefix string, keys ...string) *py.Dict {
	out := l.like(d.Copy(), d)
	for _, key := range keys {
		if s, ok := get(d, key).(string); ok && s != teff.Stop {
			out.Set(key, prefix+s)
		}
	}
	return out
}

// prefixedEdge also reaches the steps of an edge that leads to several, which
// teff has not.
func (l *loader) prefixedEdge(edge *py.Dict, prefix string) *py.Dict {
	out := l.withPrefix(edge, prefix, "from", "to")
	if list, ok := get(edge, "to").(*py.List); ok && l.own != nil {
		to := py.NewList()
		for _, id := range list.Items {
			if s, ok := id.(string); ok && s != teff.Stop {
				id = prefix + s
			}
			to.Items = append(to.Items, id)
		}
		if p, ok := l.placeOf(list); ok {
			l.places[to] = p
		}
		out.Set("to", to)
	}
	return out
}

// prefixedStep puts a prefix before a step's id and where it jumps; teff leaves
// the jumps of the idiom route as they are.
func (l *loader) prefixedStep(step *py.Dict, prefix string) *py.Dict {
	if idiom, payload, ok := l.idiomOf(step); ok {
		out := l.like(step.Copy(), step)
		named := l.withPrefix(payload, prefix, "id")
		if l.own != nil {
			named = l.prefixedIdiom(idiom, named, prefix)
		}
		out.Set(idiom, named)
		return out
	}
	out := l.withPrefix(step, prefix, "id")
	if c, ok := get(step, "config").(*py.Dict); ok {
		out.Set("config", l.prefixedJumps(c, prefix))
	}
	return out
}

// prefixedIdiom puts a prefix before the labels of loops and where routes jump:
// to a label or to a step.
func (l *loader) prefixedIdiom(idiom string, payload *py.Dict, prefix string) *py.Dict {
	switch idiom {
	case "loop":
		return l.withPrefix(payload, prefix, "label")
	case "route":
		return l.prefixedJumps(payload, prefix)
	case "type":
		if c, ok := get(payload, "config").(*py.Dict); ok && text(payload, "type") == "command" {
			payload.Set("config", l.prefixedJumps(c, prefix))
		}
	}
	return payload
}

// prefixedJumps puts a prefix before the targets of a command.
func (l *loader) prefixedJumps(c *py.Dict, prefix string) *py.Dict {
	c = l.withPrefix(c, prefix, "goto")
	if routes, ok := get(c, "routes").(*py.List); ok {
		list := py.NewList()
		for _, route := range routes.Items {
			if d, ok := route.(*py.Dict); ok {
				route = l.withPrefix(d, prefix, "goto")
			}
			list.Items = append(list.Items, route)
		}
		c.Set("routes", list)
	}
	return c
}
