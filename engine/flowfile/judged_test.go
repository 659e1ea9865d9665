package flowfile_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/flowfile"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/memory"
)

// asking is a run of a flow file that waits for a person.
type asking struct {
	r *engine.Runner
	f *engine.Flow
	k stores.Key
	s *memory.Store
	engine.Result
}

func ask(t *testing.T, f *flowfile.File, err error) asking {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	a := asking{f: f.Flow, k: stores.Key{Owner: stores.DefaultOwner, Run: "r"}, s: memory.New(memory.Options{})}
	if a.r, err = engine.New(engine.Config{Store: a.s, Tools: f.Tools}); err != nil {
		t.Fatal(err)
	}
	a.Result, err = a.r.Run(t.Context(), a.f, engine.Start{Key: a.k})
	if err != nil || a.Status != stores.StatusPaused {
		t.Fatalf("%+v, %v", a.Result, err)
	}
	return a
}

func strictly(id, answer string) engine.Decide {
	return engine.Decide{Type: engine.DecideAnswer, ID: id, Value: json.RawMessage(answer), By: "ann", Strict: true}
}

// refuses gives an answer that is to be refused before anything is stored.
func (a asking) refuses(t *testing.T, id, answer, want string) {
	t.Helper()
	before, _ := a.s.Latest(t.Context(), a.k)
	for name, give := range map[string]func() (engine.Result, error){
		"resume": func() (engine.Result, error) { return a.r.Resume(t.Context(), a.f, a.k, strictly(id, answer)) },
		"record": func() (engine.Result, error) { return a.r.Record(t.Context(), a.k, strictly(id, answer)) },
	} {
		if res, err := give(); !errors.Is(err, engine.ErrUnwanted) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s of %s: %+v, %v", name, answer, res, err)
		}
	}
	if now, _ := a.s.Latest(t.Context(), a.k); now.Step != before.Step {
		t.Errorf("%s: something was written", answer)
	}
}

// What a regex of a teff document finds, it finds by Python's rules: a $ stands
// before a line end too, case counts, and numbers are taken as text.
func TestAnAnswerThatTheRegexOfADocumentRefusesIsNotStored(t *testing.T) {
	for answer, passes := range map[string]bool{
		`"junk"`: false, `"ab-1234"`: false, `"AB-1234"`: true, `"AB-1234\n"`: true, `"AB-1234\n\n"`: false, `12`: false, `null`: false, `["AB-1234"]`: false,
	} {
		f, err := flowfile.Load("../../fixtures/teff/workflows/discount.graph.yaml")
		a := ask(t, f, err)
		if !passes {
			a.refuses(t, "", answer, "wanted is a text that matches ^[A-Z]{2}-[0-9]{4}$")
			continue
		}
		if _, err := a.r.Record(t.Context(), a.k, strictly("", answer)); !errors.Is(err, engine.ErrUnwanted) {
			t.Errorf("%s is recorded without the flow that could tell: %v", answer, err)
		}
		if res, err := a.r.Resume(t.Context(), a.f, a.k, strictly("", answer)); err != nil || res.Status != stores.StatusDone {
			t.Errorf("%s: %+v, %v", answer, res, err)
		}
	}
	f, err := flowfile.Load("../../fixtures/teff/workflows/discount.graph.yaml")
	a := ask(t, f, err)
	d := strictly("", `"junk"`)
	d.Strict, d.Unchecked = false, true
	if res, err := a.r.Resume(t.Context(), a.f, a.k, d); err != nil || res.Status != stores.StatusPaused {
		t.Errorf("unchecked: %+v, %v", res, err)
	}
}

