package teff_test

import (
	"testing"
	"time"

	"github.com/flowtui/flowtui/engine/teff"
	"github.com/flowtui/flowtui/engine/teff/py"
)

// teff's defects are part of the format (teff format, defects and surprises).

// 1: the answer to an interrupt inside a loop goes on behind the loop; what
// the body changed in place stays.
func TestAnAnswerInsideALoopContinuesBehindIt(t *testing.T) {
	m := newMemory()
	w := workflow(t, `{"steps": [
		{"id": "l", "type": "loop", "config": {"key": "k", "until": "yes", "body": [
			{"type": "transform", "config": {"action": "append", "value": "round", "output_key": "log"}},
			{"type": "interrupt", "config": {"key": "k", "prompt": "again?"}}]}},
		{"id": "end", "type": "transform", "config": {"action": "value", "value": "end", "output_key": "e"}}],
		"edges": [{"from": "l", "to": "end"}]}`)
	res, err := run(t, w, m, "")
	if err != nil || res.Interrupt == nil || res.Interrupt.NodeID != "l" || res.Interrupt.NestedCheckpointID != nil {
		t.Fatalf("%+v %v", res.Interrupt, err)
	}
	if _, err = run(t, w, m, `{"k": "no"}`); err != nil {
		t.Fatal(err)
	}
	m.saved(t, "r l 0", "r - 1", "r end 1", "r - 2")
	if got := m.state(t, "r"); got != `{"log": ["round"], "k": "no", "e": "end"}` {
		t.Error(got)
	}
}

// 1: a subflow inside a parallel has no checkpoint, and the branches' results
// are lost.
func TestASubflowInsideAParallelHasNoCheckpoint(t *testing.T) {
	m := newMemory()
	w := workflow(t, `{"steps": [
		{"id": "p", "type": "parallel", "config": {"branches": [
			{"type": "command", "config": {"update": {"a": 1}}},
			{"type": "subflow", "config": {"graph": {"steps": [
				{"id": "ask", "type": "interrupt", "config": {"key": "k", "prompt": "?"}}], "edges": []}}}]}}]}`)
	res, err := run(t, w, m, "")
	if err != nil || res.Interrupt == nil || res.Interrupt.NodeID != "p" || res.Interrupt.CheckpointID != "r" {
		t.Fatalf("%+v %v", res.Interrupt, err)
	}
	if _, err = run(t, w, m, `{"k": "v"}`); err != nil {
		t.Fatal(err)
	}
	m.saved(t, "r p 0", "r - 1", "r - 1")
	if got := m.state(t, "r"); got != `{"k": "v"}` {
		t.Error(got)
	}
}

// 5: a command's list becomes the state's list. In one process the second
// visit extends it by itself, and the third appends two items; a process that
// is restarted before the third visit appends one.
func TestAListOfAnUpdateIsTakenByReference(t *testing.T) {
	const document = `{"steps": [
		{"id": "c", "type": "command", "config": {"update": {"l": ["a"]}}},
		{"id": "n", "type": "tool_call", "config": {"tool": "calculator", "args": {"expression": "{n}+1"}, "output_key": "n"}}],
		"edges": [{"from": "c", "to": "n"}, {"from": "n", "to": "c", "condition": "n<3"}],
		"initial": {"n": "0"}, "reducers": {"l": "append"}}`
	m := newMemory()
	if _, err := run(t, workflow(t, document), m, ""); err != nil {
		t.Fatal(err)
	}
	if got := m.state(t, "r"); got != `{"n": "3", "l": ["a", "a", "a", "a"]}` {
		t.Errorf("one process: %s", got)
	}

	m, w := newMemory(), workflow(t, document)
	r := teff.Runner{Workflow: w, Store: m, MaxIterations: 4}
	_, err := r.Run(t.Context(), "r", nil, nil)
	raises(t, err, "WorkflowError")
	if _, err := run(t, w, m, ""); err != nil { // n again, then c for the third time
		t.Fatal(err)
	}
	if got := m.state(t, "r"); got != `{"n": "3", "l": ["a", "a", "a"]}` {
		t.Errorf("two processes: %s", got)
	}
}

// A failed attempt's changes stay, and the attempts are counted in all.
func TestARetryKeepsWhatAFailedAttemptChanged(t *testing.T) {
	m := newMemory()
	w := workflow(t, `{"steps": [
		{"id": "l", "type": "loop", "config": {"key": "k", "until": "x", "body": [
			{"type": "transform", "config": {"action": "append", "value": "try", "output_key": "log"}},
			{"type": "transform", "config": {"action": "render", "template": "{gone}", "output_key": "k"}}]}},
		{"id": "end", "type": "transform", "config": {"action": "value", "value": "end", "output_key": "e"}}],
		"edges": [{"from": "l", "to": "end", "condition": "__error__"}]}`)
	for _, c := range []struct {
		on   []string
		want string
	}{
		{nil, `{"log": ["try", "try", "try"], "e": "end"}`},
		{[]string{"KeyError"}, `{"log": ["try", "try", "try"], "e": "end"}`},
		{[]string{"ValueError", "503"}, `{"log": ["try"], "e": "end"}`},
	} {
		w.Graph.Nodes[0].Retry = &teff.Retry{Enabled: true, Attempts: 3, Backoff: 1, On: c.on}
		m.rows = map[string]teff.Checkpoint{}
		if _, err := run(t, w, m, ""); err != nil {
			t.Fatal(err)
		}
		if got := m.state(t, "r"); got != c.want {
			t.Errorf("retry on %v: %s, want %s", c.on, got, c.want)
		}
	}
}

