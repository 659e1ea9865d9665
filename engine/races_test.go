package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

// meanwhile lets something happen between two of a reader's reads.
type meanwhile struct {
	full
	afterCalls, afterEvents, afterHead func()
}

func (m meanwhile) Calls(ctx context.Context, k stores.Key, since int64) ([]stores.Call, error) {
	rows, err := m.full.Calls(ctx, k, since)
	happens(m.afterCalls)
	return rows, err
}

func (m meanwhile) Events(ctx context.Context, k stores.Key, after int64, limit int) ([]stores.Event, error) {
	rows, err := m.full.Events(ctx, k, after, limit)
	happens(m.afterEvents)
	return rows, err
}

func (m meanwhile) Head(ctx context.Context, k stores.Key) (stores.Head, error) {
	h, err := m.full.Head(ctx, k)
	happens(m.afterHead)
	return h, err
}

func happens(f func()) {
	if f != nil {
		f()
	}
}

// TestVerifyWhileARunComesAndGoes: a run that was started and deleted while it
// was looked for is not there; half of its rows are no finding.
func TestVerifyWhileARunComesAndGoes(t *testing.T) {
	for reading := 1; reading <= 2; reading++ { // of the events, after which the run is started
		t.Run(fmt.Sprint(reading), func(t *testing.T) { comesAndGoes(t, reading) })
	}
}

func comesAndGoes(t *testing.T, reading int) {
	w, s := newWorld(), newStore()
	r := runner(t, s, w.ticketTools())
	started, deleted := false, false
	begin := func() {
		if reading--; reading == 0 {
			started = true
			if _, err := r.Run(ctx, tickets(), start("a")); err != nil {
				t.Error(err)
			}
		}
	}
	end := func() {
		if started && !deleted {
			deleted = true
			if err := s.Delete(ctx, key("a")); err != nil {
				t.Error(err)
			}
		}
	}
	m := meanwhile{full: s, afterEvents: begin, afterHead: end}
	if rep, err := engine.Verify(ctx, m, testKeys(t), key("a")); !errors.Is(err, engine.ErrCheckpointNotFound) {
		t.Errorf("it is %s: %+v, %v", rep.Verdict, rep.Findings, err)
	}
	if !deleted {
		t.Error("nothing happened meanwhile")
	}
}

// TestVerifyWhileARunIsReplaced: a run that changes its life at every reading is
// a conflict, and not corrupt.
func TestVerifyWhileARunIsReplaced(t *testing.T) {
	w, s := newWorld(), newStore()
	r := runner(t, s, w.ticketTools())
	anew := func() {
		if err := s.Delete(ctx, key("a")); err != nil && !errors.Is(err, stores.ErrNotFound) {
			t.Error(err)
		}
		if _, err := r.Run(ctx, tickets(), start("a")); err != nil {
			t.Error(err)
		}
	}
	anew()
	m := meanwhile{full: s, afterCalls: anew}
	if rep, err := engine.Verify(ctx, m, testKeys(t), key("a")); !errors.Is(err, engine.ErrCheckpointConflict) {
		t.Errorf("it is %s: %+v, %v", rep.Verdict, rep.Findings, err)
	}
}

// TestVerifyWhileACallIsResolved: a resolution is a record and an event, and
// who reads one before and the other after it was made finds no gap.
func TestVerifyWhileACallIsResolved(t *testing.T) {
	for _, between := range []string{"calls", "events"} {
		t.Run("after the "+between, func(t *testing.T) {
			w, s := newWorld(), newStore()
			w.do["charge_card"] = func(context.Context, tool.Input) (any, error) {
				return nil, fmt.Errorf("%w: no answer", tool.ErrOutcomeUnknown)
			}
			r := runner(t, s, w.ticketTools())
			if _, err := r.Run(ctx, tickets(), start("a")); !errors.Is(err, engine.ErrRecoveryNeedsDecision) {
				t.Fatal(err)
			}
			resolved := 0
			resolve := func() {
				if resolved++; resolved > 1 {
					return
				}
				if err := r.Resolve(ctx, key("a"), engine.Resolution{Call: "pay.1", Result: json.RawMessage(`"paid"`), By: "olga"}); err != nil {
					t.Error(err)
				}
			}
			m := meanwhile{full: s}
			if between == "calls" {
				m.afterCalls = resolve
			} else {
				m.afterEvents = resolve
			}
			verified(t, m, "a")
			if resolved == 0 {
				t.Error("nothing happened meanwhile")
			}
		})
	}
}

// TestAnApprovalOutlastsAWait: a node that goes on after it was told to wait
// does not lose the approval of a later call, which did not run yet.
func TestAnApprovalOutlastsAWait(t *testing.T) {
	w, s := newWorld(), newStore()
	f := engine.NewFlow("both").Node("both", engine.NodeFunc(func(ctx context.Context, _ engine.State) (engine.State, error) {
		_, err1 := engine.CallTool(ctx, "first", nil)
		_, err2 := engine.CallTool(ctx, "second", nil)
		return nil, errors.Join(err1, err2)
	}))
	r := runner(t, s, tool.NewRegistry(w.tool("first", needsOK), w.tool("second", needsOK)))
	if _, err := r.Run(ctx, f, engine.Start{Key: key("a")}); err != nil {
		t.Fatal(err)
	}
	res, err := r.Resume(ctx, f, key("a"), engine.Decide{Type: engine.DecideApprove, ID: "both.2", By: "ana"})
	if err != nil || len(res.Waiting) != 1 || res.Waiting[0].ID != "both.1" {
		t.Fatalf("%+v, %v", res, err)
	}
	res, err = r.Resume(ctx, f, key("a"), engine.Decide{Type: engine.DecideApprove, ID: "both.1", By: "ana"})
	if err != nil || res.Status != stores.StatusDone || w.count("first") != 1 || w.count("second") != 1 {
		t.Errorf("it is %s and waits for %+v, %v", res.Status, res.Waiting, err)
	}
}
