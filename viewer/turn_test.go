package viewer

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/model"
	"github.com/flowtui/flowtui/stores"
)

type modelFunc func(model.Request) (string, error)

func (m modelFunc) Complete(_ context.Context, r model.Request) (model.Reply, error) {
	text, err := m(r)
	return model.Reply{Message: model.Message{Content: text}}, err
}

// A conversation that waits for its user is paused, but needs no operator; one
// that asks does.
func TestConversations(t *testing.T) {
	b := newBench(t)
	down := false
	b.flow(engine.NewFlow("chat").
		Step("ask", engine.Interrupt{Key: "mood", Prompt: engine.Text("How are you?")}).
		Step("reply", engine.LLM{Messages: "messages", Model: modelFunc(func(model.Request) (string, error) {
			if down {
				return "", errors.Join(model.ErrRejected, errors.New("too long"))
			}
			return "I see.\x1b[2J", nil
		})}).
		Conversation(engine.Conversation{}))
	s := b.service()
	say := func(text string) TurnRequest {
		return TurnRequest{Run: "c-1", Message: text, Flow: b.flows.flows["chat"], Tools: b.tools}
	}
	r := get[Reply](t)(s.Turn(t.Context(), say("hello")))
	if !r.Waiting || r.Prompt != "How are you?" || r.Key != "mood" || r.Status != "paused" || len(r.Open) != 1 {
		t.Errorf("%+v", r)
	}
	if got := runs(get[Page](t)(s.List(t.Context(), Query{Tab: TabNeedsYou})).Rows); got != "c-1" {
		t.Errorf("needs you: %q", got)
	}
	r = get[Reply](t)(s.Turn(t.Context(), say("fine")))
	if r.Waiting || r.Reply != "I see.␛[2J" || len(r.Open) != 0 {
		t.Errorf("%+v", r)
	}
	row := b.row(s, "c-1")
	if !strings.HasPrefix(row.Why, "turn waits for the next message") || row.Next != "nothing to do: who talks with it goes on" || row.Badges[0] != Paused || row.NeedsYou() || row.Actions[0].Title != "write the next message" {
		t.Errorf("%q, %q, %v", row.Why, row.Next, row.Badges)
	}
	if n := get[Counts](t)(s.Counts(t.Context(), Query{})); n[TabNeedsYou] != 0 || n[TabPaused] != 1 {
		t.Errorf("%v", n)
	}
	// So is a message that is sent as an answer, in the sheet.
	ref := s.Find("c-1", "")
	send := func(text string) Outcome {
		return get[Outcome](t)(s.Act(t.Context(), Request{Ref: ref, Action: Answer, Value: quote(text)}, nil))
	}
	if o := send("well?"); o.Reply != "" || o.Waiting[0].Key != "mood" {
		t.Errorf("a turn that asks: %+v", o)
	}
	if o := send("fine"); o.Reply != "I see.␛[2J" || !o.Waiting[0].Turn {
		t.Errorf("a turn that is over: %+v", o)
	}
	// The reply of the turn before is not that of one that asks, or fails.
	if r = get[Reply](t)(s.Turn(t.Context(), say("and now?"))); !r.Waiting || r.Reply != "" {
		t.Errorf("%+v", r)
	}
	down = true
	if r = get[Reply](t)(s.Turn(t.Context(), say("bad"))); !strings.Contains(r.Failed, "too long") || r.Waiting || r.Reply != "" {
		t.Errorf("%+v", r)
	}
	bad := say("x")
	bad.Flow = b.flows.flows["approval"]
	if _, err := s.Turn(t.Context(), bad); explain(err).Code != codeRefused {
		t.Errorf("%v", err)
	}
	bad = say("x")
	bad.Question = "ask#1"
	if _, err := s.Turn(t.Context(), bad); explain(err).Code != codeConflict {
		t.Errorf("%v", err)
	}
}

// A run that is held after an error says what failed, and that it can go on.
func TestHeldRun(t *testing.T) {
	b := newBench(t)
	f := engine.NewFlow("held").Step("load", engine.Call{Tool: "fetch"}).HoldOnError()
	b.flow(f)
	_, err := b.runner("worker-1").Execute(t.Context(), f, engine.Execution{Key: stores.Key{Owner: "default", Run: "h-1"}})
	if !errors.Is(err, engine.ErrHeld) {
		t.Fatal(err)
	}
	row := b.row(b.service(), "h-1")
	if row.Why != "held at load: fetch: HTTP 503 from the warehouse" || row.Next != "mend what is wrong, then bring it on: it tries load again" || row.Badges[0] != Stuck || !row.NeedsYou() {
		t.Errorf("%q, %q, %v", row.Why, row.Next, row.Badges)
	}
}
