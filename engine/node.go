package engine

import (
	"context"
	"encoding/json"
	"fmt"
)

// Call is a node that makes one logged tool call.
type Call struct {
	Tool string
	Args func(State) (any, error) // nil: {}
	Into string                   // key of the state that gets the result; "" drops it
}

// Type is "call".
func (Call) Type() string { return "call" }

// ToolName is the tool, for the graph: nodes of one's own that call one tool may
// have it too.
func (c Call) ToolName() string { return c.Tool }

// Run makes the call.
func (c Call) Run(ctx context.Context, s State) (State, error) {
	var args any = map[string]any{}
	if c.Args != nil {
		var err error
		if args, err = c.Args(s); err != nil {
			return nil, fmt.Errorf("arguments of %s: %w", c.Tool, err)
		}
	}
	raw, err := CallTool(ctx, c.Tool, args)
	if err != nil || c.Into == "" {
		return nil, err
	}
	v, err := DecodeValue(raw)
	if err != nil {
		return nil, fmt.Errorf("result of %s: %w", c.Tool, err)
	}
	return State{c.Into: v}, nil
}

// Interrupt is a node that pauses the run until a person answers. The answer
// lands in the state under Key.
type Interrupt struct {
	Key     string
	Prompt  func(State) (string, error)
	Choices []string // offered answers; empty for a free one
	// Want is shown to who answers, who can then be told before the answer is
	// sent that it would not pass. [Flow.Ask] sets it; the node refuses nothing.
	Want *Want
	// Refuses says why an answer would not pass, nil when it does: for what Want
	// cannot say exactly, see [Want.ByFlow]. It is asked where the flow is.
	Refuses func(answer any) error
}

// Type is "interrupt".
func (Interrupt) Type() string { return "interrupt" }

// Run returns the answer, or pauses.
func (i Interrupt) Run(ctx context.Context, s State) (State, error) {
	prompt := ""
	if i.Prompt != nil {
		var err error
		if prompt, err = i.Prompt(s); err != nil {
			return nil, fmt.Errorf("prompt of %q: %w", i.Key, err)
		}
	}
	raw, err := Ask(ctx, Question{Key: i.Key, Prompt: prompt, Choices: i.Choices, Want: i.Want})
	if err != nil {
		return nil, err
	}
	v, err := DecodeValue(raw)
	if err != nil {
		return nil, fmt.Errorf("answer to %q: %w", i.Key, err)
	}
	return State{i.Key: v}, nil
}

// Question is what an interrupt asks.
type Question struct {
	Key     string   `json:"key"`
	Prompt  string   `json:"prompt"`
	Choices []string `json:"choices,omitempty"`
	Want    *Want    `json:"want,omitempty"` // what passes, as far as it can be told
	Turn    bool     `json:"turn,omitempty"` // the next message of a conversation is waited for: its user goes on, no operator
}

// CallTool makes a logged tool call from a node's code. A call that finished
// before a crash is not run again: its result is returned from the log.
func CallTool(ctx context.Context, name string, args any) (json.RawMessage, error) {
	n, err := nodeRun(ctx)
	if err != nil {
		return nil, err
	}
	return n.call(ctx, name, args)
}

// Ask pauses the run until a person answers the question, then returns the answer.
func Ask(ctx context.Context, q Question) (json.RawMessage, error) {
	n, err := nodeRun(ctx)
	if err != nil {
		return nil, err
	}
	return n.ask(q)
}
