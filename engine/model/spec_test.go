package model_test

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/flowtui/flowtui/engine/model"
)

func TestParseName(t *testing.T) {
	for name, want := range map[string]model.Spec{
		"ollama/llama3.2":                    {Provider: "ollama", Model: "llama3.2"},
		"ollama/library/qwen3:8b":            {Provider: "ollama", Model: "library/qwen3:8b"},
		"openrouter/meta-llama/llama-3-free": {Provider: "openrouter", Model: "meta-llama/llama-3-free"},
		"openai/gpt-5":                       {Provider: "openai", Model: "gpt-5"},
	} {
		got, err := model.ParseName(name)
		if err != nil || !reflect.DeepEqual(got, want) || got.String() != name {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
	for name, want := range map[string]string{
		"llama3.2":   `model "llama3.2" does not say its provider: write PROVIDER/MODEL, as in ollama/llama3.2`,
		"":           `model "" does not say its provider: write PROVIDER/MODEL, as in ollama/llama3.2`,
		"azure/x":    `model provider "azure" is not known: want openai, ollama, openrouter or scripted`,
		"/x":         `the model has no provider: want openai, ollama, openrouter or scripted`,
		"ollama/":    `model "ollama/": the model's name is missing`,
		"scripted/x": `model "scripted/x": a scripted model needs its replies, a name is not enough`,
	} {
		if _, err := model.ParseName(name); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", name, err, want)
		}
	}
}

func TestValidSpecs(t *testing.T) {
	zero := 0.0
	for _, s := range []model.Spec{
		{Provider: "openai", Model: "m", BaseURL: "https://llm.example/api/v1/", KeyEnv: "MY_KEY_2", Timeout: time.Second, Temperature: &zero, MaxTokens: 1},
		{Provider: "ollama", Model: "m", BaseURL: "http://[::1]:8080"},
		{Provider: "scripted", Replies: []model.Message{{Content: "hi"}, {Role: model.Assistant, ToolCalls: []model.ToolCall{{Name: "f"}, {Name: "f", Args: json.RawMessage(`{}`)}}}}},
	} {
		if err := s.Validate(); err != nil {
			t.Error(err)
		}
	}
}

func TestInvalidSpecs(t *testing.T) {
	hot, nan := 2.5, math.NaN()
	call := func(calls ...model.ToolCall) []model.Message { return []model.Message{{ToolCalls: calls}} }
	for want, s := range map[string]model.Spec{
		"has white space":                           {Provider: "openai", Model: "gpt 5"},
		"control character":                         {Provider: "openai", Model: "gpt\x1b[2J"},
		"replies are for the scripted provider":     {Provider: "openai", Model: "m", Replies: []model.Message{{Content: "x"}}},
		"the timeout is negative: -1s":              {Provider: "openai", Model: "m", Timeout: -time.Second},
		"the limit of tokens is negative: -1":       {Provider: "openai", Model: "m", MaxTokens: -1},
		"the temperature is 2.5, want 0 to 2":       {Provider: "openai", Model: "m", Temperature: &hot},
		"the temperature is NaN":                    {Provider: "openai", Model: "m", Temperature: &nan},
		"not an http or https address":              {Provider: "openai", Model: "m", BaseURL: "localhost:11434"},
		"base URL is not an http":                   {Provider: "openai", Model: "m", BaseURL: "ftp://x/"},
		"the base URL has a ? or a #":               {Provider: "openai", Model: "m", BaseURL: "http://x/v1?"},
		"or a # in it":                              {Provider: "openai", Model: "m", BaseURL: "http://x/v1#"},
		"a scripted model needs replies":            {Provider: "scripted"},
		"takes replies only":                        {Provider: "scripted", Replies: []model.Message{{Content: "x"}}, MaxTokens: 1},
		`reply 1: its role is "user"`:               {Provider: "scripted", Replies: []model.Message{{Role: model.User, Content: "x"}}},
		"reply 2: it has neither":                   {Provider: "scripted", Replies: []model.Message{{Content: "x"}, {}}},
		"it answers a tool call":                    {Provider: "scripted", Replies: []model.Message{{Content: "x", ToolCallID: "1"}}},
		"tool call 1 has no name":                   {Provider: "scripted", Replies: call(model.ToolCall{})},
		"arguments of tool call 1 (f) are not JSON": {Provider: "scripted", Replies: call(model.ToolCall{Name: "f", Args: json.RawMessage("{")})},
		`tool call 2 (g) has the id "1"`:            {Provider: "scripted", Replies: call(model.ToolCall{Name: "f", ID: "1"}, model.ToolCall{Name: "g", ID: "1"})},
	} {
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestSpecErrorsKeepSecrets(t *testing.T) {
	for _, s := range []model.Spec{
		{Provider: "openai", Model: "m", KeyEnv: "sk-hush"},
		{Provider: "openai", Model: "m", KeyEnv: "gsk_hush"},
		{Provider: "openai", Model: "m", BaseURL: "https://me:hush@llm.example/v1"},
		{Provider: "openai", Model: "m", BaseURL: "https://me:h/hush@llm.example/v1"},
		{Provider: "openai", Model: "m", BaseURL: "https://llm.example/v1?key=hush"},
	} {
		if err := s.Validate(); err == nil || strings.Contains(err.Error(), "hush") {
			t.Errorf("got %v", err)
		}
	}
}
