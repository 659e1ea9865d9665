package viewstest

import (
	"encoding/json"
	"time"

	"github.com/flowtui/flowtui/viewer"
)

// Ref is the run with the id in the demo store.
func Ref(run string) viewer.Ref { return viewer.Ref{Store: "demo.db", Owner: "default", Run: run} }

// Row is a run that lies still since ago.
func Row(run, flow string, ago time.Duration, badges ...viewer.Badge) viewer.Row {
	return viewer.Row{
		Ref: Ref(run), Store: "demo.db", Owner: "default", Run: run, Flow: flow, Status: "running",
		Badges: badges, Verdict: viewer.Verified, Step: 2, Segment: 1, Updated: Now.Add(-ago), Created: Now.Add(-2 * ago),
		Version: run + "@2",
	}
}

// Rows are runs of every kind, as Needs you and the other tabs order them.
func Rows() []viewer.Row {
	doubt := Row("order-7", "tickets", 12*time.Minute, viewer.InDoubt)
	doubt.At, doubt.User = []string{"send"}, "alice"
	doubt.Waiting = []viewer.Waiting{{Type: viewer.WaitInDoubt, ID: "send.1", Tool: "email_tickets", Node: "send",
		Args: json.RawMessage(`{"show":"Hamlet","seats":2,"note":"charged ch_81","key":"••••"}`), Masked: 1}}
	doubt.Why = "the worker died while email_tickets ran: it may or may not have sent."
	doubt.Next = "look in the mail system, then press e and say what happened."
	doubt.Actions = []viewer.Offer{
		{Action: viewer.Resolve, Target: "send.1", Title: "resolve email_tickets"},
		{Action: viewer.Recover, Title: "recover"},
	}

	pay := Row("order-9", "tickets", 3*time.Minute, viewer.Paused)
	pay.Status, pay.At, pay.User = "paused", []string{"pay"}, "alice"
	pay.Waiting = []viewer.Waiting{{Type: viewer.WaitApproval, ID: "pay.1", Tool: "charge_card", Node: "pay",
		Args: json.RawMessage(`{"amount":249.00,"card":"••••4242","order":"order-9"}`), Masked: 1}}
	pay.Why = "charge_card needs an approval before it runs."
	pay.Next = "press a to read the arguments and decide."
	pay.Actions = []viewer.Offer{
		{Action: viewer.Approve, Target: "pay.1", Title: "approve charge_card"},
		{Action: viewer.Deny, Target: "pay.1", Title: "deny charge_card"},
		{Action: viewer.Recover, Disabled: "it waits for an approval, there is nothing to recover"},
	}

	ask := Row("trip-2", "approval", time.Hour, viewer.Paused)
	ask.Status, ask.At = "paused", []string{"ask"}
	ask.Waiting = []viewer.Waiting{{Type: viewer.WaitInterrupt, ID: "ask.1", Key: "approved", Prompt: "Approve the plan?",
		Choices: []string{"yes", "no", "later"}, Node: "ask"}}
	ask.Why, ask.Next = "the flow asks a question.", "press i and answer."
	ask.Actions = []viewer.Offer{{Action: viewer.Answer, Target: "ask.1", Title: "answer"}}

	forged := Row("order-3", "tickets", 49*time.Hour, viewer.Tampered)
	forged.Verdict, forged.Why = viewer.Forged, "step 2 is forged"
	forged.Next = "press V to verify again; nothing can be done to a forged run here."
	forged.Actions = []viewer.Offer{{Action: viewer.Recover, Disabled: "step 2 is forged"}}

	failed := Row("sync-1", "nightly", 20*time.Minute, viewer.Failed)
	failed.Status, failed.At, failed.Error = "failed", []string{"load"}, "HTTP 503 from the warehouse"
	failed.Why, failed.Next = "load failed: HTTP 503 from the warehouse", "fix the cause, then start it again."

	stuck := Row("sync-2", "nightly", 31*time.Minute, viewer.Stuck, viewer.Recovered)
	stuck.At, stuck.Segment = []string{"store"}, 2
	stuck.Why, stuck.Next = "its worker is gone.", "press R to recover it here."
	stuck.Actions = []viewer.Offer{{Action: viewer.Recover, Title: "recover"}}

	running := Row("order-11", "tickets", 4*time.Second, viewer.Running)
	running.At, running.Lease = []string{"hold"}, &viewer.Lease{Holder: "worker-2", Expires: Now.Add(20 * time.Second)}
	running.Actions = []viewer.Offer{{Action: viewer.Recover, Disabled: "worker-2 runs it"}}

	done := Row("order-1", "tickets", 26*time.Hour, viewer.Done, viewer.Recovered)
	done.Status, done.Step, done.Segment = "done", 5, 2

	foreign := Row("thread-1", "chat", 26*time.Hour, viewer.NoKey)
	foreign.Verdict, foreign.Owner, foreign.Ref.Owner = viewer.Unsigned, "bob", "bob"
	return []viewer.Row{doubt, pay, ask, forged, failed, stuck, running, done, foreign}
}

