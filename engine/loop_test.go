package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/model"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

// talker is a scripted model that counts how often it is asked and keeps what
// it was asked with.
type talker struct {
	model.Model
	mu       sync.Mutex
	requests []model.Request
	fail     func(call int) error
}

func talks(replies ...model.Message) *talker {
	return &talker{Model: model.NewScripted(replies...)}
}

func (m *talker) Complete(ctx context.Context, req model.Request) (model.Reply, error) {
	m.mu.Lock()
	m.requests = append(m.requests, req)
	n := len(m.requests)
	m.mu.Unlock()
	if m.fail != nil {
		if err := m.fail(n); err != nil {
			return model.Reply{}, err
		}
	}
	return m.Model.Complete(ctx, req)
}

func (m *talker) asked() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.requests)
}

func wants(calls ...string) model.Message {
	var m model.Message
	for i, c := range calls {
		name, args, _ := strings.Cut(c, " ")
		m.ToolCalls = append(m.ToolCalls, model.ToolCall{ID: fmt.Sprint("c", i+1), Name: name, Args: json.RawMessage(args)})
	}
	return m
}

func user(text string) []model.Message { return []model.Message{{Role: model.User, Content: text}} }

func loopStart(run string) engine.LoopStart {
	return engine.LoopStart{Key: key(run), Messages: user("two seats for Hamlet")}
}

// conversation is the stored history, one line a message.
func conversation(t *testing.T, s stores.Store, run string) []string {
	t.Helper()
	_, b := mustLatest(t, s, run)
	state, err := engine.DecodeState(b.State)
	if err != nil {
		t.Fatal(err)
	}
	list, err := engine.Messages(state, "messages")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range list {
		line := string(m.Role) + ": " + m.Content
		for _, c := range m.ToolCalls {
			line += fmt.Sprintf(" %s=%s%s", c.ID, c.Name, c.Args)
		}
		if m.ToolCallID != "" {
			line += " (" + m.ToolCallID + ")"
		}
		out = append(out, line)
	}
	return out
}

