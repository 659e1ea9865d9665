package flowfile

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"reflect"
	"testing"

	"github.com/flowtui/flowtui/engine"
)

// The recorded answers are another program's. Where this dialect differs on
// purpose, the case is listed with the reason and must really differ.

type recorded struct {
	N           int
	Condition   string
	Template    string
	Config      json.RawMessage
	Value       any
	State       engine.State
	Reducers    map[string]engine.Reducer
	Str         string
	Result      any
	ResultState engine.State    `json:"result_state"`
	Error       json.RawMessage // Python's
}

func readRecorded(t *testing.T, name string) []recorded {
	t.Helper()
	data, err := os.ReadFile("testdata/recorded_" + name + ".jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var all []recorded
	for in := bufio.NewScanner(bytes.NewReader(data)); in.Scan(); {
		var c recorded
		dec := json.NewDecoder(bytes.NewReader(in.Bytes()))
		dec.UseNumber()
		if err := dec.Decode(&c); err != nil {
			t.Fatal(err)
		}
		c.Value = floats(c.Value)
		for k, v := range c.State {
			c.State[k] = floats(v)
		}
		all = append(all, c)
	}
	if len(all) == 0 {
		t.Fatal("no cases")
	}
	return all
}

// floats puts in the numbers that JSON has not.
func floats(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if f, ok := v["$float"]; ok {
			return map[any]float64{"NaN": math.NaN(), "Infinity": math.Inf(1), "-Infinity": math.Inf(-1)}[f]
		}
		for k, e := range v {
			v[k] = floats(e)
		}
	case []any:
		for i, e := range v {
			v[i] = floats(e)
		}
	}
	return v
}

func TestRecordedStr(t *testing.T) {
	for _, c := range readRecorded(t, "python_str") {
		if got := str(c.Value); got != c.Str {
			t.Errorf("%d: str(%v) = %q, want %q", c.N, c.Value, got, c.Str)
		}
	}
}

func TestRecordedConditions(t *testing.T) {
	differs := map[int]string{
		47: "no operator: refused when the file is read", // "a"
		48: "no operator: refused when the file is read", // ""
	}
	for _, c := range readRecorded(t, "conditions") {
		cond, ok := parseCondition(c.Condition)
		if reason, differ := differs[c.N]; differ || !ok {
			if ok || !differ {
				t.Errorf("%d: %q parses: %v; listed: %q", c.N, c.Condition, ok, reason)
			}
			continue
		}
		got, err := cond.test(c.State)
		if want, _ := c.Result.(bool); got != want || (err != nil) != (c.Error != nil) {
			t.Errorf("%d: %q on %v: got %v, %v, want %v, error %s", c.N, c.Condition, c.State, got, err, want, c.Error)
		}
	}
}

func TestRecordedTemplates(t *testing.T) {
	for _, c := range readRecorded(t, "templates") {
		got, err := renderText(c.Template, c.State)
		if want, _ := c.Result.(string); got != want || (err != nil) != (c.Error != nil) {
			t.Errorf("%d: %q on %v: got %q, %v, want %q, error %s", c.N, c.Template, c.State, got, err, want, c.Error)
		}
	}
}

func renderText(text string, s engine.State) (string, error) {
	tpl, err := parseTemplate(text)
	if err != nil {
		return "", err
	}
	return tpl.render(s)
}

func TestRecordedTransforms(t *testing.T) {
	differs := map[int]string{
		39: "an empty output_key is refused",
		63: "transform returns an update; it does not write into the state before its reducer", // as all below
		65: "append doubled what a transform had written already",
		66: "keep did not protect a key from a transform",
		68: "keep did not protect a key from a transform",
		69: "keep did not protect a key from a transform",
	}
	for _, c := range readRecorded(t, "transform") {
		got, err := runTransform(t.Context(), c)
		same := (err != nil) == (c.Error != nil) && (err != nil || reflect.DeepEqual(got, c.ResultState))
		if _, differ := differs[c.N]; same == differ {
			t.Errorf("%d: %s on %v (listed: %v)\ngot  %v, %v\nwant %v, error %s", c.N, c.Config, c.State, differ, got, err, c.ResultState, c.Error)
		}
	}
}

// runTransform reads the config as a flow file would, runs it and merges.
func runTransform(ctx context.Context, c recorded) (engine.State, error) {
	r := newReader("test")
	node := r.transform(parseYAML(r, c.Config), c.Reducers)
	if err := r.err(); err != nil {
		return nil, err
	}
	update, err := node.Run(ctx, c.State.Clone())
	if err != nil {
		return nil, err
	}
	return engine.Merge(c.State, c.Reducers, update), nil
}
