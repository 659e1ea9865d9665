package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/sqlite"
)

// Scenario 3, the engine's half: the write takes effect, the answer is lost.
// It is resolved by reading back: one decision, one call.
func TestScenario03LostReplies(t *testing.T) {
	for at := 1; at <= 5; at++ {
		s, w := newStore(), newWorld()
		if _, err := runner(t, s, w.shop()).Run(ctx, tickets(), start("order-7")); err != nil {
			t.Fatal(err)
		}
		f := &faulty{full: s, at: at, done: true}
		res, err := runner(t, f, w.shop()).Resume(ctx, tickets(), key("order-7"), approve("pay.1"))
		if err != nil || res.Status != stores.StatusDone || w.count("charge_card") != 1 {
			t.Errorf("write %d: %s, %v, %d charged", at, res.Status, err, w.count("charge_card"))
		}
		if n := strings.Count(decisions(t, s, "order-7"), "approve"); n != 1 {
			t.Errorf("write %d: %d decisions", at, n)
		}
		verified(t, s, "order-7")
	}
}

// And when reading back is impossible too, the call is in doubt, not started again.
func TestScenario03NothingCanBeReadBack(t *testing.T) {
	for write, name := range map[int]string{1: "the decision", 2: "started", 3: "done"} {
		s, w := newStore(), newWorld()
		if _, err := runner(t, s, w.shop()).Run(ctx, tickets(), start("order-7")); err != nil {
			t.Fatal(err)
		}
		o := &outage{full: s}
		f := &faulty{full: o, at: write, done: true, then: func() { o.away.Store(true) }}
		_, err := runner(t, f, w.shop()).Resume(ctx, tickets(), key("order-7"), approve("pay.1"))
		if !errors.Is(err, stores.ErrUnknown) {
			t.Errorf("%s: error %v", name, err)
		}
		if last, _ := mustLatest(t, s, "order-7"); last.Status != stores.StatusRunning {
			t.Errorf("%s: the run is %s", name, last.Status)
		}
		hits := w.count("charge_card")
		expireLease(t, s, "order-7")
		_, err = runner(t, s, w.shop()).Recover(ctx, tickets(), key("order-7"), engine.RecoverOptions{})
		switch {
		case name == "started" && (!errors.Is(err, engine.ErrRecoveryNeedsDecision) || w.count("charge_card") != 0):
			t.Errorf("%s: %v, %d charged", name, err, w.count("charge_card"))
		case name == "done" && (err != nil || hits != 1 || w.count("charge_card") != 1):
			t.Errorf("%s: its record is there, so it replays: %v, %d charged", name, err, w.count("charge_card"))
		case name == "the decision" && (err != nil || hits != 0 || w.count("charge_card") != 1):
			t.Errorf("%s: it was stored, so it is spent once: %v, %d charged", name, err, w.count("charge_card"))
		}
	}
}

// rounds asks "approve batch n?" again and again.
func rounds(w *world) (*engine.Flow, *tool.Registry) {
	f := engine.NewFlow("batches").Node("next", engine.NodeFunc(func(_ context.Context, s engine.State) (engine.State, error) {
		n := 0
		if old, ok := s["batch"].(json.Number); ok {
			i, err := old.Int64()
			if err != nil {
				return nil, err
			}
			n = int(i)
		}
		return engine.State{"batch": n + 1}, nil
	})).Node("send", engine.Call{Tool: "send_batch", Args: func(s engine.State) (any, error) {
		return map[string]any{"batch": s["batch"]}, nil
	}}).Edge("next", "send")
	more := engine.Condition{Text: "batch<3", Test: func(s engine.State) (bool, error) {
		n, err := s["batch"].(json.Number).Int64()
		return n < 3, err
	}}
	return f.When("send", more, "next"), tool.NewRegistry(w.tool("send_batch", needsOK))
}

// Scenario 17: two operators have round 1 open. The first approves, the run
// goes on to round 2; the second one's late word does not count for it.
func TestScenario17LateDecision(t *testing.T) {
	everyStore(t, func(t *testing.T, s full) {
		w := newWorld()
		f, tools := rounds(w)
		r := runner(t, s, tools)
		if _, err := r.Run(ctx, f, engine.Start{Key: key("a")}); err != nil {
			t.Fatal(err)
		}
		seen, err := engine.MakePlan(ctx, s, testKeys(t), key("a"))
		if err != nil {
			t.Fatal(err)
		}
		d := engine.Decide{Type: engine.DecideApprove, ID: "send.1", By: "op1", Version: seen.Version}
		if res, err := r.Resume(ctx, f, key("a"), d); err != nil || res.Status != stores.StatusPaused || w.count("send_batch") != 1 {
			t.Fatalf("%+v, %v", res, err)
		}
		for _, typ := range []string{engine.DecideApprove, engine.DecideDeny} {
			late := engine.Decide{Type: typ, ID: "send.1", By: "op2", Version: seen.Version}
			_, err = r.Resume(ctx, f, key("a"), late)
			if !errors.Is(err, engine.ErrCheckpointConflict) || !strings.Contains(err.Error(), "changed since you looked") || !strings.Contains(err.Error(), "op1 approved send.1") {
				t.Errorf("late %s: %v", typ, err)
			}
		}
		last, b := mustLatest(t, s, "a")
		if last.Status != stores.StatusPaused || len(b.Waiting) != 1 || string(b.Waiting[0].Args) != `{"batch":2}` || w.count("send_batch") != 1 {
			t.Errorf("round 2 stays open: %s, %+v, %d sent", last.Status, b.Waiting, w.count("send_batch"))
		}
		if n := strings.Count(decisions(t, s, "a"), "send.1"); n != 1 {
			t.Errorf("%d decisions are stored", n)
		}
		verified(t, s, "a")
	})
}

