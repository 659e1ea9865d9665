package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	_ "modernc.org/sqlite"

	"github.com/flowtui/flowtui/fixtures/teff"
	"github.com/flowtui/flowtui/internal/testservers"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/viewer"
)

// teffStores makes copies of all recorded stores, in their five kinds, and
// returns where they are by name.
func teffStores(t *testing.T) map[string]string {
	t.Helper()
	dir := t.TempDir()
	at := map[string]string{}
	for store, folder := range map[string]string{"file": "main", "file_tmp": "killed_in_save"} {
		at[store] = filepath.Join(dir, folder)
		check(t, teff.WriteFiles(folder, at[store]))
	}
	check(t, teff.WriteDatabases(dir))
	for _, store := range []string{"sqlite", "sqlite_history", "sqlite_hot", "sqlite_legacy", "sqlite_crowd"} {
		at[store] = filepath.Join(dir, store+".db")
	}
	server := testservers.Postgres(t)
	for _, store := range []string{"pg", "pg_history", "pg_big"} {
		at[store] = teffDatabase(t, server.URL, store)
	}
	makeBig(t, dir, at)
	return at
}

// teffDatabase makes a database of a server, filled with a dump if there is one.
func teffDatabase(t *testing.T, server, name string) string {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, server)
	check(t, err)
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, "CREATE DATABASE "+name)
	check(t, err)
	url := strings.Replace(server, "/postgres?", "/"+name+"?", 1)
	if name == "pg_big" {
		return url
	}
	own, err := pgx.Connect(ctx, url)
	check(t, err)
	defer own.Close(ctx)
	check(t, teff.Restore(ctx, own, name))
	return url
}

// makeBig writes the run with a text of 2 MB, as teff writes it, into a store of
// three kinds.
func makeBig(t *testing.T, dir string, at map[string]string) {
	t.Helper()
	state := bigState()
	at["file_big"] = filepath.Join(dir, "big")
	check(t, os.MkdirAll(filepath.Join(at["file_big"], "ana"), 0o755))
	check(t, os.WriteFile(filepath.Join(at["file_big"], "ana", "big_2mb.json"), []byte(`{"state": `+state+`, "next_node_id": null, "iteration": 2}`), 0o644))
	at["sqlite_big"] = filepath.Join(dir, "big.db")
	db, err := sql.Open("sqlite", at["sqlite_big"])
	check(t, err)
	defer db.Close()
	_, err = db.Exec(`CREATE TABLE checkpoints (owner TEXT NOT NULL DEFAULT 'default', checkpoint_id TEXT NOT NULL, state TEXT NOT NULL,
		next_node_id TEXT, iteration INTEGER NOT NULL, updated_at REAL, PRIMARY KEY (owner, checkpoint_id));
		INSERT INTO checkpoints VALUES ('ana', 'big/2mb', ?, NULL, 2, 1796029856.5)`, state)
	check(t, err)
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, at["pg_big"])
	check(t, err)
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, `CREATE TABLE checkpoints (owner text NOT NULL DEFAULT 'default', checkpoint_id text NOT NULL, state jsonb NOT NULL,
		next_node_id text, iteration integer NOT NULL, updated_at double precision, PRIMARY KEY (owner, checkpoint_id))`)
	check(t, err)
	_, err = conn.Exec(ctx, `INSERT INTO checkpoints VALUES ('ana', 'big/2mb', $1, NULL, 2, 1796029856.5)`, state)
	check(t, err)
}

func bigBlob() string {
	words := []string{"alpha", "été", "日本", "🙂", "tab\\t", "line\\n", `\"quoted\"`, "Straße"}
	var b strings.Builder
	for i := 0; b.Len() < 2_000_000; i++ {
		b.WriteString(words[(i*i/7)%len(words)] + " ")
	}
	return b.String()
}

func bigState() string {
	return `{"label": "big2000000", "blob": "` + bigBlob() + `", "after": "the blob", "title": "vault big2000000", ` +
		`"__interrupt__": {"key": "code", "prompt": "vault big2000000: code?", "node_id": "ask", "nested_checkpoint_id": null}}`
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func attachTeff(t *testing.T, location string, raw bool) *viewer.Service {
	t.Helper()
	s, err := viewer.Attach(t.Context(), []string{location}, viewer.Options{
		Formats: formats(map[string]string{location: location}, false), Raw: raw,
	})
	check(t, err)
	t.Cleanup(func() { check(t, s.Close()) })
	return s
}

// snapshot is everything about the files of a folder that looking could change.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	check(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		check(t, err)
		info, err := d.Info()
		check(t, err)
		sum := ""
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			check(t, err)
			sum = fmt.Sprintf("%x", sha256.Sum256(data))
		}
		files[path] = fmt.Sprint(info.Size(), info.Mode(), info.ModTime().UnixNano(), sum)
		return nil
	}))
	return files
}

