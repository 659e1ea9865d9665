package viewer

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/flowtui/flowtui/engine"
)

func payout(b *bench) {
	pay := func(to string) engine.Node {
		return engine.Call{Tool: "charge_card", Into: to, Args: func(engine.State) (any, error) { return map[string]any{"to": to}, nil }}
	}
	b.flow(engine.NewFlow("payout").
		Node("split", engine.NodeFunc(func(context.Context, engine.State) (engine.State, error) { return nil, nil })).
		Node("alice", pay("alice")).Node("bob", pay("bob")).Node("carol", pay("carol")).
		Edge("split", "alice", "bob", "carol"))
	b.start("payout", "p-1")
}

// Denying one of several says what becomes of the others.
func TestDenialOfOneOfSeveral(t *testing.T) {
	b := newBench(t)
	payout(b)
	s := b.service()
	ref := s.Find("p-1", "")
	no := func() string {
		t.Helper()
		for _, e := range get[Plan](t)(s.Plan(t.Context(), ref, false)).Review {
			if e.ID == "bob.1" {
				return e.IfNo
			}
		}
		return ""
	}
	if text := no(); !strings.HasSuffix(text, "the run fails with your note; alice.1 and carol.1 are never asked again") {
		t.Errorf("%q", text)
	}
	get[Outcome](t)(s.Act(t.Context(), Request{Ref: ref, Action: Approve, Target: "alice.1"}, nil))
	if text := no(); !strings.HasSuffix(text, "the run fails with your note; carol.1 is never asked again; what alice.1 did stays done") {
		t.Errorf("%q", text)
	}
	get[Outcome](t)(s.Act(t.Context(), Request{Ref: ref, Action: Approve, Target: "carol.1", NoRun: true}, nil))
	if text := no(); !strings.HasSuffix(text, "your note; what is approved already still runs: carol.1; what alice.1 did stays done") {
		t.Errorf("%q", text)
	}
	get[Outcome](t)(s.Act(t.Context(), Request{Ref: ref, Action: Deny, Target: "bob.1", Note: "not bob: again"}, nil))
	r := b.row(s, "p-1")
	if r.Why != "ada denied charge_card: not bob: again" || r.Next != "nothing to do: it was denied" || r.Badges[0] != Failed {
		t.Errorf("why %q, next %q, %v", r.Why, r.Next, r.Badges)
	}
	if got := runs(get[Page](t)(s.List(t.Context(), Query{Tab: TabNeedsYou})).Rows); got != "" {
		t.Errorf("a denied run needs nobody, but needs-you has %q", got)
	}
	if n := get[Counts](t)(s.Counts(t.Context(), Query{})); n[TabNeedsYou] != 0 || n[TabFailed] != 1 {
		t.Errorf("%v", n)
	}
	if b.hits["charge_card"] != 2 {
		t.Errorf("%d payments", b.hits["charge_card"])
	}
}

// Only the engine says that a run was denied: no text of a tool or a node can.
func TestAFailureIsNoDenial(t *testing.T) {
	for _, text := range []string{"charge was denied by the issuing bank: insufficient funds", "pay_back was denied by ana"} {
		f := facts{status: "failed", failure: text}
		if got, _ := why(f); got != "failed: "+text || f.denied().Tool != "" {
			t.Errorf("%q reads as a denial: %q", text, got)
		}
	}
	f := facts{status: "failed", failure: "x", denial: &engine.Denial{Tool: "pay_back", By: "ana", Note: "no"}}
	if got, next := why(f); got != "ana denied pay_back: no" || next != "nothing to do: it was denied" {
		t.Errorf("%q, %q", got, next)
	}
}