// A branch that fails does not stop those behind it from extending a list that
// they share with the state.
func TestBranchesBehindAFailingOneExtendSharedLists(t *testing.T) {
	m := newMemory()
	w := workflow(t, `{"steps": [
		{"id": "p", "type": "parallel", "config": {"branches": [
			{"type": "transform", "config": {"action": "render", "template": "{gone}", "output_key": "k"}},
			{"type": "command", "config": {"update": {"l": ["b"], "other": 1}}}]}},
		{"id": "end", "type": "transform", "config": {"action": "value", "value": "end", "output_key": "e"}}],
		"edges": [{"from": "p", "to": "end", "condition": "__error__"}],
		"initial": {"l": ["a"]}, "reducers": {"l": "append"}}`)
	if _, err := run(t, w, m, ""); err != nil {
		t.Fatal(err)
	}
	if got := m.state(t, "r"); got != `{"l": ["a", "b"], "e": "end"}` {
		t.Error(got)
	}
}

// STOP inside a subflow ends only the subflow.
func TestStopInsideASubflowEndsOnlyIt(t *testing.T) {
	m := newMemory()
	w := workflow(t, `{"steps": [
		{"id": "s", "type": "subflow", "config": {"graph": {"steps": [
			{"id": "stop", "type": "command", "config": {"goto": "STOP", "update": {"a": 1}}},
			{"id": "never", "type": "command", "config": {"update": {"b": 1}}}],
			"edges": [{"from": "stop", "to": "never"}]}}},
		{"id": "end", "type": "command", "config": {"update": {"c": 1}}}],
		"edges": [{"from": "s", "to": "end"}]}`)
	if _, err := run(t, w, m, ""); err != nil {
		t.Fatal(err)
	}
	if got := m.state(t, "r"); got != `{"a": 1, "c": 1}` {
		t.Error(got)
	}
}

// A run leaves the caller's workflow, initial state and answer as they were.
func TestARunChangesNothingOfTheCallers(t *testing.T) {
	w := workflow(t, `{"steps": [
		{"id": "ask", "type": "interrupt", "config": {"key": "l", "prompt": "?"}},
		{"id": "c", "type": "command", "config": {"update": {"l": ["c"]}}},
		{"id": "d", "type": "command", "config": {"update": {"l": ["d"], "i": ["d"]}}}],
		"edges": [{"from": "ask", "to": "c"}, {"from": "c", "to": "d"}],
		"initial": {"i": ["i"]}, "reducers": {"l": "append", "i": "append"}}`)
	m := newMemory()
	r := teff.Runner{Workflow: w, Store: m}
	initial, answer := object(t, `{"x": ["x"]}`), object(t, `{"l": ["answer"]}`)
	for _, given := range []*py.Dict{nil, answer} {
		if _, err := r.Run(t.Context(), "r", initial, given); err != nil {
			t.Fatal(err)
		}
	}
	if got := m.state(t, "r"); got != `{"i": ["i", "d"], "x": ["x"], "l": ["answer", "c", "d"]}` {
		t.Error(got)
	}
	for _, v := range []struct {
		got  py.Value
		want string
	}{
		{initial, `{"x": ["x"]}`}, {answer, `{"l": ["answer"]}`}, {w.Initial, `{"i": ["i"]}`},
		{w.Graph.Nodes[1].Config, `{"update": {"l": ["c"]}}`},
	} {
		if exact(t, v.got) != v.want {
			t.Errorf("changed to %s, was %s", exact(t, v.got), v.want)
		}
	}
}

func TestNowIsTheGivenClocks(t *testing.T) {
	w := workflow(t, `{"steps": [{"id": "n", "type": "transform", "config": {"action": "now", "output_key": "t"}}]}`)
	at := time.Date(2031, 5, 2, 1, 2, 3, 4000, time.FixedZone("", 3600))
	r := teff.Runner{Workflow: w, Store: newMemory(), Now: func() time.Time { return at }}
	res, err := r.Run(t.Context(), "r", nil, nil)
	if err != nil || exact(t, res.State) != `{"t": "2031-05-02T00:02:03.000004+00:00"}` {
		t.Errorf("%s %v", exact(t, res.State), err)
	}
}

// Deltas of branches are merged only when all have succeeded: merging extends
// lists in place, and a failed parallel must not.
func TestAFailedParallelMergesNothing(t *testing.T) {
	m := newMemory()
	w := workflow(t, `{"steps": [
		{"id": "p", "type": "parallel", "config": {"branches": [
			{"type": "command", "config": {"update": {"l": ["a"]}}},
			{"type": "command", "config": {"update": {"l": ["b"]}}},
			{"type": "transform", "config": {"action": "render", "template": "{set}", "output_key": "k"}}]}},
		{"id": "again", "type": "command", "config": {"update": {"set": 1}, "goto": "p"}}],
		"edges": [{"from": "p", "to": "again", "condition": "__error__"}], "reducers": {"l": "append"}}`)
	if _, err := run(t, w, m, ""); err != nil {
		t.Fatal(err)
	}
	if got := m.state(t, "r"); got != `{"set": 1, "l": ["a", "b"], "k": "1"}` {
		t.Error(got)
	}
}
