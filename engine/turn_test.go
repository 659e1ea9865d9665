package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/model"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

// echo answers with the number of messages so far and the newest one.
func echo(req model.Request) string {
	return fmt.Sprintf("%d: %s", len(req.Messages), req.Messages[len(req.Messages)-1].Content)
}

// renovation is a conversation that asks before it answers, when it is told to plan.
func renovation() *engine.Flow {
	says := func(word string) engine.Condition {
		return engine.Condition{Text: "the message has " + word, Test: func(s engine.State) (bool, error) {
			talk, err := engine.Messages(s, "messages")
			return err == nil && strings.Contains(talk[len(talk)-1].Content, word), err
		}}
	}
	return engine.NewFlow("renovation").
		Step("read", put("read", true)).
		Node("approve", engine.Interrupt{Key: "approved", Prompt: engine.Text("Plan it?"), Choices: []string{"yes", "no"}}).
		Node("break", engine.NodeFunc(func(context.Context, engine.State) (engine.State, error) { return nil, errors.New("it broke") })).
		Node("reply", engine.LLM{Model: modelFunc(echo), Messages: "messages", Into: "answer"}).
		Node("nothing", engine.NodeFunc(nothing)).
		When("read", says("plan"), "approve").When("read", says("break"), "break").When("read", says("hush"), "nothing").When("read", says("?"), "reply").
		Edge("approve", "reply").
		Conversation(engine.Conversation{Transient: []string{"answer", "approved"}})
}

func turnOf(message string) engine.Turn {
	return engine.Turn{Key: stores.Key{Owner: "alice", Run: "chat-1"}, Message: message}
}

func TestTurns(t *testing.T) {
	eachStore(t, func(t *testing.T, s full) {
		r := runner(t, s, nil)
		first := turnOf("how big?")
		first.Initial = func() (engine.State, error) {
			return engine.State{"task": "bath", "messages": []any{"replaced"}}, nil
		}
		res, err := r.Turn(ctx, renovation(), first)
		if err != nil || res.SessionID != "chat-1" || res.Owner != "alice" || res.Waiting || res.Reply != "1: how big?" || res.State["task"] != "bath" || res.State["answer"] != "1: how big?" {
			t.Fatalf("%+v, %v", res, err)
		}
		// The second turn pauses on an interrupt, which is no error.
		first.Message = "plan it"
		res, err = r.Turn(ctx, renovation(), first)
		if err != nil || !res.Waiting || res.Prompt != "Plan it?" || res.Key != "approved" || len(res.Choices) != 2 || res.State != nil || res.Reply != "1: how big?" {
			t.Fatalf("%+v, %v", res, err)
		}
		if _, b := latestOf(t, s, "alice"); !strings.Contains(string(b.State), `"answer":""`) {
			t.Errorf("transient keys are cleared at the start of a turn: %s", b.State)
		}
		if _, err := r.Turn(ctx, renovation(), turnOf("maybe")); !errors.Is(err, engine.ErrInvalid) || !strings.Contains(err.Error(), "choices") {
			t.Errorf("no choice: %v", err)
		}
		res, err = r.Turn(ctx, renovation(), turnOf("yes"))
		if err != nil || res.Waiting || res.Reply != "3: plan it" || res.State["approved"] != "yes" {
			t.Fatalf("%+v, %v", res, err)
		}
		// A turn without a reply of its own tells the latest one.
		if res, err = r.Turn(ctx, renovation(), turnOf("hush")); err != nil || res.Reply != "3: plan it" || res.State["approved"] != "" {
			t.Fatalf("%+v, %v", res, err)
		}
		talk, err := engine.Messages(res.State, "messages")
		var got []string
		for _, m := range talk {
			got = append(got, string(m.Role)+" "+m.Content)
		}
		want := []string{"user how big?", "assistant 1: how big?", "user plan it", "assistant 3: plan it", "user hush"}
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("%v %s", err, d)
		}
		if got, err := engine.Runs(ctx, s, "alice"); err != nil || len(got) != 1 {
			t.Errorf("%q, %v", got, err)
		}
		report, err := engine.Verify(ctx, s, testKeys(t), stores.Key{Owner: "alice", Run: "chat-1"})
		if err != nil || report.Verdict != engine.Verified {
			t.Errorf("%+v, %v", report, err)
		}
	})
}

func latestOf(t *testing.T, s full, owner string) (stores.Checkpoint, engine.Checkpoint) {
	t.Helper()
	c, err := s.Latest(ctx, stores.Key{Owner: owner, Run: "chat-1"})
	if err != nil {
		t.Fatal(err)
	}
	b, err := engine.DecodeCheckpoint(c)
	if err != nil {
		t.Fatal(err)
	}
	return c, b
}

