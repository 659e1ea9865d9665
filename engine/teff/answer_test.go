package teff_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/flowtui/flowtui/engine/teff"
	"github.com/flowtui/flowtui/engine/teff/py"
)

// pausedWays calls f for every recorded way to resume that begins with an
// answer to a run that waits.
func pausedWays(t *testing.T, f func(t *testing.T, r, want *py.Dict)) {
	n := 0
	for _, r := range dicts(readCases(t, "expected.json.gz").GetOr("runs", nil)) {
		for _, way := range dicts(r.GetOr("resumes", nil)) {
			want := dicts(way.GetOr("results", nil))[0]
			answer := dict(dict(want, "action"), "resume")
			if text(dict(r, "saved"), "status") != "paused" || answer == nil || answer.Len() == 0 {
				continue
			}
			n++
			t.Run(fmt.Sprintf("%s/%s/%s", text(r, "store"), text(r, "case"), text(way, "name")), func(t *testing.T) { f(t, r, want) })
		}
	}
	t.Logf("%d recorded answers", n)
	if n < 200 {
		t.Errorf("only %d recorded answers", n)
	}
}

// Answering first and running on later must leave what teff's resume with the
// answer left: that is what makes an answer without a run safe.
func TestAnswerThenRunIsTeffsResume(t *testing.T) {
	pausedWays(t, func(t *testing.T, r, want *py.Dict) {
		w := loadWorkflow(t, text(r, "workflow"))
		store, id := recordedStore(t, r), text(r, "id")
		before := recordedRows(t, store, r)
		changes, err := teff.Answer(t.Context(), w, store, id, dict(dict(want, "action"), "resume"))
		if err != nil {
			t.Fatal(err)
		}
		if after := recordedRows(t, store, r); after != before {
			t.Fatalf("Answer wrote to the store: %s", after)
		}
		for _, c := range changes {
			if c.New == nil || c.Seen == nil {
				t.Fatalf("an answer makes or removes the row %s", c.ID)
			}
			if err := store.Save(t.Context(), c.ID, *c.New); err != nil {
				t.Fatal(err)
			}
		}
		got := perform(t, w, store, id, py.NewDict())
		compareOutcome(t, got, want)
		if rows := recordedRows(t, store, r); rows != exact(t, want.GetOr("saved", nil)) {
			t.Fatalf("the store holds\n%s\nteff left\n%s", rows, exact(t, want.GetOr("saved", nil)))
		}
	})
}

func TestCheckAnswerForetellsTeff(t *testing.T) {
	pausedWays(t, func(t *testing.T, r, want *py.Dict) {
		store := recordedStore(t, r)
		runner := teff.Runner{Workflow: loadWorkflow(t, text(r, "workflow")), Store: store}
		before := recordedRows(t, store, r)
		p, err := runner.CheckAnswer(t.Context(), text(r, "id"), dict(dict(want, "action"), "resume"))
		if err != nil {
			t.Fatal(err)
		}
		if recordedRows(t, store, r) != before {
			t.Fatal("CheckAnswer wrote to the store")
		}
		switch o := p.Outcome; {
		case o == nil:
			t.Fatal("no outcome")
		case o.Completed != (text(want, "outcome") == "completed"), (o.Failed != "") != (text(want, "outcome") == "error"):
			t.Errorf("%s: foretold %+v, teff: %s", exact(t, dict(want, "action")), *o, text(want, "outcome"))
		case o.Interrupt != nil && o.Interrupt.Prompt != text(dict(want, "raised"), "prompt"):
			t.Errorf("%s: foretold %q, teff asked %q", exact(t, dict(want, "action")), o.Interrupt.Prompt, text(dict(want, "raised"), "prompt"))
		}
	})
}

func TestAnswerRefusals(t *testing.T) {
	ctx := t.Context()
	w := loadWorkflow(t, "workflows/vault.graph.yaml")
	store := newMemory()
	r := teff.Runner{Workflow: w, Store: store}
	yes := py.NewDict(py.Entry{Key: "code", Value: "1"})
	if _, err := teff.Answer(ctx, w, store, "v", yes); err == nil {
		t.Error("a run that is not there was answered")
	}
	if _, err := r.Run(ctx, "v", nil, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := teff.Answer(ctx, nil, store, "v", yes); !errors.Is(err, teff.ErrNoWorkflow) {
		t.Errorf("without a workflow: %v", err)
	}
	if _, err := teff.Answer(ctx, w, store, "v", py.NewDict()); err == nil {
		t.Error("an empty answer was taken")
	}
	if _, err := r.Run(ctx, "v", nil, yes); err != nil {
		t.Fatal(err)
	}
	if _, err := teff.Answer(ctx, w, store, "v", yes); !errors.Is(err, teff.ErrNotPaused) {
		t.Errorf("a completed run: %v", err)
	}
}

// The child's row is gone, or has been answered: teff would lose the answer.
func TestAnAnswerThatWouldBeLostIsRefused(t *testing.T) {
	ctx := t.Context()
	w := loadWorkflow(t, "workflows/onboarding.graph.yaml")
	answer := py.NewDict(py.Entry{Key: "laptop", Value: "B"})
	for name, spoil := range map[string]func(*memory){
		"gone":     func(m *memory) { delete(m.rows, "n:sub:equipment") },
		"answered": func(m *memory) { m.rows["n:sub:equipment"] = teff.Checkpoint{State: []byte("{}")} },
	} {
		store := newMemory()
		r := teff.Runner{Workflow: w, Store: store}
		if _, err := r.Run(ctx, "n", nil, nil); err != nil {
			t.Fatal(err)
		}
		spoil(store)
		var inexact *teff.InexactError
		if _, err := teff.Answer(ctx, w, store, "n", answer); !errors.As(err, &inexact) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := r.CheckAnswer(ctx, "n", answer); !errors.As(err, &inexact) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
