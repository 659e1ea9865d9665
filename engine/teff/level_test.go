package teff_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flowtui/flowtui/engine/teff"
	"github.com/flowtui/flowtui/engine/teff/py"
)

const (
	twoNodes = `{"steps": [
		{"id": "a", "type": "transform", "config": {"action": "value", "value": "1", "output_key": "x"}},
		{"id": "b", "type": "transform", "config": {"action": "render", "template": "{x}!", "output_key": "y"}}],
		"edges": [{"from": "a", "to": "b"}]}`
	asks = `{"steps": [
		{"id": "a", "type": "transform", "config": {"action": "value", "value": "1", "output_key": "x"}},
		{"id": "ask", "type": "interrupt", "config": {"key": "k", "prompt": "{x}?"}},
		{"id": "b", "type": "transform", "config": {"action": "render", "template": "{k}", "output_key": "y"}}],
		"edges": [{"from": "a", "to": "ask"}, {"from": "ask", "to": "b", "condition": "k=yes"}]}`
	fails = `{"steps": [
		{"id": "a", "type": "transform", "config": {"action": "render", "template": "{gone}", "output_key": "x"}},
		{"id": "b", "type": "transform", "config": {"action": "value", "value": "saved", "output_key": "y"}}]`
	nested = `{"steps": [
		{"id": "s", "type": "subflow", "config": {"graph": {
			"steps": [{"id": "ask", "type": "interrupt", "config": {"key": "k", "prompt": "?"}},
				{"id": "use", "type": "transform", "config": {"action": "render", "template": "{k}{more}", "output_key": "u"}}],
			"edges": [{"from": "ask", "to": "use"}]}}},
		{"id": "e", "type": "transform", "config": {"action": "value", "value": "caught", "output_key": "e"}}]`
)

func run(t *testing.T, w *teff.Workflow, store teff.Checkpointer, answer string) (teff.Result, error) {
	t.Helper()
	r := teff.Runner{Workflow: w, Store: store}
	var given *py.Dict
	if answer != "" {
		given = object(t, answer)
	}
	return r.Run(t.Context(), "r", nil, given)
}

func raises(t *testing.T, err error, class string) {
	t.Helper()
	var e *py.Error
	if !errors.As(err, &e) || e.Type != class {
		t.Errorf("raised %v, want %s", err, class)
	}
}

func TestEveryNodeIsSavedBeforeItRuns(t *testing.T) {
	m := newMemory()
	if _, err := run(t, workflow(t, twoNodes), m, ""); err != nil {
		t.Fatal(err)
	}
	m.saved(t, "r a 0", "r b 1", "r - 2")
	if got := m.state(t, "r"); got != `{"x": "1", "y": "1!"}` {
		t.Error(got)
	}
	if _, err := run(t, workflow(t, twoNodes), m, `{"x": "ignored"}`); err != nil {
		t.Fatal(err)
	}
	m.saved(t, "r - 2") // a completed run is saved again and nothing runs
}

func TestAPauseIsSavedAsACompletedNodeWithoutANext(t *testing.T) {
	m := newMemory()
	res, err := run(t, workflow(t, asks), m, "")
	if err != nil || res.Interrupt == nil || res.Interrupt.Prompt != "1?" {
		t.Fatalf("%+v %v", res, err)
	}
	m.saved(t, "r a 0", "r ask 1", "r - 2")
	want := `{"x": "1", "__interrupt__": {"key": "k", "prompt": "1?", "node_id": "ask", "nested_checkpoint_id": null}}`
	if got := m.state(t, "r"); got != want {
		t.Error(got)
	}
	if res, err = run(t, workflow(t, asks), m, ""); err != nil || res.Interrupt == nil {
		t.Fatalf("%+v %v", res, err)
	}
	m.saved(t) // asked again without a look at the store
	if _, err = run(t, workflow(t, asks), m, `{"k": "yes"}`); err != nil {
		t.Fatal(err)
	}
	m.saved(t, "r b 2", "r - 3")
}

