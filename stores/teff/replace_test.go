package teff

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowtui/flowtui/stores"
)

var key = stores.Key{Owner: "default", Run: "guard"}

const written = `{"state": {"b": 1.50, "aa": "é\u0000"}, "next_node_id": "mark \"x\"", "iteration": 9}`

// in PostgreSQL, which cannot hold a NUL and orders keys by length
const (
	writtenPG = `{"state": {"b": 1.50, "aa": "é"}, "next_node_id": "mark \"x\"", "iteration": 9}`
)

func texts(name string) string {
	if strings.HasPrefix(name, "pg") {
		return writtenPG
	}
	return written
}

func TestReplaceWritesWhatTeffWould(t *testing.T) {
	for _, p := range places(t) {
		t.Run(p.name, func(t *testing.T) {
			s := attach(t, p.location)
			before, all := latest(t, s, key.Owner, key.Run), heads(t, s)
			next := texts(p.name)
			stored, err := s.Replace(t.Context(), stores.Replacement{Key: key, Seen: before.Payload, Next: []byte(next)})
			check(t, err)
			c := latest(t, s, key.Owner, key.Run)
			if string(c.Payload) != next || string(stored[0]) != next || c.Step != 9 || c.Status != stores.StatusRunning || c.Bad != "" {
				t.Errorf("it is now %s, %+v", c.Payload, c)
			}
			if age := time.Since(c.Time); age < -time.Minute || age > time.Minute {
				t.Errorf("it says that it was saved at %s", c.Time)
			}
			if h, ok := s.(stores.Historian); ok {
				at, err := h.At(t.Context(), key, 9)
				check(t, err)
				if string(at.Payload) != next {
					t.Errorf("its history has %s", at.Payload)
				}
			}
			now := heads(t, s)
			delete(all, key)
			delete(now, key)
			if diff := cmp.Diff(all, now); diff != "" {
				t.Errorf("other rows changed:\n%s", diff)
			}
			removed, err := s.Replace(t.Context(), stores.Replacement{Key: key, Seen: stored[0]})
			check(t, err)
			if _, err := s.Latest(t.Context(), key); !errors.Is(err, stores.ErrNotFound) || removed[0] != nil {
				t.Errorf("it was removed and is there: %v", err)
			}
			if h, ok := s.(stores.Historian); ok { // as teff leaves it
				if _, err := h.At(t.Context(), key, 9); err != nil {
					t.Error(err)
				}
			}
			fresh := stores.Key{Owner: "new owner", Run: "new:sub:run"}
			for _, want := range []error{nil, stores.ErrConflict} {
				if _, err := s.Replace(t.Context(), stores.Replacement{Key: fresh, Next: []byte(next)}); !errors.Is(err, want) {
					t.Errorf("a new row: got %v, want %v", err, want)
				}
			}
		})
	}
}

func heads(t *testing.T, s foreign) map[stores.Key]stores.Head {
	t.Helper()
	all := map[stores.Key]stores.Head{}
	page, err := s.List(t.Context(), stores.Query{Filter: stores.Filter{Owner: stores.AnyOwner}, Limit: stores.MaxLimit})
	check(t, err)
	for _, h := range page.Heads {
		all[h.Key] = h
	}
	return all
}

// A row that changed is not written over, and neither are the rows beside it.
func TestReplaceComparesAllRowsFirst(t *testing.T) {
	for _, p := range places(t) {
		t.Run(p.name, func(t *testing.T) {
			s := attach(t, p.location)
			other := stores.Key{Owner: "default", Run: "inv-1"}
			a, b := latest(t, s, key.Owner, key.Run), latest(t, s, other.Owner, other.Run)
			before := heads(t, s)
			next := []byte(texts(p.name))
			gone := stores.Key{Owner: "default", Run: "not there"}
			for name, rows := range map[string][]stores.Replacement{
				"changed":         {{Key: key, Seen: []byte(strings.Replace(string(a.Payload), "27", "28", 1)), Next: next}},
				"second changed":  {{Key: key, Seen: a.Payload, Next: next}, {Key: other, Seen: a.Payload, Next: next}},
				"appeared":        {{Key: key, Next: next}},
				"gone":            {{Key: gone, Seen: a.Payload, Next: next}},
				"gone beside one": {{Key: other, Seen: b.Payload}, {Key: gone, Seen: a.Payload}},
			} {
				if _, err := s.Replace(t.Context(), rows...); !errors.Is(err, stores.ErrConflict) {
					t.Errorf("%s: %v", name, err)
				}
			}
			for name, bad := range map[string]string{"no row": `[]`, "no JSON": `{"state": {}`, "no state": `{"state": 1}`, "no iteration": `{"iteration": "1"}`} {
				if _, err := s.Replace(t.Context(), stores.Replacement{Key: key, Seen: a.Payload, Next: []byte(bad)}); !errors.Is(err, stores.ErrInvalid) {
					t.Errorf("%s: %v", name, err)
				}
			}
			if diff := cmp.Diff(before, heads(t, s)); diff != "" {
				t.Errorf("rows changed:\n%s", diff)
			}
		})
	}
}

