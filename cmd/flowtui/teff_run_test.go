package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/flowtui/flowtui/fixtures/teff"
	"github.com/flowtui/flowtui/internal/testservers"
)

// emptyTeffStores are stores of teff's that hold nothing, of the kinds that can
// be written, by name.
func emptyTeffStores(t *testing.T) map[string]string {
	t.Helper()
	dir := t.TempDir()
	files := filepath.Join(dir, "files")
	check(t, os.Mkdir(files, 0o755))
	at := map[string]string{"file": "file:" + files + "?format=teff"}
	for _, name := range []string{"sqlite", "sqlite_history"} {
		check(t, teff.WriteDatabases(dir, name))
		at[name] = filepath.Join(dir, name+".db")
		db, err := sql.Open("sqlite", at[name])
		check(t, err)
		_, err = db.Exec(strings.Join(emptied(name), ";"))
		check(t, err)
		check(t, db.Close())
	}
	server := testservers.Postgres(t)
	for _, name := range []string{"pg", "pg_history"} {
		at[name] = teffDatabase(t, server.URL, name)
		ctx := context.Background()
		conn, err := pgx.Connect(ctx, at[name])
		check(t, err)
		_, err = conn.PgConn().Exec(ctx, strings.Join(emptied(name), ";")).ReadAll()
		check(t, err)
		check(t, conn.Close(ctx))
	}
	return at
}

func emptied(store string) []string {
	list := []string{"DELETE FROM checkpoints"}
	if strings.HasSuffix(store, "history") {
		list = append(list, "DELETE FROM checkpoint_history")
	}
	return list
}

// ownFloats are the numbers that no JSON has, as they were recorded.
var ownFloats = regexp.MustCompile(`\{\s*"\$float":\s*"(-?\w+)"\s*\}`)

// made are the command lines that make a recorded run, none where a process was
// killed or made to fail.
func made(r teff.Run, location string) (lines [][]string) {
	for i, m := range r.MadeBy {
		options := []string{"--owner=" + r.Owner, "--yes", "--max-iterations=200"}
		for option, v := range m.Action {
			switch {
			case option == "max_iterations":
				options[2] = "--max-iterations=" + string(v)
			case option != "start" && option != "resume" && option != "message":
				return nil
			}
		}
		file := filepath.Join("..", "..", "fixtures", "teff", r.Workflow)
		var message string
		if said := m.Action["message"]; said != nil {
			if json.Unmarshal(said, &message) != nil {
				return nil
			}
			lines = append(lines, append(options[:2], "--unchecked", "--message="+message, "--id="+r.ID, "chat", location, file))
			continue
		}
		if i == 0 {
			state := ownFloats.ReplaceAllString(string(m.Action["start"]), "$1")
			lines = append(lines, append(options, "--id="+r.ID, "--state="+state, "run", location, file))
			continue
		}
		answer := map[string]json.RawMessage{}
		if json.Unmarshal(m.Action["resume"], &answer) != nil || len(answer) != 1 {
			return nil
		}
		for _, v := range answer {
			lines = append(lines, append(options, "--flow="+file, "--unchecked", "--json-value="+ownFloats.ReplaceAllString(string(v), "$1"), "answer", location, "--", r.ID))
		}
	}
	return lines
}

// Runs that the commands start, answer and tell messages are those that teff made of
// the same workflow, state and words: row, nested rows, history, and in files every
// byte. Each case is done in one kind of store, another for each.
func TestRunStartsRunsInTeffStores(t *testing.T) {
	t.Setenv("REGION", "north")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	record, err := teff.Recorded()
	check(t, err)
	folder := filepath.Join(t.TempDir(), "main")
	check(t, teff.WriteFiles("main", folder))
	at := emptyTeffStores(t)
	cases := map[string]int{}
	started, answered, same := map[string]int{}, 0, 0
	for _, r := range record.Runs {
		n, met := cases[r.Case]
		if !met {
			n = len(cases)
			cases[r.Case] = n
		}
		kinds := []string{"file", "sqlite", "sqlite_history", "pg", "pg_history"}
		lines := made(r, at[r.Store])
		if r.Store != kinds[n%len(kinds)] || lines == nil {
			continue
		}
		t.Run(r.Store+"/"+r.Case, func(t *testing.T) {
			for i, line := range lines {
				var told bytes.Buffer
				code := run(t.Context(), line, strings.NewReader(""), &told, &told)
				if (code != 0) != (r.MadeBy[i].Outcome == "error") || code > 1 {
					t.Fatalf("%q: exit %d, teff: %s\n%s", line, code, r.MadeBy[i].Outcome, told.String())
				}
			}
			showsAs(t, attachTeff(t, at[r.Store], true), r)
			if r.Store == "file" {
				want, err := os.ReadFile(filepath.Join(folder, r.File))
				check(t, err)
				got, err := os.ReadFile(filepath.Join(strings.TrimSuffix(strings.TrimPrefix(at["file"], "file:"), "?format=teff"), r.File))
				check(t, err)
				if !bytes.Equal(got, want) {
					t.Errorf("%s holds\n%s\nteff wrote\n%s", r.File, got, want)
				}
				same++
			}
		})
		started[r.Store]++
		answered += len(lines) - 1
	}
	t.Logf("started %v, answered %d, %d files are the same", started, answered, same)
	for _, store := range slices.Sorted(maps.Keys(at)) {
		if started[store] < 8 {
			t.Errorf("only %d runs were started in %s", started[store], store)
		}
	}
	if answered < 12 || same < 8 {
		t.Errorf("%d answers were given and %d files compared", answered, same)
	}
}
