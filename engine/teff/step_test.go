package teff_test

import (
	"testing"

	"github.com/flowtui/flowtui/engine/teff"
	"github.com/flowtui/flowtui/engine/teff/py"
)

// A stepped node changes the state and returns what the recorded node did, and
// stays as it is.
func TestStepperRunsTheRecordedNodes(t *testing.T) {
	n := 0
	for _, name := range []string{"gate", "validate_node", "command", "tool_call", "map", "parallel", "loop", "context_builder", "append_assistant"} {
		for _, c := range section(t, name) {
			compiled, err := node(py.NewDict(py.Entry{Key: "type", Value: text(c, "type")}, py.Entry{Key: "config", Value: dict(c, "config")}))
			failed := dict(c, "error")
			if err != nil || compiled.Pauses() || failed != nil && text(failed, "type") == "WorkflowError" { // which is raised after the node
				continue
			}
			n++
			before := exact(t, compiled.Config)
			state := dict(c, "state").Copy()
			reducers := reducersOf(dict(c, "reducers"))
			step, err := teff.Stepper{Reducers: reducers, Tools: []string{teff.Calculator}}.Run(t.Context(), compiled, state)
			if !sameError(t, name, c, err) {
				if step.Update != nil {
					if err := reducers.Merge(state, step.Update); err != nil {
						t.Fatal(err)
					}
				}
				if got, want := exact(t, state), exact(t, c.GetOr("result_state", nil)); got != want {
					t.Errorf("%s: %s\n got %s\nwant %s", name, exact(t, c), got, want)
				}
			}
			if after := exact(t, compiled.Config); after != before {
				t.Errorf("%s: the node is now %s, was %s", name, after, before)
			}
		}
	}
	if n < 60 {
		t.Errorf("only %d nodes were stepped", n)
	}
}

func TestTargetsOfACommand(t *testing.T) {
	c := &teff.Node{Type: "command", Config: object(t, `{"routes": [{"when": "a=1", "goto": "x"}, {"when": "b=1"}, {"when": "c=1", "goto": "STOP"}, {"when": "d=1", "goto": "x"}], "goto": "y"}`)}
	want := []teff.Target{{To: "x", When: "1. a=1 or 4. d=1"}, {To: "y", When: "2. b=1 or else"}, {To: teff.Stop, When: "3. c=1"}}
	got := c.Targets()
	if len(got) != len(want) {
		t.Fatalf("%v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%v, want %v", got[i], want[i])
		}
	}
	for state, to := range map[string]string{`{"a": 1}`: "x", `{"b": 1, "d": 1}`: "y", `{"c": 1}`: teff.Stop, `{"d": 1}`: "x", `{}`: "y"} {
		if got, err := c.Goto(object(t, state)); err != nil || got != to {
			t.Errorf("%s: %q, %v, want %q", state, got, err, to)
		}
	}
}
