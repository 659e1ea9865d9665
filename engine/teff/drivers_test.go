package teff_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/flowtui/flowtui/engine/teff"
	"github.com/flowtui/flowtui/engine/teff/py"
	fixtures "github.com/flowtui/flowtui/fixtures/teff"
	"github.com/flowtui/flowtui/internal/testservers"
	"github.com/flowtui/flowtui/stores"
	driver "github.com/flowtui/flowtui/stores/teff"
)

// The recorded ways to resume once more, each on a fresh copy of a store that
// teff wrote and through the driver of its kind. What was recorded in several
// kinds of store is done in one of them, another one for each way. Two stores
// are only read, because teff has to mend them when it opens them: a table of an
// older teff, and a transaction that a killed process left.
func TestRecordedRunsResumeInTheStoresThatTeffWrote(t *testing.T) {
	copies := map[string]func(t *testing.T) string{
		"file": folder("main"), "file_tmp": folder("killed_in_save"), "sqlite": database("sqlite.db"),
		"sqlite_history": database("sqlite_history.db"), "sqlite_legacy": database("sqlite_legacy.db"),
		"sqlite_hot": database("sqlite_hot.db"),
	}
	server := testservers.Postgres(t).URL
	for _, name := range []string{"pg", "pg_history"} {
		copies[name] = postgres(t, server, name)
	}
	type recording struct{ run, way *py.Dict }
	var names []string
	ways := map[string][]recording{}
	for _, r := range dicts(readCases(t, "expected.json.gz").GetOr("runs", nil)) {
		for _, way := range dicts(r.GetOr("resumes", nil)) {
			if copies[text(r, "store")] == nil { // one run of 2 MB, whose stores are not kept
				continue
			}
			name := text(r, "case") + "/" + text(way, "name")
			if ways[name] == nil {
				names = append(names, name)
			}
			ways[name] = append(ways[name], recording{r, way})
		}
	}
	for i, name := range names {
		chosen := ways[name][i%len(ways[name])]
		store := text(chosen.run, "store")
		t.Run(name+"/"+store, func(t *testing.T) {
			if !strings.HasPrefix(store, "pg") { // whose copies are made in one place
				t.Parallel()
			}
			resumeStored(t, chosen.run, chosen.way, copies[store](t))
		})
	}
}

func resumeStored(t *testing.T, r, way *py.Dict, location string) {
	s := &rows{store: open(t, location), owner: text(r, "owner"), seen: map[string][]byte{}}
	w := loadWorkflow(t, text(r, "workflow"))
	if store := text(r, "store"); store == "sqlite_legacy" || store == "sqlite_hot" {
		before := exact(t, s.describe(t, r, r))
		action := dict(dicts(way.GetOr("results", nil))[0], "action")
		if o := perform(t, w, s, text(r, "id"), action); !errors.Is(o.err, stores.ErrReadOnly) {
			t.Errorf("%s: %v", exact(t, action), o.err)
		}
		if after := exact(t, s.describe(t, r, r)); after != before {
			t.Errorf("a store that is only read holds %s, it held %s", after, before)
		}
		return
	}
	for i, want := range dicts(way.GetOr("results", nil)) {
		compareOutcome(t, perform(t, w, s, text(r, "id"), dict(want, "action")), want)
		if got := exact(t, s.describe(t, r, want)); got != exact(t, want.GetOr("saved", nil)) {
			t.Fatalf("after action %d the store holds\n%s\nteff left\n%s", i, got, exact(t, want.GetOr("saved", nil)))
		}
	}
}

func open(t *testing.T, location string) stores.Store {
	t.Helper()
	s, err := driver.Open(t.Context(), location, driver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func folder(name string) func(t *testing.T) string {
	return func(t *testing.T) string {
		dir := filepath.Join(t.TempDir(), name)
		if err := fixtures.WriteFiles(name, dir); err != nil {
			t.Fatal(err)
		}
		return dir
	}
}

func database(name string) func(t *testing.T) string {
	return func(t *testing.T) string {
		dir := t.TempDir()
		for _, file := range []string{name, name + "-journal"} {
			b, err := os.ReadFile(filepath.Join(data, "stores", file))
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, file), b, 0o600)
			}
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
		}
		return filepath.Join(dir, name)
	}
}

