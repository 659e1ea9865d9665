package openai_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine/model"
)

var ok = answer{body: message(`{"role":"assistant","content":"hi","refusal":null,"annotations":[]}`)}

// sameJSON compares JSON texts, numbers by their digits.
func sameJSON(t *testing.T, got, want string) {
	t.Helper()
	read := func(s string) (v any) {
		dec := json.NewDecoder(strings.NewReader(s))
		dec.UseNumber()
		if err := dec.Decode(&v); err != nil {
			t.Fatalf("%v in %s", err, s)
		}
		return v
	}
	if !reflect.DeepEqual(read(got), read(want)) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestRequest(t *testing.T) {
	e := serve(t, ok)
	cfg := e.config()
	warm := 0.25
	cfg.Temperature, cfg.MaxTokens = &warm, 300
	cfg.Headers = map[string]string{"X-Title": "flowtui"}
	_, err := newClient(t, cfg).Complete(t.Context(), model.Request{
		Messages: []model.Message{
			{Role: model.System, Content: "be brief"},
			{Role: model.User, Content: "two seats <now> & \u00e4"},
			{Role: model.Assistant, ToolCalls: []model.ToolCall{
				{ID: "a", Name: "search", Args: json.RawMessage(`{"n":12345678901234567890.10}`)},
				{ID: "b", Name: "hold", Args: model.ParseArgs(`{"seat":`)},
				{ID: "c", Name: "list"},
			}},
			{Role: model.ToolRole, ToolCallID: "a", Content: "A1"},
			{Role: model.Assistant, Content: "and?", ToolCalls: []model.ToolCall{{ID: "d", Name: "list", Args: json.RawMessage(`{}`)}}},
			{Role: model.ToolRole, ToolCallID: "d", Content: ""},
			{Role: model.Assistant, Content: ""},
		},
		Tools: []model.ToolSpec{
			{Name: "search", Description: "finds seats", Parameters: json.RawMessage(`{"type":"object","properties":{"z":{"type":"number","maximum":12345678901234567890},"a":{"const":1.0}},"required":["z"]}`)},
			{Name: "list"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := e.requests()[0]
	if got.method != http.MethodPost || got.path != "/v1/chat/completions" {
		t.Errorf("got %s %s", got.method, got.path)
	}
	for name, want := range map[string]string{"Authorization": "Bearer " + secret, "Content-Type": "application/json", "X-Title": "flowtui"} {
		if v := got.header.Get(name); v != want {
			t.Errorf("header %s: got %q, want %q", name, v, want)
		}
	}
	sameJSON(t, got.body, `{
		"model": "test-model", "temperature": 0.25, "max_tokens": 300,
		"messages": [
			{"role": "system", "content": "be brief"},
			{"role": "user", "content": "two seats <now> & ä"},
			{"role": "assistant", "tool_calls": [
				{"id": "a", "type": "function", "function": {"name": "search", "arguments": "{\"n\":12345678901234567890.10}"}},
				{"id": "b", "type": "function", "function": {"name": "hold", "arguments": "{\"seat\":"}},
				{"id": "c", "type": "function", "function": {"name": "list", "arguments": "{}"}}]},
			{"role": "tool", "tool_call_id": "a", "content": "A1"},
			{"role": "assistant", "content": "and?", "tool_calls": [
				{"id": "d", "type": "function", "function": {"name": "list", "arguments": "{}"}}]},
			{"role": "tool", "tool_call_id": "d", "content": ""},
			{"role": "assistant", "content": ""}],
		"tools": [
			{"type": "function", "function": {"name": "search", "description": "finds seats", "parameters":
				{"type": "object", "properties": {"z": {"type": "number", "maximum": 12345678901234567890}, "a": {"const": 1.0}}, "required": ["z"]}}},
			{"type": "function", "function": {"name": "list", "parameters": {"type": "object", "properties": {}}}}]}`)
	if !strings.Contains(got.body, `"properties":{"z":{`) {
		t.Errorf("the properties lost their order: %s", got.body)
	}
}

func TestSmallestRequest(t *testing.T) {
	e := serve(t, ok)
	cfg := e.config()
	cfg.KeyEnv, cfg.BaseURL = "", e.URL+"/v1/"
	// The library's own variables must reach nobody.
	t.Setenv("OPENAI_API_KEY", secret)
	t.Setenv("OPENAI_ORG_ID", "org-1")
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
	t.Setenv("OPENAI_CUSTOM_HEADERS", "X-Leak: 1")
	if _, err := complete(t, cfg); err != nil {
		t.Fatal(err)
	}
	got := e.requests()[0]
	sameJSON(t, got.body, `{"model": "test-model", "messages": [{"role": "user", "content": "hello"}]}`)
	for _, name := range []string{"Authorization", "OpenAI-Organization", "X-Leak"} {
		if v := got.header.Get(name); v != "" {
			t.Errorf("header %s: got %q", name, v)
		}
	}
}

// redirected sends every request to a test server, whatever its address.
type redirected struct{ to string }

func (r redirected) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.URL.Scheme, req.URL.Host = "http", strings.TrimPrefix(r.to, "http://")
	return http.DefaultTransport.RoundTrip(req)
}

func TestTokenLimitByAddress(t *testing.T) {
	for base, want := range map[string]string{
		"":                              "max_completion_tokens",
		"https://eu.api.openai.com/v1":  "max_completion_tokens",
		"https://openrouter.ai/api/v1":  "max_tokens",
		"https://notapi.openai.com/v1":  "max_tokens",
		"http://api.openai.com.evil/v1": "max_tokens",
	} {
		e := serve(t, ok)
		cfg := e.config()
		cfg.BaseURL, cfg.MaxTokens, cfg.HTTPClient = base, 7, &http.Client{Transport: redirected{e.URL}}
		if _, err := complete(t, cfg); err != nil {
			t.Fatal(err)
		}
		sameJSON(t, e.requests()[0].body, `{"model": "test-model", "messages": [{"role": "user", "content": "hello"}], "`+want+`": 7}`)
	}
}

func TestRequestsThatAreNotSent(t *testing.T) {
	e := serve(t, ok)
	for want, req := range map[string]model.Request{
		`message 2: its role is "robot", want system, user, assistant or tool`: {Messages: []model.Message{{Role: model.User}, {Role: "robot"}}},
		`tool "f": its parameters are not a JSON Schema: not a JSON object`:    {Tools: []model.ToolSpec{{Name: "f", Parameters: json.RawMessage(`[]`)}}},
		`tool "g": its parameters`: {Tools: []model.ToolSpec{{Name: "g", Parameters: json.RawMessage(`{"a"`)}}},
		`tool "h": its parameters`: {Tools: []model.ToolSpec{{Name: "h", Parameters: json.RawMessage(`null`)}}},
	} {
		_, err := newClient(t, e.config()).Complete(t.Context(), req)
		if !errors.Is(err, model.ErrRejected) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if n := len(e.requests()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}
