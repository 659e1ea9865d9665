package views

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/flowtui/flowtui/viewer"
)

// eventData is what the known types of events carry.
type eventData struct {
	Step       int64    `json:"step"`
	Status     string   `json:"status"`
	Unreplayed []string `json:"unreplayed"`
	Replayed   []string `json:"replayed"`
	Rerun      []string `json:"rerun"`
	Type       string   `json:"type"`
	ID         string   `json:"id"`
	Tool       string   `json:"tool"`
	Key        string   `json:"key"`
	Action     string   `json:"action"`
	Target     string   `json:"target"`
	By         string   `json:"by"`
	Note       string   `json:"note"`
	Node       string   `json:"node"`
	Message    string   `json:"message"`
}

// eventText says in one sentence what an event means; one of an unknown type
// speaks for itself.
func eventText(e viewer.Event) string {
	var d eventData
	if json.Unmarshal(e.Data, &d) != nil {
		return string(e.Data)
	}
	switch e.Type {
	case "checkpoint.saved":
		text := strings.Join(nonEmpty(fmt.Sprintf("step %d saved", d.Step), d.Status), ", ")
		return text + prefixed("; recorded, but not asked for any more: ", strings.Join(d.Unreplayed, ", "))
	case "run.recovered":
		parts := nonEmpty(prefixed("replays ", strings.Join(d.Replayed, ", ")), prefixed("runs again ", strings.Join(d.Rerun, ", ")))
		if len(parts) == 0 {
			parts = []string{"no call was under way"}
		}
		return fmt.Sprintf("recovered with step %d: %s", d.Step, strings.Join(parts, "; "))
	case "run.waiting":
		return waitingEvent(d)
	case "run.held":
		if d.Node == "" {
			return "held: no next node could be chosen, " + d.Message
		}
		return fmt.Sprintf("held: %s failed, %s", d.Node, d.Message)
	case "operator.decision", "operator.resolved", "operator.recover":
		return operatorText(d)
	}
	return string(e.Data)
}

func waitingEvent(d eventData) string {
	switch {
	case d.Type == viewer.WaitApproval:
		return fmt.Sprintf("waits: may %s run? (%s)", d.Tool, d.ID)
	case d.Key != "":
		return fmt.Sprintf("waits: asks for %s (%s)", d.Key, d.ID)
	}
	return fmt.Sprintf("waits: %s %s", d.Type, d.ID)
}

// operatorText says what a person did.
func operatorText(d eventData) string {
	done := map[string]string{
		"approve": "approved", "deny": "denied", "answer": "answered", "resolve": "resolved", "recover": "recovery asked for",
	}
	what, known := done[d.Action]
	if !known {
		what = d.Action
	}
	return strings.Join(nonEmpty(what, d.Target, prefixed("by ", d.By)), " ") + prefixed(": ", d.Note)
}
