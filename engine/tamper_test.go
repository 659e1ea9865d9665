package engine_test

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/seal"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/sqlite"
)

// vault is a SQLite store with finished and unfinished runs that a test may
// tamper with by SQL, as somebody with access to the database would.
type vault struct {
	t    *testing.T
	path string
	w    *world
}

func newVault(t *testing.T) *vault {
	v := &vault{t: t, path: t.TempDir() + "/runs.db", w: newWorld()}
	s := v.open()
	defer s.Close()
	r := runner(t, s, v.w.ticketTools())
	for _, run := range []string{"a", "b"} {
		if _, err := r.Run(ctx, tickets(), start(run)); err != nil {
			t.Fatal(err)
		}
	}
	dead := &crashing{full: s, at: 10} // the record that says that send is done
	if _, err := runner(t, dead, v.w.ticketTools()).Run(ctx, tickets(), start("cut")); err == nil {
		t.Fatal("the worker was to die")
	}
	expireLease(t, s, "cut")
	return v
}

func (v *vault) open() *sqlite.Store {
	s, err := sqlite.Open(ctx, v.path, sqlite.Options{Create: true})
	if err != nil {
		v.t.Fatal(err)
	}
	return s
}

func (v *vault) exec(stmts ...string) {
	v.t.Helper()
	db, err := sql.Open("sqlite", v.path)
	if err != nil {
		v.t.Fatal(err)
	}
	defer db.Close()
	for _, q := range stmts {
		res, err := db.Exec(q)
		if err != nil {
			v.t.Fatalf("%s: %v", q, err)
		}
		if n, _ := res.RowsAffected(); n == 0 && !strings.HasPrefix(q, "CREATE") && !strings.HasPrefix(q, "DROP") {
			v.t.Fatalf("%s: changed nothing", q)
		}
	}
}

func (v *vault) verify(keys *seal.Keyring, run string) (engine.Verdict, []string) {
	v.t.Helper()
	s := v.open()
	defer s.Close()
	r, err := engine.Verify(ctx, s, keys, key(run))
	if err != nil {
		v.t.Fatal(err)
	}
	var out []string
	for _, f := range r.Findings {
		out = append(out, fmt.Sprintf("%s step=%d n=%d %s", f.Record, f.Step, f.N, f.Verdict))
	}
	return r.Verdict, out
}

const copyRow = `CREATE TABLE kept AS SELECT * FROM `

