package sim

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/stores"
)

// questions are the open questions of the newest row.
func (r *run) questions() map[string]callAt {
	out := map[string]callAt{}
	if len(r.bodies) > 0 {
		for _, w := range r.bodies[len(r.bodies)-1].Waiting {
			out[w.ID] = callAt{r.last().Base, w.ID, w.Digest}
		}
	}
	return out
}

// operatorEvent takes the audit entry of a decision: it is stored with it, and
// there is one for each question.
func (s *sim) operatorEvent(r *run, open map[string]callAt, c stores.Checkpoint, b engine.Checkpoint, e stores.Event) {
	if e.Type != engine.EventDecision {
		return
	}
	var said struct{ Action, Target, By string }
	if err := json.Unmarshal(e.Payload, &said); err != nil {
		s.violate("event %d is unreadable: %v", e.N, err)
	}
	at, asked := open[said.Target]
	if old, ok := r.decided[at]; ok || !asked {
		s.violate("%s decided question %s, which is not open (%+v)", said.By, said.Target, old)
	}
	i := slices.IndexFunc(b.Decisions, func(d engine.Decision) bool {
		return d.ID == said.Target && d.By == said.By && d.Type == said.Action && d.Base == at.base && d.Digest == at.digest
	})
	if i < 0 {
		s.violate("the decision of %s on %s is not stored with its event", said.By, said.Target)
		return
	}
	d := decision{b.Decisions[i], b.Supersteps}
	r.decided[at], r.decidedBy[said.By] = d, c.Step
	r.deciders = append(r.deciders, d)
	s.saw("decision "+d.Type, true)
}

// questionOf is who decided a question that was seen in a plan, "" for nobody.
func (r *run) questionOf(p engine.Plan, id string) string {
	for _, w := range p.Body.Waiting {
		if w.ID == id {
			return r.decided[callAt{p.Checkpoint.Base, id, w.Digest}].By
		}
	}
	return ""
}

// checkApproved: an effect that a person must agree to has its stored approval.
func (s *sim) checkApproved(r *run, at callAt) {
	switch d, ok := r.decided[at]; {
	case !ok:
		s.violate("call %s acted without a stored approval", at)
	case d.Type != engine.DecideApprove:
		s.violate("call %s acted, and %s had decided: %s", at, d.By, d.Type)
	}
}

// held checks what a row lists to run again: what was listed before, or is known
// to have failed, and nothing that an error edge took.
func (s *sim) held(r *run, c stores.Checkpoint, b engine.Checkpoint) {
	var before []string
	if n := len(r.bodies); n > 1 {
		before = r.bodies[n-2].Again
	}
	for _, id := range b.Again {
		at := callID{c.Base, id}
		if old, known := r.heldAs[at]; known && old == r.newest[at] && !slices.Contains(before, id) {
			s.violate("step %d is held by an old error of call %s, which was not tried again", c.Step, id)
		}
		if b.Error != nil {
			r.heldAs[at] = r.newest[at]
		}
		if !slices.Contains(before, id) && !r.newest[at].failed && !r.attempts[at] {
			s.violate("step %d says that call %s runs again, which did not fail", c.Step, id)
		}
		for _, n := range s.flow.nodes {
			if s.flow.rescued(n.id) && strings.HasPrefix(strings.ReplaceAll(id, "/", "."), n.id+".") {
				s.violate("step %d says that call %s runs again, whose error an edge takes", c.Step, id)
			}
		}
	}
	s.saw("run held", b.Error != nil && c.Status == stores.StatusRunning)
}

// triesAgain takes the calls that run again after a hold: how they failed counts
// no more, and who approved one of them is asked anew. Nobody who asked for no
// run in particular lets one run again that is not idempotent.
func (s *sim) triesAgain(r *run, x *session, again map[callID]bool) {
	s.saw("call tried again after a hold", len(again) > 0)
	for at := range again {
		if x.unattended && !r.newest[at].idempotent {
			s.violate("%s brings on all runs, and takes one that is held at %s, which is not idempotent", x.who.name, at.id)
		}
		superstep := r.bodies[at.base].Supersteps
		delete(r.outcomes, callID{superstep, at.id})
		delete(r.failed, callID{superstep, at.id})
		r.deciders = slices.DeleteFunc(r.deciders, func(d decision) bool {
			return d.superstep == superstep && d.ID == at.id && d.Type == engine.DecideApprove
		})
	}
	maps.DeleteFunc(r.decided, func(at callAt, d decision) bool {
		return again[at.call()] && d.Type == engine.DecideApprove
	})
}
