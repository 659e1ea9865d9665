package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/flowtui/flowtui/engine/teff/document"
	"github.com/flowtui/flowtui/fixtures/teff"
	"github.com/flowtui/flowtui/stores"
	stored "github.com/flowtui/flowtui/stores/teff"
	"github.com/flowtui/flowtui/viewer"
)

// fresh puts every store back to how it was recorded.
type fresh struct {
	at map[string]string
}

func (f *fresh) reset(t *testing.T, store string) {
	t.Helper()
	switch {
	case strings.HasPrefix(store, "file"):
		check(t, os.RemoveAll(f.at[store]))
		check(t, teff.WriteFiles(map[string]string{"file": "main", "file_tmp": "killed_in_save"}[store], f.at[store]))
	case strings.HasPrefix(store, "sqlite"):
		check(t, teff.WriteDatabases(filepath.Dir(f.at[store]), store))
	default:
		ctx := context.Background()
		conn, err := pgx.Connect(ctx, f.at[store])
		check(t, err)
		defer conn.Close(ctx)
		script := "CREATE TABLE IF NOT EXISTS saved AS SELECT * FROM checkpoints; TRUNCATE checkpoints; INSERT INTO checkpoints SELECT * FROM saved;"
		if store == "pg_history" {
			script += "CREATE TABLE IF NOT EXISTS saved_history AS SELECT * FROM checkpoint_history; TRUNCATE checkpoint_history; INSERT INTO checkpoint_history SELECT * FROM saved_history;"
		}
		_, err = conn.PgConn().Exec(ctx, script).ReadAll()
		check(t, err)
	}
}

func attachWorkflow(t *testing.T, location, path string) *viewer.Service {
	t.Helper()
	s, err := viewer.Attach(t.Context(), []string{location}, viewer.Options{
		Formats: formats(map[string]string{location: location}, false), Raw: true,
		Workflows: func() ([]viewer.Workflow, error) {
			w, err := document.Load(path, func(name string) (string, bool) { return "north", name == "REGION" })
			return []viewer.Workflow{{File: path, Workflow: w, Err: err}}, nil
		},
	})
	check(t, err)
	return s
}

// actionFor is the request for a recorded action; ok is false for one that no
// request of ours is.
func actionFor(row viewer.Row, action map[string]json.RawMessage) (r viewer.Request, ok bool) {
	if _, goOn := action["continue"]; goOn {
		return viewer.Request{Ref: row.Ref, Action: viewer.Recover, MaxIterations: 200}, row.Native == "unfinished"
	}
	answer := map[string]json.RawMessage{}
	if json.Unmarshal(action["resume"], &answer) != nil || len(answer) != 1 || len(row.Waiting) != 1 {
		return r, false
	}
	value, asked := answer[row.Waiting[0].Key]
	var float struct {
		Float string `json:"$float"`
	}
	if json.Unmarshal(value, &float) == nil && float.Float != "" {
		value = json.RawMessage(float.Float)
	}
	return viewer.Request{Ref: row.Ref, Action: viewer.Answer, Value: value, Unchecked: true, MaxIterations: 200}, asked
}

// refusing is a store of which no row can be written.
type refusing struct{ *stored.Store }

func (refusing) Replace(context.Context, ...stores.Replacement) ([][]byte, error) {
	return nil, fmt.Errorf("%w: %w", stores.ErrReadOnly, &fs.PathError{Op: "open", Path: "/runs/ana", Err: fs.ErrPermission})
}

// Nothing is said to be given that was not saved, and a write that is not
// permitted is not called a read.
func TestAnAnswerThatIsNotSavedIsNotGiven(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "main")
	check(t, teff.WriteFiles("main", dir))
	registry := formats(map[string]string{dir: dir}, false)
	for i, f := range registry {
		registry[i].Open = func(ctx context.Context, spec string, readOnly bool) (stores.Store, error) {
			s, err := f.Open(ctx, spec, readOnly)
			if err != nil {
				return nil, err
			}
			return refusing{s.(*stored.Store)}, nil
		}
	}
	s, err := viewer.Attach(t.Context(), []string{dir}, viewer.Options{Formats: registry, Workflows: func() ([]viewer.Workflow, error) {
		w, err := document.Load("../../fixtures/teff/workflows/discount.graph.yaml", nil)
		return []viewer.Workflow{{Workflow: w, Err: err}}, nil
	}})
	check(t, err)
	defer s.Close()
	var told []viewer.Progress
	_, err = s.Act(t.Context(), viewer.Request{Ref: s.Find("cart:8811", "default"), Action: viewer.Answer, Value: []byte(`"AB-1234"`)}, func(p viewer.Progress) { told = append(told, p) })
	p := s.Explain(err)
	if len(told) > 0 || p.Message != "no permission to write /runs/ana" || !strings.Contains(p.Hint, "nothing was saved") {
		t.Errorf("told %+v, then %+v", told, p)
	}
}

