package yaml11

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine/teff/py"
)

func read(text string) (py.Value, error) {
	n, err := Parse(text)
	if err != nil || n == nil {
		return nil, err
	}
	return NewConstructor().Value(n)
}

func get(v py.Value, keys ...string) py.Value {
	for _, k := range keys {
		v, _ = v.(*py.Dict).Get(k)
	}
	return v
}

// floats puts NaN and the infinities where their stand-ins are.
func floats(v py.Value) py.Value {
	switch v := v.(type) {
	case *py.List:
		for i := range v.Items {
			v.Items[i] = floats(v.Items[i])
		}
	case *py.Dict:
		if text, ok := v.Get("$float"); ok {
			f, _ := py.ParseFloat(text.(string))
			return f
		}
		for _, k := range v.Keys() {
			v.Set(k, floats(get(v, k)))
		}
	}
	return v
}

func TestRecordedScalars(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "fixtures", "teff", "engine_cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	all, err := py.Loads(data)
	if err != nil {
		t.Fatal(err)
	}
	cases := get(all, "sections", "yaml_scalars").(*py.List).Items
	if len(cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range cases {
		text := get(c, "yaml").(string)
		got, err := read(text)
		switch c := c.(*py.Dict); {
		case c.Has("error"):
			var e *Error
			message := strings.ReplaceAll(get(c, "error", "message").(string), `\'`, "'")
			if !errors.As(err, &e) || !strings.Contains(message, e.Problem) ||
				!strings.Contains(message, fmt.Sprintf("line %d, column %d", e.At.Line, e.At.Column)) {
				t.Errorf("%q: %v, want %s", text, err, message)
			}
		case c.Has("python_type"):
			o, ok := get(got, "v").(py.Opaque)
			if _, dumpErr := py.Dumps(got); !ok || err != nil || o.Type != get(c, "python_type") || dumpErr.(*py.Error).Message != get(c, "json_error") {
				t.Errorf("%q: %#v %v", text, got, err)
			}
		default:
			if want := py.Repr(floats(get(c, "value"))); err != nil || py.Repr(got) != want {
				t.Errorf("%q: %s %v, want %s", text, py.Repr(got), err, want)
			}
		}
	}
}

// What PyYAML 6.0 reads, asked there.
func TestDocuments(t *testing.T) {
	for _, c := range [][2]string{
		{"a: b\nc: |\n  x\n   y\n\n  z\n\nd: >-\n  one\n  two\n\n  three\n    four\n  five\n", `{"a": "b", "c": "x\n y\n\nz\n", "d": "one two\nthree\n  four\nfive"}`},
		{"a: \"x\\\n   y\\u00e9\\x41 \\\n  z\n\n  w\"\nb: 'it''s\n  here'\nc: plain\n  goes on\n\n  and on\n", `{"a": "xyéA z\nw", "b": "it's here", "c": "plain goes on\nand on"}`},
		{"a:\n- 1\n- 2\nb: [x: y, ? z, \"q\":w, http://h:1/p]\nc: {a, b: , \"k\":v, ? e : f}\n", `{"a": [1, 2], "b": [{"x": "y"}, {"z": null}, {"q": "w"}, "http://h:1/p"], "c": {"a": null, "b": null, "k": "v", "e": "f"}}`},
		{"x: &a {k: [1]}\ny: *a\nz: {<<: *a, l: 2}\nw: {<<: [{k: 5}, *a], k2: 6}\n", `{"x": {"k": [1]}, "y": {"k": [1]}, "z": {"k": [1], "l": 2}, "w": {"k": 5, "k2": 6}}`},
		{"|2+\n   a\n\n  b\n\n", `" a\n\nb\n\n"`},
		{">\n a\n\n\n b\n \tc\n d\n", `"a\n\nb\n\tc\nd\n"`},
		{"%YAML 1.1\n%TAG !e! tag:yaml.org,2002:\n---\na: !e!str 5\n...\n", `{"a": "5"}`},
		{"a: !<tag:yaml.org,2002:int> \"7\"\nb: ! 12\nc: !!str\nd: !!null x\n", `{"a": 7, "b": 12, "c": "", "d": null}`},
		{"{1: a, true: b, 1.0: c, ~: d, 0.5: e, \"1\": s}", `{"1": "c", "null": "d", "0.5": "e", "1": "s"}`},
		{"a: 1:30.5\nb: -0b11\nc: +.inf\nd: 1_0.5e+3\ne: 0x_f\nf: -0\ng: 123456789012345678901\nh: 1e3\ni: -.5\n", `{"a": 90.5, "b": -3, "c": Infinity, "d": 10500.0, "e": 15, "f": 0, "g": 123456789012345678901, "h": "1e3", "i": "-.5"}`},
		{"\ufeffa: \u2028 b\n", `{"a": "b"}`},
		{"a: b # c\nb: b#c\n# d\n", `{"a": "b", "b": "b#c"}`},
		{"a: \"\ttab\"\n\"b c\" : d\n", `{"a": "\ttab", "b c": "d"}`},
		{"a: -b\nc: ?d\ne: :f\n", `{"a": "-b", "c": "?d", "e": ":f"}`},
		{"\"a\\ud83d\": 1", `{"a\ud83d": 1}`},
		{"=: 5\n", `{"=": 5}`},
		{"!!omap [a: 1, b: 2]", `[["a", 1], ["b", 2]]`},
	} {
		want, err := py.Loads([]byte(c[1]))
		if err != nil {
			t.Fatal(err)
		}
		got, err := read(c[0])
		if err != nil || py.Repr(got) != py.Repr(want) {
			t.Errorf("%q: %s %v, want %s", c[0], py.Repr(got), err, py.Repr(want))
		}
	}
}

func TestDocumentsThatPyYAMLRefuses(t *testing.T) {
	for _, c := range [][2]string{
		{"- - a\n  - b\n-\n  c: d\n- ? k\n  : v\n- ? [x]\n", "ConstructorError: while constructing a mapping\n  in \"x\", line 7, column 3\nfound unhashable key\n  in \"x\", line 7, column 5"},
		{"? - a\n", "ConstructorError: while constructing a mapping\n  in \"x\", line 1, column 1\nfound unhashable key\n  in \"x\", line 1, column 3"},
		{"a: 2024-02-30\n", "ValueError: day is out of range for month"},
		{"a: b: c\n", "ScannerError: mapping values are not allowed here\n  in \"x\", line 1, column 5"},
		{"- a\n b: c\n", "ScannerError: mapping values are not allowed here\n  in \"x\", line 2, column 3"},
		{"a: [1, 2\nb: 3\n", "ParserError: while parsing a flow sequence\n  in \"x\", line 1, column 4\nexpected ',' or ']', but got ':'\n  in \"x\", line 2, column 2"},
		{"a: *b\n", "ComposerError: found undefined alias 'b'\n  in \"x\", line 1, column 4"},
		{"&a x: 1\ny: &a 2\n", "ComposerError: found duplicate anchor 'a'; first occurrence\n  in \"x\", line 1, column 1\nsecond occurrence\n  in \"x\", line 2, column 4"},
		{"a: 1\n\tb: 2\n", "ScannerError: while scanning for the next token\nfound character '\\t' that cannot start any token\n  in \"x\", line 2, column 1"},
		{"a: !x y\n", "ConstructorError: could not determine a constructor for the tag '!x'\n  in \"x\", line 1, column 4"},
		{"key\nb: c\n", "ScannerError: mapping values are not allowed here\n  in \"x\", line 2, column 2"},
		{"a: 'x\n", "ScannerError: while scanning a quoted scalar\n  in \"x\", line 1, column 4\nfound unexpected end of stream\n  in \"x\", line 2, column 1"},
		{"a: \"\\q\"\n", "ScannerError: while scanning a double-quoted scalar\n  in \"x\", line 1, column 4\nfound unknown escape character 'q'\n  in \"x\", line 1, column 6"},
		{"--- a\n--- b\n", "ComposerError: expected a single document in the stream\n  in \"x\", line 1, column 5\nbut found another document\n  in \"x\", line 2, column 1"},
		{"%YAML 2.0\n--- a\n", "ParserError: found incompatible YAML document (version 1.* is required)\n  in \"x\", line 1, column 1"},
		{"a: |x\n", "ScannerError: while scanning a block scalar\n  in \"x\", line 1, column 4\nexpected chomping or indentation indicators, but found 'x'\n  in \"x\", line 1, column 5"},
		{"a: {b: c]\n", "ParserError: while parsing a flow mapping\n  in \"x\", line 1, column 4\nexpected ',' or '}', but got ']'\n  in \"x\", line 1, column 9"},
		{"- a\nb: c\n", "ParserError: while parsing a block collection\n  in \"x\", line 1, column 1\nexpected <block end>, but found '?'\n  in \"x\", line 2, column 1"},
		{"a: \"x\" y\n", "ParserError: while parsing a block mapping\n  in \"x\", line 1, column 1\nexpected <block end>, but found '<scalar>'\n  in \"x\", line 1, column 8"},
		{"<<: 5\n", "ConstructorError: while constructing a mapping\n  in \"x\", line 1, column 1\nexpected a mapping or list of mappings for merging, but found scalar\n  in \"x\", line 1, column 5"},
		{"{[a]: b}\n", "ConstructorError: while constructing a mapping\n  in \"x\", line 1, column 1\nfound unhashable key\n  in \"x\", line 1, column 2"},
		{"v: =\n", "ConstructorError: could not determine a constructor for the tag 'tag:yaml.org,2002:value'\n  in \"x\", line 1, column 4"},
		{"a: \x01\n", "ReaderError: unacceptable character #x0001: special characters are not allowed\n  in \"x\", line 1, column 4"},
	} {
		_, err := read(c[0])
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%q: %v, want %s", c[0], err, c[1])
			continue
		}
		got := e.Class + ": " + e.Text("x")
		if e.Class == "ValueError" {
			got = e.Class + ": " + e.Problem
		}
		if got != c[1] {
			t.Errorf("%q: %s\nwant %s", c[0], got, c[1])
		}
	}
}

