package viewer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

// A call whose approval is stored runs for the first time: the plan names it.
func TestPlanNamesApprovedCalls(t *testing.T) {
	b := newBench(t)
	b.start("tickets", "order-9")
	s := b.service()
	ref := s.Find("order-9", "")
	if p := get[Plan](t)(s.Plan(t.Context(), ref, false)); len(p.Runs) != 0 {
		t.Errorf("before it is approved: %+v", p.Runs)
	}
	get[Outcome](t)(s.Act(t.Context(), Request{Ref: ref, Action: Approve, NoRun: true}, nil))
	p := get[Plan](t)(s.Plan(t.Context(), ref, false))
	if len(p.Runs) != 1 || p.Runs[0].ID != "pay.1" || p.Runs[0].Tool != "charge_card" || p.Action != engine.PlanRecover {
		t.Errorf("%+v", p)
	}
	if want := "runs charge_card (pay.1, approved by ada) for the first time, then send"; !strings.HasPrefix(p.Then, want) {
		t.Errorf("then: %q", p.Then)
	}
	if text := asText(t, p); !strings.Contains(text, `"runs": [`) || strings.Contains(text, "4242424242424242") {
		t.Errorf("%s", text)
	}
}

// A recovery is refused while a call is in doubt, and the plan promises nothing else.
func TestPlanOfCallsInDoubt(t *testing.T) {
	b := newBench(t)
	b.crash("mail", "order-7")
	s := b.service(func(o *Options) { o.Flows = nil }) // to resolve needs no flow
	p := get[Plan](t)(s.Plan(t.Context(), s.Find("order-7", ""), false))
	if want := "email_tickets may or may not have run: say what happened with resolve, or run it again with --rerun-in-doubt"; p.Undecided != want {
		t.Errorf("undecided: %q", p.Undecided)
	}
	if !strings.HasPrefix(p.Claims, "claims nothing while a call is in doubt") {
		t.Errorf("claims: %q", p.Claims)
	}
}

// A call of a live worker is under way, not in doubt.
func TestNothingIsInDoubtWhileAWorkerIsOnIt(t *testing.T) {
	b := newBench(t)
	b.crash("mail", "order-7")
	k := stores.Key{Owner: "default", Run: "order-7"}
	get[stores.Lease](t)(b.store.Acquire(t.Context(), k, "worker-2", time.Minute, false))
	s := b.service()
	ref := s.Find("order-7", "")
	p := get[Plan](t)(s.Plan(t.Context(), ref, false))
	if p.Undecided != "" || p.Blocked == nil || !strings.Contains(*p.Blocked, "worker-2") {
		t.Errorf("undecided %q, blocked %v", p.Undecided, p.Blocked)
	}
	_, err := s.Act(t.Context(), Request{Ref: ref, Action: Recover}, nil)
	if x := s.Explain(err); x.Exit() != 4 || !strings.Contains(x.Message, "worker-2") {
		t.Errorf("recover: %+v", x)
	}
	_, err = s.Act(t.Context(), Request{Ref: ref, Action: Resolve, NotRun: true}, nil)
	if x := s.Explain(err); x.Exit() != 4 || !strings.Contains(x.Message, "worker-2") {
		t.Errorf("resolve: %+v", x)
	}
	o := get[Outcome](t)(s.Act(t.Context(), Request{Ref: ref, Action: Resolve, NotRun: true, Takeover: true}, nil))
	if o.Status != "running" {
		t.Errorf("resolve with takeover: %+v", o)
	}
}

// That a tool could not be started is not what an operator said.
func TestAToolThatCannotBeStarted(t *testing.T) {
	b := newBench(t)
	b.tools.Add(toolOf("missing", func(context.Context) (any, error) {
		return nil, fmt.Errorf("missing: %w: no such program", tool.ErrNotStarted)
	}))
	b.flow(engine.NewFlow("lost").Node("a", engine.Call{Tool: "missing"}))
	if _, err := b.runner("worker-1").Run(t.Context(), b.flows.flows["lost"], engine.Start{Key: stores.Key{Owner: "default", Run: "r"}}); err == nil {
		t.Fatal("it ran")
	}
	s := b.service()
	r := b.row(s, "r")
	if r.Why != "worker-1 could not start missing, so it did not run: no such program" || r.Next != "recover it where the tool can be started" {
		t.Errorf("why %q, next %q", r.Why, r.Next)
	}
	calls := get[[]Call](t)(s.Calls(t.Context(), r.Ref, false))
	if calls[0].Why != "it could not be started: no such program" {
		t.Errorf("%+v", calls[0])
	}
}

