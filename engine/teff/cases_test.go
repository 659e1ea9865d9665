package teff_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/flowtui/flowtui/engine/teff"
	"github.com/flowtui/flowtui/engine/teff/py"
)

func TestConditionsAreTeffs(t *testing.T) {
	for i, c := range section(t, "conditions") {
		got, err := teff.Holds(text(c, "condition"), dict(c, "state"))
		if !sameError(t, fmt.Sprint("condition ", i), c, err) && got != c.GetOr("result", nil) {
			t.Errorf("%s: %v", exact(t, c), got)
		}
	}
}

// sameError compares the class of the exception that was recorded, and reports
// whether there was one.
func sameError(t *testing.T, name string, c *py.Dict, err error) bool {
	t.Helper()
	want := dict(c, "error")
	var got *py.Error
	switch {
	case want == nil && err == nil:
		return false
	case want == nil:
		t.Errorf("%s: %s: raised %v", name, exact(t, c), err)
	case !errors.As(err, &got):
		t.Errorf("%s: %s: no exception but %v", name, exact(t, c), err)
	case got.Type != text(want, "type"):
		t.Errorf("%s: %s: raised %v", name, exact(t, c), err)
	case got.Message != text(want, "message"):
		t.Logf("%s: %s: the message is %q, not %q", name, text(want, "type"), got.Message, text(want, "message"))
	}
	return true
}

// Every case is the one node "n" of a graph, run with teff's calculator.
func TestNodesAreTeffs(t *testing.T) {
	for _, name := range []string{
		"transform", "gate", "validate_node", "command", "tool_call", "map", "parallel", "loop", "subflow",
		"context_builder", "append_assistant", "fallback", "supervisor_without_model",
	} {
		t.Run(name, func(t *testing.T) {
			for i, c := range section(t, name) {
				state, err := runNode(t, c)
				if !sameError(t, fmt.Sprint(name, " ", i), c, err) {
					if got, want := exact(t, state), exact(t, c.GetOr("result_state", nil)); got != want {
						t.Errorf("%s %d: %s\n got %s\nwant %s", name, i, exact(t, c), got, want)
					}
				}
			}
		})
	}
}

func runNode(t *testing.T, c *py.Dict) (py.Value, error) {
	t.Helper()
	n, err := node(py.NewDict(
		py.Entry{Key: "id", Value: "n"},
		py.Entry{Key: "type", Value: text(c, "type")},
		py.Entry{Key: "config", Value: dict(c, "config")},
	))
	if err != nil {
		return nil, err
	}
	w := &teff.Workflow{
		Graph: &teff.Graph{Entry: "n", Nodes: []*teff.Node{n}}, Initial: py.NewDict(),
		Reducers: reducersOf(dict(c, "reducers")), Tools: []string{teff.Calculator},
	}
	r := teff.Runner{Workflow: w, Store: newMemory()}
	out, err := r.Run(t.Context(), "case", dict(c, "state"), nil)
	if err != nil {
		return nil, err
	}
	return out.State, nil
}

// A strategy is what a validate node is given, with its key for the decision.
func TestStrategiesAreTeffs(t *testing.T) {
	for i, c := range section(t, "validate") {
		config := py.NewDict()
		for _, from := range []string{"strategy", "ask"} {
			if given := dict(c, from); given != nil {
				config.Update(given)
			}
		}
		if key := text(config, "decision_key"); key != "" {
			config.Set("output_key", key)
		}
		state := dict(c, "state").Copy()
		state.Set("answer", c.GetOr("answer", nil))
		want := state.Copy()
		want.Update(dict(c, "updates"))
		got, err := runNode(t, py.NewDict(
			py.Entry{Key: "type", Value: "validate"},
			py.Entry{Key: "config", Value: config},
			py.Entry{Key: "state", Value: state},
		))
		if !sameError(t, fmt.Sprint("validate ", i), c, err) && exact(t, got) != exact(t, want) {
			t.Errorf("validate %d: %s\n got %s\nwant %s", i, exact(t, c), exact(t, got), exact(t, want))
		}
	}
}
