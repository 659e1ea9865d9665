package viewer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/model"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

// asks is a reply that calls tools, each written as name and arguments.
func asks(text string, calls ...string) model.Message {
	m := model.Message{Content: text}
	for i, c := range calls {
		name, args, _ := strings.Cut(c, " ")
		m.ToolCalls = append(m.ToolCalls, model.ToolCall{ID: fmt.Sprint("c", i+1), Name: name, Args: json.RawMessage(args)})
	}
	return m
}

func says(text string) model.Message { return model.Message{Content: text} }

// chat starts a tool loop whose model answers with replies.
func (b *bench) chat(ctx context.Context, run string, replies ...model.Message) error {
	b.t.Helper()
	l := engine.ToolLoop{Name: "chat", Model: model.NewScripted(replies...)}
	b.flow(l.Flow())
	_, err := b.runner("worker-1").RunToolLoop(ctx, l, engine.LoopStart{
		Key: stores.Key{Owner: "default", Run: run}, Messages: []model.Message{{Role: model.User, Content: "Two seats for Hamlet"}},
	})
	b.wait(time.Second)
	return err
}

// told is a conversation, one line a message and one a call.
func told(v Conversation) []string {
	var lines []string
	for _, m := range v.Messages {
		line := fmt.Sprintf("%d %s: %s", m.N, m.Role, m.Text)
		if m.Odd != "" {
			line = fmt.Sprintf("%d ? %s: %s", m.N, m.Odd, m.Value)
		}
		if m.Under > 0 {
			line += fmt.Sprintf(" (under %d)", m.Under)
		}
		lines = append(lines, line)
		for _, c := range m.Calls {
			line := fmt.Sprintf("  %s%s %s", c.Name, c.Args, c.Status)
			if c.Call != "" {
				line += fmt.Sprintf(" %s@%d", c.Call, c.Step)
			}
			if c.Pending {
				line += " pending"
			}
			if c.Approval != "" {
				line += " approval " + c.Approval
			}
			if len(c.Result) > 0 {
				line += " = " + string(c.Result)
			}
			if c.Error != "" {
				line += " ! " + c.Error
			}
			if c.Why != "" {
				line += " because " + c.Why
			}
			lines = append(lines, line)
		}
	}
	return lines
}

func (b *bench) conversation(run string, step int64) Conversation {
	b.t.Helper()
	s := b.service()
	return get[Conversation](b.t)(s.Conversation(b.t.Context(), s.Find(run, ""), step, false))
}

func same(t *testing.T, want, got []string) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func (b *bench) decide(run string, d engine.Decide) {
	b.t.Helper()
	d.By = "ben"
	if _, err := b.runner("operator").Record(b.t.Context(), stores.Key{Owner: "default", Run: run}, d); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) recover(run string) {
	b.t.Helper()
	k := stores.Key{Owner: "default", Run: run}
	if _, err := b.runner("worker-2").Recover(b.t.Context(), b.flows.flows["chat"], k, engine.RecoverOptions{Takeover: true}); err != nil {
		b.t.Fatal(err)
	}
}

