package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/memory"
)

func idOf(t *testing.T, s stores.Store) string {
	t.Helper()
	info, err := s.Info(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return info.ID
}

func readRun(t *testing.T, s stores.Reader, run string) stores.Run {
	t.Helper()
	r, err := stores.ReadRun(ctx, s, key(run))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// adopted is a run as it goes from one store to another.
func adopted(t *testing.T, from, to *memory.Store, run string) stores.Run {
	t.Helper()
	r, err := engine.Adopt(testKeys(t), readRun(t, from, run), engine.Import{From: idOf(t, from), Store: idOf(t, to), By: "olga", Note: "moved"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func move(t *testing.T, from, to *memory.Store, run string) {
	t.Helper()
	r := adopted(t, from, to, run)
	if err := to.Import(ctx, r); err != nil {
		t.Fatal(err)
	}
}

// put replaces a run by other rows, as somebody with access to the store can.
func putRun(t *testing.T, s *memory.Store, r stores.Run) {
	t.Helper()
	if err := s.Delete(ctx, r.Key()); err != nil && !errors.Is(err, stores.ErrNotFound) {
		t.Fatal(err)
	}
	if err := s.Import(ctx, r); err != nil {
		t.Fatal(err)
	}
}

// verdict is what Verify says of a run, and VerifyRun of its rows by themselves.
func verdict(t *testing.T, s stores.Reader, run string) (engine.Verdict, string) {
	t.Helper()
	r, err := engine.Verify(ctx, s, testKeys(t), key(run))
	if err != nil {
		t.Fatal(err)
	}
	if rows := engine.VerifyRun(testKeys(t), idOf(t, s), readRun(t, s, run)); fmt.Sprint(rows) != fmt.Sprint(r) {
		t.Errorf("the rows by themselves: %+v\nin the store: %+v", rows, r)
	}
	var said []string
	for _, f := range r.Findings {
		said = append(said, fmt.Sprintf("%s %d.%d %s: %s", f.Record, f.Step, f.N, f.Verdict, f.Reason))
	}
	return r.Verdict, strings.Join(said, "\n")
}

// pausedRun is a store with a run that waits for an approval.
func pausedRun(t *testing.T, w *world) *memory.Store {
	t.Helper()
	s := newStore()
	if _, err := runner(t, s, w.ticketTools(needsOK)).Run(ctx, tickets(), start("r")); err != nil {
		t.Fatal(err)
	}
	return s
}

// An imported run verifies row for row, also after it went on and was imported
// again, back into the store that it came from as well.
func TestImportedRunsVerify(t *testing.T) {
	w := newWorld()
	a, b, c := pausedRun(t, w), newStore(), newStore()
	move(t, a, b, "r")
	verified(t, b, "r")
	before, after := readRun(t, a, "r"), readRun(t, b, "r")
	if fmt.Sprint(before.Checkpoints) != fmt.Sprint(after.Checkpoints) || fmt.Sprint(before.Calls) != fmt.Sprint(after.Calls) ||
		fmt.Sprint(before.Events) != fmt.Sprint(after.Events[:len(after.Events)-1]) {
		t.Error("rows were changed on the way")
	}
	if err := engine.CheckHead(testKeys(t), after.Head); err != nil || after.Head.Store != idOf(t, b) {
		t.Errorf("the list entry: store %s, %v", after.Head.Store, err)
	}
	decide := func(s *memory.Store) {
		t.Helper()
		if _, err := runner(t, s, w.ticketTools(needsOK)).Resume(ctx, tickets(), key("r"), engine.Decide{Type: engine.DecideApprove, By: "ana"}); err != nil {
			t.Fatal(err)
		}
		verified(t, s, "r")
	}
	decide(b)
	if last := readRun(t, b, "r"); last.Last().Store != idOf(t, b) {
		t.Errorf("a row that was made after the import names store %s", last.Last().Store)
	}
	move(t, b, c, "r")
	verified(t, c, "r")
	for readRun(t, c, "r").Last().Status == stores.StatusPaused {
		decide(c)
	}
	if err := a.Delete(ctx, key("r")); err != nil {
		t.Fatal(err)
	}
	move(t, c, a, "r")
	verified(t, a, "r")
}

// What was made in the store of origin after the import does not pass in the
// copy: an approval that was given there is not spent here.
func TestRowsOfTheOriginDoNotPassAfterAnImport(t *testing.T) {
	w := newWorld()
	a, b := pausedRun(t, w), newStore()
	move(t, a, b, "r")
	if _, err := runner(t, a, w.ticketTools(needsOK)).Record(ctx, key("r"), engine.Decide{Type: engine.DecideApprove, By: "ana"}); err != nil {
		t.Fatal(err)
	}
	there, here := readRun(t, a, "r"), readRun(t, b, "r")
	stolen := here
	stolen.Checkpoints, stolen.Head = there.Checkpoints, there.Head
	putRun(t, b, stolen)
	if v, said := verdict(t, b, "r"); v != engine.Forged || !strings.Contains(said, "signed for another store") {
		t.Errorf("the newer checkpoint of the origin: %s\n%s", v, said)
	}
	stolen = here
	stolen.Events = append(there.Events[:len(here.Events)-1:len(here.Events)-1], there.Events[len(here.Events)-1])
	putRun(t, b, stolen)
	if v, _ := verdict(t, b, "r"); v != engine.Forged {
		t.Errorf("the origin's event in the place of the import: %s", v)
	}
	putRun(t, b, there)
	if v, _ := verdict(t, b, "r"); v != engine.Forged {
		t.Errorf("all rows of the origin, without an import: %s", v)
	}
}

// The anchor holds exactly the rows that were brought, for exactly one store.
func TestTamperedImportsShow(t *testing.T) {
	w := newWorld()
	a, b, c := pausedRun(t, w), newStore(), newStore()
	move(t, a, b, "r")
	sound := readRun(t, b, "r")
	last := len(sound.Events) - 1
	for name, tc := range map[string]struct {
		edit func(r *stores.Run)
		in   *memory.Store
		want string
	}{
		"no anchor": {func(r *stores.Run) { r.Events = r.Events[:last] }, b, "checkpoint 0.0 forged: it was signed for another store"},
		"anchor changed": {func(r *stores.Run) {
			r.Events[last].Payload = []byte(strings.Replace(string(r.Events[last].Payload), "olga", "eve!", 1))
		}, b, fmt.Sprintf("event 1.%d forged: the event was changed", last+1)},
		"in another store": {func(*stores.Run) {}, c, "signed for another store"},
		"call cut off":     {func(r *stores.Run) { r.Calls = r.Calls[:len(r.Calls)-1] }, b, fmt.Sprintf("call record %d of segment 1 is missing", len(sound.Calls))},
		"call changed":     {func(r *stores.Run) { r.Calls[0].Payload = []byte("{}") }, b, "call 0.1 forged"},
		"event cut off":    {func(r *stores.Run) { r.Events = append(r.Events[:1:1], r.Events[2:]...) }, b, "gap"},
		"step changed":     {func(r *stores.Run) { r.Checkpoints[1].Payload = []byte("{}") }, b, "checkpoint 1.0 forged"},
		"the old head":     {func(r *stores.Run) { r.Head = readRun(t, a, "r").Head }, b, "head"},
	} {
		r := sound
		r.Checkpoints = append([]stores.Checkpoint{}, sound.Checkpoints...)
		r.Calls = append([]stores.Call{}, sound.Calls...)
		r.Events = append([]stores.Event{}, sound.Events...)
		tc.edit(&r)
		putRun(t, tc.in, r)
		if v, said := verdict(t, tc.in, "r"); v == engine.Verified || !strings.Contains(said, tc.want) {
			t.Errorf("%s: %s, want %q in\n%s", name, v, tc.want, said)
		}
	}
	putRun(t, b, sound)
	verified(t, b, "r")
}

// Nothing is anchored that is not one whole run, or without a key.
func TestAdoptRefuses(t *testing.T) {
	a, b := pausedRun(t, newWorld()), newStore()
	r := readRun(t, a, "r")
	to := engine.Import{From: idOf(t, a), Store: idOf(t, b)}
	if _, err := engine.Adopt(nil, r, to); !errors.Is(err, engine.ErrRefused) {
		t.Errorf("without a key: %v", err)
	}
	if _, err := engine.Adopt(testKeys(t), r, engine.Import{From: to.From}); !errors.Is(err, engine.ErrInvalid) {
		t.Errorf("to no store: %v", err)
	}
	forged := r
	forged.Checkpoints = append([]stores.Checkpoint{}, r.Checkpoints...)
	forged.Checkpoints[1].Payload = []byte("{}")
	if _, err := engine.Adopt(testKeys(t), forged, to); !errors.Is(err, engine.ErrCheckpointStoreCorrupt) {
		t.Errorf("a forged run: %v", err)
	}
	if _, err := engine.Adopt(testKeys(t), r, engine.Import{From: to.Store, Store: to.Store}); !errors.Is(err, engine.ErrCheckpointStoreCorrupt) {
		t.Errorf("from a store that it was not in: %v", err)
	}
	r.Checkpoints = r.Checkpoints[1:]
	if _, err := engine.Adopt(testKeys(t), r, to); !errors.Is(err, stores.ErrInvalid) {
		t.Errorf("without its first step: %v", err)
	}
}