func TestAnAnswerThatNoEdgeTakesCompletesTheRun(t *testing.T) {
	m := newMemory()
	if _, err := run(t, workflow(t, asks), m, ""); err != nil {
		t.Fatal(err)
	}
	m.saved(t, "r a 0", "r ask 1", "r - 2")
	if _, err := run(t, workflow(t, asks), m, `{"k": "no", "other": 1}`); err != nil {
		t.Fatal(err)
	}
	m.saved(t, "r - 2")
	if got := m.state(t, "r"); got != `{"x": "1", "k": "no", "other": 1}` {
		t.Error(got)
	}
}

func TestAFailedNodeKeepsTheSaveBeforeIt(t *testing.T) {
	m := newMemory()
	_, err := run(t, workflow(t, fails+"}"), m, "")
	raises(t, err, "KeyError")
	m.saved(t, "r a 0")
}

func TestAnErrorEdgeIsSavedTwice(t *testing.T) {
	m := newMemory()
	w := workflow(t, fails+`, "edges": [{"from": "a", "to": "b", "condition": "__error__"}]}`)
	if _, err := run(t, w, m, ""); err != nil {
		t.Fatal(err)
	}
	m.saved(t, "r a 0", "r b 1", "r b 1", "r - 2")
}

func TestMaxIterationsStopBeforeASave(t *testing.T) {
	m := newMemory()
	r := teff.Runner{Workflow: workflow(t, twoNodes), Store: m, MaxIterations: 1}
	_, err := r.Run(t.Context(), "r", nil, nil)
	raises(t, err, "WorkflowError")
	m.saved(t, "r a 0")
}

func TestAnUnknownNextNodeSavesNothing(t *testing.T) {
	m := newMemory()
	gone := "gone"
	m.rows["r"] = teff.Checkpoint{State: []byte("{}"), Next: &gone, Iteration: 4}
	_, err := run(t, workflow(t, twoNodes), m, "")
	raises(t, err, "KeyError")
	m.saved(t)
}

func TestASubflowHasItsOwnCheckpoint(t *testing.T) {
	m := newMemory()
	w := workflow(t, nested+`, "initial": {"more": "!"}}`)
	if _, err := run(t, w, m, ""); err != nil {
		t.Fatal(err)
	}
	m.saved(t, "r s 0", "r:sub:s ask 0", "r:sub:s - 1", "r - 1")
	if _, err := run(t, w, m, `{"k": "v"}`); err != nil {
		t.Fatal(err)
	}
	m.saved(t, "r s 1", "r:sub:s use 1", "r:sub:s - 2", "delete r:sub:s", "r - 2")
	if got := m.state(t, "r"); got != `{"more": "!", "k": "v", "u": "v!"}` {
		t.Error(got)
	}
}

// The child stays when the parent leaves by an error edge, and is resumed when
// the subflow is entered again.
func TestAnOrphanChildIsResumed(t *testing.T) {
	m := newMemory()
	w := workflow(t, nested+`, "edges": [{"from": "s", "to": "e", "condition": "__error__"}]}`)
	if _, err := run(t, w, m, ""); err != nil {
		t.Fatal(err)
	}
	m.log = nil
	if _, err := run(t, w, m, `{"k": "v"}`); err != nil { // "use" lacks the key more
		t.Fatal(err)
	}
	m.saved(t, "r s 1", "r:sub:s use 1", "r e 2", "r e 2", "r - 3")
	s := "s"
	m.rows["r"] = teff.Checkpoint{State: []byte(`{"more": "!"}`), Next: &s, Iteration: 7}
	_, err := run(t, w, m, "")
	if err != nil {
		t.Fatal(err)
	}
	m.saved(t, "r s 7", "r:sub:s use 1", "r e 8", "r e 8", "r - 9")
}

