package model

import (
	"context"
	"encoding/json"
)

// Role says who a message is from.
type Role string

// The roles.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool" // the result of a tool call
)

// Message is one message of a conversation, kept as JSON in a run's state.
type Message struct {
	Role       Role       `json:"role"`
	Content    string     `json:"content"`
	ToolCalls  []ToolCall `json:"tool_calls,omitempty"`   // of an assistant
	ToolCallID string     `json:"tool_call_id,omitempty"` // of a tool: the call that this answers
}

// ToolCall is a model's wish to call a tool.
type ToolCall struct {
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"` // as the model wrote them, perhaps not what the tool takes; see [ParseArgs]
}

// ToolSpec tells a model about a tool.
type ToolSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"` // a JSON Schema
}

// Request is a conversation so far and the tools that the model may call.
type Request struct {
	Messages []Message  `json:"messages"`
	Tools    []ToolSpec `json:"tools,omitempty"`
}

// Reply is a model's next message: text, tool calls or both.
type Reply struct {
	Message Message `json:"message"`
	Usage   Usage   `json:"usage,omitzero"`
}

// Usage counts the tokens of one reply, as far as the endpoint tells.
type Usage struct {
	Input  int64 `json:"input,omitempty"`
	Output int64 `json:"output,omitempty"`
}

// Model completes conversations. It is safe for concurrent use. Its errors wrap
// [ErrUnavailable] or [ErrRejected], or the context's own error when that ended.
type Model interface {
	Complete(ctx context.Context, req Request) (Reply, error)
}