// A decision that the flow no longer asks for is not used, which is said.
func TestADecisionForOtherArguments(t *testing.T) {
	b := newBench(t)
	n := 0
	b.flow(engine.NewFlow("moody").Node("pay", engine.Call{Tool: "charge_card", Args: func(engine.State) (any, error) {
		n++
		return map[string]any{"n": n}, nil
	}}))
	b.flow(engine.NewFlow("unsure").Node("ask", engine.Interrupt{Key: "k", Prompt: func(engine.State) (string, error) {
		n++
		return fmt.Sprint("sure? ", n), nil
	}}))
	b.start("moody", "m")
	b.start("unsure", "u")
	s := b.service()
	o := get[Outcome](t)(s.Act(t.Context(), Request{Ref: s.Find("m", ""), Action: Approve}, nil))
	if o.Status != "paused" || !o.Unused || o.Outcome != "the decision was for other arguments than the flow asks now; it waits for approval of charge_card again" {
		t.Errorf("%+v", o)
	}
	o = get[Outcome](t)(s.Act(t.Context(), Request{Ref: s.Find("u", ""), Action: Answer, Value: json.RawMessage(`"y"`)}, nil))
	if o.Status != "paused" || !o.Unused || !strings.HasPrefix(o.Outcome, "the answer was to another question than the flow asks now; it waits for an answer to k again") {
		t.Errorf("%+v", o)
	}
}

// What the run is comes before what is missing here.
func TestTheRunItselfIsRefusedFirst(t *testing.T) {
	b := newBench(t)
	b.start("plain", "ok-1")
	b.start("tickets", "order-9")
	b.abandon("cut-1")
	b.crash("mail", "order-7")
	s := b.service(func(o *Options) { o.Flows = nil })
	for _, tt := range []struct {
		run    string
		action Action
		exit   int
		text   string
	}{
		{"ok-1", Approve, 4, "it has ended, it is done"},
		{"ok-1", Recover, 4, "it has ended, it is done"},
		{"cut-1", Approve, 4, "it waits for nothing: it is running"},
		{"order-9", Answer, 4, "it waits for no interrupt"},
		{"order-7", Recover, 5, "email_tickets may or may not have run"},
		{"cut-1", Recover, 3, "no flow file"},
		{"order-9", Approve, 3, "no flow file"},
	} {
		_, err := s.Act(t.Context(), Request{Ref: s.Find(tt.run, ""), Action: tt.action, Value: json.RawMessage(`1`)}, nil)
		if p := s.Explain(err); p.Exit() != tt.exit || !strings.Contains(p.Message, tt.text) {
			t.Errorf("%s %s: %d %q", tt.action, tt.run, p.Exit(), p.Message)
		}
	}
	o := get[Outcome](t)(s.Act(t.Context(), Request{Ref: s.Find("order-9", ""), Action: Recover}, nil))
	if o.Status != "paused" {
		t.Errorf("%+v", o)
	}
}

// A read-only context says so, and offers no step that it would refuse.
func TestReadOnlyNamesItsReason(t *testing.T) {
	b := newBench(t)
	b.start("tickets", "order-9")
	b.crash("mail", "order-7")
	b.abandon("cut-1")
	b.wait(time.Minute)
	s := b.service(func(o *Options) { o.ReadOnly, o.ReadOnlyWhy = true, "the context prod is read-only" })
	for _, run := range []string{"order-9", "order-7", "cut-1"} {
		r := b.row(s, run)
		if r.Next != "nothing can be done from here: the context prod is read-only" {
			t.Errorf("%s: next %q", run, r.Next)
		}
		_, err := s.Act(t.Context(), Request{Ref: r.Ref, Action: Recover}, nil)
		if p := s.Explain(err); p.Exit() != 7 || p.Message != "run "+run+": the context prod is read-only" {
			t.Errorf("%s: %+v", run, p)
		}
	}
	if why := s.Stores()[0].Why; why != "the context prod is read-only" {
		t.Errorf("%q", why)
	}
}

