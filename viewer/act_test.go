package viewer

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

func TestActions(t *testing.T) {
	b := newBench(t)
	b.start("tickets", "order-9")
	b.start("tickets", "order-8")
	b.start("approval", "trip-2")
	b.crash("mail", "order-7")
	b.crash("mail", "order-6")
	b.abandon("cut-1")
	s := b.service()
	act := func(run string, r Request) Outcome {
		t.Helper()
		r.Ref = s.Find(run, "")
		p := get[Plan](t)(s.Plan(t.Context(), r.Ref, false))
		if p.Blocked != nil && r.Action != Resolve {
			t.Fatalf("blocked: %s", *p.Blocked)
		}
		r.Version = p.Version
		var stages []string
		o, err := s.Act(t.Context(), r, func(p Progress) { stages = append(stages, p.Stage) })
		if err != nil {
			t.Fatal(err)
		}
		if stages[0] != "recorded" || stages[len(stages)-1] != "completed" {
			t.Errorf("%s: stages %v", run, stages)
		}
		return o
	}
	check := func(o Outcome, status, part string) {
		t.Helper()
		if o.Status != status || !strings.Contains(o.Outcome, part) {
			t.Errorf("got %s, %q; want %s, %q", o.Status, o.Outcome, status, part)
		}
	}
	check(act("order-9", Request{Action: Approve, Note: "ok"}), "done", "approved; the run is done")
	check(act("order-8", Request{Action: Deny, Note: "too dear"}), "failed", "too dear")
	check(act("trip-2", Request{Action: Answer, Value: json.RawMessage(`"yes"`)}), "done", "answered")
	check(act("order-7", Request{Action: Resolve, Value: json.RawMessage(`"sent"`)}), "running", "does not run it again")
	check(act("order-6", Request{Action: Resolve, NotRun: true}), "running", "runs it once")
	b.hits["email_tickets"] = 0
	check(act("order-7", Request{Action: Recover}), "done", "done")
	if b.hits["email_tickets"] != 0 {
		t.Error("a resolved call ran again")
	}
	check(act("order-6", Request{Action: Recover}), "done", "done")
	if b.hits["email_tickets"] != 1 {
		t.Error("a call that did not run was not run")
	}
	check(act("cut-1", Request{Action: Recover}), "done", "done")
	if r := b.row(s, "cut-1"); r.Badges[0] != Recovered || r.Badges[1] != Done {
		t.Errorf("badges %v", r.Badges)
	}
}

// A call that is there and not in doubt is told as it stands, not as if there was none.
func TestResolvingACallThatIsDoneSaysSo(t *testing.T) {
	b := newBench(t)
	b.flow(engine.NewFlow("two").Node("hold", engine.Call{Tool: "hold_seats"}).Node("send", engine.Call{Tool: "email_tickets"}).Edge("hold", "send"))
	sends := b.tools
	b.tools = tool.NewRegistry(
		toolOf("hold_seats", func(context.Context) (any, error) { return "A4", nil }),
		toolOf("email_tickets", func(context.Context) (any, error) { return nil, tool.ErrOutcomeUnknown }),
	)
	_, err := b.runner("worker-1").Run(t.Context(), b.flows.flows["two"], engine.Start{Key: stores.Key{Owner: "default", Run: "order-7"}})
	b.tools = sends
	s := b.service()
	if s.Explain(err).Exit() != 5 {
		t.Fatal(err)
	}
	for call, want := range map[string]string{
		"hold.1": `run "order-7": call hold.1 is not in doubt: it is done, in step 0`,
		"none.1": `run "order-7": there is no call "none.1" in the current superstep`,
	} {
		_, err := s.Act(t.Context(), Request{Ref: s.Find("order-7", ""), Action: Resolve, Target: call, NotRun: true}, nil)
		if p := s.Explain(err); p.Message != want || p.Hint != "in doubt: send.1" || (p.Exit() == 3) != (call == "none.1") {
			t.Errorf("%s: %+v", call, p)
		}
	}
}
