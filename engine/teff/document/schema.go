package document

import (
	"fmt"
	"math/big"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowtui/flowtui/engine/teff"
	"github.com/flowtui/flowtui/engine/teff/py"
)

// nodeTypes are those that teff knows, tools those that are known here.
var (
	nodeTypes = []string{
		"append_assistant", "command", "context_builder", "fallback", "gate", "interrupt", "llm_chat", "loop", "map", "parallel",
		"react_agent", "subflow", "supervisor", "tool_call", "tool_exec", "transform", "validate",
	}
	tools = []string{"calculator", "json_parse"}
)

// A validator checks a document as teff's schema does and lists all that is
// wrong.
type validator struct {
	*loader
	problems []teff.Problem
}

func (v *validator) problem(at teff.Position, node, format string, args ...any) {
	v.problems = append(v.problems, teff.Problem{Node: node, Position: at, Reason: fmt.Sprintf(format, args...)})
}

// JSON's names of types, as messages have them.
func hasType(v py.Value, kind string) bool {
	switch kind {
	case "string":
		_, ok := v.(string)
		return ok
	case "object":
		_, ok := v.(*py.Dict)
		return ok
	case "array":
		_, ok := v.(*py.List)
		return ok
	case "boolean":
		_, ok := v.(bool)
		return ok
	case "integer":
		_, big := v.(*big.Int)
		_, small := v.(int64)
		return big || small
	case "number":
		_, ok := v.(float64)
		return ok || hasType(v, "integer")
	}
	return false
}

// typed checks the type of a value that may be absent; ok is false when it is
// absent or wrong.
func (v *validator) typed(d *py.Dict, path, node, key, kind string) (value py.Value, ok bool) {
	value, has := d.Get(key)
	if !has {
		return nil, false
	}
	if path != "" {
		path += "."
	}
	if !hasType(value, kind) {
		v.problem(v.valueAt(d, key), node, "%s%s: %s is not of type '%s'", path, key, py.Repr(value), kind)
		return nil, false
	}
	return value, true
}

func (v *validator) required(d *py.Dict, path, node string, keys ...string) {
	for _, key := range keys {
		if !d.Has(key) {
			v.problem(v.at(d), node, "%s: '%s' is a required property", path, key)
		}
	}
}

// each goes through the mappings of a list.
func (v *validator) each(doc *py.Dict, key string, visit func(d *py.Dict, path string)) {
	list, ok := v.typed(doc, "", "", key, "array")
	if !ok {
		return
	}
	for i, item := range list.(*py.List).Items {
		path := fmt.Sprintf("%s[%d]", key, i)
		if d, ok := item.(*py.Dict); ok {
			visit(d, path)
		} else {
			v.problem(v.valueAt(doc, key), "", "%s: %s is not of type 'object'", path, py.Repr(item))
		}
	}
}

// validate checks a document; steps and edges only of a graph.
func (l *loader) validate(doc *py.Dict, flow bool) error {
	v := &validator{loader: l}
	for _, key := range []string{"name", "description", "plugins_folder", "default_provider", "default_model"} {
		v.typed(doc, "", "", key, "string")
	}
	for _, key := range []string{"state", "checkpoint", "hooks"} {
		v.typed(doc, "", "", key, "object")
	}
	if flow {
		v.typed(doc, "", "", "steps", "array")
	} else {
		v.steps(doc)
	}
	v.each(doc, "tools", func(tool *py.Dict, path string) {
		v.required(tool, path, "", "type")
		v.typed(tool, path, "", "config", "object")
		if name, ok := v.typed(tool, path, "", "type", "string"); ok && !slices.Contains(tools, name.(string)) {
			v.problem(v.valueAt(tool, "type"), "", "%s.type: unknown tool type %s (known here: %s)", path, py.Repr(name), strings.Join(tools, ", "))
		}
	})
	v.each(doc, "providers", func(p *py.Dict, path string) { v.required(p, path, "", "name") })
	if len(v.problems) > 0 {
		return &Error{Class: config, Problems: v.problems}
	}
	return nil
}

