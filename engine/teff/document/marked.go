package document

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowtui/flowtui/engine/teff/py"
	"github.com/flowtui/flowtui/engine/teff/py/yaml11"
)

// Marked reports whether a file says that it is a document of the teff format
// and not a flow file of our own, which share most of their form: by its name,
// as teff names its documents, or by keys, idioms or tools that only teff has.
func Marked(file string) bool {
	switch base := filepath.Base(file); {
	case base == "graph.yaml" || base == "flow.yaml" || strings.HasSuffix(base, ".graph.yaml") || strings.HasSuffix(base, ".flow.yaml"):
		return true
	}
	data, err := os.ReadFile(file)
	if err != nil || len(data) > maxBytes {
		return false
	}
	root, err := yaml11.Parse(string(data))
	if err != nil || root == nil {
		return false
	}
	v, err := yaml11.NewConstructor().Value(root)
	doc, ok := v.(*py.Dict)
	if err != nil || !ok {
		return false
	}
	for _, key := range []string{"include", "plugins", "plugins_folder", "providers", "default_provider", "default_model", "checkpoint", "hooks", "channels"} {
		if doc.Has(key) {
			return true
		}
	}
	if looksLikeFlow(get(doc, "steps")) {
		return true
	}
	for _, step := range items(get(doc, "steps")) {
		d, ok := step.(*py.Dict)
		if ok && (d.Has("retry") || slices.Contains(ownTypes, text(d, "type"))) {
			return true
		}
	}
	return slices.ContainsFunc(items(get(doc, "tools")), func(v py.Value) bool {
		d, ok := v.(*py.Dict)
		return ok && d.Has("type")
	})
}

// ownTypes are node types that flow files of our own do not have.
var ownTypes = []string{
	"append_assistant", "command", "context_builder", "fallback", "gate", "llm_chat", "react_agent",
	"supervisor", "tool_call", "tool_exec", "validate",
}
