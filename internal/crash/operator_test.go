//go:build unix

package crash

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/stores"
)

// need is what a run needs next, as the operator sees it.
type need int

const (
	needsNothing  need = iota // it has ended
	needsStart                // there is no such run
	needsPatience             // somebody is at it, or nobody can know yet
	needsLook                 // the operator did something: look again
	needsRecovery             // a worker can bring it on, with the order
)

// look does the next thing for a run that takes a person: it approves, answers,
// and says what happened to a call in doubt. Of some runs it says that their
// calls in doubt may run again. The order is for a worker.
func (w *world) look(run string) (need, order) {
	h, err := w.store.Head(w.Context(), keyOf(run))
	switch {
	case errors.Is(err, stores.ErrNotFound):
		return needsStart, order{Do: doRun, Flow: flowOf(run), Run: run}
	case err != nil:
		w.Errorf("%s: %v", run, err)
		return needsPatience, order{}
	}
	return w.lookAt(h)
}

// lookAt is look for a run with its list entry.
func (w *world) lookAt(h stores.Head) (need, order) {
	o := order{Do: doRecover, Flow: h.Flow, Run: h.Run}
	if h.Status.Final() {
		return needsNothing, o
	}
	if h.Status == stores.StatusRunning && h.Lease != nil && h.Lease.Live {
		holder, _, _ := strings.Cut(h.Lease.Holder, "/")
		if o.Takeover = w.silenced(holder); !o.Takeover {
			return needsPatience, o
		}
	}
	if h.Status == stores.StatusRunning && h.Open == 0 {
		return needsRecovery, o
	}
	return w.plan(h.Run, o)
}

// plan is look for a run that waits for something, or has calls in doubt.
func (w *world) plan(run string, o order) (need, order) {
	p, err := engine.MakePlan(w.Context(), w.store, w.keys, keyOf(run))
	switch {
	case err != nil || errors.Is(p.Blocked, engine.ErrCheckpointStoreCorrupt):
		w.Errorf("%s: %v, %v: %+v", run, err, p.Blocked, p.Findings)
		return needsPatience, o
	case p.Action == engine.PlanResume:
		w.decide(p)
		return needsLook, o
	case len(p.InDoubt) == 0: // a worker was faster
		return needsPatience, o
	}
	for _, c := range p.InDoubt {
		if !w.silenced(c.By) {
			return needsPatience, o
		}
	}
	if !rerunner(run) {
		w.resolve(p, p.InDoubt[0], o.Takeover)
		return needsLook, o
	}
	o.Rerun, o.Version = true, p.Version
	for _, c := range p.InDoubt {
		if w.bank.permit(callOf(run, c), fmt.Sprintf("%d.%d", c.Segment, c.N)) {
			w.note(func(t *totals) { t.rerun++ })
		}
	}
	return needsRecovery, o
}

// silenced reports whether nothing of a worker can arrive at the bank any more.
// Of a dead one a request may still be under way.
func (w *world) silenced(name string) bool {
	if p := w.worker(name); p != nil && p.hasEnded() {
		w.bank.revoke(name)
	}
	return w.bank.revoked(name)
}

// rerunner tells the runs of which the operator says "run it again" without
// looking: one of five.
func rerunner(run string) bool {
	h := fnv.New32a()
	h.Write([]byte(run))
	return h.Sum32()%5 == 0
}

// callOf finds the bank's name for a call of the log.
func callOf(run string, c engine.CallInfo) call {
	out := call{Run: run, Tool: c.Tool}
	_ = json.Unmarshal(c.Args, &out) // a call that has none is none of ours
	return out
}

func (w *world) decide(p engine.Plan) {
	ask := p.Body.Waiting[0]
	d := engine.Decide{Type: engine.DecideApprove, ID: ask.ID, By: "ana", Version: p.Version}
	if ask.Type == engine.WaitInterrupt {
		d.Type, d.Value = engine.DecideAnswer, answer(ask.ID)
	}
	_, err := w.runner.Record(w.Context(), p.Key, d)
	if errors.Is(err, engine.ErrCheckpointConflict) || errors.Is(err, stores.ErrBusy) {
		return // a worker that was cut off has logged an outcome meanwhile: look again
	}
	if err != nil {
		w.Errorf("%s: decision on %s: %v", p.Key.Run, ask.ID, err)
	}
	w.note(func(t *totals) {
		if ask.Type == engine.WaitInterrupt {
			t.answered++
		} else {
			t.approved++
		}
	})
}

// resolve tells the truth about one call.
func (w *world) resolve(p engine.Plan, c engine.CallInfo, takeover bool) {
	res := engine.Resolution{Call: c.ID, By: "olga", Note: "asked the bank", Version: p.Version, Takeover: takeover}
	if paid := callOf(p.Key.Run, c); w.bank.ran(paid) {
		text, err := json.Marshal(paid.receipt())
		if err != nil {
			w.Error(err)
		}
		res.Result = text
	} else {
		res.NotRun = true
	}
	err := w.runner.Resolve(w.Context(), p.Key, res)
	switch {
	case err == nil:
		w.note(func(t *totals) { t.resolved++ })
	case errors.Is(err, engine.ErrCheckpointConflict), errors.Is(err, stores.ErrBusy): // it changed meanwhile
	default:
		w.Errorf("%s: resolution of %s: %v", p.Key.Run, c.ID, err)
	}
}

// check refuses outcomes that no worker should have: another one may be
// faster, a person may be needed, and one that was cut off may be refused.
func (w *world) check(p *worker, run string, out outcome) {
	switch out.Class {
	case "", "conflict", "doubt", "busy":
	case "refused":
		if !w.bank.revoked(p.name) {
			w.Errorf("%s of %s: %s", run, p.name, out.Error)
		}
	default:
		w.Errorf("%s of %s is %s: %s", run, p.name, out.Class, out.Error)
	}
	for run, one := range out.All {
		w.check(p, run, one)
	}
}
