package viewer

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/model"
	"github.com/flowtui/flowtui/stores"
)

func sure(key string) engine.Node {
	return engine.Interrupt{Key: key, Prompt: func(engine.State) (string, error) { return "sure?", nil }}
}

func pays() engine.Node { return engine.Call{Tool: "charge_card", Into: "charge"} }

func mails() engine.Node { return engine.Call{Tool: "email_tickets", Into: "mail"} }

func when(text string) engine.Condition {
	return engine.Condition{Text: text, Test: func(engine.State) (bool, error) { return true, nil }}
}

// within gives the node of a container.
func within(t *testing.T) func(engine.Node, error) engine.Node {
	return func(n engine.Node, err error) engine.Node {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
}

// ahead are flows that begin with a question, and what follows its answer: the run
// then waits where next says, "" for nowhere.
func aheadOf(t *testing.T) map[string]struct {
	flow       *engine.Flow
	want, next string
} {
	node := within(t)
	return map[string]struct {
		flow       *engine.Flow
		want, next string
	}{
		"a call": {engine.NewFlow("f").Node("ask", sure("ok")).Node("send", pays()).Edge("ask", "send"),
			"then send, which wants an approval", "send"},
		"one that nobody minds": {engine.NewFlow("f").Node("ask", sure("ok")).Node("mail", mails()).Edge("ask", "mail"),
			"then mail, then the run ends", ""},
		"side by side": {engine.NewFlow("f").Node("ask", sure("ok")).Node("mail", mails()).Node("send", pays()).Node("sure", sure("sure")).Edge("ask", "mail", "send", "sure"),
			"then mail and send and sure, of which send wants an approval and sure asks", "send sure"},
		"a branch": {engine.NewFlow("f").Node("ask", sure("ok")).Node("mail", mails()).Node("send", pays()).When("ask", when("ok=yes"), "send").When("ask", when("ok=no"), "mail"),
			"then, as its conditions decide, it may go on at send or mail, of which send wants an approval", "send"},
		"a way for errors": {engine.NewFlow("f").Node("ask", sure("ok")).Node("load", engine.Call{Tool: "fetch"}).Node("back", pays()).Edge("ask", "load").OnError("load", "back"),
			"then load, then the run ends; if load fails, it goes on at back, which wants an approval", "back"},
		"an end by condition": {engine.NewFlow("f").Node("ask", sure("ok")).Node("send", pays()).Goto("ask", when("ok=no")).Edge("ask", "send"),
			"then, as its conditions decide, it may end or go on at send, which wants an approval", ""},
		"a subflow": {engine.NewFlow("f").Node("ask", sure("ok")).Node("sub", node(engine.Subflow{Flow: engine.NewFlow("in").Node("mail", mails()).Node("pay", pays()).Edge("mail", "pay")}.Node())).Edge("ask", "sub"),
			"then sub, in which pay wants an approval", "sub/pay"},
		"a branch in a subflow": {engine.NewFlow("f").Node("ask", sure("ok")).Node("sub", node(engine.Subflow{Flow: engine.NewFlow("in").Node("mail", mails()).Node("pay", pays()).When("mail", when("x"), "pay")}.Node())).Edge("ask", "sub"),
			"then sub, in which pay may want an approval, then the run ends", "sub/pay"},
		"a map": {engine.NewFlow("f").Initial(engine.State{"people": []any{"bo", "al"}}).Node("ask", sure("ok")).
			Node("all", node(engine.Map{Over: "people", As: "who", Pick: "charge", Into: "paid", Flow: engine.NewFlow("in").Node("pay", pays())}.Node())).Edge("ask", "all"),
			"then all, in which pay wants an approval for each item, then the run ends", "all/0/pay all/1/pay"},
		"a map over nothing": {engine.NewFlow("f").Initial(engine.State{"people": []any{}}).Node("ask", sure("ok")).Node("mail", mails()).Node("send", pays()).
			Node("all", node(engine.Map{Over: "people", As: "who", Pick: "charge", Into: "paid", Flow: engine.NewFlow("in").Node("pay", pays())}.Node())).Edge("ask", "all").Edge("all", "mail").Edge("mail", "send"),
			"then all, in which pay wants an approval for each item, then mail, then send, which wants an approval", "send"},
		"a map in a subflow": {engine.NewFlow("f").Initial(engine.State{"people": []any{}}).Node("ask", sure("ok")).
			Node("sub", node(engine.Subflow{Flow: engine.NewFlow("in").
				Node("all", node(engine.Map{Over: "people", As: "who", Pick: "charge", Into: "paid", Flow: engine.NewFlow("each").Node("pay", pays())}.Node())).
				Node("send", pays()).Edge("all", "send")}.Node())).Edge("ask", "sub"),
			"then sub, in which all/pay wants an approval for each item and send wants an approval", "sub/send"},
		"branches": {engine.NewFlow("f").Node("ask", sure("ok")).
			Node("both", node(engine.Parallel{Branches: []string{"mail", "pay"}, Flow: engine.NewFlow("in").Node("mail", mails()).Node("pay", pays())}.Node())).Edge("ask", "both"),
			"then both, in which pay wants an approval", "both/pay"},
	}
}

// What follows an answer says where somebody is asked next, and is what comes.
func TestApprovalsThatComeLaterAreForetold(t *testing.T) {
	for name, c := range aheadOf(t) {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.flow(c.flow)
			b.start("f", "r")
			s := b.service()
			ref := s.Find("r", "")
			p := get[Plan](t)(s.Plan(t.Context(), ref, false))
			if got := p.Review[0].IfYes; !strings.HasSuffix(got, " lands in the state as ok, "+c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
			get[Outcome](t)(s.Act(t.Context(), Request{Ref: ref, Action: Answer, Value: json.RawMessage(`"yes"`), NoRun: true}, nil))
			if got := get[Plan](t)(s.Plan(t.Context(), ref, false)).Then; got != c.want {
				t.Errorf("once it is stored: %q, want %q", got, c.want)
			}
			var next []string
			for _, w := range get[Outcome](t)(s.Act(t.Context(), Request{Ref: ref, Action: Recover}, nil)).Waiting {
				next = append(next, w.Node)
			}
			if got := strings.Join(next, " "); got != c.next {
				t.Errorf("it waits at %q, want %q", got, c.next)
			}
		})
	}
}