// A process that was killed between the pauses of child and parent: the first
// answer is ignored, the second one counts.
func TestAnAnswerIsLostBetweenThePausesOfChildAndParent(t *testing.T) {
	m := newMemory()
	w := workflow(t, nested+`, "initial": {"more": "!"}}`)
	if _, err := run(t, w, m, ""); err != nil {
		t.Fatal(err)
	}
	s := "s"
	m.rows["r"] = teff.Checkpoint{State: []byte(`{"more": "!"}`), Next: &s}
	m.log = nil
	res, err := run(t, w, m, `{"k": "first"}`)
	if err != nil || res.Interrupt == nil || *res.Interrupt.NestedCheckpointID != "r:sub:s" {
		t.Fatalf("%+v %v", res, err)
	}
	m.saved(t, "r s 0", "r - 1")
	if _, err := run(t, w, m, `{"k": "second"}`); err != nil {
		t.Fatal(err)
	}
	if got := m.state(t, "r"); got != `{"more": "!", "k": "second", "u": "second!"}` {
		t.Error(got)
	}
}

func TestACancelledWaitLeavesTheRunAtItsNode(t *testing.T) {
	m := newMemory()
	w := workflow(t, fails+"}")
	w.Graph.Nodes[0].Retry = &teff.Retry{Enabled: true, Attempts: 3, Delay: time.Hour, Backoff: 1}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := (&teff.Runner{Workflow: w, Store: m}).Run(ctx, "r", nil, nil)
		done <- err
	}()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// A process that was killed between the child's end and the parent's next save:
// the subflow node runs again and takes what the child has.
func TestACompletedChildIsUsed(t *testing.T) {
	m := newMemory()
	w := workflow(t, nested+`, "edges": [{"from": "s", "to": "e"}]}`)
	s := "s"
	m.rows["r"] = teff.Checkpoint{State: []byte(`{"a": 1}`), Next: &s, Iteration: 4}
	m.rows["r:sub:s"] = teff.Checkpoint{State: []byte(`{"a": 1, "u": "done"}`), Iteration: 2}
	if _, err := run(t, w, m, ""); err != nil {
		t.Fatal(err)
	}
	m.saved(t, "r s 4", "r:sub:s - 2", "delete r:sub:s", "r e 5", "r - 6")
	if got := m.state(t, "r"); got != `{"a": 1, "u": "done", "e": "caught"}` {
		t.Error(got)
	}
}

// What is raised behind a node is not for its error edge.
func TestRoutingErrorsAreNotCaught(t *testing.T) {
	for class, routing := range map[string]string{
		"WorkflowError": `"config": {"goto": "gone"}}, {"id": "b", "type": "fallback"}], "edges": [`,
		"OverflowError": `"config": {"update": {"n": 1` + strings.Repeat("0", 400) + `}}}, {"id": "b", "type": "fallback"}],
			"edges": [{"from": "c", "to": "b", "condition": "n>1"}, `,
	} {
		m := newMemory()
		_, err := run(t, workflow(t, `{"steps": [{"id": "c", "type": "command", `+routing+
			`{"from": "c", "to": "b", "condition": "__error__"}]}`), m, "")
		raises(t, err, class)
		m.saved(t, "r c 0")
	}
}

// A store's failure is not an exception of the run: no error edge takes it, and
// the rows stay as they are.
func TestAStoresFailureEndsTheCall(t *testing.T) {
	w := workflow(t, nested+`, "edges": [{"from": "s", "to": "e", "condition": "__error__"}]}`)
	for saves := range 3 {
		m := &dying{recorded: &recorded{memory: newMemory()}, after: saves}
		if _, err := run(t, w, m, ""); !errors.Is(err, errKilled) {
			t.Fatalf("after %d saves: %v", saves, err)
		}
		if len(m.log) != saves {
			t.Errorf("after %d saves there are %q", saves, m.log)
		}
	}
}

// One Runner serves many runs at once.
func TestRunsOfOneRunnerDoNotMeet(t *testing.T) {
	w := workflow(t, `{"steps": [
		{"id": "c", "type": "command", "config": {"update": {"l": ["c"]}}},
		{"id": "d", "type": "command", "config": {"update": {"l": ["d"]}}}],
		"edges": [{"from": "c", "to": "d"}], "reducers": {"l": "append"}}`)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			m := newMemory()
			if _, err := (&teff.Runner{Workflow: w, Store: m}).Run(t.Context(), "r", nil, nil); err != nil {
				t.Error(err)
			}
			if got := string(m.rows["r"].State); got != `{"l": ["c", "d"]}` {
				t.Error(got)
			}
		})
	}
	all.Wait()
}
