//go:build unix

package main

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowtui/flowtui/fixtures/teff"
)

// leftBehind copies a database and what lies beside it while a transaction that
// the statements begin is not over, or its commit is not in the main file: as a
// process leaves them that is killed there.
func leftBehind(t *testing.T, path string, beside []string, statements ...string) string {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	check(t, err)
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, s := range statements {
		_, err := db.Exec(s)
		check(t, err)
	}
	to := filepath.Join(t.TempDir(), filepath.Base(path))
	for _, suffix := range append(beside, "") {
		copyFile(t, path+suffix, to+suffix)
		if info, err := os.Stat(to + suffix); err != nil || info.Size() == 0 {
			t.Fatalf("nothing was left in %q of %s: %v", suffix, path, err)
		}
	}
	return to
}

// interrupted makes SQLite write what a transaction changed into the main file
// before its end.
func interrupted(table string) []string {
	return []string{"PRAGMA journal_mode = delete", "PRAGMA cache_size = 1", "BEGIN IMMEDIATE",
		"CREATE TABLE filler (x)", "INSERT INTO filler WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) SELECT randomblob(1000) FROM n",
		"DELETE FROM " + table}
}

// uncheckpointed leaves a commit in the -wal file.
func uncheckpointed(statement string) []string {
	return []string{"PRAGMA journal_mode = wal", "PRAGMA wal_autocheckpoint = 0", statement}
}

// TestDoctorOfWhatAKilledWriterLeft: doctor says that a rollback journal or a
// -wal file was left, of a store of our own and of one of teff, and what to do.
// Neither the database nor what lies beside it is changed.
func TestDoctorOfWhatAKilledWriterLeft(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", dir)
	flow, key, store := filepath.Join(dir, "f.yaml"), filepath.Join(dir, "k"), filepath.Join(dir, "s.db")
	check(t, os.WriteFile(flow, []byte("name: f\nsteps:\n  - {id: a, type: transform, config: {action: render, template: x, output_key: y}}\n"), 0o600))
	check(t, os.WriteFile(key, []byte(strings.Repeat("k", 40)), 0o600))
	var out bytes.Buffer
	if code := run(t.Context(), []string{"run", store, flow, "--yes", "--key-file", key}, strings.NewReader(""), &out, &out); code != 0 {
		t.Fatal(out.String())
	}
	check(t, teff.WriteDatabases(dir))
	foreign, recorded := filepath.Join(dir, "sqlite.db"), t.TempDir()
	check(t, teff.WriteDatabases(recorded))
	journal, log := []string{"-journal"}, []string{"-wal", "-shm"}
	for name, c := range map[string]struct {
		path string
		code int
		says []string
	}{
		"a store with a rollback journal": {leftBehind(t, store, journal, interrupted("runs")...), 1,
			[]string{"WRONG", "an interrupted write must be undone first", "open the store once with write permission"}},
		"a store with a -wal file": {leftBehind(t, store, log, uncheckpointed("UPDATE runs SET updated = updated")...), 0,
			[]string{"a writer has it open or was killed", "bytes are not in the main file yet", "1 done", "nothing is wrong with what was looked at"}},
		"a store of teff with a rollback journal": {filepath.Join(recorded, "sqlite_hot.db"), 0,
			[]string{"teff SQLite", "a process was killed inside a transaction and left sqlite_hot.db-journal", "never delete the journal", "1 paused"}},
		"a store of teff with a -wal file": {leftBehind(t, foreign, log, uncheckpointed("INSERT INTO checkpoints VALUES ('default', 'in the wal', '{}', NULL, 1, 1.0)")...), 0,
			[]string{"teff SQLite", "changes are not in the main file yet, so a copy is read", "it can be read, not written"}},
		"a store of teff with a -wal file and without its -shm": {leftBehind(t, foreign, []string{"-wal"}, uncheckpointed("INSERT INTO checkpoints VALUES ('default', 'copied', '{}', NULL, 1, 1.0)")...), 0,
			[]string{"teff SQLite", "it can be read, not written"}},
	} {
		t.Run(name, func(t *testing.T) {
			before := untouched(t, c.path)
			var out bytes.Buffer
			code := run(t.Context(), []string{"doctor", c.path, "--key-file", key}, strings.NewReader(""), &out, &out)
			if code != c.code {
				t.Errorf("doctor ends with %d, want %d", code, c.code)
			}
			for _, want := range c.says {
				if !strings.Contains(out.String(), want) {
					t.Errorf("doctor does not say %q:\n%s", want, out.String())
				}
			}
			if diff := cmp.Diff(before, untouched(t, c.path)); diff != "" {
				t.Errorf("files changed:\n%s", diff)
			}
		})
	}
}

// untouched is what looking must leave as it is: every byte of the folder's
// files, but for the index that SQLite makes of a -wal file, and their names.
func untouched(t *testing.T, path string) map[string]string {
	t.Helper()
	files := snapshot(t, filepath.Dir(path))
	delete(files, filepath.Dir(path))
	if index := path + "-shm"; files[index] != "" {
		files[index] = "is there"
	}
	return files
}
