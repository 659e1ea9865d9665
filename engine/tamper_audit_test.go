package engine_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/stores"
)

// What an operator did cannot be taken out by halves: the record of a
// resolution and its event name each other.
func TestResolutionCannotBeTakenOutByHalves(t *testing.T) {
	tests := []struct{ name, sql, want string }{
		{"the event", `DELETE FROM events WHERE run='cut' AND type='operator.resolved'`, "event step=2 n=4 gap"},
		{"the record", `DELETE FROM calls WHERE run='cut' AND status='resolved'`, "call step=2 n=6 gap"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := newVault(t)
			s := v.open()
			if err := runner(t, s, v.w.ticketTools()).Resolve(ctx, key("cut"), engine.Resolution{Call: "send.1", By: "olga", Result: json.RawMessage(`"sent"`)}); err != nil {
				t.Fatal(err)
			}
			s.Close()
			if verdict, got := v.verify(testKeys(t), "cut"); verdict != engine.Verified {
				t.Fatalf("before: %s %v", verdict, got)
			}
			v.exec(tt.sql)
			if _, got := v.verify(testKeys(t), "cut"); !cmp.Equal(got, []string{tt.want}) {
				t.Errorf("findings %v, want %s", got, tt.want)
			}
			v.refused("cut")
		})
	}
}

// A store whose id was taken out does not take rows of other stores in.
func TestStoreWithoutItsID(t *testing.T) {
	v, other := newVault(t), newVault(t)
	v.exec(`DELETE FROM meta WHERE key='store'`)
	v.exec(`ATTACH '` + other.path + `' AS o; DELETE FROM checkpoints; DELETE FROM calls; DELETE FROM events; DELETE FROM runs;
		INSERT INTO checkpoints SELECT * FROM o.checkpoints; INSERT INTO calls SELECT * FROM o.calls;
		INSERT INTO events SELECT * FROM o.events; INSERT INTO runs SELECT * FROM o.runs`)
	s := v.open()
	defer s.Close()
	if r, err := engine.Verify(ctx, s, testKeys(t), key("cut")); err == nil && r.Verdict == engine.Verified {
		t.Error("rows of another store verify")
	}
	if _, err := runner(t, s, v.w.ticketTools()).Recover(ctx, tickets(), key("cut"), engine.RecoverOptions{RerunInDoubt: true}); err == nil {
		t.Error("a run of another store was recovered")
	}
}

// A run whose list entry was taken out is not forgotten.
func TestOrphansAreReported(t *testing.T) {
	v := newVault(t)
	v.exec(`DELETE FROM runs WHERE run='cut'`)
	s := v.open()
	defer s.Close()
	all, err := runner(t, s, v.w.ticketTools()).RecoverAll(ctx, stores.AnyOwner, func(string) (*engine.Flow, error) { return tickets(), nil }, engine.RecoverOptions{})
	if err != nil || !errors.Is(all[key("cut")].Err, engine.ErrCheckpointStoreCorrupt) {
		t.Errorf("%+v, %v", all, err)
	}
}

// A write that something in the database swallows is not taken for kept.
func TestSwallowedWritesAreErrors(t *testing.T) {
	v := newVault(t)
	s := v.open()
	defer s.Close()
	v.exec(`CREATE TRIGGER evil BEFORE INSERT ON calls WHEN new.status = 'started' BEGIN SELECT RAISE(IGNORE); END`)
	before := v.w.count("hold_seats")
	if _, err := runner(t, s, v.w.ticketTools()).Run(ctx, tickets(), start("new")); err == nil || v.w.count("hold_seats") != before {
		t.Errorf("a call ran whose start was swallowed: %v", err)
	}
}
