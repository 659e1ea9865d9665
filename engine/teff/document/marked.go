package document

import (
	"os"
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
// dialect; else, unless it has what only ours have, by its name, as teff names its
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
	case keysOfOurs(doc):
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
	data, err := os.ReadFile(file)
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

// keysOfOurs reports whether a document has what only flow files of our own have.
func keysOfOurs(doc *py.Dict) bool {
	if doc.Has("models") {
		return true
	}
	for _, step := range items(get(doc, "steps")) {
		d, ok := step.(*py.Dict)
		if !ok {
			continue
		}
		if slices.Contains(oursTypes, text(d, "type")) || d.Len() == 1 && slices.Contains(ownIdioms, d.Keys()[0]) {
			return true
		}
	}
	return slices.ContainsFunc(items(get(doc, "tools")), func(v py.Value) bool {
		d, ok := v.(*py.Dict)
		return ok && d.Has("command")
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
