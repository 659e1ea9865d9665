package teff_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine/teff"
	"github.com/flowtui/flowtui/engine/teff/py"
)

// A condition is only ever true, false or an OverflowError.
func FuzzHolds(f *testing.F) {
	for _, condition := range []string{"a=x", "a!=x,y", "a>=1", "a=b>c", "=", "a<", " a = ß., ", "a>0x1", "a<=1_0"} {
		f.Add(condition, `{"a": "x"}`)
	}
	f.Add("a>1", `{"a": 1`+strings.Repeat("0", 400)+`}`)
	f.Fuzz(func(t *testing.T, condition, state string) {
		v, err := py.Loads([]byte(state))
		d, ok := v.(*py.Dict)
		if err != nil || !ok {
			return
		}
		holds, err := teff.Holds(condition, d)
		var e *py.Error
		if err != nil && (!errors.As(err, &e) || e.Type != "OverflowError" || holds) {
			t.Errorf("%q on %s: %v", condition, state, err)
		}
	})
}

// Whatever a row holds, resuming and answering it neither panic nor leave a
// row that cannot be read.
func FuzzRow(f *testing.F) {
	f.Add([]byte(`{"x": "1", "__interrupt__": {"key": "k", "prompt": "1?", "node_id": "ask"}}`), "", int64(2), "yes")
	f.Add([]byte(`{"__interrupt__": {"key": "k", "node_id": "s", "nested_checkpoint_id": "r:sub:s"}}`), "", int64(1), "v")
	f.Add([]byte(`{"__interrupt__": []}`), "", int64(0), "")
	f.Add([]byte(`{"__interrupt__": {"nested_checkpoint_id": 7}}`), "", int64(0), "v")
	f.Add([]byte(`{"l": [1]}`), "c", int64(-5), "")
	f.Add([]byte(`[]`), "s", int64(9223372036854775807), "\xff")
	const document = `{"steps": [
		{"id": "s", "type": "subflow", "config": {"graph": {"steps": [{"id": "ask", "type": "interrupt", "config": {"key": "k", "prompt": "{x}?"}}]}}},
		{"id": "ask", "type": "interrupt", "config": {"key": "k", "prompt": "?"}},
		{"id": "v", "type": "validate", "config": {"input_key": "k", "any_of": ["yes", 1], "max_rounds": 3}},
		{"id": "c", "type": "command", "config": {"update": {"l": ["c"]}, "routes": [{"when": "x>1", "goto": "s"}]}},
		{"id": "m", "type": "map", "config": {"input_keys": ["l"], "output_key": "o", "result_key": "q", "processor":
			{"type": "transform", "config": {"action": "trim", "input_key": "l", "output_key": "q"}}}},
		{"id": "b", "type": "context_builder", "config": {"sections": {"x": "X"}}}],
		"edges": [{"from": "s", "to": "ask"}, {"from": "ask", "to": "v"}, {"from": "v", "to": "ask", "condition": "decision!=да"},
			{"from": "v", "to": "c"}, {"from": "c", "to": "m"}, {"from": "m", "to": "b"}], "reducers": {"l": "append"}}`
	f.Fuzz(func(t *testing.T, state []byte, next string, iteration int64, answer string) {
		row := teff.Checkpoint{State: state, Iteration: iteration}
		if next != "" {
			row.Next = &next
		}
		m := newMemory()
		m.rows["r"], m.rows["r:sub:s"] = row, row
		r := teff.Runner{Workflow: workflow(t, document), Store: m}
		given := py.NewDict(py.Entry{Key: "k", Value: answer})
		_, err := r.Choices(t.Context(), "r")
		noPanic(t, err)
		_, err = teff.Answer(t.Context(), r.Workflow, m, "r", given)
		noPanic(t, err)
		if len(m.log) > 0 {
			t.Fatalf("looking saved %q", m.log)
		}
		_, err = r.Run(t.Context(), "r", nil, given)
		noPanic(t, err)
		if len(m.log) > 0 {
			if _, err := py.Loads([]byte(m.state(t, "r"))); err != nil {
				t.Errorf("left %s: %v", m.state(t, "r"), err)
			}
		}
		_, err = (&teff.Conversation{Runner: r}).Turn(t.Context(), "r", answer)
		noPanic(t, err)
	})
}

func noPanic(t *testing.T, err error) {
	t.Helper()
	if err != nil && strings.Contains(err.Error(), "panicked") {
		t.Error(err)
	}
}