// The same session id under two owners are two sessions.
func TestTurnsOfTwoOwners(t *testing.T) {
	s := newStore()
	r := runner(t, s, nil)
	for _, owner := range []string{"alice", "bob"} {
		for n := range 2 {
			turn := turnOf("what?")
			turn.Key.Owner = owner
			res, err := r.Turn(ctx, renovation(), turn)
			if want := fmt.Sprintf("%d: what?", 2*n+1); err != nil || res.Reply != want || res.Owner != owner {
				t.Errorf("%s: %+v, %v", owner, res, err)
			}
		}
	}
}

// A turn that fails leaves the session usable: the next message starts a new one.
func TestTurnThatFails(t *testing.T) {
	s := newStore()
	r := runner(t, s, nil)
	res, err := r.Turn(ctx, renovation(), turnOf("break"))
	if !errors.Is(err, engine.ErrTurn) || !strings.Contains(err.Error(), `failed at "break": it broke`) || res.Waiting || res.Question != "turn#1" {
		t.Fatalf("%+v, %v", res, err)
	}
	res, err = r.Turn(ctx, renovation(), turnOf("and now?"))
	if err != nil || res.Reply != "2: and now?" || res.State["error"] != nil {
		t.Errorf("%+v, %v", res, err)
	}
}

// What an error edge took is no failure of the turn, though the state still says
// what it was.
func TestTurnWhoseErrorIsTaken(t *testing.T) {
	s := newStore()
	r := runner(t, s, nil)
	f := engine.NewFlow("careful").
		Step("risky", engine.NodeFunc(func(context.Context, engine.State) (engine.State, error) { return nil, errors.New("no line") })).
		Node("sorry", engine.NodeFunc(func(context.Context, engine.State) (engine.State, error) {
			return engine.State{"messages": []any{map[string]any{"role": "assistant", "content": "Sorry, later."}}}, nil
		})).
		OnError("risky", "sorry").
		Conversation(engine.Conversation{})
	for range 2 {
		res, err := r.Turn(ctx, f, turnOf("hello"))
		want := map[string]any{"node": "risky", "message": "no line"}
		if err != nil || res.Reply != "Sorry, later." || !res.Replied || cmp.Diff(want, res.State["error"]) != "" {
			t.Errorf("%+v, %v", res, err)
		}
	}
}

// A turn whose condition fails says so in every turn, and the state that is
// stored is the one that the worker has.
func TestTurnWhoseConditionFails(t *testing.T) {
	s := newStore()
	r := runner(t, s, nil)
	f := engine.NewFlow("bad").Step("a", put("a", 1)).Step("b", put("b", 1)).
		When("b", engine.Condition{Text: "broken", Test: func(engine.State) (bool, error) { return false, errors.New("no such thing") }}, "a").
		Conversation(engine.Conversation{})
	for _, message := range []string{"one", "two", "three"} {
		res, err := r.Turn(ctx, f, turnOf(message))
		if !errors.Is(err, engine.ErrTurn) || !strings.Contains(err.Error(), "no such thing") {
			t.Errorf("%s: %v", message, err)
		}
		_, b := latestOf(t, s, "alice")
		stored, err := engine.DecodeState(b.State)
		if d := cmp.Diff(res.State, stored); err != nil || d != "" {
			t.Errorf("%s: in memory and stored: %v %s", message, err, d)
		}
	}
}

// The reply of an earlier turn is not what came of a later message: not of one
// that asks, or fails, or says nothing.
func TestRepliesOfEarlierTurns(t *testing.T) {
	s := newStore()
	r := runner(t, s, nil)
	for _, c := range []struct {
		message, reply string
		replied        bool
		prompt         string // of the question that is open then
	}{
		{"hush", "", false, ""},
		{"how big?", "2: how big?", true, "2: how big?"},
		{"break", "2: how big?", false, ""},
		{"plan it", "2: how big?", false, "Plan it?"},
		{"yes", "5: plan it", true, "5: plan it"},
		{"hush", "5: plan it", false, ""},
	} {
		res, err := r.Turn(ctx, renovation(), turnOf(c.message))
		if err != nil && !errors.Is(err, engine.ErrTurn) || res.Reply != c.reply || res.Replied != c.replied {
			t.Errorf("%s: %+v, %v", c.message, res, err)
		}
		if _, b := latestOf(t, s, "alice"); len(b.Waiting) != 1 || b.Waiting[0].Prompt != c.prompt {
			t.Errorf("%s: it asks %+v", c.message, b.Waiting)
		}
	}
	for e, err := range r.StreamTurn(ctx, renovation(), turnOf("hush")) {
		if err != nil || e.Type == engine.EventReply && !strings.Contains(string(e.Data), `"reply":""`) {
			t.Errorf("%s, %v", e.Data, err)
		}
	}
}