// Scenario 38: an old but validly signed row put back, or moved to another run.
// Each case names exactly the rows that were tampered with, and nothing can be
// done with the run.
func TestScenario38(t *testing.T) {
	tests := []struct {
		name  string
		sql   []string
		want  []string
		run   string
		judge engine.Verdict
	}{
		{"payload changed", []string{`UPDATE checkpoints SET payload = replace(payload, 'Hamlet', 'Macbeth') WHERE run='a' AND step=1`},
			[]string{"checkpoint step=1 n=0 forged"}, "a", engine.Forged},
		{"status changed", []string{`UPDATE checkpoints SET status='running' WHERE run='a' AND step=3`},
			[]string{"checkpoint step=3 n=0 forged"}, "a", engine.Forged},
		{"checkpoint 1 copied over 2", []string{copyRow + `checkpoints WHERE run='a' AND step=1`, `UPDATE kept SET step=2`,
			`DELETE FROM checkpoints WHERE run='a' AND step=2`, `INSERT INTO checkpoints SELECT * FROM kept`, `DROP TABLE kept`},
			[]string{"checkpoint step=2 n=0 forged"}, "a", engine.Forged},
		{"middle checkpoint deleted", []string{`DELETE FROM checkpoints WHERE run='a' AND step=2`},
			[]string{"checkpoint step=2 n=0 gap"}, "a", engine.Gap},
		{"newest checkpoints deleted", []string{`DELETE FROM checkpoints WHERE run='a' AND step>=2`},
			[]string{"checkpoint step=1 n=0 regressed"}, "a", engine.Regressed},
		{"newest checkpoints deleted, head taken along", []string{`DELETE FROM checkpoints WHERE run='a' AND step>=2`, `DELETE FROM runs WHERE run='a'`},
			[]string{"head step=1 n=0 gap", "checkpoint step=1 n=0 regressed"}, "a", engine.Gap},
		{"all checkpoints deleted", []string{`DELETE FROM checkpoints WHERE run='a'`},
			[]string{"checkpoint step=0 n=0 gap"}, "a", engine.Gap},
		{"run A's row in run B", []string{copyRow + `checkpoints WHERE run='a' AND step=2`, `UPDATE kept SET run='b'`,
			`DELETE FROM checkpoints WHERE run='b' AND step=2`, `INSERT INTO checkpoints SELECT * FROM kept`, `DROP TABLE kept`},
			[]string{"checkpoint step=2 n=0 forged"}, "b", engine.Forged},
		{"two steps swapped", []string{`UPDATE checkpoints SET step=99 WHERE run='a' AND step=1`, `UPDATE checkpoints SET step=1 WHERE run='a' AND step=2`, `UPDATE checkpoints SET step=2 WHERE run='a' AND step=99`},
			[]string{"checkpoint step=1 n=0 forged", "checkpoint step=2 n=0 forged"}, "a", engine.Forged},
		{"moved to another owner", []string{`UPDATE checkpoints SET owner='eve' WHERE run='a' AND step=3`},
			[]string{"checkpoint step=2 n=0 regressed"}, "a", engine.Regressed},
		{"middle call record deleted", []string{`DELETE FROM calls WHERE run='a' AND n=3`},
			[]string{"call step=1 n=3 gap"}, "a", engine.Gap},
		{"tail of the call log dropped", []string{`DELETE FROM calls WHERE run='a' AND n>=5`},
			[]string{"call step=1 n=5 gap", "call step=1 n=6 gap"}, "a", engine.Gap},
		{"whole call log dropped", []string{`DELETE FROM calls WHERE run='cut'`},
			[]string{"call step=0 n=1 gap", "call step=0 n=2 gap", "call step=0 n=3 gap", "call step=0 n=4 gap"}, "cut", engine.Gap},
		{"result changed", []string{`UPDATE calls SET payload = replace(payload, 'charge_card 1', 'charge_card 9') WHERE run='a' AND n=4`},
			[]string{"call step=1 n=4 forged"}, "a", engine.Forged},
		{"marked as idempotent", []string{`UPDATE calls SET idempotent=1 WHERE run='cut' AND n=5`},
			[]string{"call step=2 n=5 forged"}, "cut", engine.Forged},
		{"event deleted", []string{`DELETE FROM events WHERE run='a' AND n=2`},
			[]string{"event step=2 n=2 gap"}, "a", engine.Gap},
		{"event changed", []string{`UPDATE events SET payload='{}' WHERE run='a' AND n=2`},
			[]string{"event step=1 n=2 forged"}, "a", engine.Forged},
		{"signature stripped", []string{`UPDATE checkpoints SET mac=x'' WHERE run='a' AND step=2`},
			[]string{"checkpoint step=2 n=0 forged"}, "a", engine.Forged},
		{"older format claimed", []string{`UPDATE checkpoints SET format=0 WHERE run='a' AND step=2`},
			[]string{"checkpoint step=2 n=0 forged"}, "a", engine.Forged},
		{"newer format claimed", []string{`UPDATE checkpoints SET format=2 WHERE run='a' AND step=2`},
			[]string{"checkpoint step=2 n=0 unreadable"}, "a", engine.Unreadable},
		{"head's status changed", []string{`UPDATE runs SET status='running' WHERE run='a'`},
			[]string{"head step=3 n=0 forged"}, "a", engine.Forged},
		{"two rows, both named", []string{`UPDATE checkpoints SET payload='{}' WHERE run='a' AND step=1`, `DELETE FROM calls WHERE run='a' AND n=2`},
			[]string{"checkpoint step=1 n=0 forged", "call step=1 n=2 gap"}, "a", engine.Forged},
		{"first step of another life", []string{`UPDATE checkpoints SET incarnation='x' WHERE run='a' AND step=0`},
			[]string{"checkpoint step=0 n=0 forged"}, "a", engine.Forged},
		{"a row put in before the first", []string{copyRow + `checkpoints WHERE run='a' AND step=1`, `UPDATE kept SET step=-1, incarnation='evil'`,
			`INSERT INTO checkpoints SELECT * FROM kept`, `DROP TABLE kept`},
			[]string{"checkpoint step=-1 n=0 unreadable"}, "a", engine.Unreadable},
		{"a row put in after the last", []string{copyRow + `checkpoints WHERE run='a' AND step=3`, `UPDATE kept SET step=9`,
			`INSERT INTO checkpoints SELECT * FROM kept`, `DROP TABLE kept`},
			[]string{"checkpoint step=9 n=0 forged"}, "a", engine.Forged},
		{"a row whose step is no number", []string{copyRow + `checkpoints WHERE run='a' AND step=1`, `UPDATE kept SET step='x'`,
			`INSERT INTO checkpoints SELECT * FROM kept`, `DROP TABLE kept`},
			[]string{"checkpoint step=0 n=0 unreadable"}, "a", engine.Unreadable},
		{"an event whose number is none", []string{copyRow + `events WHERE run='a' AND n=2`, `UPDATE kept SET n='x'`,
			`INSERT INTO events SELECT * FROM kept`, `DROP TABLE kept`},
			[]string{"event step=1 n=0 unreadable"}, "a", engine.Unreadable},
		{"an event before the first", []string{copyRow + `events WHERE run='a' AND n=2`, `UPDATE kept SET n=0`,
			`INSERT INTO events SELECT * FROM kept`, `DROP TABLE kept`},
			[]string{"event step=1 n=0 forged"}, "a", engine.Forged},
		{"a call record whose number is none", []string{copyRow + `calls WHERE run='a' AND n=2`, `UPDATE kept SET n='x'`,
			`INSERT INTO calls SELECT * FROM kept`, `DROP TABLE kept`},
			[]string{"call step=0 n=0 unreadable"}, "a", engine.Unreadable},
		{"forged under an unknown key", []string{`UPDATE calls SET key_id='0000000000000000', payload='{}' WHERE run='a' AND n=4`},
			[]string{"call step=1 n=4 unknown-key"}, "a", engine.UnknownKey},
		{"call records of two steps swapped", []string{`UPDATE calls SET n=99 WHERE run='a' AND n=2`, `UPDATE calls SET n=2 WHERE run='a' AND n=4`, `UPDATE calls SET n=4 WHERE run='a' AND n=99`},
			[]string{"call step=1 n=2 forged", "call step=0 n=4 forged"}, "a", engine.Forged},
		{"only the logs are left", []string{`DELETE FROM checkpoints WHERE run='a'`, `DELETE FROM runs WHERE run='a'`},
			[]string{"checkpoint step=0 n=0 gap"}, "a", engine.Gap},
		{"step is not a number", []string{`UPDATE checkpoints SET base='x' WHERE run='a' AND step=2`},
			[]string{"checkpoint step=2 n=0 unreadable"}, "a", engine.Unreadable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := newVault(t)
			v.exec(tt.sql...)
			verdict, got := v.verify(testKeys(t), tt.run)
			if diff := cmp.Diff(tt.want, got); diff != "" || verdict != tt.judge {
				t.Errorf("verdict %s: %s", verdict, diff)
			}
			v.refused(tt.run)
			for _, other := range []string{"a", "b", "cut"} {
				if other != tt.run {
					if verdict, got := v.verify(testKeys(t), other); verdict != engine.Verified {
						t.Errorf("run %s is blamed too: %s %v", other, verdict, got)
					}
				}
			}
		})
	}
}

