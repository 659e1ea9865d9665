package chat_test

import (
	"encoding/json"
	"errors"
	"testing"
	"unicode/utf8"

	"github.com/flowtui/flowtui/engine/model"
	"github.com/flowtui/flowtui/engine/model/openai/internal/chat"
)

// toolCall is a reply with one call, whose arguments are as they are on the wire.
func toolCall(args string) string {
	return `{"choices":[{"message":{"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":` + args + `}}]}}]}`
}

// A reply of any bytes is an error of one class or has calls with valid arguments.
func FuzzReply(f *testing.F) {
	f.Add([]byte(`{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}`))
	f.Add([]byte(`{"error":{"code":429,"message":"slow down"}}`))
	for _, args := range []string{`"{}"`, `""`, `null`, `{"a":1,"a":2}`, `"\ud800"`, "\"\xff\"", `"{\"a\":\"\\ud800\"}"`, `[]`} {
		f.Add([]byte(toolCall(args)))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := (&chat.Answer{Status: 200, Body: body}).Reply("")
		if err != nil {
			var f *chat.Failure
			if !errors.As(err, &f) || f.Class != model.ErrRejected && f.Class != model.ErrUnavailable {
				t.Fatalf("%q: %v", body, err)
			}
			return
		}
		ids := map[string]bool{}
		for _, c := range got.Message.ToolCalls {
			if !json.Valid(c.Args) || !utf8.Valid(c.Args) || c.ID == "" || ids[c.ID] {
				t.Fatalf("%q: call %+v", body, c)
			}
			ids[c.ID] = true
		}
	})
}

// Arguments of any bytes, as the model's text and as they are on the wire.
func FuzzArguments(f *testing.F) {
	for _, s := range []string{"", "{}", `{"a":1,"a":2}`, `"x"`, `\ud800`, "\xff", `{"n":1e999}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		wire, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := (&chat.Answer{Status: 200, Body: []byte(toolCall(string(wire)))}).Reply("")
		if err != nil || len(got.Message.ToolCalls) != 1 {
			t.Fatalf("%q: %+v, %v", text, got, err)
		}
		if args := got.Message.ToolCalls[0].Args; !json.Valid(args) || !utf8.Valid(args) {
			t.Fatalf("%q gave %q", text, args)
		}
	})
}