// Plans are the plans of the rows that offer something.
func Plans() []viewer.Plan {
	rows := Rows()
	started, ended := Now.Add(-12*time.Minute), Now.Add(-12*time.Minute+time.Second)
	email := viewer.Call{ID: "send.1", Tool: "email_tickets", Node: "send", Status: "started", InDoubt: true,
		Why: "no result, not idempotent", Started: &started}
	hold := viewer.Call{ID: "hold.1", Tool: "hold_seats", Node: "hold", Status: "done", Started: &started, Ended: &ended}
	charge := viewer.Call{ID: "pay.1", Tool: "charge_card", Node: "pay", Status: "done", Started: &started, Ended: &ended,
		Result: json.RawMessage(`"ch_81"`)}
	return []viewer.Plan{
		{Row: rows[0], Action: "recover", Replay: []viewer.Call{hold, charge}, InDoubt: []viewer.Call{email},
			Claims: "claims step 3 as segment 2; the old worker is cut off", Then: "then the run ends",
			Review: []viewer.ReviewEntry{{Waiting: rows[0].Waiting[0], Lines: argLines(), Bytes: 64, Since: started}}},
		{Row: rows[1], Action: "resume", Then: "then send, then the run ends",
			Review: []viewer.ReviewEntry{{Waiting: rows[1].Waiting[0], Bytes: 57, Since: Now.Add(-3 * time.Minute),
				Lines: []viewer.Line{
					{Text: "{3 keys}", Children: 3},
					{Depth: 1, Path: "amount", Key: "amount", Text: "249.00"},
					{Depth: 1, Path: "card", Key: "card", Text: "••••4242", Masked: true},
					{Depth: 1, Path: "order", Key: "order", Text: `"order-9"`},
				},
				IfYes: "the decision is stored with step 2, then charge_card runs once, then send; nothing else will ask",
				IfNo:  "the run fails with your note"}}},
		{Row: rows[2], Action: "resume", Review: []viewer.ReviewEntry{{Waiting: rows[2].Waiting[0], Since: Now.Add(-time.Hour),
			IfYes: "the answer is stored under approved, then the flow goes on"}}},
		{Row: rows[5], Action: "recover", Replay: []viewer.Call{hold}, Rerun: []viewer.Call{{ID: "store.1", Tool: "put_rows", Idempotent: true}},
			Claims: "claims step 3 as segment 3; the old worker is cut off", Then: "then the run ends"},
	}
}

func argLines() []viewer.Line {
	return []viewer.Line{
		{Text: "{2 keys}", Children: 2},
		{Depth: 1, Path: "show", Key: "show", Text: `"Hamlet"`},
		{Depth: 1, Path: "seats", Key: "seats", Text: "2"},
	}
}
