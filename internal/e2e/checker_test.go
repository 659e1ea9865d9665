package e2e

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // a hand that is not ours
)

// checker is the program that checks a store by the documents alone.
const checker = "../../scripts/check-store.py"

func python(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("python3")
	switch {
	case err == nil:
		return path
	case os.Getenv("FLOWTUI_TEST_ALL") == "1":
		t.Fatal("python3 is not installed: see scripts/test-needs.sh")
	}
	t.Skip("python3 is not installed")
	return ""
}

// verdicts are what a checker found, a line for each row.
type verdicts struct {
	Runs, Verified int
	Findings       []struct {
		Owner, Run, Record, Verdict, Reason string
		Step, N                             int64
	}
}

func (v verdicts) lines() []string {
	lines := []string{fmt.Sprintf("%d of %d runs verified", v.Verified, v.Runs)}
	for _, f := range v.Findings {
		lines = append(lines, fmt.Sprintf("%s %s/%s %s %d.%d", f.Verdict, f.Owner, f.Run, f.Record, f.Step, f.N))
	}
	slices.Sort(lines)
	return lines
}

// agree fails unless flowtui and the independent checker find the same.
func (d demoDir) agree(t *testing.T, python, what string) verdicts {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command(python, checker, d.store(), filepath.Join(d.dir, "demo.key"))
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run() // its code is compared below
	r := d.flowtui(t, "verify", d.store(), "--key-file", filepath.Join(d.dir, "demo.key"), "--owner", "*", "--json")
	if !json.Valid(out.Bytes()) {
		t.Fatalf("%s: the checker says %s %s", what, out.String(), errs.String())
	}
	theirs, ours := decode[verdicts](t, out.String()), decode[verdicts](t, r.stdout)
	if code := cmd.ProcessState.ExitCode(); code != r.code {
		t.Errorf("%s: the checker ends with %d, flowtui with %d", what, code, r.code)
	}
	a, b := theirs.lines(), ours.lines()
	for _, line := range a {
		if !slices.Contains(b, line) {
			t.Errorf("%s: only the checker says %q", what, line)
		}
	}
	for _, line := range b {
		if !slices.Contains(a, line) {
			t.Errorf("%s: only flowtui says %q", what, line)
		}
	}
	return ours
}

// victims are runs of the demo with enough rows of every kind to tamper with.
const victims = `SELECT owner, run FROM runs AS r WHERE run NOT IN ('order-3', 'order-4', 'order-6', 'countdown-300')
	AND (SELECT count(*) FROM calls AS c WHERE c.owner = r.owner AND c.run = r.run) > 1
	AND (SELECT count(*) FROM checkpoints AS c WHERE c.owner = r.owner AND c.run = r.run) > 2 ORDER BY owner, run`

// tamperings are statements that each change something about one row of a run:
// every column of every table in several ways, and rows that are taken out.
func tamperings(t *testing.T, db *sql.DB) (list []string) {
	t.Helper()
	numbers := map[string]string{"checkpoints": "step", "calls": "n", "events": "n", "runs": "step"}
	for _, table := range []string{"checkpoints", "calls", "events", "runs"} {
		rows, err := db.Query(`SELECT name, type FROM pragma_table_info(?)`, table)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var name, kind string
			if err := rows.Scan(&name, &kind); err != nil {
				t.Fatal(err)
			}
			if name == "open" {
				continue // it is not signed
			}
			if name == "owner" || name == "run" {
				kind = "NAME"
			}
			for _, value := range map[string][]string{
				"NAME":    {name + ` || 'x'`},
				"TEXT":    {name + ` || 'x'`, `x'ff'`},
				"INTEGER": {name + ` + 1`, `7000`, `'seven'`},
				"BLOB":    {`CAST(` + name + ` || ' ' AS BLOB)`, `x''`, `12`},
			}[kind] {
				list = append(list, fmt.Sprintf(`UPDATE %s SET %s = %s WHERE owner = ?1 AND run = ?2 AND %s = (SELECT %s(%s) FROM %s WHERE owner = ?1 AND run = ?2)`,
					table, name, value, numbers[table], []string{"min", "max"}[len(list)%2], numbers[table], table))
			}
		}
		for _, which := range []string{"min", "max"} {
			list = append(list, fmt.Sprintf(`DELETE FROM %s WHERE owner = ?1 AND run = ?2 AND %s = (SELECT %s(%s) FROM %s WHERE owner = ?1 AND run = ?2)`,
				table, numbers[table], which, numbers[table], table))
		}
		list = append(list, fmt.Sprintf(`DELETE FROM %s WHERE owner = ?1 AND run = ?2`, table))
	}
	return list
}

