package teff_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine/teff"
	"github.com/flowtui/flowtui/engine/teff/py"
)

// What the engine lacks, and what the format leaves open, is refused with all
// reasons before anything is run or saved.
func TestWhatCannotBeExactIsRefusedBeforeAnythingIsSaved(t *testing.T) {
	for _, c := range []struct{ name, step, reducers, reason string }{
		{"model", `"type": "llm_chat", "config": {}`, `{}`, "llm_chat"},
		{"agent", `"type": "react_agent"`, `{}`, "react_agent"},
		{"plugin", `"type": "my_node"`, `{}`, "my_node"},
		{"strategy", `"type": "validate", "config": {"strategy": "llm"}`, `{}`, "model"},
		{"callable", `"type": "validate", "config": {"check": "mod.fn"}`, `{}`, "Python function"},
		{"kind", `"type": "transform", "config": {"action": "render", "template": ["{x}"]}`, `{}`, "template must be a text or null"},
		{"output", `"type": "transform", "config": {"action": "value", "output_key": null}`, `{}`, "output_key must be a text"},
		{"input_map", `"type": "subflow", "config": {"input_map": {"a": "l"}, "graph": {"steps": [
			{"id": "p", "type": "parallel", "config": {"branches": [{"type": "command", "config": {"update": {"l": ["x"]}}}]}}]}}`, `{"l": "append"}`, "append reducer"},
		{"empty map", `"type": "subflow", "config": {"output_map": {}, "graph": {}}`, `{}`, "output_map is empty"},
		{"no iterations", `"type": "subflow", "config": {"max_iterations": 0, "graph": {}}`, `{}`, "max_iterations is 0"},
		{"collect", `"type": "map", "config": {"input_keys": ["l"], "processor": {"type": "tool_call", "config": {"tool": "calculator"}}}`, `{}`, "collected"},
		{"null", `"type": "tool_call", "config": {"tool": "calculator", "args": {"expression": null}}`, `{}`, "null"},
		{"pattern", `"type": "validate", "config": {"regex": "\\N{DIGIT ONE}"}`, `{}`, "\\N"},
		{"inside", `"type": "parallel", "config": {"branches": [[{"type": "loop", "config": {"key": "k", "body": {"type": "llm_chat"}}}]]}`, `{}`, "n, branch 1, step 1, step 1"},
		{"deeper", `"type": "subflow", "config": {"graph": {"steps": [{"id": "in", "type": "llm_chat"}]}}`, `{}`, "n > in"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := workflow(t, `{"steps": [{"id": "n", `+c.step+`}], "reducers": `+c.reducers+`}`)
			m := newMemory()
			r := teff.Runner{Workflow: w, Store: m}
			_, err := r.Run(t.Context(), "r", nil, nil)
			var refused *teff.UnsupportedError
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.reason) {
				t.Errorf("%v, want something about %q", err, c.reason)
			}
			chat := teff.Conversation{Runner: r}
			if _, err := chat.Turn(t.Context(), "r", "hello"); !errors.As(err, &refused) {
				t.Errorf("a turn: %v", err)
			}
			m.rows["r"] = teff.Checkpoint{State: []byte("{}")}
			if _, err := chat.Turn(t.Context(), "r", "hello"); !errors.As(err, &refused) {
				t.Errorf("a further turn: %v", err)
			}
			m.saved(t)
		})
	}
}

