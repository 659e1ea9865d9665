package engine

import (
	"time"

	"github.com/flowtui/flowtui/stores"
)

// The types of events. The first two carry the data that the reference names.
const (
	EventSaved     = "checkpoint.saved" // kind, step, status, flow, and unreplayed if any
	EventRecovered = "run.recovered"    // kind, step, replayed, rerun
	EventWaiting   = "run.waiting"      // type, id, tool or key
	EventDecision  = "operator.decision"
	EventResolved  = "operator.resolved"
	EventRecovery  = "operator.recover"
)

// operatorEvent is the audit entry of an operator's action: who did what, when
// (the event's time), why, and which plan they had seen.
type operatorEvent struct {
	Action string `json:"action"`
	Target string `json:"target,omitempty"`
	By     string `json:"by"`
	Note   string `json:"note,omitempty"`
	Plan   string `json:"plan,omitempty"` // version of the plan that was seen
}

// decisionOf reads the newest operator event about a target, for telling the
// loser of a race who won.
func decisionOf(events []stores.Event, target string) (operatorEvent, time.Time, bool) {
	for i := len(events) - 1; i >= 0; i-- {
		e := events[i]
		if e.Type != EventDecision && e.Type != EventResolved && e.Type != EventRecovery {
			continue
		}
		var b operatorEvent
		if decodeBody(e.Payload, &b) == nil && (target == "" || b.Target == target) {
			return b, e.Time, true
		}
	}
	return operatorEvent{}, time.Time{}, false
}
