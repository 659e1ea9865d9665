package model_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/flowtui/flowtui/engine/model"
)

func TestParseArgs(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"object":            {`{"show":"Aida","seats":2}`, `{"show":"Aida","seats":2}`},
		"white space":       {" \n{ \"a\" : 1 }\t", `{ "a" : 1 }`},
		"every digit":       {`{"n":12345678901234567890.10,"e":1E400}`, `{"n":12345678901234567890.10,"e":1E400}`},
		"nothing":           {"", `{}`},
		"only white space":  {" \r\n", `{}`},
		"list":              {`[1]`, `[1]`},
		"null":              {`null`, `null`},
		"pair":              {`{"a":"\ud83d\ude00 \\ud800"}`, `{"a":"\ud83d\ude00 \\ud800"}`},
		"same key deeper":   {`{"a":{"a":1},"b":[{"a":1},{"a":2}]}`, `{"a":{"a":1},"b":[{"a":1},{"a":2}]}`},
		"cut":               {`{"show":"Ai`, `"{\"show\":\"Ai"`},
		"two values":        {`{} {}`, `"{} {}"`},
		"prose":             {`seats <2> & more`, `"seats <2> & more"`},
		"a string":          {`"Aida"`, `"\"Aida\""`},
		"key twice":         {`{"to":"a","to":"b"}`, `"{\"to\":\"a\",\"to\":\"b\"}"`},
		"escaped key twice": {`{"to":1,"t\u006f":2}`, `"{\"to\":1,\"t\\u006f\":2}"`},
		"deep key twice":    {`[{"x":[{"a":1,"a":1}]}]`, `"[{\"x\":[{\"a\":1,\"a\":1}]}]"`},
		"high half":         {`{"a":"\ud800"}`, `"{\"a\":\"\\ud800\"}"`},
		"low half":          {`{"a":"\udc00x"}`, `"{\"a\":\"\\udc00x\"}"`},
		"two high halves":   {`["\ud800\ud800"]`, `"[\"\\ud800\\ud800\"]"`},
		"after a backslash": {`["\\\ud800"]`, `"[\"\\\\\\ud800\"]"`},
		"not UTF-8":         {"{\"a\":\"\xff\"}", "\"{\\\"a\\\":\\\"\ufffd\\\"}\""},
	} {
		if got := string(model.ParseArgs(c.text)); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

func TestArgsAreSentBackAsTheyWereWritten(t *testing.T) {
	for _, text := range []string{`{"n":1.50}`, `{"show":"Ai`, `"Aida"`, `{"a":1,"a":2}`, `["\ud800"]`, `[1]`, `null`, "no JSON \n"} {
		if got := (model.ToolCall{Args: model.ParseArgs(text)}).ArgsText(); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	if got := (model.ToolCall{}).ArgsText(); got != "{}" {
		t.Errorf("no arguments became %q", got)
	}
}

func TestUnusableArgs(t *testing.T) {
	if text, bad := (model.ToolCall{Args: model.ParseArgs("{oops")}).UnusableArgs(); !bad || text != "{oops" {
		t.Errorf("got %q, %v", text, bad)
	}
	for _, args := range []string{`{}`, `null`, `[1]`, `2`, ``} {
		if text, bad := (model.ToolCall{Args: json.RawMessage(args)}).UnusableArgs(); bad {
			t.Errorf("%s: got %q", args, text)
		}
	}
}

func TestNumberCalls(t *testing.T) {
	for _, c := range []struct{ ids, want string }{
		{"a b", "a b"},
		{"- -", "call_1 call_2"},
		{"a - a a", "a call_2 call_3 call_4"},
		{"- call_1", "call_2 call_1"}, // the model's own ids stay
		{"call_2 - -", "call_2 call_3 call_4"},
		{"call_2 call_2", "call_2 call_3"},
	} {
		var calls []model.ToolCall
		for _, id := range strings.Fields(c.ids) {
			calls = append(calls, model.ToolCall{ID: strings.Trim(id, "-")})
		}
		model.NumberCalls(calls)
		var got []string
		for _, call := range calls {
			got = append(got, call.ID)
		}
		if want := strings.Fields(c.want); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, want %v", c.ids, got, want)
		}
	}
}

func FuzzParseArgs(f *testing.F) {
	for _, s := range []string{"", "{}", `{"a":1,"a":2}`, `"\ud800"`, "\xff", "[", `{"n":1e999}`, strings.Repeat("[", 10001)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		args := model.ParseArgs(text)
		if !json.Valid(args) || !utf8.Valid(args) {
			t.Fatalf("%q gave %q", text, args)
		}
		again := (model.ToolCall{Args: args}).ArgsText()
		if strings.TrimSpace(text) != "" && utf8.ValidString(text) && strings.Trim(again, " \t\r\n") != strings.Trim(text, " \t\r\n") {
			t.Fatalf("%q is sent back as %q", text, again)
		}
		if !reflect.DeepEqual(model.ParseArgs(again), args) {
			t.Fatalf("%q: read again it is %s, was %s", text, model.ParseArgs(again), args)
		}
	})
}
