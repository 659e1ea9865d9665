package sim

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/stores"
)

// recorded takes a call record that the store accepted, and passes its error on.
func (s *sim) recorded(a *actor, w stores.CallWrite, err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.saw("start refused to a worker that was cut off", w.Call.Status == stores.CallStarted && w.Call.Segment < s.run(w.Call.Run).last().Segment)
		return err
	}
	for _, e := range w.Events {
		s.events[string(e.MAC)] = true
	}
	r, x := s.run(w.Call.Run), a.sessions[w.Call.Run]
	if x == nil {
		s.violate("%s wrote to the call log outside of a session", a.name)
		return nil
	}
	at := s.logs(r, x, w.Call)
	if w.Call.Status == stores.CallStarted {
		s.begins(r, x, w.Call, at)
	}
	if w.Call.Status == stores.CallResolved {
		r.resolved[fmt.Sprint(at.call(), a.name)] = true
	}
	return nil
}

// logs takes one record of the call log.
func (s *sim) logs(r *run, x *session, c stores.Call) callAt {
	var b struct {
		Digest string
		NotRun bool `json:"not_run"`
		Failed bool
		By     string
		Denied *engine.Denial
	}
	if err := json.Unmarshal(c.Payload, &b); err != nil {
		s.violate("call record %d.%d is unreadable: %v", c.Segment, c.N, err)
	}
	at := callAt{c.Step, engine.CallID(c.Node, c.Ordinal), b.Digest}
	old, known := r.newest[at.call()]
	// That it ran, and what came of it, was found out by a person: no late word takes that back.
	told := known && old.status == stores.CallResolved && !old.notRun && c.Segment == old.segment && c.Status != stores.CallResolved
	if !known || c.Segment > old.segment || c.Segment == old.segment && c.N > old.n && !told {
		r.newest[at.call()] = record{c.Segment, c.N, c.Status, b.Digest, b.NotRun, b.Failed && b.Denied == nil, c.Idempotent}
		if c.Tool == attempt && r.newest[at.call()].ran() {
			told := callID{r.bodies[c.Step].Supersteps, at.id}
			r.attempts[at.call()], r.failed[told] = true, true
			r.late[told] = c.Segment < r.last().Segment
		}
		if isFlaky[c.Tool] && r.newest[at.call()].ran() {
			r.outcomes[callID{r.bodies[c.Step].Supersteps, at.id}] = b.Failed
		}
		if d := (decision{engine.Decision{Type: engine.DecideApprove, ID: at.id, By: b.By}, r.bodies[c.Step].Supersteps}); isAsking[c.Tool] && r.newest[at.call()].ran() {
			if b.Denied != nil {
				d.Type, d.By, d.Note = engine.DecideDeny, b.Denied.By, b.Denied.Note
			}
			r.deciders = append(r.deciders, d) // what the log says is the last word
		}
	}
	if c.Status != stores.CallStarted && c.Status != stores.CallPending {
		r.ended[at] = true
		s.saw("outcome of a worker that was cut off", c.Status == stores.CallDone && c.Segment < r.last().Segment)
	}
	s.saw("call failed", b.Failed)
	s.saw("call of a tool loop", strings.HasSuffix(c.Node, toolsOf("")))
	s.saw("call in a container", strings.Contains(c.Node, "/"))
	s.saw("call did not start", b.NotRun && x.claimed)
	s.saw("call "+string(c.Status), true)
	if c.Status == stores.CallStarted && known && old.open() && !c.Idempotent && x.claimed && !x.open[at.id] && !x.ran[at] {
		s.violate("call %s, which is in doubt, runs again without a decision", at)
	}
	return at
}

// attempt is the tool of records that an attempt at a node failed.
const attempt = "attempt"

// begins checks a call that may run from now on.
func (s *sim) begins(r *run, x *session, c stores.Call, at callAt) {
	if isAsking[c.Tool] && !x.who.port {
		s.checkApproved(r, at)
	}
	if c.Tool == attempt {
		s.saw("attempt failed", true)
		return
	}
	switch {
	case r.final():
		s.violate("call %s was started after the run had ended", at)
	case c.Incarnation != r.last().Incarnation:
		s.violate("call %s was started for a run that was deleted", at)
	case r.writer != x:
		s.violate("call %s was started by %s, which was cut off", at, x.who.name)
	case c.Segment != r.last().Segment:
		s.violate("call %s was started in segment %d of %d", at, c.Segment, r.last().Segment)
	case x.finished[at]:
		s.violate("call %s, which is done, runs again", at)
	}
	x.logged[at.id] = x.agreed[at.id]
	x.started[at.id], x.ran[at], x.acting[at.id] = begun{r, c.Node, at.base, c.Ordinal, at.digest}, true, true
}
