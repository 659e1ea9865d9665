package teff

import (
	"database/sql"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowtui/flowtui/fixtures/teff"
	"github.com/flowtui/flowtui/stores"
)

func sqliteFile(t *testing.T, path, script string, args ...any) string {
	t.Helper()
	db, err := sql.Open("sqlite", dsn(path, url.Values{}))
	check(t, err)
	defer db.Close()
	_, err = db.Exec(script, args...)
	check(t, err)
	return path
}

// A transaction that was cut off is undone in a copy and stays in the file.
func TestHotJournal(t *testing.T) {
	dir := t.TempDir()
	check(t, teff.WriteDatabases(dir))
	t.Setenv("TMPDIR", t.TempDir())
	before := tree(t, dir)
	s := attach(t, filepath.Join(dir, "sqlite_hot.db"))
	info, err := s.Info(t.Context())
	check(t, err)
	if !info.ReadOnly || !strings.Contains(info.Why, "sqlite_hot.db-journal") || !strings.Contains(info.Why, "teff undoes it") {
		t.Errorf("it says %+v", info)
	}
	c := latest(t, s, "default", "hot")
	if c.Status != stores.StatusPaused || c.Step != 2 {
		t.Errorf("it is %+v", c)
	}
	_, err = s.Replace(t.Context(), stores.Replacement{Key: c.Key, Seen: c.Payload, Next: []byte(written)})
	if !errors.Is(err, stores.ErrReadOnly) || !strings.Contains(err.Error(), "journal") {
		t.Errorf("it was written to: %v", err)
	}
	if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
		t.Errorf("the files changed:\n%s", diff)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("copies are left: %v, %v", left, err)
	}
	// Whoever may write undoes it; then all is as it was.
	sqliteFile(t, filepath.Join(dir, "sqlite_hot.db"), "BEGIN IMMEDIATE; COMMIT")
	info, err = s.Info(t.Context())
	check(t, err)
	if now := latest(t, s, "default", "hot"); info.ReadOnly || string(now.Payload) != string(c.Payload) {
		t.Errorf("after the rollback: %+v", info)
	}
}

// Where somebody has set WAL mode, rows that are not in the main file yet are
// shown too, and no side file is made or changed.
func TestWALMode(t *testing.T) {
	dir := t.TempDir()
	check(t, teff.WriteDatabases(dir))
	path := filepath.Join(dir, "sqlite.db")
	db, err := sql.Open("sqlite", path)
	check(t, err)
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, stmt := range []string{"PRAGMA journal_mode = wal", "INSERT INTO checkpoints VALUES ('default', 'in the wal', '{}', NULL, 1, 1.0)"} {
		_, err = db.Exec(stmt)
		check(t, err)
	}
	before := tree(t, dir)
	s := attach(t, path)
	latest(t, s, "default", "in the wal")
	if info, err := s.Info(t.Context()); err != nil || !info.ReadOnly || !strings.Contains(info.Why, "WAL") {
		t.Errorf("it says %+v, %v", info, err)
	}
	if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
		t.Errorf("the files changed:\n%s", diff)
	}
	check(t, db.Close())
	before = tree(t, dir)
	latest(t, s, "default", "in the wal")
	if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
		t.Errorf("the closed files changed:\n%s", diff)
	}
}

// The tables of older teffs are read as they are, and not migrated.
func TestOlderTables(t *testing.T) {
	dir := t.TempDir()
	check(t, teff.WriteDatabases(dir))
	middle := sqliteFile(t, filepath.Join(dir, "middle.db"), `CREATE TABLE checkpoints (owner TEXT NOT NULL DEFAULT 'default', checkpoint_id TEXT NOT NULL,
		state TEXT NOT NULL, next_node_id TEXT, iteration INTEGER NOT NULL, PRIMARY KEY (owner, checkpoint_id));
		INSERT INTO checkpoints VALUES ('ana', 'x', '{"a": 1}', 'n', 4)`)
	before := tree(t, dir)
	for path, k := range map[string]stores.Key{filepath.Join(dir, "sqlite_legacy.db"): {Owner: "default", Run: "old/review"}, middle: {Owner: "ana", Run: "x"}} {
		s := attach(t, path)
		c := latest(t, s, k.Owner, k.Run)
		if !c.Time.IsZero() {
			t.Errorf("%s has a time: %s", path, c.Time)
		}
		info, err := s.Info(t.Context())
		check(t, err)
		_, err = s.Replace(t.Context(), stores.Replacement{Key: k, Seen: c.Payload, Next: []byte(written)})
		if !errors.Is(err, stores.ErrReadOnly) || !info.ReadOnly || !strings.Contains(info.Why, "older teff") {
			t.Errorf("%s: %v, %+v", path, err, info)
		}
	}
	if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
		t.Errorf("the files changed:\n%s", diff)
	}
}

