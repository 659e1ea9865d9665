package teff_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine/teff"
	"github.com/flowtui/flowtui/engine/teff/py"
)

// begun is a run of a recorded workflow that has been answered some times.
func begun(t *testing.T, path string, answers ...string) (teff.Runner, *memory) {
	t.Helper()
	m := newMemory()
	r := teff.Runner{Workflow: loadWorkflow(t, path), Store: m}
	for _, answer := range append([]string{"{}"}, answers...) {
		res, err := r.Run(t.Context(), "r", nil, object(t, answer))
		if err != nil || res.Interrupt == nil {
			t.Fatalf("%+v %v", res, err)
		}
	}
	m.log = nil
	return r, m
}

func TestChoicesAreThoseThatTheWorkflowTellsApart(t *testing.T) {
	type choice struct {
		answer, pattern string
		verdict         teff.Verdict
		next            string
		again           bool
	}
	for _, c := range []struct {
		path    string
		answers []string
		want    []choice // the last one is for any other text
	}{
		{"workflows/release_review.graph.yaml", nil, []choice{
			{answer: "yes", verdict: teff.Taken, next: "publish"},
			{verdict: teff.Taken, next: "revise", again: true}}},
		{"workflows/discount.graph.yaml", nil, []choice{
			{pattern: "^[A-Z]{2}-[0-9]{4}$", verdict: teff.Accepted, next: "discount-validate transform_4"},
			{verdict: teff.Refused, next: "discount-validate transform_6", again: true}}},
		{"workflows/discount.graph.yaml", []string{`{"code": ""}`, `{"code": ""}`, `{"code": ""}`, `{"code": ""}`}, []choice{
			{pattern: "^[A-Z]{2}-[0-9]{4}$", verdict: teff.Accepted, next: "discount-validate transform_4"},
			{verdict: teff.Forced, next: "discount-validate transform_4"}}},
		{"workflows/contract.graph.yaml", []string{`{"clause": "c"}`}, []choice{
			{answer: "yes", verdict: teff.Taken, next: "keep_it"},
			{answer: "y", verdict: teff.Taken, next: "keep_it"},
			{verdict: teff.Taken, next: "drop_it"}}},
		{"workflows/vault.graph.yaml", nil, []choice{{verdict: teff.Taken, next: "check"}}},
		{"workflows/signoff.flow.yaml", nil, []choice{
			{answer: "yes", verdict: teff.Accepted, next: "gate-validate seal"},
			{answer: "ok", verdict: teff.Accepted, next: "gate-validate seal"},
			{answer: "fine", verdict: teff.Accepted, next: "gate-validate seal"},
			{verdict: teff.Refused, next: "gate-validate transform_5", again: true}}},
	} {
		t.Run(c.path, func(t *testing.T) {
			r, m := begun(t, c.path, c.answers...)
			got, err := r.Choices(t.Context(), "r")
			if err != nil {
				t.Fatal(err)
			}
			m.saved(t)
			var all []choice
			for i, g := range got {
				if g.Else != (i == len(got)-1) {
					t.Errorf("choice %d of %d is for the rest: %v", i, len(got), g.Else)
				}
				if g.Preview.Sentence == "" {
					t.Errorf("nothing is said about %+v", g)
				}
				t.Log(g.Answer, g.Pattern, g.Preview.Sentence)
				all = append(all, choice{g.Answer, g.Pattern, g.Preview.Verdict, strings.Join(g.Preview.Next, " "), g.Preview.Again})
			}
			if !slices.Equal(all, c.want) {
				t.Errorf("choices\n%+v, want\n%+v", all, c.want)
			}
		})
	}
}

func TestNumbersThatEdgesCompareAreChoices(t *testing.T) {
	m := newMemory()
	w := workflow(t, `{"steps": [{"id": "i", "type": "interrupt", "config": {"key": "n"}},
		{"id": "high", "type": "fallback"}, {"id": "low", "type": "fallback"}, {"id": "no", "type": "fallback"}],
		"edges": [{"from": "i", "to": "high", "condition": "n > 0.8"}, {"from": "i", "to": "low", "condition": "n<=0.8"},
			{"from": "i", "to": "no", "condition": "other>=1"}, {"from": "i", "to": "no"}]}`)
	if _, err := run(t, w, m, ""); err != nil {
		t.Fatal(err)
	}
	got, err := (&teff.Runner{Workflow: w, Store: m}).Choices(t.Context(), "r")
	var all []string
	for _, c := range got {
		all = append(all, c.Number+": "+c.Preview.Sentence)
	}
	want := []string{"> 0.8: it goes on at high", "<= 0.8: it goes on at low", ": it goes on at no and completes"}
	if err != nil || !slices.Equal(all, want) {
		t.Errorf("%q %v, want %q", all, err, want)
	}
}

// When any text passes there is no rest.
func TestThereIsNoRestBesideAPatternThatFindsAll(t *testing.T) {
	m := newMemory()
	w := workflow(t, `{"steps": [{"id": "i", "type": "interrupt", "config": {"key": "k"}},
		{"id": "v", "type": "validate", "config": {"input_key": "k", "regex": "^.*$"}},
		{"id": "e", "type": "fallback"}], "edges": [{"from": "i", "to": "v"}, {"from": "v", "to": "e", "condition": "decision=да"}]}`)
	if _, err := run(t, w, m, ""); err != nil {
		t.Fatal(err)
	}
	got, err := (&teff.Runner{Workflow: w, Store: m}).Choices(t.Context(), "r")
	if err != nil || len(got) != 1 || got[0].Pattern != "^.*$" || !slices.Equal(got[0].Preview.Next, []string{"v", "e"}) {
		t.Errorf("%+v %v", got, err)
	}
}

func TestWhatIsSaidOfAnAnswer(t *testing.T) {
	r, _ := begun(t, "workflows/release_review.graph.yaml")
	for _, c := range []struct {
		answer *py.Dict
		want   string
	}{
		{object(t, `{"approved": "Yes!"}`), "it goes on at publish and completes"},
		{object(t, `{"approved": "shorter"}`), "it goes on at revise and asks again: Publish this note?"},
		{object(t, `{"other": "x"}`), `it has no "approved", which the run waits for, and teff takes it anyway: it goes on at revise and fails: KeyError`},
	} {
		p, err := r.CheckAnswer(t.Context(), "r", c.answer)
		if err != nil || !strings.HasPrefix(p.Sentence, c.want) {
			t.Errorf("%s: %q %v, want %q", exact(t, c.answer), p.Sentence, err, c.want)
		}
	}
	r.Workflow.Graph.Nodes = slices.DeleteFunc(r.Workflow.Graph.Nodes, func(n *teff.Node) bool { return n.ID == "approve" })
	r.Workflow.Graph.Edges = nil
	p, err := r.CheckAnswer(t.Context(), "r", object(t, `{"approved": "yes"}`))
	if want := "the workflow has no node approve, where the run waits, so it completes at once"; err != nil || p.Sentence != want || !p.Ends {
		t.Errorf("%+v %v, want %q", p, err, want)
	}
}