func TestTeffStoresAreShownAsTeffReadsThem(t *testing.T) {
	record, err := teff.Recorded()
	check(t, err)
	at := teffStores(t)
	dir := filepath.Dir(at["file"])
	before := snapshot(t, dir)
	services := map[string]*viewer.Service{}
	for name, location := range at {
		services[name] = attachTeff(t, location, true)
	}
	if len(record.Runs) != 609 {
		t.Fatalf("%d runs were recorded", len(record.Runs))
	}
	for _, r := range record.Runs {
		t.Run(r.Store+"/"+r.Case, func(t *testing.T) { showsAs(t, services[r.Store], r) })
	}
	for name, owners := range record.Listings {
		t.Run("listing of "+name, func(t *testing.T) { listsAs(t, services[name], name, owners) })
	}
	for name, s := range services {
		verifiesNothing(t, name, s)
	}
	if diff := cmp.Diff(before, snapshot(t, dir)); diff != "" {
		t.Errorf("looking changed the stores:\n%s", diff)
	}
}

// statuses are the words of our own for teff's.
var teffStatuses = map[string]string{"completed": "done", "paused": "paused", "unfinished": "running"}

func showsAs(t *testing.T, s *viewer.Service, r teff.Run) {
	ref := s.Find(r.ID, r.Owner)
	d, err := s.Show(t.Context(), ref)
	if r.Saved.Status == "missing" {
		if p := s.Explain(err); p.Code != "not-found" {
			t.Errorf("a run that is not there: %+v", p)
		}
		return
	}
	check(t, err)
	rowIs(t, d.Row, r.Saved)
	children := map[string]bool{}
	for _, n := range d.Nested {
		children[n.Run] = true
		want, ok := r.Saved.Children[n.Run]
		if !ok {
			t.Errorf("the nested run %s was not recorded", n.Run)
		}
		rowIs(t, n, want)
		stateIs(t, s, n.Ref, want.State)
	}
	for id := range r.Saved.Children {
		if !children[id] || !slices.Contains(d.Children, id) {
			t.Errorf("the nested run %s is missing", id)
		}
	}
	var history [][2]any
	for _, h := range d.History {
		var at any
		if len(h.At) > 0 {
			at = h.At[0]
		}
		history = append(history, [2]any{json.Number(fmt.Sprint(h.Step)), at})
	}
	if strings.Contains(r.Store, "history") {
		if diff := cmp.Diff(r.Saved.History, history); diff != "" {
			t.Errorf("history (-teff +here):\n%s", diff)
		}
	} else if len(history) != 1 {
		t.Errorf("a store without history has %v", history)
	}
	if !strings.HasSuffix(r.Store, "_big") {
		stateIs(t, s, ref, r.Saved.State)
		return
	}
	v, err := s.State(t.Context(), ref, -1, true)
	check(t, err)
	var state struct{ Blob string }
	check(t, json.Unmarshal(v.JSON, &state))
	var blob string
	check(t, json.Unmarshal([]byte(`"`+bigBlob()+`"`), &blob))
	if state.Blob != blob {
		t.Error("the big text is another one")
	}
}

func rowIs(t *testing.T, row viewer.Row, want teff.Saved) {
	t.Helper()
	if row.Native != want.Status || row.Status != teffStatuses[want.Status] || row.Kind != "teff" || row.Verdict != viewer.Unsigned {
		t.Errorf("%s is %s (%s), of kind %s, %s; teff says %s", row.Run, row.Status, row.Native, row.Kind, row.Verdict, want.Status)
	}
	if slices.Contains(row.Badges, viewer.Tampered) {
		t.Errorf("%s is called tampered", row.Run)
	}
	at := []string{}
	if want.Next != nil {
		at = append(at, *want.Next)
	}
	if !slices.Equal(row.At, at) || row.Step != want.Iteration {
		t.Errorf("%s is at %v, iteration %d; teff says %v, %d", row.Run, row.At, row.Step, at, want.Iteration)
	}
	if want.Interrupt == nil {
		if len(row.Waiting) > 0 {
			t.Errorf("%s waits for %+v", row.Run, row.Waiting)
		}
		return
	}
	i := want.Interrupt
	if len(row.Waiting) != 1 || row.Waiting[0].Type != viewer.WaitInterrupt || row.Waiting[0].Key != i.Key || row.Waiting[0].Prompt != i.Prompt || row.Waiting[0].Node != i.Node {
		t.Errorf("%s waits for %+v, teff says %+v", row.Run, row.Waiting, *i)
	}
	if i.Nested != nil && !strings.Contains(row.Why, *i.Nested) {
		t.Errorf("%s does not say that %s asks: %s", row.Run, *i.Nested, row.Why)
	}
}

