package viewer

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/stores"
)

// CallState is how a call stands, in one word that all screens share. The call
// log alone does not tell it: whether a call still waits, was approved or was
// denied is said by checkpoints and by the run's events.
type CallState string

// The states of calls.
const (
	CallWaiting  CallState = "waiting"     // for an approval
	CallApproved CallState = "approved"    // and it did not run yet
	CallRunning  CallState = "running"     // a worker is on it
	CallStarted  CallState = "started"     // no result, and it may run again: its tool is idempotent
	CallInDoubt  CallState = "in-doubt"    // it may or may not have run
	CallLost     CallState = "result-lost" // it ran, its result could not be kept, and it may run again
	CallDone     CallState = "done"
	CallFailed   CallState = "failed"
	CallDenied   CallState = "denied"   // a person said no, so it did not run
	CallNotRun   CallState = "not-run"  // surely
	CallResolved CallState = "resolved" // an operator said what it returned
	CallUnlogged CallState = "unlogged" // of a conversation: the call log knows nothing of it
)

// Word is the state as people read it.
func (s CallState) Word() string {
	switch s {
	case CallWaiting:
		return "waits for approval"
	case CallApproved:
		return "approved, not run"
	case CallUnlogged:
		return "not logged"
	}
	return strings.ReplaceAll(string(s), "-", " ")
}

// callAt names a call within its run.
type callAt struct {
	step int64
	id   string
}

// stateOf is the state of a logged call.
func (f facts) stateOf(c engine.CallInfo, doubt bool) CallState {
	switch {
	case doubt:
		return CallInDoubt
	case c.Status == stores.CallPending:
		return f.gate(c)
	case c.Status == stores.CallResolved && c.NotRun:
		return CallNotRun
	case c.Status == stores.CallResolved:
		return CallResolved
	case c.Status == stores.CallUnrecordable:
		return CallLost
	case c.Status == stores.CallStarted && c.Step == f.base && f.lease != nil:
		return CallRunning
	case c.Status == stores.CallStarted:
		return CallStarted
	case c.Denied != nil:
		return CallDenied
	case c.Failed:
		return CallFailed
	}
	return CallDone
}

// gate is the state of a call that the log left waiting for an approval. What
// nobody decided before its superstep ended did not run.
func (f facts) gate(c engine.CallInfo) CallState {
	if d, ok := f.decisionOn(c); ok {
		if d.Type == engine.DecideDeny {
			return CallDenied
		}
		return CallApproved
	}
	if c.Step == f.base && f.paused() {
		for _, w := range f.waiting {
			if w.Type == WaitApproval && w.ID == c.ID {
				return CallWaiting
			}
		}
	}
	if _, denied := f.denials[callAt{c.Step, c.ID}]; denied {
		return CallDenied
	}
	return CallNotRun
}

// decisionOn is the stored decision on exactly this call that is not spent yet.
func (f facts) decisionOn(c engine.CallInfo) (engine.Decision, bool) {
	for _, d := range f.decisions {
		if d.ID == c.ID && d.Base == c.Step && d.Digest == c.Digest && d.Type != engine.DecideAnswer {
			return d, true
		}
	}
	return engine.Decision{}, false
}

// decidedBy says who decided on a call that is waiting in the log, "" when
// nobody did.
func (f facts) decidedBy(c engine.CallInfo) string {
	d, ok := f.decisionOn(c)
	switch no, denied := f.denials[callAt{c.Step, c.ID}]; {
	case ok && d.Type == engine.DecideApprove:
		return joinedBy(": ", d.By+" approved it, and it runs when the run goes on", d.Note)
	case ok:
		return joinedBy(": ", d.By+" denied it", d.Note)
	case denied:
		return joinedBy(": ", no.By+" denied it", no.Note)
	}
	return ""
}

// decided completes the facts with what was decided about calls that the log
// left waiting: the decisions of the checkpoint that are not spent, and the
// denials of the past, which only events tell. Where nothing waits nothing is
// read.
func (s *Service) decided(ctx context.Context, a *attachment, k stores.Key, f *facts, calls []engine.CallInfo, stored []engine.Decision) error {
	f.decisions = stored
	unknown := false
	asked := map[string][]int64{} // steps of the calls of an id
	for _, c := range calls {
		asked[c.ID] = append(asked[c.ID], c.Step)
		unknown = unknown || c.Status == stores.CallPending && f.gate(c) == CallNotRun
	}
	log, ok := a.store.(stores.EventLog)
	if !unknown || !ok {
		return nil
	}
	f.denials = map[callAt]engine.Denial{}
	for after := int64(0); ; {
		rows, err := log.Events(ctx, k, after, 0)
		if err != nil && !errors.Is(err, stores.ErrNotFound) {
			return err
		}
		start := after
		for _, e := range rows {
			after = max(after, e.N)
			f.deny(asked, e)
		}
		if after == start {
			return nil
		}
	}
}

// deny takes the decision that an event tells. It is about the last call of
// that id before it; the newest word on a question counts.
func (f *facts) deny(asked map[string][]int64, e stores.Event) {
	var d struct {
		Action string `json:"action"`
		Target string `json:"target"`
		By     string `json:"by"`
		Note   string `json:"note"`
	}
	if e.Type != engine.EventDecision || e.Bad != "" || json.Unmarshal(e.Payload, &d) != nil {
		return
	}
	at := callAt{-1, d.Target}
	for _, step := range asked[d.Target] {
		if step < e.Step {
			at.step = max(at.step, step)
		}
	}
	switch {
	case at.step < 0:
	case d.Action == engine.DecideDeny:
		f.denials[at] = engine.Denial{By: d.By, Note: d.Note}
	default:
		delete(f.denials, at)
	}
}
