package document_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/flowtui/flowtui/engine/teff/document"
)

// Whose a file is: its mark first, then what only ours have, then its name, then
// what only teff's have.
func TestMarked(t *testing.T) {
	const plain = "steps: [{id: a, type: transform}]\n"
	for _, c := range []struct {
		name, text string
		teff       bool
	}{
		{"x.yaml", plain, false},
		{"x.yaml", "steps: [transform: {}]\ninclude: y\n", false},
		{"x.yaml", "steps: [{id: a, type: map, retry: {}}]\n", false},
		{"x.graph.yaml", plain, true},
		{"x.flow.yaml", plain, true},
		{"graph.yaml", plain, true},
		{"flow.yaml", plain, true},
		{"x.graph.yaml", "steps: [", true},
		{"x.yaml", "steps: [", false},
		{"x.yaml", plain + "dialect: teff\n", true},
		{"x.graph.yaml", plain + "dialect: flowtui\n", false},
		{"x.graph.yaml", plain + "models: []\n", false},
		{"x.graph.yaml", "steps: [{id: a, type: call}]\n", false},
		{"x.flow.yaml", "steps: [call: {tool: t}]\n", false},
		{"x.graph.yaml", plain + "tools: [{name: t, command: [x]}]\n", false},
		{"x.graph.yaml", "steps: [{id: a, type: call}]\ndialect: teff\n", true},
		{"x.yaml", plain + "tools: [{type: calculator}]\n", true},
		{"x.yaml", plain + "hooks: {}\n", true},
		{"x.yaml", "steps: [agent: {}]\n", true},
		{"x.yaml", "steps: [{id: a, type: react_agent}]\n", true},
	} {
		file := filepath.Join(t.TempDir(), c.name)
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := document.Marked(file); got != c.teff {
			t.Errorf("%s %q: %v", c.name, c.text, got)
		}
	}
	if document.Marked(filepath.Join(t.TempDir(), "none.yaml")) || !document.Marked(filepath.Join(t.TempDir(), "none.graph.yaml")) {
		t.Error("a file that is not there is told by its name")
	}
}
