package flowfile_test

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/flowfile"
	"github.com/flowtui/flowtui/engine/model"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/memory"
)

// Tool loops in branches: what the models said and called before a pause in one
// of them is not said or called again, and each conversation is kept whole.
func TestToolLoopsInBranches(t *testing.T) {
	const text = `
name: f
state: {initial: {mine: [{role: user, content: earlier}]}}
models:
  - {name: one, provider: scripted, replies: [{content: "", tool_calls: [{name: work, args: {job: one}}]}, {content: first}]}
  - {name: two, provider: scripted, replies: [{content: "", tool_calls: [{name: work, args: {job: two}}]}, {content: second}]}
steps:
  - id: fan
    type: parallel
    config:
      branches:
        - {type: tool_loop, model: one, prompt: go, tools: [work], messages: mine, into: a}
        - - {type: tool_loop, model: two, prompt: go, tools: [work], messages: theirs, into: b}
          - {id: ask, type: interrupt, config: {key: sure, prompt: "{b}?"}}
`
	done, store, k := counted{calls: map[string]int{}}, memory.New(memory.Options{}), stores.Key{Owner: stores.DefaultOwner, Run: "r"}
	load := func() *flowfile.File {
		f, err := flowfile.Parse("f.yaml", []byte(text), flowfile.Options{Tools: done.tools(), Models: scripted})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f := load()
	res, err := memoryRunner(t, store, f).Run(t.Context(), f.Flow, engine.Start{Key: k})
	if err != nil || len(res.Waiting) != 1 || res.Waiting[0].ID != "fan/ask#1" || res.Waiting[0].Prompt != "second?" {
		t.Fatalf("%+v, %v", res, err)
	}
	f = load()
	res, err = memoryRunner(t, store, f).Resume(t.Context(), f.Flow, k, engine.Decide{Type: engine.DecideAnswer, Value: json.RawMessage(`"yes"`), By: "ann"})
	if err != nil || res.Status != stores.StatusDone {
		t.Fatalf("%+v, %v", res, err)
	}
	done.once(t, "one", "two")
	for key, n := range map[string]int{"mine": 5, "theirs": 4} { // user, reply, result, reply; and one from before
		if list, _ := res.State[key].([]any); len(list) != n {
			t.Errorf("%s has %d messages, want %d: %v", key, len(list), n, list)
		}
	}
	if res.State["a"] != "first" || res.State["b"] != "second" {
		t.Errorf("%v, %v", res.State["a"], res.State["b"])
	}
}

// inTurn is a model that gives its replies one after the other, whatever it is asked.
type inTurn struct{ replies []string }

func (m *inTurn) Complete(context.Context, model.Request) (model.Reply, error) {
	reply := m.replies[0]
	m.replies = m.replies[1:]
	return model.Reply{Message: model.Message{Role: model.Assistant, Content: reply}}, nil
}

// In the flow form too a model may judge an answer, and a loop asks again.
func TestFlowFormWithAClassifier(t *testing.T) {
	const text = `
name: f
models: [{name: judge, provider: scripted, replies: [{content: x}]}]
steps:
  - transform: {action: value, value: paint, output_key: what}
  - interrupt: {id: ask, key: answer, prompt: "{what}?", choices: [sure, never], strategy: {llm: {model: judge}, pass_value: go, fail_value: stop}}
  - loop: {key: decision, until: go, body: [transform: {action: append, template: "{answer}", output_key: log}], done: [transform: {action: value, value: done, output_key: end}]}
`
	judge := &inTurn{replies: []string{`{"ok": false}`, `{"ok": true}`}}
	open := func(model.Spec) (model.Model, error) { return judge, nil }
	store, k := memory.New(memory.Options{}), stores.Key{Owner: stores.DefaultOwner, Run: "r"}
	load := func() *flowfile.File {
		f, err := flowfile.Parse("f.yaml", []byte(text), flowfile.Options{Models: open})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f := load()
	res, err := memoryRunner(t, store, f).Run(t.Context(), f.Flow, engine.Start{Key: k})
	for i, answer := range []string{`"never"`, `"sure"`} {
		if err != nil || len(res.Waiting) != 1 || res.Waiting[0].Prompt != "paint?" || len(res.Waiting[0].Choices) != 2 {
			t.Fatalf("answer %d: %+v, %v", i, res, err)
		}
		f = load()
		res, err = memoryRunner(t, store, f).Resume(t.Context(), f.Flow, k, engine.Decide{Type: engine.DecideAnswer, Value: json.RawMessage(answer), By: "ann"})
	}
	if err != nil || res.Status != stores.StatusDone || res.State["end"] != "done" || !reflect.DeepEqual(res.State["log"], []any{"never"}) {
		t.Errorf("%+v, %v", res, err)
	}
}
