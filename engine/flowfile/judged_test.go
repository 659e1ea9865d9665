package flowfile_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/flowfile"
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
