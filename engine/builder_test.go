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
	"github.com/flowtui/flowtui/stores"
)

// promo asks for a code until one passes.
func promo(hint engine.Node) *engine.Flow {
	return engine.NewFlow("promo").InterruptLoop(engine.InterruptLoop{
		Key: "code", Prompt: engine.Text("A code like XX-1234:"),
		Accept: engine.Strategy{Regex: "^[A-Z]{2}-[0-9]{4}$", Decision: "code_ok", Value: "discount_code"},
		Body:   []engine.Node{hint},
		Done: []engine.Node{engine.NodeFunc(func(_ context.Context, s engine.State) (engine.State, error) {
			return engine.State{"final": s["discount_code"]}, nil
		})},
	}).Step("after", put("after", true))
}

func TestInterruptLoop(t *testing.T) {
	eachStore(t, func(t *testing.T, s full) {
		r := runner(t, s, nil)
		res, err := r.Execute(ctx, promo(put("hint", "wrong")), execution("a"))
		for i, answer := range []string{"", "xx-1234", "XX-12345"} {
			if err != nil || res.Status != stores.StatusPaused || waitingIDs(res.Waiting) != fmt.Sprintf("code#%d", i+1) {
				t.Fatalf("%+v, %v", res, err)
			}
			res, err = r.Execute(ctx, promo(put("hint", "wrong")), engine.Execution{Key: key("a"), Resume: map[string]any{"code": answer}})
			if res.State["hint"] != "wrong" || res.State["code_ok"] != "no" || res.State["final"] != nil {
				t.Errorf("after %q: %+v", answer, res.State)
			}
		}
		res, err = r.Execute(ctx, promo(put("hint", "wrong")), engine.Execution{Key: key("a"), Resume: map[string]any{"code": "XX-1234"}})
		want := engine.State{
			"code": "XX-1234", "code_ok": "yes", "code_rounds": json.Number("4"), "discount_code": "XX-1234", "final": "XX-1234", "hint": "wrong", "after": true,
		}
		if d := cmp.Diff(want, res.State); err != nil || res.Status != stores.StatusDone || d != "" {
			t.Errorf("%s, %v: %s", res.Status, err, d)
		}
		verified(t, s, "a")
	})
}

// Without a body it asks again at once, and so it does when an answer is unclear.
func TestInterruptLoopAsksAgain(t *testing.T) {
	said := map[string]string{"hm": `{"ok":false,"clear":false}`, "no": `{"ok":false}`, "sure": `{"ok":true}`}
	m := modelFunc(func(req model.Request) string {
		for answer, reply := range said {
			if strings.Contains(req.Messages[1].Content, fmt.Sprintf("%q", answer)) {
				return reply
			}
		}
		return ""
	})
	s := newStore()
	r := runner(t, s, nil)
	body := 0
	f := engine.NewFlow("f").InterruptLoop(engine.InterruptLoop{
		Key: "ok", Accept: engine.Strategy{Classifier: &engine.Classifier{Model: m}},
		Body: []engine.Node{engine.NodeFunc(func(context.Context, engine.State) (engine.State, error) { body++; return nil, nil })},
	})
	if _, err := r.Execute(ctx, f, execution("a")); err != nil {
		t.Fatal(err)
	}
	for i, answer := range []string{"hm", "no", "hm", "sure"} {
		res, err := r.Execute(ctx, f, engine.Execution{Key: key("a"), Resume: map[string]any{"ok": answer}})
		want := stores.StatusPaused
		if answer == "sure" {
			want = stores.StatusDone
		}
		if err != nil || res.Status != want || res.State["ok_rounds"] != json.Number(fmt.Sprint(i+1)) {
			t.Fatalf("%q: %+v, %v", answer, res, err)
		}
	}
	if body != 1 {
		t.Errorf("the body ran %d times, for one no", body)
	}
}

// modelFunc is a model in Go.
type modelFunc func(model.Request) string

func (m modelFunc) Complete(_ context.Context, req model.Request) (model.Reply, error) {
	return model.Reply{Message: model.Message{Role: model.Assistant, Content: m(req)}}, nil
}