// A program that was written from the documents, and shares no line with this
// one, finds every row that flowtui finds, and no other.
func TestAnIndependentCheckerAgrees(t *testing.T) {
	python := python(t)
	d := newDemo(t)
	if v := d.agree(t, python, "the demo"); len(v.Findings) != 3 {
		t.Errorf("%d findings in the demo, want its three", len(v.Findings))
	}
	sound, err := os.ReadFile(d.store())
	if err != nil {
		t.Fatal(err)
	}
	db := func() *sql.DB {
		db, err := sql.Open("sqlite", d.store())
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	source := db()
	todo := tamperings(t, source)
	runs := victimsOf(t, source)
	source.Close()
	if len(todo) < 150 || len(runs) < 5 {
		t.Fatalf("%d tamperings of %d runs: this test proves little", len(todo), len(runs))
	}
	for len(todo) > 0 { // of each run one thing at a time
		n := min(len(runs), len(todo))
		if err := os.WriteFile(d.store(), sound, 0o600); err != nil {
			t.Fatal(err)
		}
		x := db()
		for i, statement := range todo[:n] {
			if _, err := x.Exec(statement, runs[i][0], runs[i][1]); err != nil && !strings.Contains(err.Error(), "UNIQUE") {
				t.Fatalf("%s: %v", statement, err)
			}
		}
		x.Close()
		what := make([]string, n)
		for i := range what {
			what[i] = strings.Join(runs[i][:], "/") + ": " + todo[i][:min(60, len(todo[i]))]
		}
		if v := d.agree(t, python, strings.Join(what, "\n")); len(v.Findings) <= 3 {
			t.Errorf("nothing was found of\n%s", strings.Join(what, "\n"))
		}
		todo = todo[n:]
	}
}

// The checker follows imported runs to the store that they came from, also when
// they went on here.
func TestAnIndependentCheckerReadsImportedRuns(t *testing.T) {
	python := python(t)
	d := newDemo(t)
	bundle := filepath.Join(d.dir, "x.bundle")
	there := demoDir{dir: d.dir, home: d.home, elsewhere: filepath.Join(t.TempDir(), "there.db")}
	for _, args := range [][]string{
		d.on("export", "order-2", "order-8", "order-9", "payout-11", "-o", bundle),
		there.on("import", bundle, "--force"),
		there.on("approve", "order-9"),
		there.on("approve", "payout-11", "--approval", "bob.1", "--no-run"),
	} {
		if r := d.flowtui(t, args...); r.code != 0 {
			t.Fatalf("%v: %d %s %s", args, r.code, r.stdout, r.stderr)
		}
	}
	if v := there.agree(t, python, "imported"); v.Runs != 4 || v.Verified != 4 {
		t.Errorf("%+v", v)
	}
	db, err := sql.Open("sqlite", there.store())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range []string{
		`DELETE FROM events WHERE run = 'order-2' AND type = 'operator.import'`,
		`UPDATE events SET payload = CAST(replace(payload, '"from":"', '"from":"0') AS BLOB) WHERE run = 'order-8' AND type = 'operator.import'`,
		`DELETE FROM calls WHERE run = 'order-9' AND n = 1`,
		`UPDATE runs SET store = (SELECT store FROM checkpoints WHERE run = 'payout-11' AND step = 0) WHERE run = 'payout-11'`,
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	if v := there.agree(t, python, "tampered"); v.Verified != 0 {
		t.Errorf("%+v", v)
	}
}

func victimsOf(t *testing.T, db *sql.DB) (runs [][2]string) {
	t.Helper()
	rows, err := db.Query(victims)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var r [2]string
		if err := rows.Scan(&r[0], &r[1]); err != nil {
			t.Fatal(err)
		}
		runs = append(runs, r)
	}
	return runs
}
