package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/model"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

// counting is a model that counts how often each request reached it.
type counting struct {
	mu   sync.Mutex
	seen map[string]int
	fail error
}

func (m *counting) Complete(_ context.Context, req model.Request) (model.Reply, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return model.Reply{}, m.fail
	}
	if m.seen == nil {
		m.seen = map[string]int{}
	}
	text := req.Messages[len(req.Messages)-1].Content
	m.seen[text]++
	return model.Reply{Message: model.Message{Content: "re " + text}}, nil
}

// paidPromo charges a card when a code has passed; a wrong one is logged.
func paidPromo() *engine.Flow {
	return engine.NewFlow("promo").InterruptLoop(engine.InterruptLoop{
		Key: "code", Accept: engine.Strategy{Regex: "^[A-Z]{2}-[0-9]{4}$", Value: "discount"},
		Body: []engine.Node{engine.Call{Tool: "log_refusal", Args: func(s engine.State) (any, error) { return s["code"], nil }}},
		Done: []engine.Node{engine.Call{Tool: "charge_card", Args: func(s engine.State) (any, error) { return s["discount"], nil }, Into: "charge"}},
	})
}

// A worker dies at each operation of the store while an interrupt loop runs.
// Whoever asks next goes on: an answer that was stored is not asked for again,
// one that was not stored still is, and no call runs twice.
func TestInterruptLoopCrashAtEveryStoreOperation(t *testing.T) {
	for _, after := range []bool{false, true} {
		for at := 1; ; at++ {
			s, w := newStore(), newWorld()
			tools := tool.NewRegistry(w.tool("log_refusal", idempotent), w.tool("charge_card"))
			c := &crashing{full: s, at: at, after: after}
			crashed := promoHome(t, runner(t, c, tools, named("first")), s, w)
			if !crashed {
				if at < 25 {
					t.Fatalf("operation %d was the last one", at)
				}
				break
			}
			expireLease(t, s, "a")
			if promoHome(t, runner(t, s, tools, named("second")), s, w) {
				t.Fatalf("at %d, after %v: the second worker crashed too", at, after)
			}
			last, b := mustLatest(t, s, "a")
			if last.Status != stores.StatusDone || !strings.Contains(string(b.State), `"code_rounds":3`) {
				t.Errorf("at %d, after %v: %s %s", at, after, last.Status, b.State)
			}
			if n := w.count("charge_card"); n != 1 {
				t.Errorf("at %d, after %v: charged %d times", at, after, n)
			}
			if n := strings.Count(decisions(t, s, "a"), "answer"); n != 3 {
				t.Errorf("at %d, after %v: %d answers were stored", at, after, n)
			}
			verified(t, s, "a")
		}
	}
}

// promoHome answers what is asked until the run ends or its worker dies.
func promoHome(t *testing.T, r *engine.Runner, s full, w *world) (crashed bool) {
	t.Helper()
	answers := map[string]any{"code#1": "nonsense", "code#2": "xx", "code#3": "XX-1234"}
	for range 20 {
		res, err := r.Execute(ctx, paidPromo(), execution("a"))
		for err == nil && res.Status == stores.StatusPaused {
			res, err = r.Execute(ctx, paidPromo(), engine.Execution{Key: key("a"), By: "ana", Resume: map[string]any{"code": answers[res.Waiting[0].ID]}})
		}
		var e *engine.Error
		switch {
		case errors.Is(err, errCrash):
			return true
		case errors.Is(err, engine.ErrRecoveryNeedsDecision) && errors.As(err, &e):
			tellTheTruth(t, r, w, e)
		case err != nil:
			t.Fatal(err)
		case res.Status == stores.StatusDone:
			return false
		}
	}
	t.Fatal("it does not end")
	return false
}

// tellTheTruth resolves calls in doubt by what the world saw.
func tellTheTruth(t *testing.T, r *engine.Runner, w *world, e *engine.Error) {
	t.Helper()
	for _, c := range e.Calls {
		res := engine.Resolution{Call: c.ID, By: "olga", NotRun: w.count(c.Tool) == 0}
		if !res.NotRun {
			res.Result = json.RawMessage(fmt.Sprintf("%q", c.Tool+" 1"))
		}
		if err := r.Resolve(ctx, e.Key, res); err != nil && !errors.Is(err, errCrash) {
			t.Fatal(err)
		}
	}
}

// A worker dies at each operation of the store during a conversation of three
// messages. The client sends a message again until it learns that it was taken,
// naming the question that it answers: none is lost and none is taken twice.
func TestTurnsCrashAtEveryStoreOperation(t *testing.T) {
	for _, after := range []bool{false, true} {
		for at := 1; ; at++ {
			s, m := newStore(), &counting{}
			f := engine.NewFlow("chat").
				Step("ask", engine.Interrupt{Key: "mood"}).
				Step("reply", engine.LLM{Model: m, Messages: "messages"}).
				Conversation(engine.Conversation{Transient: []string{"mood"}})
			c := &crashing{full: s, at: at, after: after}
			if !chatHome(t, runner(t, c, nil, named("first")), f, s) {
				if at < 25 {
					t.Fatalf("operation %d was the last one", at)
				}
				break
			}
			expireLease(t, s, "a")
			if chatHome(t, runner(t, s, nil, named("second")), f, s) {
				t.Fatalf("at %d, after %v: the second worker crashed too", at, after)
			}
			want := []string{"user: one", "assistant: re one", "user: two", "assistant: re two"}
			if got := conversation(t, s, "a"); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("at %d, after %v: %q", at, after, got)
			}
			for text, n := range m.seen {
				if n > 2 || n > 1 && at == 1 {
					t.Errorf("at %d, after %v: the model was asked %q %d times", at, after, text, n)
				}
			}
			verified(t, s, "a")
		}
	}
}