func stateIs(t *testing.T, s *viewer.Service, ref viewer.Ref, want json.RawMessage) {
	t.Helper()
	v, err := s.State(t.Context(), ref, -1, true)
	check(t, err)
	if !reflect.DeepEqual(decoded(t, want), teff.Shorten(decoded(t, v.JSON))) {
		t.Errorf("state of %s:\n%.2000s\nteff has:\n%.2000s", ref.Run, v.JSON, want)
	}
}

// decoded keeps integers as they are written. PostgreSQL writes the digits of
// floats in its own way: of two numbers with a point or an exponent the value
// counts, and a float never is an integer.
func decoded(t *testing.T, text []byte) any {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	check(t, dec.Decode(&v))
	return floats(v)
}

func floats(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, x := range v {
			v[key] = floats(x)
		}
	case []any:
		for i, x := range v {
			v[i] = floats(x)
		}
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			f, _ := v.Float64()
			return f
		}
	}
	return v
}

func listsAs(t *testing.T, s *viewer.Service, name string, owners map[string][]string) {
	total := 0
	for owner, want := range owners {
		ids := allIDs(t, s, viewer.Query{Owner: owner, Limit: 7})
		slices.Sort(ids)
		want = slices.Sorted(slices.Values(want))
		if diff := cmp.Diff(want, ids); diff != "" {
			t.Errorf("runs of %s in %s (-teff +here):\n%s", owner, name, diff)
		}
		total += len(ids)
	}
	if all := allIDs(t, s, viewer.Query{Owner: stores.AnyOwner, Limit: 7}); len(all) != total {
		t.Errorf("%d runs of all owners, %d of each", len(all), total)
	}
	counts, err := s.Counts(t.Context(), viewer.Query{Owner: stores.AnyOwner})
	check(t, err)
	if counts[viewer.TabAll] != int64(total) {
		t.Errorf("%d runs are counted, %d listed", counts[viewer.TabAll], total)
	}
}

// allIDs are the ids of all pages.
func allIDs(t *testing.T, s *viewer.Service, q viewer.Query) []string {
	t.Helper()
	ids := []string{}
	for {
		page, err := s.List(t.Context(), q)
		check(t, err)
		if len(page.Problems)+len(page.Unread) > 0 {
			t.Fatalf("%+v %+v", page.Problems, page.Unread)
		}
		for _, r := range page.Rows {
			ids = append(ids, r.Run)
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return ids
		}
	}
}

// verifiesNothing: there are no signatures, which is no finding.
func verifiesNothing(t *testing.T, name string, s *viewer.Service) {
	t.Helper()
	report, err := s.Verify(t.Context(), viewer.VerifyRequest{Owner: stores.AnyOwner})
	check(t, err)
	if report.Runs == 0 || report.Verified != 0 || len(report.Findings)+len(report.Problems) > 0 {
		t.Errorf("%s: %d runs, %d verified, findings %v, problems %v", name, report.Runs, report.Verified, report.Findings, report.Problems)
	}
	for _, row := range report.Rows {
		if row.Verdict != viewer.Unsigned {
			t.Errorf("%s: %v is %s", name, row.Ref, row.Verdict)
		}
		plan, err := s.Plan(t.Context(), row.Ref, false)
		check(t, err)
		if _, err := hex.DecodeString(plan.Version); err != nil || len(plan.Version) != 64 {
			t.Errorf("%s: the version of the plan is %q", name, plan.Version)
		}
	}
	info := s.Stores()[0]
	if !strings.HasPrefix(info.Format, "teff ") || info.Key != "unsigned, no call log" || strings.Contains(info.Format, "history") != strings.Contains(name, "history") {
		t.Errorf("%s is %+v", name, info)
	}
}