// Scenario 17: the same key pressed twice, and approve against deny, at the
// same instant from several terminals.
func TestScenario17AtTheSameInstant(t *testing.T) {
	everyStore(t, func(t *testing.T, s full) {
		for i := range 5 {
			run := fmt.Sprint("run-", i)
			w := newWorld()
			f, tools := rounds(w)
			if _, err := runner(t, s, tools).Run(ctx, f, engine.Start{Key: key(run)}); err != nil {
				t.Fatal(err)
			}
			seen, err := engine.MakePlan(ctx, s, testKeys(t), key(run))
			if err != nil {
				t.Fatal(err)
			}
			words := []string{engine.DecideApprove, engine.DecideApprove, engine.DecideDeny, engine.DecideDeny}
			errs := make([]error, len(words))
			var wg sync.WaitGroup
			for j, typ := range words {
				wg.Go(func() {
					_, errs[j] = runner(t, s, tools).Record(ctx, key(run), engine.Decide{Type: typ, ID: "send.1", By: fmt.Sprint("op", j), Version: seen.Version})
				})
			}
			wg.Wait()
			won := 0
			for _, err := range errs {
				if err == nil {
					won++
				} else if !errors.Is(err, engine.ErrCheckpointConflict) {
					t.Errorf("loser: %v", err)
				}
			}
			if _, b := mustLatest(t, s, run); won != 1 || len(b.Decisions) != 1 || strings.Count(decisions(t, s, run), "send.1") != 1 {
				t.Errorf("%d won, stored %+v", won, b.Decisions)
			}
			verified(t, s, run)
		}
	})
}

// moved gives a genuine signed checkpoint of one run as that of another.
type moved struct {
	stores.Store
	from stores.Key
}

func (m moved) Latest(ctx context.Context, k stores.Key) (stores.Checkpoint, error) {
	c, err := m.Store.Latest(ctx, m.from)
	c.Key = k
	return c, err
}

// Scenario 39: an approval that was stored for run a is copied to run b, whose
// node asks for the same call with the same arguments.
func TestScenario39CopiedToAnotherRun(t *testing.T) {
	s, w := newStore(), newWorld()
	r := runner(t, s, w.shop())
	for _, run := range []string{"a", "b"} {
		if _, err := r.Run(ctx, tickets(), start(run)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.Record(ctx, key("a"), approve("pay.1")); err != nil {
		t.Fatal(err)
	}
	_, err := runner(t, moved{s, key("a")}, w.shop()).Recover(ctx, tickets(), key("b"), engine.RecoverOptions{})
	if !errors.Is(err, engine.ErrCheckpointStoreCorrupt) || w.count("charge_card") != 0 {
		t.Errorf("got %v, %d charged", err, w.count("charge_card"))
	}
}

// Scenario 39: a backup that was taken just after the approval is put back and
// run again. A store cannot know that it is old, and the decision in it is not
// spent there, so the call is made again with the same idempotency key: the
// service behind it applies it once. (A viewer that saw the newer steps
// refuses: see the scenario's test there.)
func TestScenario39RestoredBackup(t *testing.T) {
	dir := t.TempDir()
	path, backup := filepath.Join(dir, "runs.db"), filepath.Join(dir, "backup.db")
	w := newWorld()
	with := func(path string, f func(r *engine.Runner)) {
		t.Helper()
		s, err := sqlite.Open(ctx, path, sqlite.Options{Create: true})
		if err != nil {
			t.Fatal(err)
		}
		f(runner(t, s, w.shop()))
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	finish := func(r *engine.Runner) {
		if res, err := r.Recover(ctx, tickets(), key("a"), engine.RecoverOptions{}); err != nil || res.Status != stores.StatusDone {
			t.Fatalf("%+v, %v", res, err)
		}
	}
	with(path, func(r *engine.Runner) {
		if _, err := r.Run(ctx, tickets(), start("a")); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Record(ctx, key("a"), approve("pay.1")); err != nil {
			t.Fatal(err)
		}
	})
	data, err := os.ReadFile(path) // closed: nobody's locks are dropped
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(backup, data, 0o600); err != nil {
		t.Fatal(err)
	}
	with(path, finish)
	with(backup, finish)
	if k := w.keys["charge_card"]; len(k) != 2 || k[0] != k[1] || k[0] == "" {
		t.Errorf("the service cannot tell that it is the same call: %v", k)
	}
}