// chatHome says what has not been taken yet, in order.
func chatHome(t *testing.T, r *engine.Runner, f *engine.Flow, s full) (crashed bool) {
	t.Helper()
	for _, say := range []struct{ question, text string }{{"", "one"}, {"ask#1", "fine"}, {"turn#1", "two"}, {"ask#2", "fine"}} {
		_, err := s.Latest(ctx, key("a"))
		if say.question == "" && err == nil { // the session is there: its first message was taken
			_, err := r.Recover(ctx, f, key("a"), engine.RecoverOptions{})
			if errors.Is(err, errCrash) {
				return true
			}
			if err != nil {
				t.Fatal(err)
			}
			continue
		}
		_, err = r.Turn(ctx, f, engine.Turn{Key: key("a"), Message: say.text, Question: say.question, By: "ana"})
		switch {
		case errors.Is(err, errCrash):
			return true
		case errors.Is(err, engine.ErrCheckpointConflict) && strings.Contains(err.Error(), "ana answered"):
		case err != nil:
			t.Fatalf("%+v: %v", say, err)
		}
	}
	return false
}

// A model's reply is logged like a call: it replays after a crash and after a
// pause of another node in the same superstep.
func TestLLMRepliesReplay(t *testing.T) {
	s, m := newStore(), &counting{}
	f := engine.NewFlow("f").
		Node("start", engine.NodeFunc(nothing)).
		Node("ask", engine.Interrupt{Key: "ok"}).
		Node("think", engine.LLM{Model: m, System: "Be brief.", Prompt: engine.Text("hi"), Into: "text", Messages: "talk"}).
		Edge("start", "ask", "think")
	r := runner(t, s, nil)
	if res, err := r.Execute(ctx, f, execution("a")); err != nil || res.Status != stores.StatusPaused || m.seen["hi"] != 1 {
		t.Fatalf("%+v, %v, %v", res, err, m.seen)
	}
	res, err := r.Execute(ctx, f, engine.Execution{Key: key("a"), Resume: map[string]any{"ok": true}})
	if err != nil || res.State["text"] != "re hi" || m.seen["hi"] != 1 {
		t.Errorf("%+v, %v, %v", res, err, m.seen)
	}
	if talk, err := engine.Messages(res.State, "talk"); err != nil || len(talk) != 2 || talk[1].Content != "re hi" {
		t.Errorf("%+v, %v", talk, err)
	}
	if got := callList(t, s, "a"); got != "1.1 think.1 started\n1.2 think.1 done" {
		t.Errorf("log:\n%s", got)
	}
	verified(t, s, "a")
}

// That a model cannot be reached is no fact of the run, that it refuses is.
func TestLLMErrors(t *testing.T) {
	s, m := newStore(), &counting{fail: fmt.Errorf("%w: rate limit", model.ErrUnavailable)}
	f := engine.NewFlow("f").Step("think", engine.LLM{Model: m, Prompt: engine.Text("hi"), Into: "text"})
	r := runner(t, s, nil)
	if _, err := r.Run(ctx, f, engine.Start{Key: key("a")}); !errors.Is(err, engine.ErrUnavailable) {
		t.Fatal(err)
	}
	m.fail = nil
	if res, err := r.Recover(ctx, f, key("a"), engine.RecoverOptions{}); err != nil || res.State["text"] != "re hi" {
		t.Errorf("%+v, %v", res, err)
	}
	verified(t, s, "a")
	m.fail = fmt.Errorf("%w: too long", model.ErrRejected)
	res, err := r.Run(ctx, f, engine.Start{Key: key("b")})
	if err != nil || res.Status != stores.StatusFailed || !strings.Contains(res.Error, "too long") {
		t.Errorf("%+v, %v", res, err)
	}
	for want, node := range map[string]engine.Node{
		"it has no model":             engine.LLM{},
		"there is nothing to ask":     engine.LLM{Model: m},
		"is no list of messages":      engine.LLM{Model: m, Messages: "bad"},
		`the prompt needs "x"`:        engine.LLM{Model: m, Prompt: engine.Fill("{x}")},
		"which only a tool loop does": engine.LLM{Model: talks(wants("pay {}")), Prompt: engine.Text("x")},
	} {
		res, err := r.Run(ctx, engine.NewFlow("f").Step("n", node), engine.Start{State: engine.State{"bad": 1}})
		if err != nil || !strings.Contains(res.Error, want) {
			t.Errorf("want %q: %q, %v", want, res.Error, err)
		}
	}
}
