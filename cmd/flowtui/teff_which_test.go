package main

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine/teff/document"
	"github.com/flowtui/flowtui/fixtures/teff"
	"github.com/flowtui/flowtui/viewer"
)

// Of all recorded workflows, a recorded run goes on with its own. The one workflow
// that was recorded in two forms has the same nodes in both: then both are
// named, and nothing is done. Without its own the run is refused.
func TestARunGoesOnWithItsOwnWorkflow(t *testing.T) {
	t.Setenv("REGION", "north")
	record, err := teff.Recorded()
	check(t, err)
	at := teffStores(t)["file"]
	a, _ := testApp(t)
	dir := filepath.Join("..", "..", "fixtures", "teff", "workflows")
	all, err := a.workflowsIn([]string{dir, filepath.Join(dir, "composed")})
	check(t, err)
	plan := func(t *testing.T, r teff.Run, but string) viewer.Plan {
		return planWith(t, at, r, slices.DeleteFunc(slices.Clone(all), func(w viewer.Workflow) bool { return w.File == but }))
	}
	chosen, twins := 0, 0
	for _, r := range record.Runs {
		if r.Store != "file" || r.Saved.Status == "completed" {
			continue
		}
		file := filepath.Join("..", "..", "fixtures", "teff", r.Workflow)
		t.Run(r.Case, func(t *testing.T) {
			own, err := document.Load(file, a.workflowEnv)
			check(t, err)
			p := plan(t, r, "")
			said := p.Then
			for _, e := range p.Review {
				said += e.IfYes
			}
			if strings.HasPrefix(own.Name, "release-review") && p.Blocked != nil {
				if !strings.Contains(*p.Blocked, "release_review.flow.yaml and ") || !strings.Contains(*p.Blocked, "release_review.graph.yaml") {
					t.Fatalf("blocked: %s", *p.Blocked)
				}
				twins++
				return
			}
			if p.Blocked != nil || !strings.Contains(said, "as the workflow "+own.Name+" says") {
				t.Fatalf("it is %s; said %q, blocked %v", own.Name, said, p.Blocked)
			}
			chosen++
			if p = planWith(t, at, r, unloadable(all, file)); p.Blocked == nil || !strings.Contains(*p.Blocked, "does not load") {
				t.Fatalf("its workflow does not load: %v", p.Blocked)
			}
			if p = plan(t, r, file); p.Blocked == nil || !strings.Contains(*p.Blocked, "the workflow of the run is missing: none that was given has a node ") {
				t.Fatalf("without its workflow: %v", p.Blocked)
			}
		})
	}
	if chosen < 40 || twins < 4 {
		t.Errorf("%d went on with their own, %d have two", chosen, twins)
	}
}

// Without any workflow the reason why a run cannot be answered begins with what
// to do: on the screens its end may be cut.
func TestARunWithoutWorkflowsSaysFirstWhatToDo(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "main")
	check(t, teff.WriteFiles("main", dir))
	s, err := viewer.Attach(t.Context(), []string{dir}, viewer.Options{
		Formats:   formats(map[string]string{dir: dir}, false),
		Workflows: func() ([]viewer.Workflow, error) { return nil, nil },
	})
	check(t, err)
	defer s.Close()
	p, err := s.Plan(t.Context(), s.Find("cart:8811", "default"), false)
	check(t, err)
	at := slices.IndexFunc(p.Row.Actions, func(o viewer.Offer) bool { return o.Action == viewer.Answer })
	if at < 0 || !strings.HasPrefix(p.Row.Actions[at].Disabled, "start flowtui with --flow FILE, the workflow of the run: ") {
		t.Errorf("%+v", p.Row.Actions)
	}
}

func planWith(t *testing.T, at string, r teff.Run, list []viewer.Workflow) viewer.Plan {
	t.Helper()
	s, err := viewer.Attach(t.Context(), []string{at}, viewer.Options{
		Formats:   formats(map[string]string{at: at}, false),
		Workflows: func() ([]viewer.Workflow, error) { return list, nil },
	})
	check(t, err)
	defer s.Close()
	p, err := s.Plan(t.Context(), s.Find(r.ID, r.Owner), false)
	check(t, err)
	return p
}

// unloadable are the workflows, of which one does not load.
func unloadable(all []viewer.Workflow, file string) []viewer.Workflow {
	list := slices.Clone(all)
	for i, w := range list {
		if w.File == file {
			list[i].Workflow, list[i].Err = nil, errors.New("it does not load")
		}
	}
	return list
}
