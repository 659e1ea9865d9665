package flowfile

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/seal"
	"github.com/flowtui/flowtui/engine/teff/py"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/memory"
)

// runAlone runs a flow that never waits.
func runAlone(t *testing.T, f *File, state engine.State) (engine.Result, error) {
	t.Helper()
	key, err := seal.NewKey([]byte("use-a-secret-from-your-vault-32b"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := engine.New(engine.Config{Store: memory.New(memory.Options{}), Keys: seal.NewKeyring(key), Tools: f.Tools})
	if err != nil {
		t.Fatal(err)
	}
	return r.Run(t.Context(), f.Flow, engine.Start{State: state})
}

// The recorded nodes as steps of flow files of our own. Where they end otherwise
// it is listed with the reason.
func TestRecordedNodesInFlowFiles(t *testing.T) {
	data, err := os.ReadFile(teffData + "engine_cases.json")
	if err != nil {
		t.Fatal(err)
	}
	v, err := py.Loads(data)
	if err != nil {
		t.Fatal(err)
	}
	sections, n := dictOf(unmarked(v).(*py.Dict), "sections"), 0
	met := map[string]bool{}
	for _, section := range []string{
		"gate", "validate_node", "command", "tool_call", "map", "parallel", "loop", "subflow", "context_builder", "append_assistant", "supervisor_without_model",
	} {
		for i, c := range dictsOf(sections, section) {
			n++
			id := fmt.Sprintf("%s %d", section, i)
			reason, listed := nodeDifferences[id]
			met[id] = listed
			switch diff := nodeDiffers(t, c); {
			case diff != "" && !listed:
				t.Errorf("%s: %s\n%s", id, py.Repr(c), diff)
			case diff == "" && listed:
				t.Errorf("%s does not differ; listed: %s", id, reason)
			}
		}
	}
	for id := range nodeDifferences {
		if !met[id] {
			t.Errorf("%s is listed but not recorded", id)
		}
	}
	t.Logf("%d nodes, %d differ", n, len(nodeDifferences))
}

// nodeDiffers runs one recorded node in a flow file. What teff fails on may be
// refused when the file is read.
func nodeDiffers(t *testing.T, c *py.Dict) string {
	t.Helper()
	schema := dictOf(c, "reducers")
	if schema == nil {
		schema = py.NewDict()
	}
	step := py.NewDict(py.Entry{Key: "id", Value: "n"}, py.Entry{Key: "type", Value: textOf(c, "type")}, py.Entry{Key: "config", Value: dictOf(c, "config")})
	text, err := py.Dumps(py.NewDict(py.Entry{Key: "name", Value: "f"}, py.Entry{Key: "steps", Value: py.NewList(step)},
		py.Entry{Key: "state", Value: py.NewDict(py.Entry{Key: "schema", Value: schema})}))
	if err != nil {
		t.Fatal(err)
	}
	failed := dictOf(c, "error") != nil
	f, err := Parse("f.yaml", text, Options{})
	if err != nil {
		if failed {
			return ""
		}
		return err.Error()
	}
	state, err := toState(dictOf(c, "state"))
	if err != nil {
		t.Fatal(err)
	}
	res, err := runAlone(t, f, state)
	switch {
	case err != nil:
		return err.Error()
	case failed != (res.Status == stores.StatusFailed):
		return fmt.Sprintf("it is %s: %s", res.Status, res.Error)
	case failed:
		return ""
	}
	delete(res.State, "n_rounds") // our own count of a loop
	want, err := toState(dictOf(c, "result_state"))
	if err != nil {
		t.Fatal(err)
	}
	if got := normal(t, res.State); !reflect.DeepEqual(got, want) {
		return fmt.Sprintf("got  %v\nwant %v", got, want)
	}
	return ""
}

// normal is a state with numbers as Python writes them.
func normal(t *testing.T, s engine.State) engine.State {
	t.Helper()
	out, err := toState(toDict(s))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var nodeDifferences = map[string]string{
	"command 5": "a route without a condition never holds: refused",

	"map 4":      "chunk_size 0 is refused, not taken for 1",
	"parallel 5": "no branches: refused",
	"parallel 6": "no branches: refused",

	"parallel 4": "a list that appends gets what a branch adds once, not with the list that was there",
	"subflow 6":  "a list that appends gets what a subflow adds once, not with the list that was there",
	"subflow 8":  "a graph without steps is refused",

	"loop 4":  "until is a text: true must be quoted",
	"loop 5":  "an empty until is refused",
	"loop 9":  "key and until are what they say: teff reads the text key=until anew and finds another operator in it",
	"loop 10": "max_rounds is a number, not a text",

	"supervisor_without_model 0": "an option that does nothing is refused",
}

// Jumps of a command are decided by the state that it saw, in the order of its
// routes; STOP ends its own graph.
func TestCommandJumps(t *testing.T) {
	const text = `
name: f
state: {schema: {log: append}}
steps:
  - {id: go, type: command, config: {routes: [{when: x=a, goto: one}, {when: x=b, goto: STOP}, {when: x=c}], goto: two, update: {x: changed, price: 1.10}}}
  - {id: next, type: transform, config: {action: append, value: next, output_key: log}}
  - {id: one, type: transform, config: {action: append, value: one, output_key: log}}
  - {id: two, type: transform, config: {action: append, value: two, output_key: log}}
edges: [{from: go, to: next}, {from: one, to: two}]
`
	f, err := Parse("f.yaml", []byte(text), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for x, want := range map[string]any{"a": []any{"one", "two"}, "b": nil, "c": []any{"two"}, "z": []any{"two"}} {
		res, err := runAlone(t, f, engine.State{"x": x})
		if err != nil || !reflect.DeepEqual(res.State["log"], want) || res.State["x"] != "changed" || res.State["price"] != json.Number("1.10") {
			t.Errorf("%s: %v, want %v: %+v, %v", x, res.State["log"], want, res, err)
		}
	}
	if tools := slices.Sorted(slices.Values(f.Tools.Names())); len(tools) != 0 {
		t.Errorf("tools: %v", tools)
	}
}