// Ids and values of any kind are one bad row at most.
func TestOddRowsOfDatabases(t *testing.T) {
	path := sqliteFile(t, filepath.Join(t.TempDir(), "odd ?#%20.db"), `CREATE TABLE checkpoints (owner TEXT NOT NULL DEFAULT 'default', checkpoint_id TEXT NOT NULL,
		state, next_node_id, iteration, updated_at, PRIMARY KEY (owner, checkpoint_id));
		INSERT INTO checkpoints VALUES ('o', 'good', '{"a": NaN}', 'n', 1, 5), ('o', '', '{}', NULL, 1, 1.5), ('', 'x', '{}', NULL, 1, 1.5), ('o', 'bytes', CAST('{}' AS BLOB), NULL, 1, NULL),
			('o', 'injected', '{}, "next_node_id": "evil"', NULL, 1, 1.5), ('o', 'no state', NULL, NULL, 1, 1.5), ('o', 'real', '{}', NULL, 1.5, 1.5), ('o', 'text', '{}', NULL, 'x', 1.5),
			('o', 'next', '{}', 7, 1, 1.5), ('o', 'utf8', CAST(x'7b7dff' AS TEXT), NULL, 1, 1.5), ('o', 'far', '{}', NULL, 1, 1e300), ('o', 'never', '{}', NULL, 1, -1e300);
		INSERT INTO checkpoints VALUES ('o', 'nul' || char(0) || 'x', '{"__interrupt__": {"key": "k"}}', NULL, 2, 1.5)`)
	s := attach(t, path)
	bad := map[string]bool{"injected": true, "no state": true, "real": true, "text": true, "next": true, "utf8": true}
	all := heads(t, s)
	if len(all) != 13 {
		t.Errorf("%d rows are listed", len(all))
	}
	for k, h := range all {
		if (h.Bad != "") != bad[k.Run] {
			t.Errorf("%q is %q", k.Run, h.Bad)
		}
		c := latest(t, s, k.Owner, k.Run)
		if c.Bad != h.Bad || c.Status != h.Status || string(c.Prev) != string(h.Prev) {
			t.Errorf("%q is listed as %+v and reads as %+v", k.Run, h, c)
		}
	}
	for _, run := range []string{"far", "never", "bytes"} {
		if at := all[stores.Key{Owner: "o", Run: run}].Updated; !at.IsZero() {
			t.Errorf("%s was saved at %s", run, at)
		}
	}
	if got := all[stores.Key{Owner: "o", Run: "nul\x00x"}].Status; got != stores.StatusPaused {
		t.Errorf("the run with a NUL is %q", got)
	}
}

func TestOtherDatabasesAreNoStores(t *testing.T) {
	dir := t.TempDir()
	for name, script := range map[string]string{
		"langgraph": "CREATE TABLE checkpoints (thread_id TEXT, checkpoint_ns TEXT, checkpoint_id TEXT, parent_checkpoint_id TEXT, type TEXT, checkpoint BLOB, metadata BLOB)",
		"others":    "CREATE TABLE users (id INTEGER)",
		"none":      "PRAGMA user_version = 3",
	} {
		path := sqliteFile(t, filepath.Join(dir, name), script)
		ok, found, err := Sniff(t.Context(), path)
		if ok || err != nil || found == "" {
			t.Errorf("%s: %v, %q, %v", name, ok, found, err)
		}
	}
}

// A folder that cannot be written is read all the same.
func TestReadOnlyFolder(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Log("root may write everywhere: only that nothing is changed is looked at")
	}
	dir := t.TempDir()
	check(t, teff.WriteDatabases(dir))
	check(t, os.Chmod(dir, 0o555))
	t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })
	before := tree(t, dir)
	s := attach(t, filepath.Join(dir, "sqlite_history.db"))
	if n := len(heads(t, s)); n != 68 {
		t.Errorf("%d runs", n)
	}
	info, err := s.Info(t.Context())
	check(t, err)
	if os.Geteuid() != 0 && !info.ReadOnly {
		t.Errorf("it says %+v", info)
	}
	if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
		t.Errorf("the files changed:\n%s", diff)
	}
}