// Whatever way it is asked for, a run ends as it did in teff: row, nested rows,
// history and state.
func TestTeffRunsGoOnAsInTeff(t *testing.T) {
	record, err := teff.Recorded()
	check(t, err)
	f := &fresh{at: teffStores(t)}
	// How many recorded ways an action of ours is for; messages and answers
	// with several keys are not. Where an answer is also stored first, twice.
	for store, least := range map[string]int{"file": 100, "file_tmp": 2, "sqlite": 55, "sqlite_history": 55, "pg": 55, "pg_history": 100} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			if done := f.goAll(t, record.Runs, store); done < least {
				t.Errorf("only %d ways were gone", done)
			}
		})
	}
}

// goAll takes every way of a store's runs and counts those that could be gone.
func (f *fresh) goAll(t *testing.T, runs []teff.Run, store string) (done int) {
	for _, run := range runs {
		if run.Store != store {
			continue
		}
		for _, way := range run.Resumes {
			for _, later := range []bool{false, true} {
				if later && run.Store != "file" && run.Store != "pg_history" {
					continue // storing an answer first is one code for all
				}
				name := run.Case + "/" + way.Name
				if later {
					name += " later"
				}
				t.Run(name, func(t *testing.T) {
					if f.goOn(t, run, way, later) {
						done++
					}
				})
			}
		}
	}
	return done
}

// goOn takes one way, and reports whether anything of it could be done.
func (f *fresh) goOn(t *testing.T, run teff.Run, way teff.Resume, later bool) (did bool) {
	f.reset(t, run.Store)
	s := attachWorkflow(t, f.at[run.Store], filepath.Join("..", "..", "fixtures", "teff", run.Workflow))
	defer s.Close()
	ref := s.Find(run.ID, run.Owner)
	for i, step := range way.Results {
		d, err := s.Show(t.Context(), ref)
		check(t, err)
		d.Ref = ref // by the id that it has for teff
		r, ok := actionFor(d.Row, step.Action)
		if !ok {
			return did
		}
		p, err := s.Plan(t.Context(), ref, false)
		check(t, err)
		if p.Blocked != nil {
			t.Fatalf("step %d is blocked: %s", i, *p.Blocked)
		}
		r.Version = p.Version
		if later && r.Action == viewer.Answer {
			r.NoRun = true
			out, err := s.Act(t.Context(), r, nil)
			check(t, err)
			if out.Status == "paused" {
				t.Fatalf("after the answer was stored it is %+v", out)
			}
			if out.Status == "done" { // no edge leads on
				showsAs(t, s, withSaved(run, step.Saved))
				did = true
				continue
			}
			r = viewer.Request{Ref: ref, Action: viewer.Recover, MaxIterations: 200}
		}
		out, err := s.Act(t.Context(), r, nil)
		if (err != nil) != (step.Outcome == "error") {
			t.Fatalf("step %d, %s: %v, %+v", i, step.Outcome, err, out)
		}
		showsAs(t, s, withSaved(run, step.Saved))
		if t.Failed() {
			return true
		}
		did = true
	}
	return did
}

func withSaved(run teff.Run, saved teff.Saved) teff.Run {
	run.Saved = saved
	return run
}

// What the Ask of a workflow would not take is told so that a sheet can offer
// to send it all the same; then it is sent.
func TestAnAnswerThatIsRefusedCanBeOverridden(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "main")
	check(t, teff.WriteFiles("main", dir))
	s := attachWorkflow(t, dir, "../../fixtures/teff/workflows/discount.graph.yaml")
	defer s.Close()
	bad := viewer.Request{Ref: s.Find("cart:8811", "default"), Action: viewer.Answer, Value: []byte(`"bad"`)}
	_, err := s.Act(t.Context(), bad, nil)
	if p := s.Explain(err); !p.Overridable || p.Code != "usage" {
		t.Errorf("%+v", p)
	}
	bad.Unchecked = true
	o, err := s.Act(t.Context(), bad, nil)
	check(t, err)
	if o.Status != "paused" {
		t.Errorf("%+v", o)
	}
}
