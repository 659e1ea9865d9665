package teff_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/flowtui/flowtui/engine/teff"
	"github.com/flowtui/flowtui/engine/teff/document"
	"github.com/flowtui/flowtui/engine/teff/py"
)

// documentOf reads a graph document that is given as a value: JSON is YAML.
func documentOf(t *testing.T, d *py.Dict) (*teff.Workflow, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "wf.yaml")
	if err := os.WriteFile(file, []byte(exact(t, d)), 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := document.Load(file, func(string) (string, bool) { return "", false })
	var refused *document.Error
	if errors.As(err, &refused) {
		return nil, py.Errorf(refused.Class, "%v", err)
	}
	return w, err
}

// The recorded nodes again, read from a document: what is nested in them is
// compiled as the engine expects it.
func TestNodesOfDocumentsAreTeffs(t *testing.T) {
	for _, name := range []string{
		"gate", "validate_node", "command", "tool_call", "map", "parallel", "loop", "subflow", "context_builder",
		"append_assistant", "fallback", "supervisor_without_model",
	} {
		t.Run(name, func(t *testing.T) {
			for i, c := range section(t, name) {
				state, err := runDocument(t, c)
				if !sameError(t, fmt.Sprint(name, " ", i), c, err) {
					if got, want := exact(t, state), exact(t, c.GetOr("result_state", nil)); got != want {
						t.Errorf("%s %d: %s\n got %s\nwant %s", name, i, exact(t, c), got, want)
					}
				}
			}
		})
	}
}

func runDocument(t *testing.T, c *py.Dict) (py.Value, error) {
	t.Helper()
	schema := dict(c, "reducers")
	if schema == nil {
		schema = py.NewDict()
	}
	step := py.NewDict(py.Entry{Key: "id", Value: "n"}, py.Entry{Key: "type", Value: text(c, "type")},
		py.Entry{Key: "config", Value: dict(c, "config")})
	w, err := documentOf(t, py.NewDict(
		py.Entry{Key: "steps", Value: py.NewList(step)},
		py.Entry{Key: "tools", Value: py.NewList(py.NewDict(py.Entry{Key: "type", Value: "calculator"}))},
		py.Entry{Key: "state", Value: py.NewDict(py.Entry{Key: "schema", Value: schema})},
	))
	if err != nil {
		return nil, err
	}
	out, err := (&teff.Runner{Workflow: w, Store: newMemory()}).Run(t.Context(), "case", dict(c, "state"), nil)
	return out.State, err
}
