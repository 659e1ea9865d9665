package viewstest

import (
	"encoding/json"
	"time"

	"github.com/flowtui/flowtui/viewer"
)

// Concierge adds the run ask-5, of a tool loop that is paused for the approval
// of a card payment, before all others.
func Concierge(b *Backend) {
	ref := Ref("ask-5")
	row := Row("ask-5", "concierge", 4*time.Minute, viewer.Paused)
	row.Kind, row.Status, row.At, row.User, row.Step = "loop", "paused", []string{"tools"}, "alice", 6
	row.Waiting = []viewer.Waiting{{Type: viewer.WaitApproval, ID: "tools.1", Tool: "charge_card", Node: "tools",
		Args: json.RawMessage(`{"amount":249.00,"card":"••••4242","for":"2 seats, Hamlet"}`), Masked: 1}}
	row.Why, row.Next = "tools wants approval for charge_card, since 09:26:00", "read what it would do, then approve or deny it"
	row.Actions = []viewer.Offer{
		{Action: viewer.Approve, Target: "tools.1", Title: "approve charge_card"},
		{Action: viewer.Deny, Target: "tools.1", Title: "deny charge_card"},
		{Action: viewer.Recover, Disabled: "it is paused: a decision brings it on"},
	}
	b.Rows = append([]viewer.Row{row}, b.Rows...)
	detail := viewer.Detail{Row: row, Digest: "54ce", Talks: true}
	for step := range int64(7) {
		detail.History = append(detail.History, viewer.HistoryStep{Step: step, Segment: 1, Status: "running", At: []string{"tools"}, Time: Clock(float64(step))})
	}
	detail.History[6].Status = "paused"
	b.Details[ref] = detail
	b.Plans[ref] = viewer.Plan{Action: "resume", Review: []viewer.ReviewEntry{{Waiting: row.Waiting[0], Bytes: 64, Digest: "9f2c", Since: Now.Add(-4 * time.Minute),
		Lines: []viewer.Line{
			{Text: "{3 keys}", Children: 3},
			{Depth: 1, Path: "amount", Key: "amount", Text: "249.00"},
			{Depth: 1, Path: "card", Key: "card", Text: "••••4242", Masked: true},
			{Depth: 1, Path: "for", Key: "for", Text: `"2 seats, Hamlet"`},
		}, IfYes: "the decision is stored with step 7, then charge_card runs once", IfNo: "the model is told"}}}
	if b.Talks == nil {
		b.Talks, b.CallLog = map[viewer.Ref]func(int64, bool) viewer.Conversation{}, map[viewer.Ref][]viewer.Call{}
	}
	b.Talks[ref] = Conversation
	b.CallLog[ref] = LoopCalls()
}

// Conversation is that of the run of [Concierge] at a step: two messages at
// first, then one more reply and its results with every second step.
func Conversation(step int64, reveal bool) viewer.Conversation {
	v := viewer.Conversation{Step: step, Key: "messages", Latest: step < 0}
	if step < 0 {
		v.Step = 6
	}
	card := `{"amount":249.00,"card":"••••4242","for":"2 seats, Hamlet"}`
	masked := 1
	if reveal {
		card, masked = `{"amount":249.00,"card":"4242424242424242","for":"2 seats, Hamlet"}`, 0
	}
	find := viewer.ToolCall{ID: "c1", Name: "find_seats", Args: json.RawMessage(`{"seats":2,"show":"Hamlet"}`), Status: viewer.CallDone, Call: "tools.1", Step: 1,
		Result: json.RawMessage(`{"free":[{"seat":"A4","price":124.50},{"seat":"A5","price":124.50},{"seat":"C11","price":81.00},{"seat":"C12","price":81.00},{"seat":"F2","price":46.00}]}`), Answer: 4}
	hold := viewer.ToolCall{ID: "c2", Name: "hold_seats", Args: json.RawMessage(`{"seats":["A4","A5"]}`), Status: viewer.CallDone, Call: "tools.1", Step: 3, Result: json.RawMessage(`"held until 09:40"`), Answer: 6}
	text := viewer.ToolCall{ID: "c3", Name: "text_me", Args: json.RawMessage(`{"to":"alice"}`), Status: viewer.CallFailed, Call: "tools.2", Step: 3, Error: "no phone number", Answer: 7}
	pay := viewer.ToolCall{ID: "c4", Name: "charge_card", Args: json.RawMessage(card), Status: viewer.CallWaiting, Call: "tools.1", Step: 5, Approval: "tools.1",
		Pending: true, Masked: masked, Digest: "9f2c"}
	mail := viewer.ToolCall{ID: "c5", Name: "email_tickets", Args: json.RawMessage(`{"to":"alice@example.org"}`), Status: viewer.CallNotRun, Pending: true}
	all := []viewer.Message{
		{Role: "system", Text: "You book theatre seats. Hold seats before you charge, and charge only what the user agreed to."},
		{Role: "user", Text: "Two seats for Hamlet tonight, please.\nAs far in front as you can, and up to 250 euros."},
		{Role: "assistant", Calls: []viewer.ToolCall{find}},
		{Role: "tool", Text: string(find.Result), Answers: "c1", Under: 3},
		{Role: "assistant", Text: "A4 and A5 are in the first row, 124.50 each. I hold them for you.", Calls: []viewer.ToolCall{hold, text}},
		{Role: "tool", Text: "held until 09:40", Answers: "c2", Under: 5},
		{Role: "tool", Text: "error: no phone number", Answers: "c3", Under: 5},
		{Role: "assistant", Text: "They are held. I pay with the card on file, 249.00 in all, and send the tickets.", Calls: []viewer.ToolCall{pay, mail}},
	}
	all = all[:[]int{2, 3, 4, 5, 7, 8, 8}[v.Step]]
	for i := range all {
		all[i].N = i + 1
		for j := range all[i].Calls {
			c := &all[i].Calls[j]
			v.Masked += c.Masked
			if c.Answer > len(all) {
				c.Answer, c.Result, c.Error, c.Call, c.Step, c.Status, c.Pending = 0, nil, "", "", 0, viewer.CallNotRun, true
			}
			if v.Step == 5 && c.Approval != "" { // it asked with the next save
				c.Approval, c.Call, c.Step, c.Status = "", "", 0, viewer.CallNotRun
			}
		}
	}
	v.Messages = all
	return v
}

// LoopCalls are the calls of the run of [Concierge].
func LoopCalls() []viewer.Call {
	var list []viewer.Call
	for _, m := range Conversation(-1, false).Messages {
		for i, c := range m.Calls {
			at := Clock(float64(c.Step))
			call := viewer.Call{ID: c.Call, Step: c.Step, Segment: 1, N: 2 * c.Step, Node: "tools", Ordinal: int64(i) + 1, Tool: c.Name, State: c.Status,
				Status: "done", Args: c.Args, Result: c.Result, Error: c.Error, Started: &at, By: "worker-1", Masked: c.Masked, Digest: c.Digest}
			if c.Status == viewer.CallWaiting {
				call.Status = "pending"
			} else {
				call.Ended = &at
			}
			if c.Call != "" {
				list = append(list, call)
			}
		}
	}
	return list
}