// refused fails the test if any action on a tampered run goes through.
func (v *vault) refused(run string) {
	v.t.Helper()
	s := v.open()
	defer s.Close()
	r := runner(v.t, s, v.w.ticketTools())
	_, recErr := r.Recover(ctx, tickets(), key(run), engine.RecoverOptions{RerunInDoubt: true, Takeover: true})
	_, appErr := r.Resume(ctx, tickets(), key(run), engine.Decide{Type: engine.DecideApprove, By: "ana"})
	_, ansErr := r.Record(ctx, key(run), engine.Decide{Type: engine.DecideAnswer, Value: json.RawMessage("1"), By: "ana"})
	resErr := r.Resolve(ctx, key(run), engine.Resolution{Call: "send.1", NotRun: true, By: "olga"})
	for what, err := range map[string]error{"recover": recErr, "approve": appErr, "answer": ansErr, "resolve": resErr} {
		if !errors.Is(err, engine.ErrCheckpointStoreCorrupt) && !errors.Is(err, engine.ErrRefused) {
			v.t.Errorf("%s of a tampered run: %v", what, err)
		}
	}
}

// An old head put back: the list would show a finished run as running.
func TestScenario38RolledBackHead(t *testing.T) {
	v := &vault{t: t, path: t.TempDir() + "/runs.db", w: newWorld()}
	s := v.open()
	dead := &crashing{full: s, at: 5, after: true} // step 1 was saved
	if _, err := runner(t, dead, v.w.ticketTools()).Run(ctx, tickets(), start("a")); err == nil {
		t.Fatal("the worker was to die")
	}
	s.Close()
	v.exec(copyRow + `runs WHERE run='a'`)
	s = v.open()
	expireLease(t, s, "a")
	if _, err := runner(t, s, v.w.ticketTools()).Recover(ctx, tickets(), key("a"), engine.RecoverOptions{}); err != nil {
		t.Fatal(err)
	}
	s.Close()
	v.exec(`DELETE FROM runs WHERE run='a'`, `INSERT INTO runs SELECT * FROM kept`, `DROP TABLE kept`)
	verdict, got := v.verify(testKeys(t), "a")
	if diff := cmp.Diff([]string{"head step=1 n=0 regressed"}, got); diff != "" || verdict != engine.Regressed {
		t.Errorf("%s %s", verdict, diff)
	}
	v.refused("a")
}