func TestAnAliasIsTheSameValue(t *testing.T) {
	v, err := read("a: &x [1]\nb: *x\nc: {<<: {d: *x}}\n")
	if err != nil {
		t.Fatal(err)
	}
	list := get(v, "a").(*py.List)
	list.Items = append(list.Items, int64(2))
	if got := py.Repr(v); got != "{'a': [1, 2], 'b': [1, 2], 'c': {'d': [1, 2]}}" {
		t.Error(got)
	}
	if _, err := read("a: &x [*x]\n"); err == nil {
		t.Error("a list that holds itself was read")
	}
}

func TestDatesPrintAsPythonDoes(t *testing.T) {
	for text, want := range map[string]string{
		"2024-01-01":                        "2024-01-01",
		"2024-1-2 3:04:05.06":               "2024-01-02 03:04:05.060000",
		"2024-01-02T03:04:05Z":              "2024-01-02 03:04:05+00:00",
		"2001-12-14t21:59:43.10 -5":         "2001-12-14 21:59:43.100000-05:00",
		"2001-12-14 21:59:43.1234567+05:30": "2001-12-14 21:59:43.123456+05:30",
	} {
		v, err := read(text)
		if err != nil || py.Str(v) != want {
			t.Errorf("%s: %s %v, want %s", text, py.Str(v), err, want)
		}
	}
}

