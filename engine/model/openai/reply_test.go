package openai_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine/model"
)

func TestReplies(t *testing.T) {
	call := func(id, name, args string) model.ToolCall {
		return model.ToolCall{ID: id, Name: name, Args: json.RawMessage(args)}
	}
	for name, c := range map[string]struct {
		body string
		want model.Message
	}{
		"text":  {ok.body, model.Message{Content: "hi"}},
		"empty": {message(`{"role":"assistant","content":""}`), model.Message{}},
		"tool calls and text": {
			message(`{"role":"assistant","content":"wait","tool_calls":[
				{"id":"a","type":"function","function":{"name":"f","arguments":"{\"n\": 1.50}"}},
				{"id":"b","type":"function","function":{"name":"g","arguments":"{}"}}]}`),
			model.Message{Content: "wait", ToolCalls: []model.ToolCall{call("a", "f", `{"n": 1.50}`), call("b", "g", `{}`)}},
		},
		"ids missing and twice": {
			message(`{"role":"assistant","content":null,"tool_calls":[
				{"type":"function","function":{"name":"f","arguments":"{}"}},
				{"id":"x","function":{"name":"f","arguments":"{}"}},
				{"id":"x","type":"function","function":{"name":"f","arguments":"{}"}},
				{"id":null,"index":3,"type":"function","function":{"name":"f"}}]}`),
			model.Message{ToolCalls: []model.ToolCall{call("call_1", "f", `{}`), call("x", "f", `{}`), call("call_3", "f", `{}`), call("call_4", "f", `{}`)}},
		},
		"stopped by the tool calls": {
			strings.Replace(toolCall(`"{}"`), `"stop"`, `"tool_calls"`, 1),
			model.Message{ToolCalls: []model.ToolCall{call("a", "f", `{}`)}},
		},
		"no finish reason": {`{"choices":[{"message":{"content":"hi"}}]}`, model.Message{Content: "hi"}},
		"null error":       {`{"error":null,"choices":[{"error":null,"message":{"content":"hi"}}]}`, model.Message{Content: "hi"}},
		"odd usage":        {`{"choices":[{"message":{"content":"hi"}}],"usage":"none"}`, model.Message{Content: "hi"}},
	} {
		c.want.Role = model.Assistant
		got, err := complete(t, serve(t, answer{body: c.body}).config())
		if err != nil || !reflect.DeepEqual(got.Message, c.want) {
			t.Errorf("%s: got %+v, %v", name, got.Message, err)
		}
	}
}

func TestUsage(t *testing.T) {
	got, err := complete(t, serve(t, ok).config())
	if want := (model.Usage{Input: 19, Output: 10}); err != nil || got.Usage != want {
		t.Errorf("got %+v, %v", got.Usage, err)
	}
}

func TestArguments(t *testing.T) {
	for name, c := range map[string]struct{ wire, want string }{
		"object":                    {wire(`{"n":12345678901234567890}`), `{"n":12345678901234567890}`},
		"empty":                     {`""`, `{}`},
		"null":                      {`null`, `{}`},
		"parsed by the endpoint":    {`{"n":1.0}`, `{"n":1.0}`},
		"parsed with a key twice":   {`{"n":1,"n":2}`, `"{\"n\":1,\"n\":2}"`},
		"broken":                    {wire(`{"show":`), `"{\"show\":"`},
		"key twice":                 {wire(`{"a":1,"a":2}`), `"{\"a\":1,\"a\":2}"`},
		"lone surrogate":            {`"{\"a\":\"\\ud800\"}"`, `"{\"a\":\"\\ud800\"}"`},
		"lone surrogate in the way": {`"{\"a\":\"\ud800\"}"`, "\"{\\\"a\\\":\\\"\ufffd\\\"}\""},
		"bad UTF-8 in the way":      {"\"{\\\"a\\\":\\\"\xff\\\"}\"", "\"{\\\"a\\\":\\\"\ufffd\\\"}\""},
		"pair in the way":           {`"{\"a\":\"\ud83d\ude00\"}"`, `{"a":"😀"}`},
	} {
		got, err := complete(t, serve(t, answer{body: toolCall(c.wire)}).config())
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if args := string(got.Message.ToolCalls[0].Args); args != c.want {
			t.Errorf("%s: got %s, want %s", name, args, c.want)
		}
	}
}