// A row of another store of the same key, and a row of an earlier life of a
// deleted run, do not fit.
func TestScenario38OtherStoreAndOtherLife(t *testing.T) {
	v, other := newVault(t), newVault(t)
	v.exec(`ATTACH '` + other.path + `' AS o; DELETE FROM checkpoints WHERE run='a' AND step=2; INSERT INTO checkpoints SELECT * FROM o.checkpoints WHERE run='a' AND step=2`)
	if verdict, got := v.verify(testKeys(t), "a"); verdict != engine.Forged || len(got) != 1 {
		t.Errorf("row of another store: %s %v", verdict, got)
	}
	v = newVault(t)
	v.exec(copyRow + `checkpoints WHERE run='b'`)
	s := v.open()
	if err := s.Delete(ctx, key("b")); err != nil {
		t.Fatal(err)
	}
	if _, err := runner(t, s, v.w.ticketTools()).Run(ctx, tickets(), start("b")); err != nil {
		t.Fatal(err)
	}
	s.Close()
	v.exec(`DELETE FROM checkpoints WHERE run='b' AND step=3`, `INSERT INTO checkpoints SELECT * FROM kept WHERE step=3`, `DROP TABLE kept`)
	if verdict, got := v.verify(testKeys(t), "b"); verdict != engine.Forged || len(got) != 1 {
		t.Errorf("row of an earlier life: %s %v", verdict, got)
	}
}

// Scenario 41: what is signed is what is stored. Values that serialisers print
// differently come back and verify, and the display shows them as stored.
func TestScenario41(t *testing.T) {
	const state = `{"":0,"a":1.0,"b":1e-7,"c":1e16,"d":0.00001,"e":-0.0,"f":5e-324,"g":9007199254740993,` +
		`"h":1000000000000000000000000000000,"i":"<&>\u2028\u007f","k":"😀","é":"NFC","é":"NFD"}`
	f := engine.NewFlow("keep").Node("n", engine.NodeFunc(nothing))
	eachStore(t, func(t *testing.T, s full) {
		st, err := engine.DecodeState([]byte(state))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := runner(t, s, nil).Run(ctx, f, engine.Start{Key: key("a"), State: st}); err != nil {
			t.Fatal(err)
		}
		_, b := mustLatest(t, s, "a")
		for _, literal := range []string{"1.0", "1e-7", "1e16", "0.00001", "-0.0", "5e-324", "9007199254740993", "1000000000000000000000000000000", `<&>`} {
			if !strings.Contains(string(b.State), literal) {
				t.Errorf("%s is not in %s", literal, b.State)
			}
		}
		back, err := engine.DecodeState(b.State)
		if diff := cmp.Diff(st, back); diff != "" || err != nil {
			t.Errorf("%v %s", err, diff)
		}
		verified(t, s, "a")
	})
	// A database that rewrote the JSON is told from the genuine row.
	v := newVault(t)
	v.exec(`UPDATE checkpoints SET payload = json(payload) || ' ' WHERE run='a' AND step=3`)
	if verdict, _ := v.verify(testKeys(t), "a"); verdict != engine.Forged {
		t.Errorf("rewritten JSON: %s", verdict)
	}
}

