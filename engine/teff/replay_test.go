package teff_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine/teff"
	"github.com/flowtui/flowtui/engine/teff/py"
)

// What was done to make the recorded runs, done again on an empty store, must
// leave the recorded rows, history included, and for files the recorded
// bytes: all runs but those whose rows were written by hand.
func TestRecordedRunsAreMadeAgain(t *testing.T) {
	files := readCases(t, "stores/files.json")
	n, compared := 0, 0
	for _, r := range dicts(readCases(t, "expected.json.gz").GetOr("runs", nil)) {
		made := dicts(r.GetOr("made_by", nil))
		if len(made) == 0 || dict(dict(made[0], "action"), "branch_from") != nil {
			continue
		}
		n++
		t.Run(fmt.Sprintf("%s/%s", text(r, "store"), text(r, "case")), func(t *testing.T) {
			compared += compareFiles(t, files, r, makeAgain(t, r, made))
		})
	}
	if n != 603 || compared < 60 {
		t.Errorf("%d runs were made again, want 603; %d files were compared", n, compared)
	}
}

// compareFiles compares rows with the files that teff wrote, byte by byte.
func compareFiles(t *testing.T, files, r *py.Dict, store *recorded) (compared int) {
	folder := dict(files, map[string]string{"file": "main", "file_tmp": "killed_in_save"}[text(r, "store")])
	if folder == nil || text(dict(r, "saved"), "status") == "missing" {
		return 0
	}
	for id, c := range store.rows {
		path := filepath.ToSlash(filepath.Join(filepath.Dir(text(r, "file")), id+".json"))
		if got := string(c.Payload()); got != text(folder, path) {
			t.Errorf("%s would hold\n%s, teff wrote\n%s", path, got, text(folder, path))
		}
		compared++
	}
	return compared
}

func makeAgain(t *testing.T, r *py.Dict, made []*py.Dict) *recorded {
	store := &dying{recorded: newRecorded(r)}
	for _, want := range made {
		action := dict(want, "action")
		w := loadWorkflow(t, text(r, "workflow"))
		for _, option := range []string{"kill_at", "crash_at"} {
			if path := text(action, option); path != "" {
				breakNode(t, w.Graph, path)
			}
		}
		store.after = -1
		if kill := dict(action, "kill_save"); kill != nil {
			store.after = int(kill.GetOr("n", nil).(int64)) - 1
		}
		got := perform(t, w, store, text(r, "id"), action)
		if word := text(want, "outcome"); word == "killed" || text(action, "crash_at") != "" {
			if got.err == nil {
				t.Fatalf("%s did not end early", exact(t, action))
			}
			continue
		}
		compareOutcome(t, got, want)
	}
	saved := dict(r, "saved")
	if text(saved, "status") == "missing" {
		if len(store.rows) > 0 {
			t.Errorf("there are rows: %v", store.rows)
		}
		return store.recorded
	}
	if rows := recordedRows(t, store.recorded, r); rows != exact(t, saved) {
		t.Errorf("the store holds\n%s\nteff left\n%s", rows, exact(t, saved))
	}
	return store.recorded
}

// breakNode makes a node fail, as the recorded run's node was made to, or as
// if its process had been killed in it: the store is left alike.
func breakNode(t *testing.T, g *teff.Graph, path string) {
	t.Helper()
	id, inner, nested := strings.Cut(path, ">")
	n := g.Node(id)
	if n == nil {
		t.Fatalf("there is no node %s", path)
	}
	if nested {
		breakNode(t, n.Graph, inner)
		return
	}
	n.Type, n.Config = "transform", object(t, `{"action": "render", "template": "{no such key}"}`)
}

// dying is a store whose process is killed in a save: after so many whole ones.
type dying struct {
	*recorded
	after int
}

var errKilled = errors.New("killed")

func (s *dying) Save(ctx context.Context, id string, c teff.Checkpoint) error {
	if s.after == 0 {
		return errKilled
	}
	s.after--
	return s.recorded.Save(ctx, id, c)
}
