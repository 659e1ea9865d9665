package openai

import (
	"encoding/json"
	"errors"
	"fmt"

	lib "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/shared"

	"github.com/flowtui/flowtui/engine/model"
)

// addRequest gives the parameters of one request.
func addRequest(p lib.ChatCompletionNewParams, req model.Request) (lib.ChatCompletionNewParams, error) {
	for i, m := range req.Messages {
		msg, err := message(m)
		if err != nil {
			return p, fmt.Errorf("message %d: %w", i+1, err)
		}
		p.Messages = append(p.Messages, msg)
	}
	for _, t := range req.Tools {
		fn, err := function(t)
		if err != nil {
			return p, fmt.Errorf("tool %q: %w", t.Name, err)
		}
		p.Tools = append(p.Tools, lib.ChatCompletionFunctionTool(fn))
	}
	return p, nil
}

func message(m model.Message) (lib.ChatCompletionMessageParamUnion, error) {
	switch m.Role {
	case model.System:
		return lib.SystemMessage(m.Content), nil
	case model.User:
		return lib.UserMessage(m.Content), nil
	case model.ToolRole:
		return lib.ToolMessage(m.Content, m.ToolCallID), nil
	case model.Assistant:
		return assistant(m), nil
	}
	return lib.ChatCompletionMessageParamUnion{}, fmt.Errorf("its role is %q, want system, user, assistant or tool", m.Role)
}

func assistant(m model.Message) lib.ChatCompletionMessageParamUnion {
	var a lib.ChatCompletionAssistantMessageParam
	if m.Content != "" || len(m.ToolCalls) == 0 {
		a.Content.OfString = lib.String(m.Content)
	}
	for _, c := range m.ToolCalls {
		a.ToolCalls = append(a.ToolCalls, lib.ChatCompletionMessageToolCallUnionParam{
			OfFunction: &lib.ChatCompletionMessageFunctionToolCallParam{
				ID:       c.ID,
				Function: lib.ChatCompletionMessageFunctionToolCallFunctionParam{Name: c.Name, Arguments: c.ArgsText()},
			},
		})
	}
	return lib.ChatCompletionMessageParamUnion{OfAssistant: &a}
}

var noParameters = json.RawMessage(`{"type":"object","properties":{}}`)

func function(t model.ToolSpec) (shared.FunctionDefinitionParam, error) {
	fn := shared.FunctionDefinitionParam{Name: t.Name}
	if t.Description != "" {
		fn.Description = lib.String(t.Description)
	}
	schema := t.Parameters
	if len(schema) == 0 {
		schema = noParameters
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(schema, &object); err != nil || object == nil {
		return fn, errors.New("its parameters are not a JSON Schema: not a JSON object")
	}
	// As it was written: through a map the order of the properties would be lost.
	fn.SetExtraFields(map[string]any{"parameters": schema})
	return fn, nil
}