// Scenario 43: a rotated key is not tampering.
func TestScenario43(t *testing.T) {
	newKey := func(c string) seal.Key {
		k, err := seal.NewKey([]byte(strings.Repeat(c, 32)))
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	one, two := newKey("1"), newKey("2")
	v := &vault{t: t, path: t.TempDir() + "/runs.db", w: newWorld()}
	for i := range 20 {
		s := v.open()
		ring := seal.NewKeyring(one)
		if i >= 10 {
			ring = seal.NewKeyring(two, one)
		}
		r := runner(t, s, v.w.ticketTools(), func(c *engine.Config) { c.Keys = ring })
		if _, err := r.Run(ctx, tickets(), start(fmt.Sprint("r", i))); err != nil {
			t.Fatal(err)
		}
		s.Close()
	}
	v.exec(`UPDATE checkpoints SET payload='{}' WHERE run='r3' AND step=2`)
	count := func(ring *seal.Keyring) map[engine.Verdict]int {
		out := map[engine.Verdict]int{}
		for i := range 20 {
			verdict, _ := v.verify(ring, fmt.Sprint("r", i))
			out[verdict]++
		}
		return out
	}
	tests := []struct {
		name string
		ring *seal.Keyring
		want map[engine.Verdict]int
	}{
		{"both keys", seal.NewKeyring(two, one), map[engine.Verdict]int{engine.Verified: 19, engine.Forged: 1}},
		{"only the new key", seal.NewKeyring(two), map[engine.Verdict]int{engine.Verified: 10, engine.UnknownKey: 10}},
		{"a wrong key", seal.NewKeyring(newKey("3")), map[engine.Verdict]int{engine.UnknownKey: 20}},
		{"no key", nil, map[engine.Verdict]int{engine.NoKey: 20}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, count(tt.ring)); diff != "" {
				t.Error(diff)
			}
		})
	}
	s := v.open()
	defer s.Close()
	r := runner(t, s, v.w.ticketTools(), func(c *engine.Config) { c.Keys = seal.NewKeyring(two) })
	_, err := r.Recover(ctx, tickets(), key("r0"), engine.RecoverOptions{})
	var e *engine.Error
	if !errors.As(err, &e) || e.Class != engine.ErrRefused || !strings.Contains(err.Error(), one.ID()) || !strings.Contains(e.Hint, "key file") {
		t.Errorf("recover with the wrong key: %v", err)
	}
	if _, err := engine.New(engine.Config{Store: s}); !errors.Is(err, engine.ErrRefused) {
		t.Errorf("a runner without a key: %v", err)
	}
}

var _ stores.Store = (*sqlite.Store)(nil)

// A row that was moved to a run that has no other is found there, though it
// stands for nothing.
func TestARowAloneIsFound(t *testing.T) {
	v := newVault(t)
	v.exec(`UPDATE checkpoints SET run = 'moved' WHERE run = 'a' AND step = 2`, `UPDATE events SET run = 'heard' WHERE run = 'b' AND n = 2`)
	for _, run := range []string{"moved", "heard"} {
		verdict, found := v.verify(testKeys(t), run)
		if verdict != engine.Forged || len(found) == 0 {
			t.Errorf("%s is %s: %q", run, verdict, found)
		}
	}
	s := v.open()
	defer s.Close()
	if _, err := engine.Verify(ctx, s, testKeys(t), key("nowhere")); !errors.Is(err, engine.ErrCheckpointNotFound) {
		t.Errorf("a run without a row: %v", err)
	}
}