// Of many who saw one row, one writes.
func TestReplaceIsWonByOne(t *testing.T) {
	for _, p := range places(t) {
		t.Run(p.name, func(t *testing.T) {
			seen := latest(t, attach(t, p.location), key.Owner, key.Run)
			var wg sync.WaitGroup
			var won atomic.Int64
			var winner atomic.Value
			for i := range 8 {
				s := attach(t, p.location) // as another process would
				wg.Go(func() {
					next := fmt.Sprintf(`{"state": {"by": %d}, "next_node_id": null, "iteration": 1}`, i)
					_, err := s.Replace(t.Context(), stores.Replacement{Key: key, Seen: seen.Payload, Next: []byte(next)})
					switch {
					case err == nil:
						won.Add(1)
						winner.Store(next)
					case !errors.Is(err, stores.ErrConflict):
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if c := latest(t, attach(t, p.location), key.Owner, key.Run); won.Load() != 1 || string(c.Payload) != winner.Load() {
				t.Errorf("%d have won, the row is %s", won.Load(), c.Payload)
			}
		})
	}
}

func TestReplaceKeepsFilesAsTheyAre(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "main")
	s := attach(t, copied(t, dir))
	path := filepath.Join(dir, "default", "guard.json")
	check(t, os.Chmod(path, 0o640))
	before := tree(t, dir)
	seen := latest(t, s, "default", "guard")
	_, err := s.Replace(t.Context(), stores.Replacement{Key: key, Seen: seen.Payload, Next: []byte(written)})
	check(t, err)
	after := tree(t, dir)
	text, err := os.ReadFile(path)
	check(t, err)
	info, err := os.Stat(path)
	check(t, err)
	if string(text) != written || info.Mode().Perm() != 0o640 {
		t.Errorf("%s has mode %s", text, info.Mode())
	}
	for _, changed := range []string{path, filepath.Dir(path)} {
		delete(before, changed)
		delete(after, changed)
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("more than the file and its folder changed:\n%s", diff)
	}
}

func TestReadOnlyRefusesToReplace(t *testing.T) {
	for _, p := range places(t) {
		s, err := Open(t.Context(), p.location, Options{ReadOnly: true})
		check(t, err)
		defer s.Close()
		info, err := s.Info(t.Context())
		check(t, err)
		seen := latest(t, s, key.Owner, key.Run)
		_, err = s.(foreign).Replace(t.Context(), stores.Replacement{Key: key, Seen: seen.Payload, Next: []byte(writtenPG)})
		if !errors.Is(err, stores.ErrReadOnly) || !info.ReadOnly || info.Why == "" {
			t.Errorf("%s: %v, %+v", p.name, err, info)
		}
	}
}

// teff knows no lock: a file that it makes between the look and the write is not
// written over.
func TestANewRowIsNotWrittenOverOneThatCameMeanwhile(t *testing.T) {
	dir := t.TempDir()
	f := &files{dir: dir}
	root, err := os.OpenRoot(dir)
	check(t, err)
	defer root.Close()
	check(t, os.Mkdir(filepath.Join(dir, "default"), 0o755))
	path := filepath.Join(dir, "default", "guard.json")
	check(t, os.WriteFile(path, []byte(`{"state": {}}`), 0o644))
	if err := f.put(root, change{key: key, next: []byte(written)}); !errors.Is(err, stores.ErrConflict) {
		t.Errorf("got %v", err)
	}
	if now, err := os.ReadFile(path); err != nil || string(now) != `{"state": {}}` {
		t.Errorf("the file holds %s, %v", now, err)
	}
	check(t, f.put(root, change{key: key, seen: []byte("x"), next: []byte(written)})) // compared before
	check(t, f.put(root, change{key: stores.Key{Owner: "default", Run: "other"}, next: []byte(written)}))
	list, err := os.ReadDir(filepath.Join(dir, "default"))
	check(t, err)
	if len(list) != 2 {
		t.Errorf("the folder holds %v", list)
	}
}