// A plan says who decided last on the run, so that a sheet can tell it to who
// was slower; what is not signed by a key that is given is not told.
func TestPlanSaysWhoDecidedLast(t *testing.T) {
	b := newBench(t)
	b.start("tickets", "order-9")
	s := b.service()
	ref := s.Find("order-9", "")
	if p := get[Plan](t)(s.Plan(t.Context(), ref, false)); p.Lately != "" {
		t.Errorf("before anybody decided: %q", p.Lately)
	}
	at := b.now()
	get[Outcome](t)(s.Act(t.Context(), Request{Ref: ref, Action: Approve}, nil))
	want := "ada approved pay.1 at " + at.Format(time.TimeOnly) + " UTC"
	if p := get[Plan](t)(s.Plan(t.Context(), ref, false)); p.Lately != want || p.Action != "none" {
		t.Errorf("%q, want %q", p.Lately, want)
	}
	b.wait(24 * time.Hour)
	if p := get[Plan](t)(s.Plan(t.Context(), ref, false)); p.Lately != "ada approved pay.1 at "+at.Format(time.DateTime)+" UTC" {
		t.Errorf("a day later: %q", p.Lately)
	}
	keyless := b.service(func(o *Options) { o.Keys = nil })
	if p := get[Plan](t)(keyless.Plan(t.Context(), ref, false)); p.Lately != "" {
		t.Errorf("without the key: %q", p.Lately)
	}
}

// A call that failed and holds the run is made again by a recovery: the plan says
// with what error, and that it may have had its effect when its tool is not idempotent.
func TestPlanOfAHeldRun(t *testing.T) {
	for name, want := range map[string]struct {
		tool, failure string
		repeats       int
	}{
		"not idempotent": {"fetch", "failed: HTTP 503 from the warehouse; it may have had its effect", 1},
		"idempotent":     {"look_up", "failed: HTTP 404 from the library", 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.tools = tool.NewRegistry(
				tool.Tool{Name: "fetch", Run: b.tool("fetch", func(context.Context) (any, error) { return nil, errors.New("HTTP 503 from the warehouse") })},
				tool.Tool{Name: "look_up", Idempotent: true, Run: b.tool("look_up", func(context.Context) (any, error) { return nil, errors.New("HTTP 404 from the library") })},
			)
			f := engine.NewFlow("held").Node("load", engine.Call{Tool: want.tool}).HoldOnError()
			b.flow(f)
			if _, err := b.runner("worker-1").Run(t.Context(), f, engine.Start{Key: stores.Key{Owner: "default", Run: "h-1"}}); !errors.Is(err, engine.ErrHeld) {
				t.Fatal(err)
			}
			s := b.service()
			p := get[Plan](t)(s.Plan(t.Context(), s.Find("h-1", ""), false))
			if len(p.Rerun) != 1 || p.Rerun[0].Failure() != want.failure {
				t.Errorf("%+v", p.Rerun)
			}
			if got := p.Repeats(); len(got) != want.repeats || want.repeats > 0 && got[0].ID != "load.1" {
				t.Errorf("%+v", got)
			}
		})
	}
}

// What was cut short, or did not run, has not failed.
func TestPlanOfCallsThatDidNotFail(t *testing.T) {
	b := newBench(t)
	b.crash("mail", "order-7")
	s := b.service()
	ref := s.Find("order-7", "")
	get[Outcome](t)(s.Act(t.Context(), Request{Ref: ref, Action: Resolve, NotRun: true}, nil))
	p := get[Plan](t)(s.Plan(t.Context(), ref, false))
	if len(p.Rerun) != 1 || p.Rerun[0].Failure() != "" || len(p.Repeats()) != 0 {
		t.Errorf("%+v", p.Rerun)
	}
}