func revision(max int64) *engine.Flow {
	return engine.NewFlow("plan").
		Step("draft", put("draft", "v1")).
		Interrupt(engine.Interrupt{Key: "approved", Prompt: engine.Fill("Approve {draft}? (да / what to change)")}).
		Loop(engine.Loop{
			Until: engine.KeyIs("approved", "да"), MaxIterations: max,
			Done: []engine.Node{engine.LLM{Model: modelFunc(func(r model.Request) string { return "final " + r.Messages[0].Content }), Prompt: engine.Fill("{draft}"), Into: "final"}},
			Body: []engine.Node{engine.LLM{Model: modelFunc(func(r model.Request) string { return r.Messages[0].Content }), Prompt: engine.Fill("{draft}+{approved}"), Into: "draft"}},
		}).
		Step("after", put("after", true))
}

func TestRevisionLoop(t *testing.T) {
	s := newStore()
	r := runner(t, s, nil)
	res, err := r.Execute(ctx, revision(0), execution("a"))
	for _, c := range []struct{ prompt, answer string }{
		{"Approve v1? (да / what to change)", "shorter"}, {"Approve v1+shorter? (да / what to change)", "красивее"}, {"Approve v1+shorter+красивее? (да / what to change)", " Да! "},
	} {
		if err != nil || len(res.Waiting) != 1 || res.Waiting[0].Prompt != c.prompt {
			t.Fatalf("want %q: %+v, %v", c.prompt, res, err)
		}
		res, err = r.Execute(ctx, revision(0), engine.Execution{Key: key("a"), Resume: map[string]any{"approved": c.answer}})
	}
	want := engine.State{"draft": "v1+shorter+красивее", "approved": " Да! ", "final": "final v1+shorter+красивее", "after": true}
	if d := cmp.Diff(want, res.State); err != nil || res.Status != stores.StatusDone || d != "" {
		t.Errorf("%s, %v: %s", res.Status, err, d)
	}
}

// "max_iterations caps the rounds": a loop that is not done by then is never
// taken for done.
func TestLoopMaxIterations(t *testing.T) {
	s := newStore()
	r := runner(t, s, nil)
	for i, answer := range []string{"", "a", "b", "c"} {
		e := execution("a")
		if i > 0 {
			e.Resume = map[string]any{"approved": answer}
		}
		res, err := r.Execute(ctx, revision(2), e)
		if i < 3 {
			if err != nil || res.Status != stores.StatusPaused {
				t.Fatalf("%+v, %v", res, err)
			}
			continue
		}
		if !errors.Is(err, engine.ErrHeld) || !strings.Contains(err.Error(), "ran 2 times, which is its limit") {
			t.Errorf("%+v, %v", res, err)
		}
	}
	if _, b := mustLatest(t, s, "a"); strings.Contains(string(b.State), "final") {
		t.Errorf("done ran: %s", b.State)
	}
	// A decider that is no interrupt, and an error edge for who ran too long.
	f := engine.NewFlow("count").
		Step("roll", engine.NodeFunc(func(_ context.Context, s engine.State) (engine.State, error) {
			n, _ := s["roll_rounds"].(json.Number)
			return engine.State{"rolled": n}, nil
		})).
		Loop(engine.Loop{Until: engine.KeyIs("rolled", "5,7"), Body: []engine.Node{put("x", 1), put("y", 2)}, MaxIterations: 6}).
		Step("won", put("won", true)).
		Node("lost", put("lost", true)).OnError("roll:round", "lost")
	res, err := r.Run(ctx, f, engine.Start{Key: key("b")})
	if err != nil || res.State["won"] != true || res.State["roll_rounds"] != json.Number("5") || res.State["y"] != json.Number("2") {
		t.Errorf("%+v, %v", res, err)
	}
	res, err = r.Run(ctx, f, engine.Start{Key: key("c"), State: engine.State{"roll_rounds": json.Number("6")}})
	if err != nil || res.State["lost"] != true || res.State["won"] != nil {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestFill(t *testing.T) {
	s := engine.State{"a": "<x>", "n": json.Number("1.50"), "l": []any{"x", nil}, "a b": "y"}
	for text, want := range map[string]string{
		"": "", "plain": "plain", "{a}{n}": "<x>1.50", "{{a}} {l}": `{a} ["x",null]`, "{a b}": "y", "}}{{": "}{",
	} {
		if got, err := engine.Fill(text)(s); err != nil || got != want {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{"{b}": `needs "b"`, "{": `a single "{"`, "a}": `a single "}"`, "{a": `a single "{"`} {
		if _, err := engine.Fill(text)(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzFill(f *testing.F) {
	f.Add("{a} {{b}} }")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := engine.Fill(text)(engine.State{"a": "b"})
		if err == nil && !strings.ContainsAny(text, "{}") && got != text {
			t.Errorf("%q became %q", text, got)
		}
	})
}
