package engine

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/flowtui/flowtui/engine/seal"
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
	EventImport    = "operator.import"
	EventHeld      = "run.held" // node, message: see Flow.HoldOnError
)

// operatorEvent is the audit entry of an operator's action: who did what, when
// (the event's time), why, and which plan they had seen.
type operatorEvent struct {
	Action string `json:"action"`
	Target string `json:"target,omitempty"`
	By     string `json:"by"`
	Note   string `json:"note,omitempty"`
	Plan   string `json:"plan,omitempty"` // version of the plan that was seen
	// Unchecked says that the question would not have let the answer pass.
	Unchecked bool `json:"unchecked,omitempty"`
	// A resolution's event and its call record name each other, so that neither
	// can be taken out alone.
	Segment int64 `json:"segment,omitempty"`
	Record  int64 `json:"record,omitempty"`
}

// recent is how far back the winner of a race is looked for.
const recent = 500

// Decided is what a person did to a run: who, what, to which call or question
// ("" for the whole run), and when.
type Decided struct {
	By     string
	Action string // approve, deny, answer, resolve, recover
	Target string
	Time   time.Time
}

// String is one sentence, with the time in UTC and without the date.
func (d Decided) String() string {
	return strings.TrimRight(fmt.Sprintf("%s %s %s", d.By, pastTense(d.Action), d.Target), " ") + " at " + d.Time.UTC().Format(time.TimeOnly) + " UTC"
}

// lastDecision says who decided last on a target ("" for any) and when, as the
// end of a sentence; "" when nobody did or the store has no log.
func lastDecision(ctx context.Context, s stores.Store, keys *seal.Keyring, k stores.Key, newest int64, target string) string {
	if d := lastDecided(ctx, s, keys, k, newest, target); d != nil {
		return "; " + d.String()
	}
	return ""
}

// lastDecided is what was decided last on a target, nil for nothing.
func lastDecided(ctx context.Context, s stores.Store, keys *seal.Keyring, k stores.Key, newest int64, target string) *Decided {
	log, ok := s.(stores.EventLog)
	if !ok {
		return nil
	}
	events, err := log.Events(ctx, k, max(0, newest-recent), 0)
	if err != nil {
		return nil
	}
	d, at, ok := decisionOf(keys, events, target)
	if !ok {
		return nil
	}
	return &Decided{d.By, d.Action, d.Target, at}
}

// decisionOf reads the newest operator event about a target, for telling the
// loser of a race who won. What is not signed is not told.
func decisionOf(keys *seal.Keyring, events []stores.Event, target string) (operatorEvent, time.Time, bool) {
	for i := len(events) - 1; i >= 0; i-- {
		e := events[i]
		if e.Type != EventDecision && e.Type != EventResolved && e.Type != EventRecovery {
			continue
		}
		if e.Bad != "" || check(keys, eventHeader(e), e.Payload, e.Seal) != nil {
			continue
		}
		var b operatorEvent
		if decodeBody(e.Payload, &b) == nil && (target == "" || b.Target == target) {
			return b, e.Time, true
		}
	}
	return operatorEvent{}, time.Time{}, false
}
