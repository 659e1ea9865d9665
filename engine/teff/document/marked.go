package document

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowtui/flowtui/engine/teff/py"
	"github.com/flowtui/flowtui/engine/teff/py/yaml11"
)

// Mark is the key that says whose a document is, whatever its name and other
// keys say: "teff", or anything else for a flow file of our own. teff lets it pass.
const Mark = "dialect"

// Marked reports whether a file says that it is a document of the teff format
// and not a flow file of our own, which share most of their form: by its key
// dialect; else, unless it or a part that it includes has what only ours have, by its name, as teff names its
// documents, or by keys, idioms or tools that only teff has.
func Marked(file string) bool {
	base := filepath.Base(file)
	named := base == "graph.yaml" || base == "flow.yaml" || strings.HasSuffix(base, ".graph.yaml") || strings.HasSuffix(base, ".flow.yaml")
	doc := mapping(file)
	switch {
	case doc == nil:
		return named
	case doc.Has(Mark):
		return get(doc, Mark) == "teff"
	case (&search{map[string]bool{}, map[py.Value]bool{}}).document(doc, file):
		return false
	}
	return named || keysOfTeff(doc)
}

// Beside is the value of a top-level key that teff lets pass, nil when there is none.
func Beside(file, key string) py.Value {
	doc := mapping(file)
	if doc == nil {
		return nil
	}
	return get(doc, key)
}

// mapping is the document of a file, nil when it is none.
func mapping(file string) *py.Dict {
	data, err := ReadFile(file)
	if err != nil || len(data) > maxBytes {
		return nil
	}
	root, err := yaml11.Parse(string(data))
	if err != nil || root == nil {
		return nil
	}
	v, err := yaml11.NewConstructor().Value(root)
	doc, ok := v.(*py.Dict)
	if err != nil || !ok {
		return nil
	}
	return doc
}

// A search looks for what only flow files of our own have. It looks once at each
// file and value, as aliases and includes may go in circles.
type search struct {
	files  map[string]bool
	values map[py.Value]bool
}

// document looks at a document and at what it includes.
func (s *search) document(doc *py.Dict, file string) bool {
	if doc.Has("models") || s.steps(get(doc, "steps")) || slices.ContainsFunc(items(get(doc, "tools")), hasCommand) {
		return true
	}
	for _, item := range listOf(get(doc, "include")) {
		path, _ := item.(string)
		if d, ok := item.(*py.Dict); ok {
			path = text(d, "path")
		}
		if path == "" {
			continue
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(file), path)
		}
		if s.files[path] || len(s.files) >= maxFiles {
			continue
		}
		s.files[path] = true
		part := mapping(path)
		if part == nil {
			continue
		}
		if mark := get(part, Mark); mark == "flowtui" || mark == nil && s.document(part, path) {
			return true
		}
	}
	return false
}

func hasCommand(tool py.Value) bool {
	d, ok := tool.(*py.Dict)
	return ok && d.Has("command")
}

// steps looks at a step or at a list of them.
func (s *search) steps(v py.Value) bool {
	switch v.(type) {
	case *py.List, *py.Dict:
		if s.values[v] {
			return false
		}
		s.values[v] = true
	}
	if d, ok := v.(*py.Dict); ok {
		return s.step(d)
	}
	return slices.ContainsFunc(items(v), s.steps)
}

func (s *search) step(step *py.Dict) bool {
	idiom := ""
	if step.Len() == 1 {
		word := step.Keys()[0]
		if slices.Contains(ownIdioms, word) {
			return true
		}
		if payload, ok := get(step, word).(*py.Dict); ok {
			step, idiom = payload, word
		}
	}
	typ := idiom
	if idiom == "" || idiom == "type" {
		if typ = text(step, "type"); slices.Contains(oursTypes, typ) {
			return true
		}
	}
	own, _ := get(step, "config").(*py.Dict)
	return s.options(typ, step) || own != nil && s.options(typ, own)
}

// options looks at the options of a step and at the steps in them.
func (s *search) options(typ string, options *py.Dict) bool {
	if typ == "interrupt" {
		strategy, _ := get(options, "strategy").(*py.Dict)
		if options.Has("choices") || strategy != nil && strategy.Has("hint") {
			return true
		}
	}
	for _, key := range []string{"branches", "body", "done", "processor", "default", "converge"} {
		if s.steps(get(options, key)) {
			return true
		}
	}
	if graph, ok := get(options, "graph").(*py.Dict); ok && s.steps(get(graph, "steps")) {
		return true
	}
	return slices.ContainsFunc(items(get(options, "cases")), func(v py.Value) bool {
		c, ok := v.(*py.Dict)
		return ok && s.steps(get(c, "steps"))
	})
}

// oursTypes are step types that teff does not have.
var oursTypes = []string{"call", "interrupt_loop", "llm", "tool_loop"}

// keysOfTeff reports whether a document has what only teff's have.
func keysOfTeff(doc *py.Dict) bool {
	for _, key := range []string{"plugins", "plugins_folder", "providers", "default_provider", "default_model", "checkpoint", "hooks", "channels"} {
		if doc.Has(key) {
			return true
		}
	}
	for _, step := range items(get(doc, "steps")) {
		d, ok := step.(*py.Dict)
		if !ok {
			continue
		}
		if slices.Contains(teffTypes, text(d, "type")) || d.Len() == 1 && slices.Contains(teamIdioms, d.Keys()[0]) {
			return true
		}
	}
	return slices.ContainsFunc(items(get(doc, "tools")), func(v py.Value) bool {
		d, ok := v.(*py.Dict)
		return ok && d.Has("type")
	})
}

// teffTypes are node types that flow files of our own do not have.
var teffTypes = []string{"fallback", "react_agent", "tool_exec"}

// teamIdioms are idioms that flow files of our own do not have.
var teamIdioms = []string{"agent", "agent_step", "supervise", "supervisor", "team"}