// A document's strategy is looked at in a branch too.
func TestAnAnswerInABranchOfADocumentIsJudged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.flow.yaml")
	const text = `
steps:
  - parallel:
      branches:
        - interrupt: {key: code, prompt: "code?", strategy: {regex: '^(?P<a>[ab])(?P=a)$'}}
        - interrupt: {key: ok, prompt: "ok?", strategy: {any_of: [1, true]}}
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := flowfile.Load(path)
	a := ask(t, f, err)
	a.refuses(t, "code", `"ab"`, `wanted is a text that matches ^(?P<a>[ab])(?P=a)$`)
	a.refuses(t, "ok", `"no"`, "wanted is one of 1, True")
	if _, err := a.r.Resume(t.Context(), a.f, a.k, strictly("code", `"bb"`)); err != nil {
		t.Error(err)
	}
	if res, err := a.r.Resume(t.Context(), a.f, a.k, strictly("ok", `"True"`)); err != nil || res.Status != stores.StatusDone {
		t.Errorf("%+v, %v", res, err)
	}
}

// In the flow form a strategy is shown and checked as in the form with config,
// wherever the interrupt stands, and its hint says what is wanted.
func TestAStrategyOfTheFlowFormIsShownAndChecked(t *testing.T) {
	type answer struct{ json, refused string }
	const fan = "- parallel: {branches: [{interrupt: {key: code, strategy: %s}}, {transform: {action: now, output_key: at}}]}"
	const top = "- interrupt: {id: q1, key: code, prompt: code?, strategy: %s}"
	const round = "- transform: {action: now, output_key: at}\n- loop: {key: decision, until: да, max_rounds: 3, body: [interrupt: {key: code, strategy: %s}], done: [transform: {action: now, output_key: end}]}"
	const graph = "- {id: q, type: interrupt, config: {key: code}}\n- {id: v, type: validate, config: %s}\nedges: [{from: q, to: [v]}]"
	const inner = "- {id: s, type: subflow, config: {graph: {steps: [{id: q, type: interrupt, config: {key: code}}, {id: v, type: validate, config: %s}], edges: [{from: q, to: v}]}}}"
	for strategy, c := range map[string]struct {
		shown string
		no    answer
		yes   string
	}{
		"any_of: [yes, ok]":                       {"one of yes, ok", answer{`"junk"`, "wanted is one of yes, ok"}, `" OK "`},
		"equals: sure":                            {`"sure"`, answer{`"junk"`, `wanted is "sure"`}, `"SURE"`},
		"regex: '^(?P<a>[ab])(?P=a)$'":            {"a text that matches ^(?P<a>[ab])(?P=a)$", answer{`"ab"`, "wanted is a text that matches"}, `"aa"`},
		"any_of: [yes, ok], hint: say that it is": {"say that it is", answer{`"junk"`, "wanted is say that it is"}, `"ok"`},
		"regex: '^x', hint: an x":                 {"an x", answer{`"junk"`, "wanted is an x"}, `"x"`},
	} {
		for place, form := range map[string]string{"top": top, "branch": fan, "loop": round, "graph": graph, "subflow": inner} {
			s := "{" + strategy + "}"
			if place == "graph" || place == "subflow" {
				s = "{" + strategy + ", input_key: code}"
			}
			text := "dialect: flowtui\nname: f\nsteps:\n" + strings.Replace(form, "%s", s, 1)
			f, err := flowfile.Parse("f.yaml", []byte(text), flowfile.Options{})
			a := ask(t, f, err)
			if got := a.Waiting[0].Want.String(); got != c.shown {
				t.Errorf("%s at %s is shown as %q", strategy, place, got)
			}
			a.refuses(t, "", c.no.json, c.no.refused)
			if res, err := a.r.Resume(t.Context(), a.f, a.k, strictly("", c.yes)); err != nil || res.Status != stores.StatusDone {
				t.Errorf("%s at %s: %+v, %v", strategy, place, res, err)
			}
		}
	}
}

// What may follow, or judges something else, is no judge of the answer.
func TestOnlyAJudgeThatSurelyFollowsRefuses(t *testing.T) {
	const text = `
name: f
steps:
  - {id: q, type: interrupt, config: {key: code}}
  - {id: v, type: validate, config: {input_key: KEY, equals: yes}}
edges: [{from: q, to: v, condition: __error__}, {from: q, to: v COND}]
`
	for name, c := range map[string]struct{ key, cond string }{"condition": {"code", ", condition: code!=x"}, "key": {"other", ""}} {
		f, err := flowfile.Parse("f.yaml", []byte(strings.NewReplacer("KEY", c.key, "COND", c.cond).Replace(text)), flowfile.Options{})
		a := ask(t, f, err)
		if res, err := a.r.Resume(t.Context(), a.f, a.k, strictly("", `"no"`)); err != nil || res.Status != stores.StatusDone || a.Waiting[0].Want != nil {
			t.Errorf("%s: %+v, %v", name, res, err)
		}
	}
}

// Steps of the flow form without ids get names of their own, also several with a
// strategy and several that are parallel.
func TestStepsOfTheFlowFormWithoutIDsDoNotMeet(t *testing.T) {
	const text = `