// The loser of a race learns what won, whatever that was.
func TestTheLoserLearnsTheActThatWon(t *testing.T) {
	b := newBench(t)
	b.start("tickets", "order-9")
	b.start("tickets", "order-8")
	b.crash("mail", "order-7")
	b.abandon("cut-1")
	ana := b.service(func(o *Options) { o.By = "ana" })
	ben := b.service(func(o *Options) { o.By = "ben" })
	for _, tt := range []struct {
		run       string
		win, lose Request
		text      string
	}{
		{"order-9", Request{Action: Approve}, Request{Action: Deny}, "ana approved pay.1"},
		{"order-8", Request{Action: Approve, NoRun: true}, Request{Action: Approve}, "ana approved pay.1"},
		{"order-7", Request{Action: Resolve, NotRun: true}, Request{Action: Resolve, Target: "send.1", Value: json.RawMessage(`1`)}, "ana resolved send.1"},
		{"order-7", Request{Action: Recover}, Request{Action: Resolve, Target: "send.1", NotRun: true}, "ana re"},
	} {
		ref := ana.Find(tt.run, "")
		tt.win.Ref, tt.lose.Ref = ref, ref
		tt.lose.Version = get[Plan](t)(ben.Plan(t.Context(), ref, false)).Version
		get[Outcome](t)(ana.Act(t.Context(), tt.win, nil))
		_, err := ben.Act(t.Context(), tt.lose, nil)
		if p := ben.Explain(err); p.Exit() != 4 || !strings.Contains(p.Message, tt.text) {
			t.Errorf("%s after %s: %d %q", tt.lose.Action, tt.win.Action, p.Exit(), p.Message)
		}
	}
}

// An answer that the question says would not pass is refused before it is
// stored, unless that is asked for; where there are choices, each is taken.
func TestAnswersAreChecked(t *testing.T) {
	b := newBench(t)
	b.flow(engine.NewFlow("code").InterruptLoop(engine.InterruptLoop{Key: "code", Accept: engine.Strategy{Regex: "^[A-Z]{2}$", Hint: "two letters"}}))
	b.start("code", "c-1")
	s := b.service()
	ref := s.Find("c-1", "")
	w := b.row(s, "c-1").Waiting[0]
	if w.Want != "two letters" || w.Refused(json.RawMessage(`"x"`)) != "it would not pass: wanted is two letters" || w.Refused(json.RawMessage(`"XY"`)) != "" {
		t.Errorf("%+v", w)
	}
	bad := Request{Ref: ref, Action: Answer, Value: json.RawMessage(`"x"`)}
	if p := get2(s.Act(t.Context(), bad, nil)); p.Code != codeUsage || !p.Overridable || !strings.Contains(p.Message, "wanted is two letters") || !strings.Contains(p.Hint, "--unchecked") {
		t.Errorf("%+v", p)
	}
	if got := s.Command(Request{Ref: ref, Action: Answer, Value: json.RawMessage(`"x"`), Unchecked: true}); !strings.Contains(got, "--value x --unchecked") {
		t.Errorf("%s", got)
	}
	bad.Unchecked = true
	if o := get[Outcome](t)(s.Act(t.Context(), bad, nil)); o.Status != "paused" {
		t.Errorf("%+v", o)
	}
	if o := get[Outcome](t)(s.Act(t.Context(), Request{Ref: ref, Action: Answer, Value: json.RawMessage(`"XY"`)}, nil)); o.Status != "done" {
		t.Errorf("%+v", o)
	}
	b.flow(engine.NewFlow("yesno").Ask("ok", engine.Interrupt{Key: "ok", Choices: []string{"yes", "no"}}, engine.Strategy{Equals: "yes"}))
	b.start("yesno", "y-1")
	if o := get[Outcome](t)(s.Act(t.Context(), Request{Ref: s.Find("y-1", ""), Action: Answer, Value: json.RawMessage(`"no"`)}, nil)); o.Status != "done" {
		t.Errorf("%+v", o)
	}
	b.start("yesno", "y-2")
	w = b.row(s, "y-2").Waiting[0]
	for answer, want := range map[string]string{`"no"`: "", `"maybe"`: "it is not one of the choices: yes, no", `1`: "it is not one of the choices: yes, no"} {
		if got := w.Refused(json.RawMessage(answer)); got != want {
			t.Errorf("%s: %q, want %q", answer, got, want)
		}
	}
	maybe := Request{Ref: s.Find("y-2", ""), Action: Answer, Value: json.RawMessage(`"maybe"`)}
	if p := get2(s.Act(t.Context(), maybe, nil)); p.Code != codeUsage || !strings.Contains(p.Message, "not one of the choices") {
		t.Errorf("%+v", p)
	}
	maybe.Unchecked = true
	if o := get[Outcome](t)(s.Act(t.Context(), maybe, nil)); o.Status != "done" {
		t.Errorf("%+v", o)
	}
}

// get2 is the problem of an action that is refused.
func get2(_ Outcome, err error) Problem { return explain(err) }
