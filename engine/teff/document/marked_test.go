package document_test

import (
	"cmp"
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
		{"x.flow.yaml", "steps: [{id: a, type: interrupt, config: {key: k, choices: [y]}}]\n", false},
		{"x.flow.yaml", "steps: [{id: a, type: interrupt, config: {key: k, choices: [y]}}]\ndialect: teff\n", true},
		{"x.flow.yaml", "steps: [{id: a, type: interrupt, config: {key: k}}]\n", true},
		{"flow.yaml", "steps: [interrupt: {key: k, choices: [y]}]\n", false},
		{"flow.yaml", "steps: [interrupt: {key: k, strategy: {equals: y, hint: h}}]\n", false},
		{"flow.yaml", "steps: [interrupt: {key: k, strategy: {equals: y}}]\n", true},
		{"flow.yaml", "steps: [llm: {prompt: p}]\n", true},
		{"flow.yaml", "steps: [branch: {key: k, cases: [{value: v, steps: [interrupt: {key: k, choices: [y]}]}]}]\n", false},
		{"flow.yaml", "steps: [branch: {key: k, default: {type: {type: call}}}]\n", false},
		{"graph.yaml", "steps: [{id: a, type: parallel, config: {branches: [[{type: interrupt, key: k, choices: [y]}]]}}]\n", false},
		{"graph.yaml", "steps: [{id: a, type: map, config: {processor: {type: call}}}]\n", false},
		{"graph.yaml", "steps: [{id: a, type: subflow, config: {graph: {steps: [{id: b, type: call}]}}}]\n", false},
		{"graph.yaml", "steps: [{id: a, type: command, config: {update: {type: call, choices: [y]}}}]\n", true},
		{"graph.yaml", "steps: &s [&a {id: a, type: map, config: {processor: *a, branches: *s}}]\n", true},
		{"graph.yaml", plain + "include: [{path: tools.yaml}, asks.yaml]\n", true},
		{"graph.yaml", plain + "include: in/deep.yaml\n", false},
		{"graph.yaml", plain + "include: own.yaml\n", false},
		{"graph.yaml", plain + "include: graph.yaml\n", true},
		{"x.yaml", plain + "tools: [{type: calculator}]\n", true},
		{"x.yaml", plain + "hooks: {}\n", true},
		{"x.yaml", "steps: [agent: {}]\n", true},
		{"x.yaml", "steps: [{id: a, type: react_agent}]\n", true},
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{
			"in/deep.yaml": "include: tools.yaml\n", "in/tools.yaml": "tools: [{name: t, command: [x]}]\n", "own.yaml": "dialect: flowtui\n",
			"asks.yaml": "dialect: teff\nsteps: [{id: i, type: interrupt, config: {choices: [y]}}]\n",
		} {
			if err := cmp.Or(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700), os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		file := filepath.Join(dir, c.name)
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
