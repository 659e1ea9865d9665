package viewstest

import (
	"encoding/json"
	"time"

	"github.com/flowtui/flowtui/viewer"
)

// Recovered gives the run order-7 a past: three nodes, the last of which a
// second worker ran 19 minutes after the first one died.
func Recovered(b *Backend) {
	ref := Ref("order-7")
	row := Row("order-7", "tickets", 30*time.Second, viewer.Done, viewer.Recovered)
	row.User, row.Thread, row.Status, row.Step, row.Segment = "alice", "9", "done", 4, 2
	row.Created, row.Why = Clock(0), "it is done"
	row.Actions = []viewer.Offer{{Action: viewer.Recover, Disabled: "it has ended, it is done"}}
	b.Details[ref] = viewer.Detail{Row: row, Digest: "b1946ac92492d2347c6235b4d2611184", History: History(),
		Identity: viewer.Identity{User: "alice", Thread: "9", Principal: "alice@example.org"}}
	b.CallLog = map[viewer.Ref][]viewer.Call{ref: Calls()}
	b.EventLog = map[viewer.Ref][]viewer.Event{ref: Events()}
	b.StateAt = func(_ viewer.Ref, step int64, reveal bool) viewer.StateView { return State(step, reveal) }
}

// Clock is a time of the history: seconds after the run was started.
func Clock(seconds float64) time.Time {
	return time.Date(2026, 3, 4, 9, 10, 0, 0, time.UTC).Add(time.Duration(seconds * float64(time.Second)))
}

// History is the past of the run of [Recovered].
func History() []viewer.HistoryStep {
	ran := func(node string, from, to float64) []viewer.NodeRun {
		return []viewer.NodeRun{{Node: node, Started: Clock(from), Ended: Clock(to)}}
	}
	return []viewer.HistoryStep{
		{Step: 0, Segment: 1, Status: "running", At: []string{"hold"}, Time: Clock(0)},
		{Step: 1, Segment: 1, Status: "running", At: []string{"pay"}, Time: Clock(0.9), Nodes: ran("hold", 0, 0.8)},
		{Step: 2, Segment: 1, Status: "running", At: []string{"send"}, Time: Clock(2.9), Nodes: ran("pay", 0.9, 2.8)},
		{Step: 3, Segment: 2, Status: "running", At: []string{"send"}, Time: Clock(19*60 + 4), Claim: true},
		{Step: 4, Segment: 2, Status: "done", Time: Clock(19*60 + 5), Nodes: ran("send", 19*60+4, 19*60+4.4)},
	}
}

// Calls are the calls of the run of [Recovered].
func Calls() []viewer.Call {
	call := func(step int64, node, tool string, from, to float64) viewer.Call {
		a, b := Clock(from), Clock(to)
		return viewer.Call{ID: node + ".1", Step: step, Segment: 1, N: 2*step + 2, Node: node, Ordinal: 1, Tool: tool,
			Status: "done", State: viewer.CallDone, Started: &a, Ended: &b, By: "worker-1"}
	}
	hold := call(0, "hold", "hold_seats", 0.1, 0.8)
	hold.Idempotent = true
	hold.Args, hold.Result = json.RawMessage(`{"show":"Hamlet","seats":["A4","A5"]}`), json.RawMessage(`"held A4, A5"`)
	pay := call(1, "pay", "charge_card", 0.9, 2.8)
	pay.Args, pay.Result = json.RawMessage(`{"amount":249.00,"card":"••••4242"}`), json.RawMessage(`{"charge":"ch_81"}`)
	pay.Masked = 1
	send := call(2, "send", "email_tickets", 3, 19*60)
	send.Status, send.State, send.By, send.Result = "resolved", viewer.CallResolved, "op1", json.RawMessage(`"sent"`)
	send.Why = "worker-1 stopped while email_tickets ran"
	log := call(2, "send", "write_log", 19*60+4.1, 19*60+4.3)
	log.ID, log.Ordinal, log.Segment, log.N, log.By = "send.2", 2, 2, 2, "worker-2"
	return []viewer.Call{hold, pay, send, log}
}

// Events are the log of the run of [Recovered].
func Events() []viewer.Event {
	var all []viewer.Event
	for i, e := range []struct{ typ, data string }{
		{"checkpoint.saved", `{"kind":"flow","step":0,"status":"running"}`}, {"call", `{"id":"hold.1","status":"done"}`},
		{"checkpoint.saved", `{"kind":"flow","step":1,"status":"running"}`}, {"call", `{"id":"pay.1","status":"done"}`},
		{"checkpoint.saved", `{"kind":"flow","step":2,"status":"running"}`},
		{"operator.resolved", `{"action":"resolve","target":"send.1","by":"op1","note":"seen in the mail system"}`},
		{"run.recovered", `{"kind":"flow","step":3,"replayed":["send.1"],"rerun":[]}`}, {"call", `{"id":"send.2","status":"done"}`},
		{"checkpoint.saved", `{"kind":"flow","step":4,"status":"done"}`},
	} {
		all = append(all, viewer.Event{N: int64(i) + 1, Time: Clock(float64(i)), Type: e.typ, Data: json.RawMessage(e.data)})
	}
	return all
}

// State is the state of the run of [Recovered] at a step.
func State(step int64, reveal bool) viewer.StateView {
	if step < 0 {
		step = 4
	}
	card := viewer.Line{Depth: 2, Path: "order.card", Key: "card", Text: "••••4242", Masked: true}
	if reveal {
		card.Text, card.Masked = `"4242424242424242"`, false
	}
	lines := []viewer.Line{
		{Text: "{3 keys}"},
		{Depth: 1, Path: "note", Key: "note", Text: `"held A4, A5"`},
		{Depth: 1, Path: "order", Key: "order", Text: "{2 keys}", Children: 2},
		card,
		{Depth: 2, Path: "order.total", Key: "total", Text: "249.00"},
		{Depth: 1, Path: "seats", Key: "seats", Text: "[2 items]", Children: 2},
		{Depth: 2, Path: "seats[0]", Key: "[0]", Text: `"A4"`},
		{Depth: 2, Path: "seats[1]", Key: "[1]", Text: `"A5"`},
	}
	switch {
	case step == 0:
		lines = append(lines[2:5:5], viewer.Line{Depth: 1, Path: "draft", Key: "draft", Text: "true"})
		lines = append([]viewer.Line{{Text: "{2 keys}"}}, lines...)
	case step >= 2:
		lines[1].Text = `"charged ch_81"`
		lines = append(lines, viewer.Line{Depth: 1, Path: "charge", Key: "charge", Text: `"ch_81"`})
		lines[0].Text = "{4 keys}"
	}
	if step == 4 {
		lines = append(lines, viewer.Line{Depth: 1, Path: "sent", Key: "sent", Text: "true"})
		lines[0].Text = "{5 keys}"
	}
	lines[0].Children = len(lines) - 1
	v := viewer.StateView{Step: step, Size: int64(120 + 40*step), Lines: lines, Masked: 1}
	if reveal {
		v.Masked = 0
	}
	return v
}