dialect: flowtui
name: f
steps:
  - interrupt: {key: a, strategy: {equals: x}}
  - interrupt: {key: b, strategy: {equals: y, decision_key: d, rounds_key: r}}
  - parallel: {branches: [{transform: {action: now, output_key: p}}]}
  - parallel: {branches: [{transform: {action: now, output_key: q}}]}
`
	f, err := flowfile.Parse("f.yaml", []byte(text), flowfile.Options{})
	a := ask(t, f, err)
	if _, err := a.r.Resume(t.Context(), a.f, a.k, strictly("a", `"x"`)); err != nil {
		t.Error(err)
	}
	if res, err := a.r.Resume(t.Context(), a.f, a.k, strictly("b", `"y"`)); err != nil || res.Status != stores.StatusDone {
		t.Errorf("%+v, %v", res, err)
	}
}

// A key that a strategy has not is told in our own words, at its place.
func TestAStrategyOfTheFlowFormHasNoOtherKeys(t *testing.T) {
	for strategy, want := range map[string]string{
		"{equals: x, hnt: y}":    "f.yaml:4:50: the strategy of an interrupt has no key 'hnt'",
		"{equals: x, hint: [y]}": "hint must be a string, not a list",
	} {
		_, err := flowfile.Parse("f.yaml", []byte("dialect: flowtui\nname: f\nsteps:\n- interrupt: {key: a, strategy: "+strategy+"}"), flowfile.Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", strategy, err)
		}
	}
}

// A map whose only step is a question collects the answers, in both dialects.
func TestAMapOfQuestionsCollectsTheAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		processor string
		want      []any
	}{
		"flow file":  {"{id: ask, type: interrupt, key: q, prompt: 'q {items}?'}", []any{"x", "y"}},
		"loop":       {"{id: ask, type: interrupt_loop, key: q, prompt: 'q {items}?', strategy: {any_of: [x, y]}}", []any{"x", "y"}},
		"output_key": {"{id: ask, type: interrupt, key: outs}", []any{"x", "y"}},
		"teff":       {"{type: interrupt, config: {key: q, prompt: 'q {items}?'}}", []any{"x", "y"}},
	} {
		dialect := "flowtui"
		if name == "teff" {
			dialect = name
		}
		path := filepath.Join(t.TempDir(), "f.yaml")
		text := "dialect: " + dialect + "\nname: f\nstate: {initial: {items: [a, b]}}\nsteps:\n  - {id: m, type: map, config: {input_keys: [items], output_key: outs, processor: " + c.processor + "}}\nedges: []\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := flowfile.Load(path)
		a := ask(t, f, err)
		res := a.Result
		for _, w := range a.Waiting {
			if res, err = a.r.Resume(t.Context(), a.f, a.k, strictly(w.ID, map[byte]string{'0': `"x"`, '1': `"y"`}[w.ID[2]])); err != nil {
				t.Fatal(err)
			}
		}
		if res.Status != stores.StatusDone || !reflect.DeepEqual(res.State["outs"], c.want) {
			t.Errorf("%s: %+v", name, res)
		}
	}
}

// A map whose only step is a call collects what it brings.
func TestAMapOfCallsCollectsTheResults(t *testing.T) {
	echo := tool.Tool{Name: "echo", Run: func(_ context.Context, in tool.Input) (any, error) { return in.Args, nil }}
	const text = `
name: f
state: {initial: {items: [a, b]}}
steps:
  - {id: m, type: map, config: {input_keys: [items], output_key: outs, processor: {type: call, tool: echo, args: {x: "{items}"}, into: got}}}
`
	f, err := flowfile.Parse("f.yaml", []byte(text), flowfile.Options{Tools: tool.NewRegistry(echo)})
	if err != nil {
		t.Fatal(err)
	}
	r, err := engine.New(engine.Config{Store: memory.New(memory.Options{}), Tools: f.Tools})
	if err != nil {
		t.Fatal(err)
	}
	res, err := r.Run(t.Context(), f.Flow, engine.Start{Key: stores.Key{Owner: stores.DefaultOwner, Run: "r"}})
	want := []any{map[string]any{"x": "a"}, map[string]any{"x": "b"}}
	if err != nil || !reflect.DeepEqual(res.State["outs"], want) {
		t.Errorf("%+v, %v", res, err)
	}
}