func TestTurnRefusals(t *testing.T) {
	s := newStore()
	w := newWorld()
	r := runner(t, s, tool.NewRegistry(w.tool("pay", needsOK)))
	if _, err := r.Turn(ctx, approval(), turnOf("x")); !errors.Is(err, engine.ErrFlow) || !strings.Contains(err.Error(), "no conversation") {
		t.Errorf("a flow that is none: %v", err)
	}
	stale := turnOf("x")
	stale.Question = "turn#1"
	if _, err := r.Turn(ctx, renovation(), stale); !errors.Is(err, engine.ErrCheckpointNotFound) {
		t.Errorf("an answer to no session: %v", err)
	}
	many := three().Conversation(engine.Conversation{})
	res, err := r.Turn(ctx, many, turnOf("x"))
	if err != nil || !res.Waiting || len(res.Open) != 3 {
		t.Fatalf("%+v, %v", res, err)
	}
	if _, err := r.Turn(ctx, many, turnOf("yes")); !errors.Is(err, engine.ErrInvalid) || !strings.Contains(err.Error(), "a#1 (a), b#1 (b), c#1 (c)") {
		t.Errorf("several questions are listed: %v", err)
	}
	for i, id := range []string{"b#1", "a#1", "c#1"} {
		named := turnOf("yes")
		named.Question = id
		if res, err = r.Turn(ctx, many, named); err != nil || len(res.Open) != 2-i {
			t.Fatalf("%s: %+v, %v", id, res, err)
		}
	}
	if res.State["a"] != "yes" || res.Question != "turn#1" {
		t.Errorf("%+v", res)
	}
	if _, err := r.Turn(ctx, renovation(), turnOf("x")); !errors.Is(err, engine.ErrCheckpointConflict) || !strings.Contains(err.Error(), `belongs to flow "three"`) {
		t.Errorf("another flow's session: %v", err)
	}
	pays := engine.NewFlow("pays").Step("pay", engine.Call{Tool: "pay"}).Conversation(engine.Conversation{})
	turn := turnOf("x")
	turn.Key.Run = "chat-2"
	if res, err = r.Turn(ctx, pays, turn); err != nil || !res.Waiting || len(res.Open) != 1 || res.Key != "" {
		t.Fatalf("%+v, %v", res, err)
	}
	if _, err := r.Turn(ctx, pays, turn); !errors.Is(err, engine.ErrCheckpointConflict) || !strings.Contains(err.Error(), "approval") {
		t.Errorf("an approval is not given by a message: %v", err)
	}
	if _, err := r.Resume(ctx, pays, turn.Key, engine.Decide{Type: engine.DecideAnswer, ID: "message", Value: json.RawMessage(`5`), By: "ana"}); !errors.Is(err, engine.ErrCheckpointConflict) {
		t.Errorf("no message is waited for: %v", err)
	}
}

// What was sent as an answer around Turn and is no text is said as JSON.
func TestTurnTakesAnyAnswer(t *testing.T) {
	s := newStore()
	r := runner(t, s, nil)
	if _, err := r.Turn(ctx, renovation(), turnOf("hush")); err != nil {
		t.Fatal(err)
	}
	res, err := r.Resume(ctx, renovation(), turnOf("").Key, engine.Decide{Type: engine.DecideAnswer, Value: json.RawMessage(`["?"]`), By: "ana"})
	if err != nil || res.State["answer"] != `2: ["?"]` {
		t.Errorf("%+v, %v", res, err)
	}
}

// Two messages to the same question: one wins, the other is refused and learns
// who won; the question that opened meanwhile stays open.
func TestScenario17Turns(t *testing.T) {
	everyStore(t, func(t *testing.T, s full) {
		r := runner(t, s, nil)
		if _, err := r.Turn(ctx, renovation(), turnOf("plan it")); err != nil {
			t.Fatal(err)
		}
		answer := turnOf("yes")
		answer.Question, answer.By = "approve#1", "op1"
		res, err := r.Turn(ctx, renovation(), answer)
		if err != nil || res.Question != "turn#1" {
			t.Fatalf("%+v, %v", res, err)
		}
		answer.By = "op2"
		if _, err := r.Turn(ctx, renovation(), answer); !errors.Is(err, engine.ErrCheckpointConflict) || !strings.Contains(err.Error(), "op1 answered approve#1") {
			t.Errorf("a late answer: %v", err)
		}
		if _, b := latestOf(t, s, "alice"); len(b.Waiting) != 1 || b.Waiting[0].ID != "turn#1" || strings.Contains(string(b.State), "op2") {
			t.Errorf("the next question took it: %+v", b.Waiting)
		}
	})
}