// Behind what is asked inside of a container comes the rest of it first.
func TestTheRestOfAContainerIsForetold(t *testing.T) {
	b := newBench(t)
	inner := engine.NewFlow("in").Node("ask", sure("ok")).Node("pay", pays()).Edge("ask", "pay")
	b.flow(engine.NewFlow("f").Node("sub", within(t)(engine.Subflow{Flow: inner}.Node())).Node("mail", mails()).Edge("sub", "mail"))
	b.start("f", "r")
	s := b.service()
	ref := s.Find("r", "")
	yes := func() string {
		t.Helper()
		return get[Plan](t)(s.Plan(t.Context(), ref, false)).Review[0].IfYes
	}
	if got := yes(); !strings.HasSuffix(got, ", then sub/pay, which wants an approval") {
		t.Errorf("%q", got)
	}
	get[Outcome](t)(s.Act(t.Context(), Request{Ref: ref, Action: Answer, Value: json.RawMessage(`"yes"`)}, nil))
	if got := yes(); !strings.HasSuffix(got, "then charge_card runs once, then mail, then the run ends") {
		t.Errorf("%q", got)
	}
	o := get[Outcome](t)(s.Act(t.Context(), Request{Ref: ref, Action: Approve}, nil))
	if o.Status != "done" {
		t.Errorf("%+v", o)
	}
}