// The calls of a reply from the question to the end: what a person decided, what
// runs, what the model is told. Each step still shows what was known then.
func TestConversationOfAPausedLoop(t *testing.T) {
	b := newBench(t)
	err := b.chat(t.Context(), "c", asks("I hold them.", `hold_seats {"seats":2}`, `charge_card {"eur":90}`, `lookup {}`, `charge_card {"eur":1}`), says("Sorry."))
	if err != nil {
		t.Fatal(err)
	}
	opened := []string{"1 user: Two seats for Hamlet", "2 assistant: I hold them."}
	asked := append(opened[:2:2],
		`  hold_seats{"seats":2} done tools.1@1 pending = "A4"`,
		`  charge_card{"eur":90} waiting tools.2@1 pending approval tools.2`,
		`  lookup{} not-run pending`,
		`  charge_card{"eur":1} waiting tools.4@1 pending approval tools.4`,
	)
	v := b.conversation("c", -1)
	same(t, asked, told(v))
	if v.Key != "messages" || v.Step != 2 || !v.Latest || v.Others != nil {
		t.Errorf("%+v", v)
	}

	b.decide("c", engine.Decide{Type: engine.DecideApprove, ID: "tools.2", Note: "fine"})
	b.decide("c", engine.Decide{Type: engine.DecideDeny, ID: "tools.4", Note: "too dear"})
	same(t, append(opened[:2:2],
		`  hold_seats{"seats":2} done tools.1@1 pending = "A4"`,
		`  charge_card{"eur":90} approved tools.2@1 pending because ben approved it, and it runs when the run goes on: fine`,
		`  lookup{} not-run pending`,
		`  charge_card{"eur":1} denied tools.4@1 pending because ben denied it: too dear`,
	), told(b.conversation("c", -1)))

	same(t, []string{
		"tools.1 done ", "tools.2 approved ben approved it, and it runs when the run goes on: fine", "tools.4 denied ben denied it: too dear",
	}, b.callWords("c"))

	b.recover("c")
	same(t, append(opened[:2:2],
		`  hold_seats{"seats":2} done tools.1@1 = "A4"`,
		`  charge_card{"eur":90} done tools.2@1 = "ch_81"`,
		`  lookup{} done tools.3@1 = 1`,
		`  charge_card{"eur":1} denied tools.4@1 because ben denied it: too dear`,
		"3 tool: A4 (under 2)", "4 tool: ch_81 (under 2)", "5 tool: 1 (under 2)",
		"6 tool: error: charge_card was denied by ben: too dear (under 2)",
		"7 assistant: Sorry.",
	), told(b.conversation("c", -1)))
	for i := range asked { // nothing of the past can be acted on
		asked[i] = strings.Split(asked[i], " approval ")[0]
	}
	then := b.conversation("c", 2)
	same(t, asked, told(then))
	if then.Latest {
		t.Error("step 2 is called the latest")
	}
	same(t, []string{"1 user: Two seats for Hamlet"}, told(b.conversation("c", 0)))
	// The Calls tab has the same words.
	same(t, []string{"tools.1 done ", "tools.2 done ", "tools.4 denied ben denied it: too dear", "tools.3 done "}, b.callWords("c"))
}

// callWords is how the calls of a run stand, and why.
func (b *bench) callWords(run string) []string {
	b.t.Helper()
	s := b.service()
	var words []string
	for _, c := range get[[]Call](b.t)(s.Calls(b.t.Context(), s.Find(run, ""), false)) {
		words = append(words, fmt.Sprintf("%s %s %s", c.ID, c.State, c.Why))
	}
	return words
}

// The call log of a flow that failed on a denial says that the call waits; the
// events say that it was denied.
func TestCallsTellWhoDenied(t *testing.T) {
	b := newBench(t)
	b.start("tickets", "x")
	same(t, []string{"hold.1 done ", "pay.1 waiting "}, b.callWords("x"))
	s := b.service()
	get[Outcome](t)(s.Act(t.Context(), Request{Ref: s.Find("x", ""), Action: Deny, Note: "too dear"}, nil))
	same(t, []string{"hold.1 done ", "pay.1 denied ada denied it: too dear"}, b.callWords("x"))
}

// What deciding does is told as it will be: a call waits for those before it in
// its reply, a denial is told to the model, and what follows it does not run.
func TestReviewOfAToolCall(t *testing.T) {
	b := newBench(t)
	if err := b.chat(t.Context(), "one", asks("", `charge_card {"n":1}`, `lookup {}`), says("Done.")); err != nil {
		t.Fatal(err)
	}
	if err := b.chat(t.Context(), "two", asks("", `charge_card {"n":1}`, `charge_card {"n":2}`), says("Done.")); err != nil {
		t.Fatal(err)
	}
	s := b.service()
	var got []string
	for _, run := range []string{"one", "two"} {
		for _, e := range get[Plan](t)(s.Plan(t.Context(), s.Find(run, ""), false)).Review {
			got = append(got, run+" "+e.ID+" yes: "+e.IfYes, run+" "+e.ID+" no: "+e.IfNo)
		}
	}
	stored := "the decision is stored with step 3"
	no := stored + "; charge_card does not run, nor what follows it in the reply; the model is told, and goes on"
	same(t, []string{
		"one tools.1 yes: " + stored + ", then charge_card runs once, then the rest of the reply, then the model goes on", "one tools.1 no: " + no,
		"two tools.1 yes: " + stored + ", then charge_card runs once; 1 more stays open", "two tools.1 no: " + no,
		"two tools.2 yes: " + stored + "; charge_card runs once, when tools.1 is decided too", "two tools.2 no: " + no + ", once tools.1 is decided too",
	}, got)
	// And so it is: approving the second one runs nothing yet.
	get[Outcome](t)(s.Act(t.Context(), Request{Ref: s.Find("two", ""), Action: Approve, Target: "tools.2"}, nil))
	if b.hits["charge_card"] != 0 {
		t.Errorf("charged %d times", b.hits["charge_card"])
	}
}

