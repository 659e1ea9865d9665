package teff_test

import (
	"testing"

	"github.com/flowtui/flowtui/engine/teff"
	"github.com/flowtui/flowtui/engine/teff/py"
)

const chat = `{"steps": [
	{"id": "in", "type": "context_builder", "config": {"output_key": "heard"}},
	{"id": "ask", "type": "interrupt", "config": {"key": "sure", "prompt": "Sure?"}},
	{"id": "out", "type": "transform", "config": {"action": "render", "template": "{heard}/{sure}/{scratch}", "output_key": "summary"}}],
	"edges": [{"from": "in", "to": "ask"}, {"from": "ask", "to": "out"}],
	"initial": {"scratch": "s", "messages": [{"role": "user", "content": "old"}]}, "reducers": {"messages": "append"}}`

func TestATurnAnswersOrBeginsAnew(t *testing.T) {
	m := newMemory()
	c := teff.Conversation{Runner: teff.Runner{Workflow: workflow(t, chat), Store: m}, TransientKeys: []string{"scratch", "made"}}
	for _, step := range []struct{ say, text, state string }{
		{"hi", "Sure?", `{"scratch": "s", "messages": [{"role": "user", "content": "hi"}], "heard": "User: hi", ` +
			`"__interrupt__": {"key": "sure", "prompt": "Sure?", "node_id": "ask", "nested_checkpoint_id": null}}`},
		{"yes", "User: hi/yes/s", `{"scratch": "s", "messages": [{"role": "user", "content": "hi"}], "heard": "User: hi", ` +
			`"sure": "yes", "summary": "User: hi/yes/s"}`},
		{"more", "Sure?", `{"scratch": "", "messages": [{"role": "user", "content": "hi"}, {"role": "user", "content": "more"}], ` +
			`"heard": "User: more", "sure": "yes", "summary": "User: hi/yes/s", "made": "", ` +
			`"__interrupt__": {"key": "sure", "prompt": "Sure?", "node_id": "ask", "nested_checkpoint_id": null}}`},
	} {
		turn, err := c.Turn(t.Context(), "r", step.say)
		if err != nil || turn.Text() != step.text || turn.SessionID != "r" {
			t.Fatalf("%q: %+v %v, want %q", step.say, turn, err, step.text)
		}
		if got := m.state(t, "r"); got != step.state {
			t.Errorf("%q left\n%s, want\n%s", step.say, got, step.state)
		}
	}
	m.saved(t, "r in 0", "r ask 1", "r - 2", "r out 2", "r - 3", "r in 0", "r in 0", "r ask 1", "r - 2")
}

func TestWhatAChannelShowsOfATurn(t *testing.T) {
	for _, c := range []struct {
		turn teff.TurnResult
		want string
	}{
		{teff.TurnResult{Waiting: true, Prompt: "p", Reply: "r"}, "p"},
		{teff.TurnResult{Reply: "r", State: object(t, `{"answer": "a"}`)}, "r"},
		{teff.TurnResult{State: object(t, `{"reply": "r", "output": "o", "summary": "", "answer": 1}`)}, "o"},
		{teff.TurnResult{State: py.NewDict()}, ""},
		{teff.TurnResult{}, ""},
	} {
		if got := c.turn.Text(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.turn, got, c.want)
		}
	}
}
