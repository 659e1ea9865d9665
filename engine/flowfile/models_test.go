package flowfile_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/flowfile"
	"github.com/flowtui/flowtui/engine/model"
	"github.com/flowtui/flowtui/engine/seal"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/memory"
)

const concierge = `
name: concierge
state:
  initial: {show: Hamlet}
models:
  - name: canned
    provider: scripted
    replies:
      - tool_calls: [{name: hold_seats, args: {seats: 2}}, {name: charge_card, args: {eur: 90}}]
      - {content: Two seats are yours.}
steps:
  - id: ask
    type: tool_loop
    config:
      model: canned
      system: You sell tickets.
      prompt: "Two seats for {show}, please."
      tools: [hold_seats, charge_card]
      max_steps: 5
      into: answer
  - id: log
    type: transform
    config: {action: render, template: "{answer}", output_key: log}
edges:
  - {from: ask, to: log}
`

func scripted(s model.Spec) (model.Model, error) { return model.NewScripted(s.Replies...), nil }

func saying(name string, approval tool.Approval) tool.Tool {
	return tool.Tool{Name: name, Approval: approval, Run: func(context.Context, tool.Input) (any, error) { return name + " did it", nil }}
}

func TestToolLoopStep(t *testing.T) {
	tools := tool.NewRegistry(saying("hold_seats", ""), saying("charge_card", tool.ApprovalRequired), saying("other", ""))
	f, err := flowfile.Parse("concierge.yaml", []byte(concierge), flowfile.Options{Tools: tools, Models: scripted})
	if err != nil {
		t.Fatal(err)
	}
	key, err := seal.NewKey([]byte("use-a-secret-from-your-vault-32b"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := engine.New(engine.Config{Store: memory.New(memory.Options{}), Keys: seal.NewKeyring(key), Tools: f.Tools})
	if err != nil {
		t.Fatal(err)
	}
	k := stores.Key{Owner: stores.DefaultOwner, Run: "a"}
	res, err := r.Run(t.Context(), f.Flow, engine.Start{Key: k})
	if err != nil || res.Status != stores.StatusPaused || len(res.Waiting) != 1 || res.Waiting[0].ID != "ask:tools.2" {
		t.Fatalf("got %+v, %v", res, err)
	}
	res, err = r.Resume(t.Context(), f.Flow, k, engine.Decide{Type: engine.DecideApprove, By: "ana"})
	if err != nil || res.Status != stores.StatusDone || res.State["log"] != "Two seats are yours." {
		t.Fatalf("got %+v, %v", res, err)
	}
	talk, err := engine.Messages(res.State, "messages")
	if err != nil || len(talk) != 6 || talk[0].Content != "You sell tickets." || talk[1].Content != "Two seats for Hamlet, please." {
		t.Errorf("got %+v, %v", talk, err)
	}
}

// A model's key is not for the tools, which the model itself chooses.
func TestToolsDoNotInheritTheKeysOfModels(t *testing.T) {
	for _, name := range []string{"MYKEY", "OPENAI_API_KEY", "OTHER"} {
		t.Setenv(name, "value-of-"+name)
	}
	src := `
models:
  - {name: m, provider: openai, model: gpt, base_url: "http://127.0.0.1:9/v1", key_env: MYKEY}
tools:
  - {name: env, command: [sh, -c, 'echo "\"$MYKEY|$OPENAI_API_KEY|$OTHER\""']}
steps:
  - {id: a, type: call, config: {tool: env, into: env}}
`
	f, err := flowfile.Parse("f.yaml", []byte(src), flowfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	env, _ := f.Tools.Get("env")
	got, err := env.Run(t.Context(), tool.Input{})
	if raw, ok := got.(json.RawMessage); err != nil || !ok || string(raw) != `"||value-of-OTHER"` {
		t.Errorf("got %s, %v", got, err)
	}
}

// A file is read where its models cannot be opened; its runs stay recoverable.
func TestToolLoopWithoutModels(t *testing.T) {
	tools := tool.NewRegistry(saying("hold_seats", ""), saying("charge_card", ""))
	f, err := flowfile.Parse("concierge.yaml", []byte(concierge), flowfile.Options{Tools: tools})
	if err != nil {
		t.Fatal(err)
	}
	r, err := engine.New(engine.Config{Store: memory.New(memory.Options{}), Tools: f.Tools})
	if err != nil {
		t.Fatal(err)
	}
	res, err := r.Run(t.Context(), f.Flow, engine.Start{})
	if !errors.Is(err, engine.ErrUnavailable) || res.Status != stores.StatusRunning {
		t.Errorf("got %s, %v", res.Status, err)
	}
}

// listener keeps which tools it was offered.
type listener struct{ heard []model.ToolSpec }

func (l *listener) Complete(_ context.Context, req model.Request) (model.Reply, error) {
	l.heard = req.Tools
	return model.Reply{Message: model.Message{Content: "fine"}}, nil
}

// The tools of a loop without a list are those that the file declares, also
// where another program registers more.
func TestToolLoopTools(t *testing.T) {
	src := strings.Replace(concierge, "      tools: [hold_seats, charge_card]\n", "", 1) +
		"tools:\n  - {name: hold_seats, command: ['true'], description: Holds seats., parameters: {type: object, properties: {seats: {type: integer}}}}\n"
	m := &listener{}
	opts := flowfile.Options{Tools: tool.NewRegistry(saying("other", "")), Models: func(model.Spec) (model.Model, error) { return m, nil }}
	f, err := flowfile.Parse("c.yaml", []byte(src), opts)
	if err != nil {
		t.Fatal(err)
	}
	r, err := engine.New(engine.Config{Store: memory.New(memory.Options{}), Tools: f.Tools})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Run(t.Context(), f.Flow, engine.Start{}); err != nil {
		t.Fatal(err)
	}
	if len(m.heard) != 1 || m.heard[0].Name != "hold_seats" {
		t.Errorf("the model was offered %+v", m.heard)
	}
	held, _ := f.Tools.Get("hold_seats")
	if held.Description != "Holds seats." || string(held.Parameters) != `{"properties":{"seats":{"type":"integer"}},"type":"object"}` {
		t.Errorf("got %q, %s", held.Description, held.Parameters)
	}
}

func TestToolLoopErrors(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"model: canned", "model: gpt", `c.yaml:15:14: node "ask": no model is named "gpt"; declare it under "models", or write PROVIDER/MODEL`},
		{"model: canned", "model: acme/gpt", `node "ask": model provider "acme" is not known`},
		{"      model: canned\n", "", `node "ask": config of a tool_loop needs "model"`},
		{"provider: scripted", "provider: acme", `c.yaml:6:5: model provider "acme" is not known`},
		{"max_steps: 5", "max_steps: 0", `node "ask": max_steps must be a whole number from 1 on`},
		{"max_steps: 5", "max_steps: 1.5", `node "ask": max_steps must be a whole number from 1 on`},
		{"tools: [hold_seats, charge_card]", "tools: [hold_seats, fly]", `node "ask": no tool is named "fly"`},
		{"into: answer", "in_to: answer", `node "ask": config of a tool_loop has no key "in_to"`},
		{"prompt: \"Two seats for {show}, please.\"", `prompt: "{show"`, `node "ask": `},
		{"{content: Two seats are yours.}", "{contents: x}", `a reply has no key "contents"`},
		{"{name: hold_seats, args: {seats: 2}}", "{args: {}}", `a tool call needs "name"`},
		{"provider: scripted", "provider: ollama", "model"},
		{"state:\n", "state:\n  schema: {messages: keep}\n", `the conversation in "messages" grows`},
		{"    provider: scripted\n", "    provider: scripted\n    temperature: warm\n", "temperature must be a number"},
		{"models:\n", "models:\n  - {name: canned, provider: scripted, replies: [{content: x}]}\n", `a model of the name "canned" stands already`},
	} {
		src := strings.Replace(concierge, c.old, c.new, 1)
		if src == concierge {
			t.Fatalf("%q is not in the file", c.old)
		}
		tools := tool.NewRegistry(saying("hold_seats", ""), saying("charge_card", ""))
		_, err := flowfile.Parse("c.yaml", []byte(src), flowfile.Options{Tools: tools, Models: scripted})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s -> %s: got %v", c.old, c.new, err)
		}
	}
}
