package teff_test

import (
	"errors"
	"testing"

	"github.com/flowtui/flowtui/engine/teff"
)

// What doubles in every round would end teff's process; here it ends the call.
func TestWhatGrowsWithoutEndIsStopped(t *testing.T) {
	for name, body := range map[string]string{
		"list": `{"type": "command", "config": {"update": {"l": ["a"]}}}`,
		"text": `{"type": "transform", "config": {"action": "render", "template": "{t}{t}", "output_key": "t"}}`,
	} {
		m := newMemory()
		_, err := run(t, workflow(t, `{"steps": [
			{"id": "n", "type": "loop", "config": {"key": "k", "until": "x", "max_rounds": 1000, "body": [`+body+`]}}],
			"initial": {"t": "t"}, "reducers": {"l": "append"}}`), m, "")
		var inexact *teff.InexactError
		if !errors.As(err, &inexact) {
			t.Errorf("%s: %v", name, err)
		}
		m.saved(t, "r n 0")
	}
}

// Foretelling an answer ends also where the run would not.
func TestAPreviewOfARunWithoutAnEndEnds(t *testing.T) {
	for name, steps := range map[string]string{
		"cycle":   `{"id": "n", "type": "command", "config": {"goto": "n"}}`,
		"rounds":  `{"id": "n", "type": "loop", "config": {"key": "k", "until": "x", "max_rounds": 1000000000000, "body": []}}`,
		"subflow": `{"id": "n", "type": "subflow", "config": {"graph": {"steps": [{"id": "m", "type": "command", "config": {"goto": "m"}}]}}}`,
	} {
		m := newMemory()
		r := teff.Runner{Store: m, Workflow: workflow(t, `{"steps": [{"id": "i", "type": "interrupt", "config": {"key": "k"}},
			`+steps+`], "edges": [{"from": "i", "to": "n"}]}`)}
		if _, err := r.Run(t.Context(), "r", nil, nil); err != nil {
			t.Fatal(err)
		}
		p, err := r.CheckAnswer(t.Context(), "r", object(t, `{"k": "v"}`))
		if err != nil || p.Outcome != nil || p.Sentence != "it goes on at n" {
			t.Errorf("%s: %+v %v", name, p, err)
		}
	}
}