func (v *validator) steps(doc *py.Dict) {
	known := map[string]bool{}
	v.each(doc, "steps", func(step *py.Dict, path string) {
		id, named := v.typed(step, path, "", "id", "string")
		node, _ := id.(string)
		v.required(step, path, node, "id", "type")
		if named {
			known[node] = true
		}
		if typ, ok := v.typed(step, path, node, "type", "string"); ok && !slices.Contains(nodeTypes, typ.(string)) {
			v.problem(v.valueAt(step, "type"), node, "%s.type: unknown node type %s (registered: %s)", path, py.Repr(typ), strings.Join(nodeTypes, ", "))
		}
		v.typed(step, path, node, "config", "object")
		if retry, ok := v.typed(step, path, node, "retry", "object"); ok {
			v.retry(retry.(*py.Dict), path+".retry", node)
		}
	})
	v.each(doc, "edges", func(edge *py.Dict, path string) {
		v.required(edge, path, "", "from", "to")
		v.typed(edge, path, "", "condition", "string")
		for _, end := range []string{"from", "to"} {
			if id, ok := v.typed(edge, path, "", end, "string"); ok && !known[id.(string)] {
				v.problem(v.valueAt(edge, end), "", "%s.%s: unknown step %s", path, end, py.Repr(id))
			}
		}
	})
}

func (v *validator) retry(retry *py.Dict, path, node string) {
	v.typed(retry, path, node, "enabled", "boolean")
	if most, ok := v.typed(retry, path, node, "max_retries", "integer"); ok {
		if low, _ := py.Compare("<", most, int64(1)); low {
			v.problem(v.valueAt(retry, "max_retries"), node, "%s.max_retries: %s is less than the minimum of 1", path, py.Repr(most))
		}
	}
	for _, key := range []string{"delay", "backoff", "timeout"} {
		if key == "timeout" && get(retry, key) == nil {
			continue
		}
		if n, ok := v.typed(retry, path, node, key, "number"); ok {
			if low, _ := py.Compare("<", n, int64(0)); low {
				v.problem(v.valueAt(retry, key), node, "%s.%s: %s is less than the minimum of 0", path, key, py.Repr(n))
			}
		}
	}
	list, _ := v.typed(retry, path, node, "retry_on", "array")
	for i, item := range items(list) {
		if !hasType(item, "string") && !hasType(item, "integer") {
			v.problem(v.valueAt(retry, "retry_on"), node, "%s.retry_on[%d]: %s is not of type 'string', 'integer'", path, i, py.Repr(item))
		}
	}
}

// python refuses what runs Python code of the document's author.
func (l *loader) python(doc *py.Dict, file string) error {
	for _, key := range []string{"plugins", "hooks"} {
		if py.Truth(get(doc, key)) {
			l.refuse(l.valueAt(doc, key), "", "%s are Python code, which is not run here", key)
		}
	}
	folder := "plugins"
	if s, ok := get(doc, "plugins_folder").(string); ok {
		folder = s
	}
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(filepath.Dir(file), folder)
	}
	found, err := pythonFiles(folder)
	if err != nil {
		return fail(teff.Position{File: file}, "OSError", "the folder %s cannot be read: %v", folder, err)
	}
	for _, name := range found {
		l.refuse(teff.Position{File: file}, "", "the plugin %s is Python code, which is not run here", filepath.Join(folder, name))
	}
	return nil
}

// providers checks the names of model endpoints; nodes that need one are
// refused on their own.
func (l *loader) providers(doc *py.Dict) error {
	chosen := get(doc, "default_provider")
	if chosen == nil {
		return nil
	}
	for _, p := range items(get(doc, "providers")) {
		if d, ok := p.(*py.Dict); ok && py.Equal(get(d, "name"), chosen) {
			return nil
		}
	}
	return fail(l.valueAt(doc, "default_provider"), config, "default_provider %s is not declared in `providers:`", py.Repr(chosen))
}