func savedEvents(t *testing.T, s full, run string) []string {
	t.Helper()
	events, err := s.Events(ctx, key(run), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range events {
		out = append(out, e.Type+" "+string(e.Payload))
	}
	return out
}

func TestToolLoop(t *testing.T) {
	s, w := newStore(), newWorld()
	m := talks(wants(`hold_seats {"show":"Hamlet","seats":2}`, `charge_card {"eur":90}`), model.Message{Content: "Here you are."})
	res, err := runner(t, s, w.ticketTools()).RunToolLoop(ctx, engine.ToolLoop{Model: m, System: "Be brief."}, loopStart("chat-42"))
	if err != nil || res.Status != stores.StatusDone {
		t.Fatalf("got %+v, %v", res, err)
	}
	want := []string{
		"system: Be brief.", "user: two seats for Hamlet",
		`assistant:  c1=hold_seats{"seats":2,"show":"Hamlet"} c2=charge_card{"eur":90}`,
		"tool: hold_seats 1 (c1)", "tool: charge_card 1 (c2)",
		"assistant: Here you are.",
	}
	if d := cmp.Diff(want, conversation(t, s, "chat-42")); d != "" {
		t.Error(d)
	}
	// "The history is saved after each model reply (so its tool calls are
	// pinned) and after the tool results"; the events as the reference has them.
	if d := cmp.Diff([]string{
		`checkpoint.saved {"kind":"loop","stage":"model","status":"running","step":0}`,
		`checkpoint.saved {"kind":"loop","stage":"model","status":"running","step":1}`,
		`checkpoint.saved {"kind":"loop","stage":"tools","status":"running","step":2}`,
		`checkpoint.saved {"kind":"loop","stage":"model","status":"done","step":3}`,
	}, savedEvents(t, s, "chat-42")); d != "" {
		t.Error(d)
	}
	if names := m.requests[0].Tools; len(names) != 3 || names[0].Name != "charge_card" {
		t.Errorf("the model was told of %+v", names)
	}
	if last, _ := mustLatest(t, s, "chat-42"); last.Kind != "loop" {
		t.Errorf("kind %q", last.Kind)
	}
	verified(t, s, "chat-42")
}

// The system's words open a conversation that is started by a prompt.
func TestToolLoopPromptAndSystem(t *testing.T) {
	s := newStore()
	m := talks(model.Message{Content: "Two."})
	l := engine.ToolLoop{Model: m, System: "Be brief.", Into: "answer", Prompt: func(st engine.State) (string, error) {
		return fmt.Sprint("How many seats? ", st["seats"]), nil
	}}
	f := engine.NewFlow("f").ToolLoop("ask", l).Node("after", engine.NodeFunc(nothing)).Edge("ask", "after")
	res, err := runner(t, s, nil).Run(ctx, f, start("a"))
	if err != nil || res.State["answer"] != "Two." {
		t.Fatalf("got %+v, %v", res, err)
	}
	if d := cmp.Diff([]string{"system: Be brief.", "user: How many seats? 2", "assistant: Two."}, conversation(t, s, "a")); d != "" {
		t.Error(d)
	}
}

// A worker dies at each store operation in turn. No tool acts twice, and a
// reply that was saved is not asked for again.
func TestToolLoopCrashAtEveryStoreOperation(t *testing.T) {
	for _, after := range []bool{false, true} {
		for at := 1; ; at++ {
			s, w := newStore(), newWorld()
			m := talks(wants(`hold_seats {}`, `charge_card {}`), wants(`email_tickets {}`), model.Message{Content: "Done."})
			l := engine.ToolLoop{Model: m, MaxSteps: 3}
			c := &crashing{full: s, at: at, after: after}
			_, err := runner(t, c, w.ticketTools(), named("first")).RunToolLoop(ctx, l, loopStart("a"))
			if err == nil {
				if at < 12 {
					t.Fatalf("operation %d was the last one", at)
				}
				break
			}
			expireLease(t, s, "a")
			saved := len(replies(t, s))
			asked := m.asked()
			loopHome(t, s, w, l)
			if got := m.asked() - asked; got != 3-saved {
				t.Errorf("at %d, after %v: the model was asked %d times again, with %d of 3 replies saved", at, after, got, saved)
			}
			for _, name := range []string{"hold_seats", "charge_card", "email_tickets"} {
				if w.count(name) != 1 {
					t.Errorf("at %d, after %v: %s acted %d times", at, after, name, w.count(name))
				}
			}
			if got := conversation(t, s, "a"); len(got) != 7 || got[6] != "assistant: Done." {
				t.Errorf("at %d, after %v: it ends with %q", at, after, got)
			}
			verified(t, s, "a")
		}
	}
}

func replies(t *testing.T, s stores.Store) []string {
	t.Helper()
	if _, err := s.Latest(ctx, key("a")); errors.Is(err, stores.ErrNotFound) {
		return nil
	}
	return slices.DeleteFunc(conversation(t, s, "a"), func(m string) bool { return !strings.HasPrefix(m, "assistant") })
}

// loopHome recovers the loop, and tells the truth about calls in doubt.
func loopHome(t *testing.T, s full, w *world, l engine.ToolLoop) {
	t.Helper()
	r := runner(t, s, w.ticketTools(), named("second"))
	for range 5 {
		_, err := r.RecoverToolLoop(ctx, l, key("a"), engine.RecoverOptions{})
		var e *engine.Error
		switch {
		case errors.Is(err, engine.ErrCheckpointNotFound):
			_, err = r.RunToolLoop(ctx, l, loopStart("a"))
		case errors.Is(err, engine.ErrRecoveryNeedsDecision) && errors.As(err, &e):
			for _, c := range e.Calls {
				res := engine.Resolution{Call: c.ID, By: "olga", NotRun: w.count(c.Tool) == 0}
				if !res.NotRun {
					res.Result = json.RawMessage(fmt.Sprintf("%q", c.Tool+" 1"))
				}
				if err := r.Resolve(ctx, key("a"), res); err != nil {
					t.Fatal(err)
				}
			}
			continue
		}
		if last, _ := mustLatest(t, s, "a"); last.Status == stores.StatusDone {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("it does not end")
}

// "max_steps counts the model calls of the whole run."
func TestMaxStepsCountsTheWholeRun(t *testing.T) {
	s, w := newStore(), newWorld()
	m := talks(wants(`hold_seats {}`), wants(`charge_card {}`), wants(`email_tickets {}`), model.Message{Content: "Done."})
	l := engine.ToolLoop{Model: m, MaxSteps: 3}
	c := &crashing{full: s, at: 1 << 30}
	w.do["charge_card"] = func(context.Context, tool.Input) (any, error) {
		c.mu.Lock()
		c.at, c.after = c.n+1, true
		c.mu.Unlock()
		return "paid", nil
	}
	if _, err := runner(t, c, w.ticketTools()).RunToolLoop(ctx, l, loopStart("a")); err == nil {
		t.Fatal("the first worker did not crash")
	}
	expireLease(t, s, "a")
	res, err := runner(t, s, w.ticketTools()).RecoverToolLoop(ctx, l, key("a"), engine.RecoverOptions{})
	if err != nil || res.Status != stores.StatusFailed || m.asked() != 3 {
		t.Errorf("got %s, %v after %d model calls", res.Status, err, m.asked())
	}
	if want := "the model was called 3 times without an end, which is the limit of a run"; res.Error != want {
		t.Errorf("error %q", res.Error)
	}
}

// What a model gets wrong is told to it; the run goes on.
func TestToolLoopTellsTheModelOfItsMistakes(t *testing.T) {
	s, w := newStore(), newWorld()
	w.do["charge_card"] = func(context.Context, tool.Input) (any, error) { return nil, errors.New("no money") }
	w.do["email_tickets"] = func(context.Context, tool.Input) (any, error) { return map[string]any{"id": 7}, nil }
	m := talks(wants(
		`fly {}`, `hold_seats [1]`, `hold_seats {"a":1,"a":2}`, `hold_seats nonsense`, `charge_card {}`, `email_tickets`, `hold_seats {"n":12345678901234567890}`,
	), model.Message{Content: "Sorry."})
	res, err := runner(t, s, w.ticketTools()).RunToolLoop(ctx, engine.ToolLoop{Model: m}, loopStart("a"))
	if err != nil || res.Status != stores.StatusDone {
		t.Fatalf("got %+v, %v", res, err)
	}
	if d := cmp.Diff([]string{
		`tool: error: there is no tool "fly", only charge_card, email_tickets, hold_seats (c1)`,
		"tool: error: the arguments are not a JSON object (c2)",
		"tool: error: the arguments are not a JSON object (c3)",
		"tool: error: the arguments are not a JSON object (c4)",
		"tool: error: no money (c5)",
		`tool: {"id":7} (c6)`,
		"tool: hold_seats 1 (c7)",
	}, conversation(t, s, "a")[2:9]); d != "" {
		t.Error(d)
	}
	if got := callList(t, s, "a"); !strings.HasSuffix(got, "tools.7 done") {
		t.Errorf("the call's number is its place in the reply:\n%s", got)
	}
	if calls, _ := s.Calls(ctx, key("a"), 0); !strings.Contains(string(calls[len(calls)-2].Payload), `{"n":12345678901234567890}`) {
		t.Errorf("the number lost digits: %s", calls[len(calls)-2].Payload)
	}
}

// That a model cannot be reached is no fact of the run.
func TestToolLoopModelErrors(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want stores.Status
		is   error
	}{
		"unavailable": {fmt.Errorf("%w: rate limit", model.ErrUnavailable), stores.StatusRunning, engine.ErrUnavailable},
		"unknown":     {errors.New("something broke"), stores.StatusRunning, engine.ErrUnavailable},
		"rejected":    {fmt.Errorf("%w: the context is too long", model.ErrRejected), stores.StatusFailed, nil},
	} {
		s, w := newStore(), newWorld()
		m := talks(wants(`hold_seats {}`), model.Message{Content: "Done."})
		m.fail = func(n int) error {
			if n == 2 {
				return c.err
			}
			return nil
		}
		l := engine.ToolLoop{Model: m}
		_, err := runner(t, s, w.ticketTools()).RunToolLoop(ctx, l, loopStart("a"))
		if !errors.Is(err, c.is) {
			t.Errorf("%s: error %v", name, err)
		}
		if last, _ := mustLatest(t, s, "a"); last.Status != c.want {
			t.Errorf("%s: the run is %s", name, last.Status)
		}
		if c.want == stores.StatusRunning {
			res, err := runner(t, s, w.ticketTools()).RecoverToolLoop(ctx, l, key("a"), engine.RecoverOptions{})
			if err != nil || res.Status != stores.StatusDone || w.count("hold_seats") != 1 {
				t.Errorf("%s: recovered %s, %v, %d hits", name, res.Status, err, w.count("hold_seats"))
			}
		}
	}
}

// A worker that lacks a named tool stops; the run waits for one that has it.
func TestToolLoopOnAWorkerWithoutTheTool(t *testing.T) {
	s, w := newStore(), newWorld()
	l := engine.ToolLoop{Model: talks(wants(`hold_seats {}`, `charge_card {}`), model.Message{Content: "Done."}), Tools: []string{"hold_seats", "charge_card"}}
	_, err := runner(t, s, tool.NewRegistry(w.tool("hold_seats"))).RunToolLoop(ctx, l, loopStart("a"))
	if !errors.Is(err, engine.ErrRefused) || !strings.Contains(err.Error(), `there is no tool "charge_card" here`) {
		t.Errorf("got %v", err)
	}
	res, err := runner(t, s, w.ticketTools()).RecoverToolLoop(ctx, l, key("a"), engine.RecoverOptions{})
	if err != nil || res.Status != stores.StatusDone {
		t.Errorf("got %s, %v", res.Status, err)
	}
}