// Which calls want an approval stands in the flow file: without it that is said.
func TestWithoutTheFlowApprovalsAreNotKnown(t *testing.T) {
	b := newBench(t)
	b.flow(engine.NewFlow("f").Node("ask", sure("ok")).Node("say", engine.NodeFunc(func(context.Context, engine.State) (engine.State, error) { return nil, nil })).
		Node("send", pays()).Edge("ask", "say").Edge("say", "send"))
	b.start("f", "r")
	s := b.service(func(o *Options) { o.Flows = nil })
	got := get[Plan](t)(s.Plan(t.Context(), s.Find("r", ""), false)).Review[0].IfYes
	if want := ", then say, then send, then the run ends; whether send waits for a person is not known without its flow file"; !strings.HasSuffix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A recovery goes on at a call that wants an approval, and waits there; a decision
// that is stored for it changes that.
func TestARecoveryThatComesToAnApproval(t *testing.T) {
	b := newBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	f := engine.NewFlow("f").Node("mail", mails()).
		Node("pay", engine.Call{Tool: "charge_card", Into: "charge", Args: func(engine.State) (any, error) { cancel(); return nil, nil }}).
		Node("again", mails()).Edge("mail", "pay").Edge("pay", "again")
	b.flow(f)
	if _, err := b.runner("worker-1").Run(ctx, f, engine.Start{Key: stores.Key{Owner: "default", Run: "r"}}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	s := b.service()
	ref := s.Find("r", "")
	then := func(want string) {
		t.Helper()
		if p := get[Plan](t)(s.Plan(t.Context(), ref, false)); p.Action != engine.PlanRecover || p.Then != want {
			t.Errorf("%s: %q, want %q", p.Action, p.Then, want)
		}
	}
	then("goes on at pay, which wants an approval")
	o := get[Outcome](t)(s.Act(t.Context(), Request{Ref: ref, Action: Recover}, nil))
	if o.Status != "paused" || o.Waiting[0].ID != "pay.1" {
		t.Fatalf("%+v", o)
	}
	get[Outcome](t)(s.Act(t.Context(), Request{Ref: ref, Action: Approve, NoRun: true}, nil))
	then("runs charge_card (pay.1, approved by ada) for the first time, then again, then the run ends")
}

// A denial that is stored brings the run on where it leads, not behind the call.
func TestAStoredDenialIsForetold(t *testing.T) {
	for name, c := range map[string]struct {
		flow *engine.Flow
		want string
		ends string
	}{
		"the run fails": {engine.NewFlow("f").Node("pay", pays()).Node("mail", mails()).Edge("pay", "mail"),
			"ada denied charge_card (pay.1): the run fails", "failed"},
		"a way for errors": {engine.NewFlow("f").Node("pay", pays()).Node("mail", mails()).OnError("pay", "mail"),
			"ada denied charge_card (pay.1): the run goes on at mail, its way for errors", "done"},
		"that of a container": {engine.NewFlow("f").Node("sub", within(t)(engine.Subflow{Flow: engine.NewFlow("in").Node("pay", pays())}.Node())).Node("mail", mails()).OnError("sub", "mail"),
			"ada denied charge_card (sub/pay.1): the run goes on at mail, its way for errors", "done"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.flow(c.flow)
			b.start("f", "r")
			s := b.service()
			ref := s.Find("r", "")
			get[Outcome](t)(s.Act(t.Context(), Request{Ref: ref, Action: Deny, NoRun: true}, nil))
			if got := get[Plan](t)(s.Plan(t.Context(), ref, false)).Then; got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			if o := get[Outcome](t)(s.Act(t.Context(), Request{Ref: ref, Action: Recover}, nil)); o.Status != c.ends {
				t.Errorf("%+v", o)
			}
		})
	}
}

// A model decides which of its tools it calls: that one of them wants an approval
// is all that can be known. Tools of the flow that are not the loop's do not count.
func TestAToolLoopThatMayWantAnApproval(t *testing.T) {
	loop := func(tools ...string) engine.ToolLoop {
		return engine.ToolLoop{Model: model.NewScripted(model.Message{Content: "Done."}), Tools: tools}
	}
	const may, never = "may go on at talk:tools, which may want an approval", "may go on at talk:tools"
	for name, c := range map[string]struct {
		flow *engine.Flow
		want string
	}{
		"all tools":        {engine.NewFlow("f").Node("ask", sure("ok")).ToolLoop("talk", loop()).Edge("ask", "talk"), may},
		"one that does":    {engine.NewFlow("f").Node("ask", sure("ok")).ToolLoop("talk", loop("email_tickets", "charge_card")).Edge("ask", "talk"), may},
		"one that doesn't": {engine.NewFlow("f").Node("ask", sure("ok")).ToolLoop("talk", loop("email_tickets")).Edge("ask", "talk"), never},
		"no tools":         {engine.NewFlow("f").Node("ask", sure("ok")).ToolLoop("talk", loop([]string{}...)).Edge("ask", "talk"), never},
		"in a subflow": {engine.NewFlow("f").Node("ask", sure("ok")).
			Node("sub", within(t)(engine.Subflow{Flow: engine.NewFlow("in").ToolLoop("talk", loop("email_tickets"))}.Node())).Edge("ask", "sub"), "then sub, then the run ends"},
		"in two subflows of one shape": {engine.NewFlow("f").Node("ask", sure("ok")).
			Node("sub", within(t)(engine.Subflow{Flow: engine.NewFlow("in").ToolLoop("talk", loop("email_tickets"))}.Node())).
			Node("pay", within(t)(engine.Subflow{Flow: engine.NewFlow("in").ToolLoop("talk", loop("charge_card"))}.Node())).Edge("ask", "sub").Edge("sub", "pay"),
			"then sub, in which talk:tools may want an approval, then pay, in which talk:tools may want an approval, then the run ends"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.flow(c.flow)
			b.start("f", "r")
			got := get[Plan](t)(b.service().Plan(t.Context(), b.service().Find("r", ""), false)).Review[0].IfYes
			if !strings.HasSuffix(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
