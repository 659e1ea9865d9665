package teff_test

import (
	"context"
	"errors"
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

// meanwhile is a store where another process acts between two looks.
type meanwhile struct {
	*memory
	act func() // after the next Load
}

func (m *meanwhile) Load(ctx context.Context, id string) (teff.Checkpoint, bool, error) {
	c, found, err := m.memory.Load(ctx, id)
	if act := m.act; act != nil {
		m.act = nil
		act()
	}
	return c, found, err
}

// A message counts for what its run asked when it was looked at, and for nothing
// that was asked or begun by another process in between.
func TestAMessageDoesNotAnswerWhatIsAskedMeanwhile(t *testing.T) {
	w := workflow(t, `{"steps": [
		{"id": "name", "type": "interrupt", "config": {"key": "name", "prompt": "your name?"}},
		{"id": "pay", "type": "interrupt", "config": {"key": "pay", "prompt": "pay 1000?"}},
		{"id": "after", "type": "transform", "config": {"action": "render", "template": "{name}/{pay}", "output_key": "summary"}}],
		"edges": [{"from": "name", "to": "pay"}, {"from": "pay", "to": "after"}]}`)
	m := newMemory()
	s := &meanwhile{memory: m}
	mine := teff.Conversation{Runner: teff.Runner{Workflow: w, Store: s}}
	others := teff.Conversation{Runner: teff.Runner{Workflow: w, Store: m}}
	for _, other := range []string{
		"hello", // begins the run
		"Bob",   // then another question is asked
		"yes",   // then none is
	} {
		s.act = func() {
			if _, err := others.Turn(t.Context(), "r", other); err != nil {
				t.Fatal(err)
			}
		}
		if turn, err := mine.Turn(t.Context(), "r", "Ann"); !errors.Is(err, teff.ErrChanged) {
			t.Errorf("meanwhile %q: %+v, %v", other, turn, err)
		}
	}
	if got := m.state(t, "r"); got != `{"messages": [{"role": "user", "content": "hello"}], "name": "Bob", "pay": "yes", "summary": "Bob/yes"}` {
		t.Errorf("%s", got)
	}
}