// A message answers what its writer saw, and nothing that was asked since: not
// the question of another one's turn, and not one of a session that another one
// started.
func TestAMessageAnswersOnlyWhatWasSeen(t *testing.T) {
	everyStore(t, func(t *testing.T, s full) {
		r := runner(t, s, nil)
		first := turnOf("how big?")
		first.New = true
		seen, err := r.Turn(ctx, renovation(), first)
		if err != nil || seen.Question != "turn#1" {
			t.Fatalf("%+v, %v", seen, err)
		}
		if _, err := r.Turn(ctx, renovation(), turnOf("plan it")); err != nil { // somebody else goes on
			t.Fatal(err)
		}
		late := turnOf("yes")
		late.Question = seen.Question
		if res, err := r.Turn(ctx, renovation(), late); !errors.Is(err, engine.ErrCheckpointConflict) {
			t.Errorf("a message to the reply before: %+v, %v", res, err)
		}
		first.Message = "yes"
		if res, err := r.Turn(ctx, renovation(), first); !errors.Is(err, engine.ErrCheckpointConflict) || !strings.Contains(err.Error(), "is there already") {
			t.Errorf("a first message: %+v, %v", res, err)
		}
		first.Question = "approve#1"
		if _, err := r.Turn(ctx, renovation(), first); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("a first message that answers: %v", err)
		}
		if _, b := latestOf(t, s, "alice"); len(b.Waiting) != 1 || b.Waiting[0].ID != "approve#1" || strings.Contains(string(b.State), "yes") {
			t.Errorf("it was answered: %+v, %s", b.Waiting, b.State)
		}
	})
}

func TestStreamTurn(t *testing.T) {
	s := newStore()
	r := runner(t, s, nil)
	stream := func(turn engine.Turn) (got []string, err error) {
		for e, err := range r.StreamTurn(ctx, renovation(), turn) {
			if err != nil {
				return got, err
			}
			if e.Type == engine.EventInterrupt || e.Type == engine.EventReply {
				got = append(got, e.Type+" "+string(e.Data))
			} else {
				got = append(got, e.Type)
			}
		}
		return got, nil
	}
	got, err := stream(turnOf("plan it"))
	want := []string{"checkpoint.saved", "checkpoint.saved", "checkpoint.saved", "run.waiting", `interrupt {"choices":["yes","no"],"key":"approved","prompt":"Plan it?","question":"approve#1"}`}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("%v %s", err, d)
	}
	got, err = stream(turnOf("yes"))
	if err != nil || got[len(got)-1] != `reply {"question":"turn#1","reply":"1: plan it"}` || got[1] != "operator.decision" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err = stream(turnOf("break")); !errors.Is(err, engine.ErrTurn) || len(got) == 0 {
		t.Errorf("%q, %v", got, err)
	}
	for range r.StreamTurn(ctx, renovation(), turnOf("is it over?")) {
		break // the worker is stopped, the run can go on
	}
	res, err := r.Turn(ctx, renovation(), turnOf("are you there?"))
	if err != nil || !strings.HasSuffix(res.Reply, "are you there?") {
		t.Errorf("%+v, %v", res, err)
	}
}

// A viewer draws the way back to the next message.
func TestConversationIsDrawn(t *testing.T) {
	s := newStore()
	if _, err := runner(t, s, nil).Turn(ctx, renovation(), turnOf("hush")); err != nil {
		t.Fatal(err)
	}
	last, _ := latestOf(t, s, "alice")
	raw, err := s.Graph(ctx, last.Digest)
	if err != nil {
		t.Fatal(err)
	}
	var shape engine.Topology
	if err := json.Unmarshal(raw, &shape); err != nil {
		t.Fatal(err)
	}
	to := map[string]string{}
	for _, e := range shape.Edges {
		to[e.From] += fmt.Sprint(e.To)
	}
	if to["reply"] != "[turn]" || to["nothing"] != "[turn]" || to["break"] != "[turn]" || to["turn"] != "[read]" || to["approve"] != "[reply]" {
		t.Errorf("%v", to)
	}
}