// postgres restores a dump, and again before each way: its runs come one after
// the other.
func postgres(t *testing.T, server, name string) func(t *testing.T) string {
	execute(t, server, "CREATE DATABASE "+name)
	url := at(server, name)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(fixtures.Restore(t.Context(), conn, name), conn.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
	tables := []string{"checkpoints"}
	if name == "pg_history" {
		tables = append(tables, "checkpoint_history")
	}
	execute(t, url, "CREATE SCHEMA kept")
	var again []string
	for _, table := range tables {
		execute(t, url, fmt.Sprintf("CREATE TABLE kept.%[1]s AS TABLE public.%[1]s", table))
		again = append(again, fmt.Sprintf("TRUNCATE public.%[1]s; INSERT INTO public.%[1]s SELECT * FROM kept.%[1]s", table))
	}
	return func(t *testing.T) string {
		execute(t, url, strings.Join(again, "; "))
		return url
	}
}

func at(server, database string) string {
	return strings.Replace(server, "/postgres?", "/"+database+"?", 1)
}

func execute(t *testing.T, server, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), server)
	if err != nil {
		t.Fatal(err)
	}
	_, err = conn.PgConn().Exec(t.Context(), sql).ReadAll()
	if err := errors.Join(err, conn.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
}

// rows are the checkpoints of one owner in a store, written only over what was
// read.
type rows struct {
	store stores.Store
	owner string
	seen  map[string][]byte
}

func (s *rows) key(id string) stores.Key { return stores.Key{Owner: s.owner, Run: id} }

func (s *rows) Load(ctx context.Context, id string) (teff.Checkpoint, bool, error) {
	s.seen[id] = nil
	row, err := s.store.Latest(ctx, s.key(id))
	if errors.Is(err, stores.ErrNotFound) {
		return teff.Checkpoint{}, false, nil
	}
	if err != nil {
		return teff.Checkpoint{}, false, err
	}
	s.seen[id] = row.Payload
	c, err := teff.ReadCheckpoint(row.Payload)
	return c, err == nil, err
}

func (s *rows) Save(ctx context.Context, id string, c teff.Checkpoint) error {
	return s.replace(ctx, id, c.Payload())
}

func (s *rows) Delete(ctx context.Context, id string) error { return s.replace(ctx, id, nil) }

func (s *rows) replace(ctx context.Context, id string, next []byte) error {
	stored, err := s.store.(stores.Answerer).Replace(ctx, stores.Replacement{Key: s.key(id), Seen: s.seen[id], Next: next})
	if err == nil {
		s.seen[id] = stored[0]
	}
	return err
}

// describe reads a run back as it was recorded: its row, the children that it
// has had or should have, and its history.
func (s *rows) describe(t *testing.T, r, want *py.Dict) *py.Dict {
	t.Helper()
	id := text(r, "id")
	m := &recorded{memory: newMemory(), files: text(r, "backend") == "file"}
	ids := map[string]bool{}
	for _, of := range []*py.Dict{r, want} {
		if children := dict(dict(of, "saved"), "children"); children != nil {
			for child := range children.All() {
				ids[child] = true
			}
		}
	}
	for _, row := range append([]string{id}, slices.Sorted(maps.Keys(ids))...) {
		c, found, err := s.Load(t.Context(), row)
		if err != nil {
			t.Fatal(err)
		}
		if found {
			state, err := py.Loads(c.State)
			if err != nil {
				t.Fatal(err)
			}
			c.State = []byte(exact(t, shortened(state)))
			m.rows[m.name(row)] = c
		}
	}
	if h, ok := s.store.(stores.Historian); ok {
		past, err := h.History(t.Context(), s.key(id), stores.HistoryQuery{})
		if err != nil {
			t.Fatal(err)
		}
		m.history[id] = map[int64]teff.Checkpoint{}
		for _, step := range past {
			row, err := h.At(t.Context(), s.key(id), step.Step)
			if err != nil {
				t.Fatal(err)
			}
			c, err := teff.ReadCheckpoint(row.Payload)
			if err != nil {
				t.Fatal(err)
			}
			m.history[id][c.Iteration] = c
		}
	}
	v, err := py.Loads([]byte(recordedRows(t, m, r)))
	if err != nil {
		t.Fatal(err)
	}
	return v.(*py.Dict)
}

// shortened writes long texts as they were recorded.
func shortened(v py.Value) py.Value {
	switch v := v.(type) {
	case *py.Dict:
		for _, key := range v.Keys() {
			v.Set(key, shortened(v.GetOr(key, nil)))
		}
	case *py.List:
		for i := range v.Items {
			v.Items[i] = shortened(v.Items[i])
		}
	case string:
		if n := py.Len(v); n > 4096 {
			sum := sha256.Sum256([]byte(v))
			return py.NewDict(py.Entry{Key: "$string", Value: py.NewDict(py.Entry{Key: "chars", Value: int64(n)},
				py.Entry{Key: "utf8_bytes", Value: int64(len(v))}, py.Entry{Key: "sha256", Value: hex.EncodeToString(sum[:])})})
		}
	}
	return v
}