// After a denial the rest of the reply does not run, also what was asked for too.
func TestConversationTellsDeniedFromNotRun(t *testing.T) {
	b := newBench(t)
	if err := b.chat(t.Context(), "c", asks("", `charge_card {"n":1}`, `charge_card {"n":2}`, `lookup {}`), says("Then not.")); err != nil {
		t.Fatal(err)
	}
	s := b.service()
	get[Outcome](t)(s.Act(t.Context(), Request{Ref: s.Find("c", ""), Action: Deny, Target: "tools.1", Note: "no"}, nil))
	var got []string
	for _, l := range told(b.conversation("c", -1)) {
		if strings.HasPrefix(l, "  ") {
			got = append(got, l)
		}
	}
	same(t, []string{
		`  charge_card{"n":1} denied tools.1@1 because ada denied it: no`,
		`  charge_card{"n":2} not-run tools.2@1`,
		`  lookup{} not-run`,
	}, got)
}

// Two rounds of the same calls, and everything that a model can get wrong.
func TestConversationFindsTheCallsOfEachReply(t *testing.T) {
	b := newBench(t)
	same3 := asks("", `lookup {"q":"<&>\u2028é","n":12345678901234567890}`, `fetch {}`, `fly {}`, `lookup [1]`, ` {}`)
	if err := b.chat(t.Context(), "c", same3, asks("", "fly {}"), same3, says("Done.")); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range told(b.conversation("c", -1)) {
		if strings.HasPrefix(l, "  ") {
			got = append(got, strings.Replace(l, `{"n":12345678901234567890,"q":"<&>\\u{2028}é"}`, "{…}", 1))
		}
	}
	// Superstep 1 is the first model call, 2 its tools, and so on: the replies are
	// saved with steps 1, 3 and 5, so their calls have those base steps.
	round := func(base int) []string {
		return []string{
			fmt.Sprintf("  lookup{…} done tools.1@%d = 1", base),
			fmt.Sprintf("  fetch{} failed tools.2@%d ! HTTP 503 from the warehouse", base),
			"  fly{} not-run", "  lookup[1] not-run", "  {} not-run",
		}
	}
	same(t, append(append(round(1), "  fly{} not-run"), round(5)...), got)
}

// A worker dies in a call: then its call is in doubt, until somebody says what
// happened. While it lives the call is running.
func TestConversationOfACallInDoubt(t *testing.T) {
	b := newBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var alive []string
	if err := b.tools.Add(tool.Tool{Name: "mail", Run: func(ctx context.Context, _ tool.Input) (any, error) {
		alive = told(b.conversation("c", -1))
		cancel()
		return nil, ctx.Err()
	}}); err != nil {
		t.Fatal(err)
	}
	if err := b.chat(ctx, "c", asks("", `lookup {}`, `mail {}`, `lookup {}`), says("Sent.")); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	calls := func(lines []string) []string { return lines[2:] }
	want := []string{`  lookup{} done tools.1@1 pending = 1`, `  mail{} running tools.2@1 pending`, `  lookup{} not-run pending`}
	same(t, want, calls(alive))
	got := calls(told(b.conversation("c", -1)))
	want[1] = got[1][:strings.Index(got[1], "started at")] + "started at 03:04:05 UTC, no result was recorded: it may or may not have run"
	same(t, want, got)
	if !strings.HasPrefix(want[1], "  mail{} in-doubt tools.2@1 pending because ") {
		t.Errorf("%q", want[1])
	}
	s := b.service()
	get[Outcome](t)(s.Act(t.Context(), Request{Ref: s.Find("c", ""), Action: Resolve, Target: "tools.2", Value: json.RawMessage(`"sent"`)}, nil))
	want[1] = `  mail{} resolved tools.2@1 pending = "sent" because an operator said what it returned`
	same(t, want, calls(told(b.conversation("c", -1))))
	b.recover("c")
	if got := told(b.conversation("c", -1)); got[len(got)-1] != "6 assistant: Sent." || got[3] != strings.Replace(want[1], " pending", "", 1) {
		t.Errorf("%q", got)
	}
}