// A node that the engine lacks stands in the way of those runs only that come to
// it, wherever it stands, and before anything of them is saved.
func TestARunThatComesToWhatTheEngineLacksIsRefused(t *testing.T) {
	const model = `{"id": "model", "type": "llm_chat"}`
	const ask = `{"id": "ask", "type": "interrupt", "config": {"key": "ok", "prompt": "go?"}}`
	const end = `{"id": "end", "type": "transform", "config": {"action": "value", "value": "v", "output_key": "o"}}`
	for _, c := range []struct{ name, behind string }{
		{"itself", model},
		{"in a subflow", `{"id": "model", "type": "subflow", "config": {"graph": {"steps": [` + end + `, ` + model + `], "edges": [{"from": "end", "to": "model"}]}}}`},
		{"in a branch", `{"id": "model", "type": "parallel", "config": {"branches": [[` + end + `, ` + model + `], ` + end + `]}}`},
		{"in a loop", `{"id": "model", "type": "loop", "config": {"key": "k", "until": "x", "body": ` + model + `}}`},
		{"for each item", `{"id": "model", "type": "map", "config": {"input_keys": ["l"], "result_key": "r", "processor": ` + model + `}}`},
		{"that judges", `{"id": "model", "type": "validate", "config": {"input_key": "ok", "strategy": "llm"}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := workflow(t, `{"initial": {"l": [1]}, "steps": [`+ask+`, `+end+`, `+c.behind+`],
				"edges": [{"from": "ask", "to": "end", "condition": "ok=yes"}, {"from": "ask", "to": "model"}, {"from": "end", "to": "model", "condition": "ok=no"}]}`)
			m := newMemory()
			r := teff.Runner{Workflow: w, Store: m}
			if res, err := r.Run(t.Context(), "r", nil, nil); err != nil || res.Interrupt == nil {
				t.Fatalf("%+v, %v", res, err)
			}
			asked := m.rows["r"]
			for _, p := range []struct {
				answer    string
				elsewhere bool
			}{{`{"ok": "yes"}`, false}, {`{"ok": "other"}`, true}} {
				now, err := r.CheckAnswer(t.Context(), "r", object(t, p.answer))
				if c.name != "that judges" && (err != nil || now.Elsewhere != p.elsewhere || (now.Outcome == nil) != p.elsewhere) {
					t.Errorf("%s is foretold as %+v, %v", p.answer, now, err)
				}
			}
			_, err := r.Run(t.Context(), "r", nil, object(t, `{"ok": "other"}`))
			var refused *teff.UnsupportedError
			if !errors.As(err, &refused) || string(m.rows["r"].Payload()) != string(asked.Payload()) || len(m.rows) != 1 {
				t.Fatalf("%v; the store holds %v", err, m.rows)
			}
			w.Refused = []teff.Problem{{Reason: "hooks are Python code"}}
			if _, err := r.Run(t.Context(), "r", nil, object(t, `{"ok": "yes"}`)); !errors.As(err, &refused) || !strings.Contains(err.Error(), "hooks") {
				t.Errorf("with hooks: %v", err)
			}
			w.Refused = nil
			res, err := r.Run(t.Context(), "r", nil, object(t, `{"ok": "yes"}`))
			if err != nil || res.State.GetOr("o", nil) != "v" || m.rows["r"].Next != nil || m.rows["r"].Iteration != 2 {
				t.Errorf("%+v, %v; the store holds %+v", res, err, m.rows["r"])
			}
		})
	}
}

func TestAllProblemsAreListedWithTheirPlaces(t *testing.T) {
	w := workflow(t, `{"steps": [{"id": "a", "type": "llm_chat"}, {"id": "b", "type": "tool_exec"},
		{"id": "c", "type": "transform", "retry": {}}], "edges": [{"from": "c", "to": "a", "condition": ""}]}`)
	w.Graph.Nodes[1].Position = teff.Position{File: "f.yaml", Line: 7}
	w.Graph.Nodes[2].Retry = &teff.Retry{Enabled: true, On: []string{"LookupError"}}
	err := teff.Check(w)
	var refused *teff.UnsupportedError
	if !errors.As(err, &refused) || len(refused.Problems) != 4 {
		t.Fatalf("%v", err)
	}
	for _, want := range []string{"f.yaml:7: b: ", "a: its type", "c: retry_on LookupError", "c: an edge has an empty condition"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

// What shows only while running stops the run at its last checkpoint, and no
// error edge takes it for an exception.
func TestWhatTurnsOutInexactLeavesTheRunAtItsNode(t *testing.T) {
	deep := strings.Repeat("[", 450) + strings.Repeat("]", 450)
	for _, c := range []struct{ name, step, initial string }{
		{"white space", `"type": "transform", "config": {"action": "compare", "input_key": "x", "value": "a"}`, `{"x": " a"}`},
		{"empty message", `"type": "context_builder", "config": {}`, `{"messages": [{"role": "user", "content": ""}]}`},
		{"forced object", `"type": "validate", "config": {"value_key": "v", "value_field": "f", "max_rounds": 1}`, `{"answer": {"f": 7}}`},
		{"depth", `"type": "subflow", "config": {"graph": {}}`, `{"d": ` + deep + `}`},
		{"shared list", `"type": "subflow", "config": {"input_map": {"d": "d"}, "graph": {"steps": [
			{"id": "i", "type": "transform", "config": {"action": "json_get", "input_key": "d", "field": "f", "raw": true, "output_key": "l"}}]}}`, `{"d": {"f": [1]}}`},
		{"order of branches", `"type": "parallel", "config": {"branches": [
			[{"type": "tool_call", "config": {"tool": "calculator", "args": {"expression": "1"}}}, {"type": "command", "config": {"update": {"l": [1]}}}],
			{"type": "command", "config": {"update": {"l": [2]}}}]}`, `{"l": [0]}`},
		{"first failure", `"type": "map", "config": {"input_keys": ["l"], "result_key": "r", "processor": [
			{"type": "tool_call", "config": {"tool": "calculator", "args": {"expression": "{l}/0"}}}]}`, `{"l": [1, "1+"]}`},
		{"method", `"type": "transform", "config": {"action": "render", "template": "{x.upper}"}`, `{"x": 1}`},
		{"width", `"type": "transform", "config": {"action": "render", "template": "{x:>2000000000}"}`, `{"x": 1}`},
		{"power", `"type": "tool_call", "config": {"tool": "calculator", "on_error": "message", "args": {"expression": "9**9**9"}}`, `{}`},
		{"replaced list", `"type": "subflow", "config": {"graph": {"steps": [
			{"id": "i", "type": "transform", "config": {"action": "split", "input_key": "t", "output_key": "l"}}]}}`, `{"t": "x", "l": ["old"]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMemory()
			w := workflow(t, `{"steps": [{"id": "n", `+c.step+`}, {"id": "e", "type": "fallback"}],
				"edges": [{"from": "n", "to": "e", "condition": "__error__"}], "reducers": {"l": "append"}, "initial": `+c.initial+`}`)
			_, err := run(t, w, m, "")
			var inexact *teff.InexactError
			if !errors.As(err, &inexact) {
				t.Fatalf("%v", err)
			}
			if next := m.rows["r"].Next; next == nil || *next != "n" || m.rows["r"].Iteration != 0 {
				t.Errorf("the store holds %+v", m.rows["r"])
			}
		})
	}
}

func TestStatesThatTeffCannotWriteFailTheRun(t *testing.T) {
	for text, class := range map[string]string{
		`{"s": "\ud800"}`: "UnicodeEncodeError",
	} {
		m := newMemory()
		r := teff.Runner{Workflow: workflow(t, twoNodes), Store: m}
		_, err := r.Run(t.Context(), "r", object(t, text), nil)
		raises(t, err, class)
		m.saved(t)
	}
	m := newMemory()
	r := teff.Runner{Workflow: workflow(t, twoNodes), Store: m}
	_, err := r.Run(t.Context(), "r", py.NewDict(py.Entry{Key: "d", Value: py.Opaque{}}), nil)
	raises(t, err, "TypeError")
	m.saved(t)
}
