package flowfile

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine"
)

func state(t *testing.T, text string) engine.State {
	t.Helper()
	s, err := engine.DecodeState([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The rules as the dialect's description states them, beside the recorded answers.
func TestConditionRules(t *testing.T) {
	for _, c := range []struct {
		condition, state string
		want             bool
	}{
		// the first operator of >= <= != > < = anywhere in the text splits it
		{"a=b>c", `{"a":"b>c"}`, false},
		{"a=b>c", `{"a=b":4}`, false},
		{"a=b>3", `{"a=b":4}`, true},
		{"a=b!=c", `{"a=b":"c"}`, false},
		{"a=>3", `{"a=":4}`, true},
		{"a<>b", `{"a<":1}`, false},
		{"a==x", `{"a":"=x"}`, true},
		{`a="x"`, `{"a":"\"x\""}`, true},
		{`a="x"`, `{"a":"x"}`, false},
		// norm: strip, lower, then trailing punctuation
		{"a = YES ", `{"a":" yes.,!?;:"}`, true},
		{"a=x", `{"a":"x ."}`, false},
		{"a=true", `{"a":true}`, true},
		{"a=1", `{"a":1}`, true},
		{"a=1", `{"a":1.0}`, false},
		// missing and null
		{"a=x", `{}`, false}, {"a=none", `{"a":null}`, false}, {"a!=x", `{"a":null}`, true}, {"a!=x", `{}`, true},
		{"a>=0", `{}`, false}, {"a<1", `{"a":null}`, false},
		{"a=", `{}`, true}, {"a=", `{"a":""}`, true}, {"a=", `{"a":0}`, false}, {"a=", `{"a":false}`, false},
		{"a!=", `{"a":0}`, true}, {"a!=", `{"a":[]}`, true}, {"a!=", `{}`, false}, {"a!=", `{"a":""}`, false},
		// comma lists
		{"a=x, y,z", `{"a":"Y"}`, true}, {"a=x,y", `{"a":"x,y"}`, false}, {"a!=x,y", `{"a":"y"}`, false}, {"a!=x,y", `{"a":"z"}`, true},
		{"a=[1, 2]", `{"a":[1,2]}`, false},
		// numbers
		{"a>=3", `{"a":"3"}`, true}, {"a>2.5", `{"a":3}`, true}, {"a<=1", `{"a":true}`, true}, {"a<1", `{"a":false}`, true},
		{"a<x", `{"a":1}`, false}, {"a<1", `{"a":"x"}`, false}, {"a<1", `{"a":[]}`, false}, {"a<1", `{"a":{}}`, false},
		{"a>nan", `{"a":1}`, false}, {"a<inf", `{"a":1}`, true}, {"a>1e3", `{"a":1e400}`, true}, {"a>=٣", `{"a":3}`, true},
		// no dots, no nesting
		{"a.b=x", `{"a":{"b":"x"}}`, false}, {"a.b=x", `{"a.b":"x"}`, true},
		{"stop=yes", `{"stop":"Yes!"}`, true},
	} {
		cond, ok := parseCondition(c.condition)
		if !ok {
			t.Errorf("%q: no operator", c.condition)
			continue
		}
		if got, err := cond.test(state(t, c.state)); err != nil || got != c.want {
			t.Errorf("%q on %s: got %v, %v, want %v", c.condition, c.state, got, err, c.want)
		}
	}
}

func TestConditionOnHugeInteger(t *testing.T) {
	cond, _ := parseCondition("a>=1")
	_, err := cond.test(engine.State{"a": json.Number("1" + strings.Repeat("0", 400))})
	if err == nil || !strings.Contains(err.Error(), `condition on "a"`) {
		t.Errorf("got %v", err)
	}
}

func TestPythonFloats(t *testing.T) {
	for text, want := range map[string]float64{
		"1_000": 1000, " 3 ": 3, "\u00a03\u2003": 3, "inf": math.Inf(1), "-Infinity": math.Inf(-1), "٣": 3, "𝟙𝟛": 13, "+.5": 0.5, "5.": 5, "1e400": math.Inf(1),
		"1_0e1_0": 1e11,
	} {
		if got, ok := parseFloat(text); !ok || got != want {
			t.Errorf("%q: got %v, %v, want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"nan", "NaN", "-nan", "+NAN"} {
		if got, ok := parseFloat(text); !ok || !math.IsNaN(got) {
			t.Errorf("%q: got %v, %v, want NaN", text, got, ok)
		}
	}
	for _, text := range []string{"", " ", "0x10", "1__0", "_1", "1_", "1_.5", "1p3", "--1", "+-nan", "1 2", "infinit", "½", "0b1", "1e", "é"} {
		if got, ok := parseFloat(text); ok {
			t.Errorf("%q: got %v, want none", text, got)
		}
	}
}

func TestPythonText(t *testing.T) {
	for text, want := range map[string]string{
		`1e16`: "1e+16", `1e15`: "1000000000000000.0", `1E-5`: "1e-05", `0.0001`: "0.0001", `1.10`: "1.1", `-0.0`: "-0.0", `-0`: "0",
		`123456789012345678901234567890`: "123456789012345678901234567890", `1e400`: "inf",
		`{"b":1,"a":[true,null,"x"]}`:              "{'a': [True, None, 'x'], 'b': 1}", // keys sorted: a state has no order
		`["a\u001c\u00a0\u200b\u202e","\\","\"'"]`: `['a\x1c\xa0\u200b\u202e', '\\', '"\'']`,
		`["\ud83d\ude00\udb40\udc01"]`:             `['😀\U000e0001']`,
	} {
		v, err := engine.DecodeValue([]byte(text))
		if err != nil {
			t.Fatal(text, err)
		}
		if got := str(v); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
	if got := ascii("é😀'"); got != `"\xe9\U0001f600'"` {
		t.Errorf("ascii: got %s", got)
	}
}

func TestTemplateRules(t *testing.T) {
	for _, c := range []struct{ template, state, want string }{
		{"no {{braces}}", `{}`, "no {braces}"},
		{"}} stays", `{}`, "}} stays"},
		{"{my key}-{a-b}-{日本}", `{"my key":1,"a-b":null,"日本":true}`, "1-None-True"},
		{"{x!a}", `{"x":"é"}`, `'\xe9'`},
		{"{x[1]}", `{"x":"日本"}`, "本"},
		{"{x[0][0]}", `{"x":"日本"}`, "日"},
		{"{x:*^7.3}|", `{"x":"日本語です"}`, "**日本語**|"},
		{"{x:{f}>{w}}", `{"x":1,"f":"-","w":3}`, "--1"},
		{"{x:}", `{"x":1}`, "1"},
	} {
		if got, err := renderText(c.template, state(t, c.state)); err != nil || got != c.want {
			t.Errorf("%q on %s: got %q, %v, want %q", c.template, c.state, got, err, c.want)
		}
	}
	s := state(t, `{"x":"ab","n":99999999999}`)
	for template, want := range map[string]string{
		"{y}": `template references unknown state key "y"`,
		"{}":  "no key", "{0}": "no key", "{": "single '{'", "{x} }": "single '}'", "{x": "no '}'", "{x{": "unexpected '{'",
		"{x!}": "unknown conversion", "{x!q}": "unknown conversion", "{x!r": "expected ':'", "{x!rr}": "expected ':'",
		"{x.upper}": "cannot look inside", "{x[k]}": "not the number of a letter", "{x[-1]}": "not the number", "{x[0}": "no '}'", "{x[0]y}": "only '['",
		"{x[7]}": "only 2 letters", "{x:d}": `format "d"`, "{x:=5}": "format", "{x:+5}": "format", "{x:.}": "format", "{x:,}": "format",
		"{x:99999999999}": "more than 10000", "{x:{n}}": "more than 10000", "{x:{x}}": "format", "{x:{x:{x}}}": "", "{x:{x:{x:{x}}}}": "too deep",
		"{x:{x": "no '}'",
	} {
		if _, err := renderText(template, s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", template, err, want)
		}
	}
}

func TestArguments(t *testing.T) {
	r := newReader("t")
	args := r.arguments(parseYAML(r, []byte(`{n: "{seats}", s: "{seats} seats", deep: [{"{k}": "{list}"}, 1.10, null, true], f: "{seats:>3}", c: "{seats!s}", b: "{{seats}}"}`)))
	if err := r.err(); err != nil {
		t.Fatal(err)
	}
	got, err := args(state(t, `{"seats":2.50,"list":[1,{"a":null}]}`))
	want := `{"b":"{seats}","c":"2.5","deep":[{"{k}":[1,{"a":null}]},1.10,null,true],"f":"2.5","n":2.50,"s":"2.5 seats"}`
	if text, _ := json.Marshal(got); err != nil || string(text) != want {
		t.Errorf("got  %s, %v\nwant %s", text, err, want)
	}
	if _, err := args(engine.State{}); err == nil || !strings.Contains(err.Error(), `n: template references unknown state key "seats"`) {
		t.Errorf("got %v", err)
	}
}

func TestTransformUpdatesDoNotDouble(t *testing.T) {
	for _, c := range []struct {
		config, reducer, state, want string
	}{
		{`{action: append, value: v, output_key: o}`, "append", `{"o":["p"]}`, `{"o":["p","v"]}`},
		{`{action: append, value: [v], output_key: o}`, "append", `{"o":["p"]}`, `{"o":["p",["v"]]}`},
		{`{action: append, value: v, output_key: o}`, "append", `{}`, `{"o":["v"]}`},
		{`{action: append, value: v, output_key: o}`, "append", `{"o":"ab"}`, `{"o":["a","b","v"]}`},
		{`{action: split, input_key: x, output_key: o}`, "append", `{"x":"a,b","o":["z"]}`, `{"o":["z","a","b"],"x":"a,b"}`},
		{`{action: value, value: v, output_key: o}`, "append", `{"o":["z"]}`, `{"o":["z","v"]}`},
		{`{action: append, value: v, output_key: o}`, "", `{"o":["p"]}`, `{"o":["p","v"]}`},
	} {
		rc := recorded{State: state(t, c.state), Reducers: map[string]engine.Reducer{"o": engine.Reducer(c.reducer)}}
		rc.Config = json.RawMessage(c.config)
		got, err := runTransform(t.Context(), rc)
		if text, _ := json.Marshal(got); err != nil || string(text) != c.want {
			t.Errorf("%s on %s: got %s, %v, want %s", c.config, c.state, text, err, c.want)
		}
	}
}

func TestNow(t *testing.T) {
	got, err := runTransform(t.Context(), recorded{Config: json.RawMessage(`{action: now, output_key: o}`), State: engine.State{}})
	text, _ := got["o"].(string)
	if err != nil || len(text) != len("2026-01-02T03:04:05.000000+00:00") || !strings.HasSuffix(text, "+00:00") {
		t.Errorf("got %v, %v", got, err)
	}
}
