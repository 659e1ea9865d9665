package pyjson

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// What Python 3.11's json.loads takes and refuses.
func TestCheckIsPythons(t *testing.T) {
	for _, good := range []string{
		`{}`, ` [ ] `, `0`, `-0`, `-0.0`, `1e5`, `1E+5`, `12.5e-3`, `NaN`, `-Infinity`, `[Infinity,NaN]`, `"\ud800"`, `"\u00e9"`, `{"a":1,"a":2}`,
		"{\n\t\"a\" :\r1 }", `"` + "\x7f" + `"`, strings.Repeat("[", 900) + strings.Repeat("]", 900), `123456789012345678901234567890`,
	} {
		if err := Check([]byte(good)); err != nil {
			t.Errorf("%.40s: %v", good, err)
		}
	}
	for _, bad := range []string{
		``, ` `, `{`, `[1,]`, `{"a":1,}`, `{a:1}`, `'a'`, `01`, `1.`, `.5`, `+1`, `-`, `-NaN`, `nan`, `True`, `"\x41"`, `"\u12g4"`, "\"\n\"", "\"\x00\"",
		`[1 2]`, `{"a" 1}`, `{} {}`, "\ufeff{}", "\"\xff\"", `"a`, `[}`, `{]`, `{"a":}`, `{,}`, `[,]`, `{"a"}`, "\v[]", strings.Repeat("[", MaxDepth+1), `"\`, `"\u00`,
	} {
		if Check([]byte(bad)) == nil {
			t.Errorf("%.40q is taken", bad)
		}
	}
}

func TestObjectSplits(t *testing.T) {
	text := ` {"a" : [1, {"b": 2}] ,"\u0061":NaN, "c\"d":{"__interrupt__": null}, "":-1.0} `
	members, err := Object([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := []Member{{Key: "a", Raw: []byte(`[1, {"b": 2}]`)}, {Key: "a", Raw: []byte(`NaN`)}, {Key: `c"d`, Raw: []byte(`{"__interrupt__": null}`)}, {Key: "", Raw: []byte(`-1.0`)}}
	if len(members) != len(want) {
		t.Fatalf("got %d members", len(members))
	}
	for i, m := range members {
		if m.Key != want[i].Key || string(m.Raw) != string(want[i].Raw) || string(text[m.Start:m.End]) != string(m.Raw) {
			t.Errorf("member %d is %q: %s", i, m.Key, m.Raw)
		}
	}
	if raw, ok := Last(members, "a"); !ok || string(raw) != "NaN" {
		t.Errorf("the last a is %s", raw)
	}
	if _, ok := Last(members, "b"); ok {
		t.Error("there is a b")
	}
	for _, none := range []string{`[]`, `1`, `"a"`, `null`, `{`} {
		if _, err := Object([]byte(none)); err == nil {
			t.Errorf("%s is an object", none)
		}
	}
}

func TestWithout(t *testing.T) {
	for text, want := range map[string]string{
		`{"a": 1, "x": {"x": 2}, "b": [3]}`: `{"a": 1, "b": [3]}`,
		`{"x": 1}`:                          `{}`,
		` { "x":1,"b" :2.50, "\u0078":3 } `: `{"b": 2.50}`,
		`{"a":1}`:                           `{"a":1}`,
		`{}`:                                `{}`,
	} {
		got, err := Without([]byte(text), "x")
		if err != nil || string(got) != want {
			t.Errorf("%s: got %s, %v", text, got, err)
		}
	}
}

func TestStrict(t *testing.T) {
	text := `{"a": NaN, "b": [Infinity, -Infinity], "c": "NaN"}`
	got, err := Strict([]byte(text))
	want := `{"a": {"$float": "NaN"}, "b": [{"$float": "Infinity"}, {"$float": "-Infinity"}], "c": "NaN"}`
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestStrings(t *testing.T) {
	for raw, want := range map[string]string{
		`"a\n\u0000\ud83c\udf75\/"`: "a\n\x00🍵/",
		`"\ud800"`:                  "\xed\xa0\x80",
		`"\ud800\u0041"`:            "\xed\xa0\x80A",
		`"\udf75\ud83c"`:            "\xed\xbd\xb5\xed\xa0\xbc",
	} {
		if got, ok := String([]byte(raw)); !ok || got != want {
			t.Errorf("%s: got %q", raw, got)
		}
	}
	// json.dumps("é\x00\x1f\x7f\"\\\b\f\n\r\t", ensure_ascii=False)
	if got, want := string(Quote("é\x00\x1f\x7f\"\\\b\f\n\r\t")), `"é\u0000\u001f`+"\x7f"+`\"\\\b\f\n\r\t"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for raw, want := range map[string]bool{`1`: true, `-9223372036854775808`: true, `9223372036854775808`: false, `1.0`: false, `true`: false, `"1"`: false} {
		if _, ok := Int([]byte(raw)); ok != want {
			t.Errorf("%s is an integer: %v", raw, ok)
		}
	}
}

func FuzzCheck(f *testing.F) {
	for _, s := range []string{`{"a": [1, NaN, {"b": "\ud83c\udf75"}], "a": -0.0e-1}`, `[[[]]]`, `"\ud800"`, `{"__interrupt__": null}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		err := Check(text)
		strict, strictErr := Strict(text)
		if (err == nil) != (strictErr == nil) {
			t.Fatalf("%v and %v", err, strictErr)
		}
		// On what Go and Python agree about, they must agree.
		if utf8.Valid(text) && json.Valid(text) && err != nil {
			t.Fatalf("Go takes %q: %v", text, err)
		}
		if err == nil && !json.Valid(strict) {
			t.Fatalf("%q became %q", text, strict)
		}
		members, err := Object(text)
		if err != nil {
			return
		}
		for _, m := range members {
			if Check(m.Raw) != nil {
				t.Fatalf("%q has the value %q", text, m.Raw)
			}
			rest, err := Without(text, m.Key)
			if err != nil {
				t.Fatal(err)
			}
			left, err := Object(rest)
			if _, still := Last(left, m.Key); err != nil || still {
				t.Fatalf("%q without %q is %q, %v", text, m.Key, rest, err)
			}
			if back, ok := String(Quote(m.Key)); !ok || back != m.Key {
				t.Fatalf("%q comes back as %q", m.Key, back)
			}
		}
	})
}