func TestDeepDocumentsEnd(t *testing.T) {
	for _, text := range []string{strings.Repeat("[", 100_000), strings.Repeat("- ", 100_000), strings.Repeat("{a: ", 5000) + "1" + strings.Repeat("}", 5000)} {
		_, err := read(text)
		var e *Error
		if !errors.As(err, &e) || e.Class != "RecursionError" {
			t.Errorf("%.10s: %v", text, err)
		}
	}
}

func TestMergeKeysDoNotGrowWithoutEnd(t *testing.T) {
	text := "a0: &a0 {x: 1, y: 2}\n"
	for i := range 30 {
		text += strings.ReplaceAll(strings.ReplaceAll("aM: &aM {<<: [*aN, *aN, *aN, *aN]}\n", "M", strconv.Itoa(i+1)), "N", strconv.Itoa(i))
	}
	if _, err := read(text); err == nil || !strings.Contains(err.Error(), "too many keys") {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"a: &x [1, {b: c}]\n? *x\n: |2-\n  t\n", "--- !!set {a, b}\n...\n%TAG ! x\n", "<<: [{a: 'it''s'}]\n\"\\u00e9\": 2024-01-01 1:2:3.4-5\n", "!!binary aGk=", "- - !!omap [a: 1]\n  - >+\n\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := read(text)
		var e *Error
		if err != nil && !errors.As(err, &e) {
			t.Fatalf("not PyYAML's error: %v", err)
		}
		if err == nil {
			py.Repr(v)
		}
	})
}