func TestUnusableReplies(t *testing.T) {
	const wrongBase = "check the base URL"
	html := map[string]string{"Content-Type": "text/html; charset=utf-8"}
	for name, c := range map[string]struct {
		answer answer
		class  error
		says   string
	}{
		"cut at the limit":      {answer{body: finished("length")}, model.ErrRejected, "cut its reply off at the limit of tokens"},
		"filtered":              {answer{body: finished("content_filter")}, model.ErrRejected, "a content filter stopped it"},
		"refused":               {answer{body: message(`{"role":"assistant","content":null,"refusal":"I can not help with that."}`)}, model.ErrRejected, "refused to answer: I can not help with that."},
		"failed half way":       {answer{body: finished("error")}, model.ErrUnavailable, "finish reason error"},
		"calls without calls":   {answer{body: finished("tool_calls")}, model.ErrUnavailable, "says that it calls tools and names none"},
		"retired form":          {answer{body: finished("function_call")}, model.ErrUnavailable, "retired form"},
		"no choices":            {answer{body: `{"choices":[]}`}, model.ErrUnavailable, "no choices"},
		"no message":            {answer{body: `{"choices":[{"message":null}]}`}, model.ErrUnavailable, "without a message"},
		"another API":           {answer{body: `{"version":"0.5.1"}`}, model.ErrUnavailable, `{"version":"0.5.1"}`},
		"nameless call":         {answer{body: strings.Replace(toolCall(`"{}"`), `"name":"f",`, "", 1)}, model.ErrUnavailable, "without a name"},
		"custom call":           {answer{body: strings.Replace(toolCall(`"{}"`), `"function",`, `"custom",`, 1)}, model.ErrUnavailable, "not offered (call 1): custom"},
		"calls of a wrong type": {answer{body: message(`{"content":null,"tool_calls":{}}`)}, model.ErrUnavailable, "choices.message.tool_calls has the type object"},
		"content is a number":   {answer{body: message(`{"content":1}`)}, model.ErrUnavailable, "choices.message.content has the type number"},
		"broken JSON":           {answer{body: `{"choices":[{"mess`}, model.ErrUnavailable, `broken JSON: {"choices":[{"mess`},
		"more than JSON":        {answer{body: ok.body + "{}"}, model.ErrUnavailable, "broken JSON"},
		"stream":                {answer{body: "data: {}\n\n"}, model.ErrUnavailable, "broken JSON: data: {}"},
		"empty":                 {answer{}, model.ErrUnavailable, "an empty body"},
		"web page":              {answer{header: html, body: "<!doctype html><p>Welcome"}, model.ErrUnavailable, "a web page instead of JSON; " + wrongBase},
		"page named JSON":       {answer{body: " <html>"}, model.ErrUnavailable, wrongBase},
		"huge":                  {answer{body: message(`{"content":"` + strings.Repeat("x", 16<<20) + `"}`)}, model.ErrUnavailable, "more than 16 MiB"},
		"late rate limit":       {answer{body: `{"error":{"code":429,"message":"slow down"}}`}, model.ErrUnavailable, "429 Too Many Requests (1 attempt): slow down"},
		"late refusal":          {answer{body: `{"error":{"code":"400","message":"too long"}}`}, model.ErrRejected, "400 Bad Request: too long"},
		"late error of choice":  {answer{body: `{"choices":[{"message":{"content":"ha"},"error":{"code":502,"message":"gone"}}]}`}, model.ErrUnavailable, "502 Bad Gateway (1 attempt): gone"},
		"late nameless error":   {answer{body: `{"error":"out of memory"}`}, model.ErrUnavailable, "answered with an error: out of memory"},
	} {
		e := serve(t, c.answer)
		_, err := complete(t, e.config())
		if !errors.Is(err, c.class) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "model test-model at "+e.URL+"/v1") {
			t.Errorf("%s: got %.700v\nwant %v: … %s", name, err, c.class, c.says)
		}
		if errors.Is(err, model.ErrRejected) && errors.Is(err, model.ErrUnavailable) {
			t.Errorf("%s: two classes: %v", name, err)
		}
		if n := len(e.requests()); n != 1 {
			t.Errorf("%s: %d requests", name, n)
		}
	}
}
