package flowfile

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func parseValue(text string) (any, error) {
	r := newReader("t.yaml")
	it := parseYAML(r, []byte(text))
	return it.value(), r.err()
}

func TestNumbersKeepEveryDigit(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "-0": "-0", "7": "7", "+5": "5", "1_000": "1000", "0x1F": "31", "0o17": "15", "0b101": "5", "-0x10": "-16",
		"123456789012345678901234567890": "123456789012345678901234567890",
		"0xFFFFFFFFFFFFFFFFFFFF":         "1208925819614629174706175",
		"0.1000000000000000000000000001": "0.1000000000000000000000000001",
		"3.50":                           "3.50", ".5": "0.5", "-.5": "-0.5", "1.": "1.0", "1e3": "1e3", "1.5e3": "1.5e3", "1E+400": "1E+400", "00.5": "0.5",
	} {
		got, err := parseValue("v: " + text)
		m, _ := got.(map[string]any)
		n, ok := m["v"].(json.Number)
		if err != nil || !ok || string(n) != want {
			t.Errorf("%s: got %#v, %v, want %s", text, got, err, want)
		}
		if !json.Valid([]byte(n)) {
			t.Errorf("%s: %q is not JSON", text, n)
		}
	}
}

func TestScalars(t *testing.T) {
	for text, want := range map[string]any{
		"yes": "yes", "no": "no", "on": "on", "true": true, "False": false, "~": nil, "null": nil, "": nil,
		"2020-01-02": "2020-01-02", "1:30": "1:30", "1.2.3": "1.2.3", `"3"`: "3", `'1e3'`: "1e3", "!!str 007": "007", "!!str ~": "~",
		"0x": "0x", "1-2": "1-2", "_1": "_1", ".": ".", "e3": "e3", "-": []any{nil}, `"\u00e9\n"`: "é\n", `"\ud83d\ude00"`: "😀",
		"|\n  a\n  b\n": "a\nb\n", ">-\n  a\n  b\n": "a b", "{}": map[string]any{}, "[]": []any{},
		"|\r\n  a\r\n  b\r\n": "a\nb\n",
	} {
		if text == "-" {
			text = "\n- "
		}
		got, err := parseValue("v: " + text)
		if m, _ := got.(map[string]any); err != nil || !reflect.DeepEqual(m["v"], want) {
			t.Errorf("%q: got %#v, %v, want %#v", text, got, err, want)
		}
	}
}

func TestAnchors(t *testing.T) {
	got, err := parseValue("a: &x {b: 1, c: [2]}\nd: *x\ne: {<<: *x, b: 3}\nf:\n  <<: [*x, {g: 4}]\n  c: 5\n")
	want := `{"a":{"b":1,"c":[2]},"d":{"b":1,"c":[2]},"e":{"b":3,"c":[2]},"f":{"b":1,"c":5,"g":4}}`
	if text, _ := json.Marshal(got); err != nil || string(text) != want {
		t.Errorf("got %s, %v, want %s", text, err, want)
	}
}

func TestYAMLIsRefused(t *testing.T) {
	lol := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := range 9 {
		lol += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 10), ", "))
	}
	for name, c := range map[string]struct{ text, want string }{
		"syntax":          {"a: [1, 2\n", "t.yaml:1:4: not YAML: "},
		"duplicate key":   {"a: 1\nb:\n  c: 1\n  c: 2\na: 2\n", "t.yaml:4:3: the key \"c\" stands twice in this mapping\nt.yaml:5:1: the key \"a\" stands twice"},
		"octal":           {"a: 012\nb: 08", "t.yaml:1:4: 012 is octal in YAML 1.1 and decimal in YAML 1.2; quote it, or write 0o or no zero\nt.yaml:2:4: 08 "},
		"infinity":        {"a: [.inf, -.INF, .nan]", "t.yaml:1:5: .inf cannot be kept"},
		"number key":      {"a: {1: x}", "t.yaml:1:5: a key must be a string; quote it"},
		"boolean key":     {"true: x", "t.yaml:1:1: a key must be a string; quote it"},
		"list key":        {"? [a]\n: x", "t.yaml:"},
		"two documents":   {"a: 1\n---\nb: 2\n", "t.yaml:3:1: a flow file holds one document, not 2"},
		"tag":             {"a: !foo 1", "t.yaml:1:4: the tag !foo is not supported"},
		"unknown alias":   {"a: *x", "t.yaml:1:4: no anchor &x stands before this alias"},
		"own alias":       {"a: &x [*x]", "t.yaml:1:8: the alias *x stands inside its own anchor"},
		"merge of text":   {"a: {<<: b}", "t.yaml:1:5: << takes a mapping"},
		"not UTF-8":       {"a: \xff", "t.yaml: the file is not UTF-8"},
		"surrogate":       {`a: "\ud800"`, "t.yaml:1:5: not YAML: "},
		"billion laughs":  {lol, "the document is too large with its aliases expanded"},
		"deep flow":       {strings.Repeat("[", 200_000), "t.yaml:1:101: nested deeper than 100 levels"},
		"deep maps":       {strings.Repeat("{a: ", 200_000), "nested deeper than 100 levels"},
		"deep dashes":     {strings.Repeat("- ", 200_000), "nested deeper than 100 levels"},
		"deep blocks":     {deepBlocks(150), "nested deeper than 100 levels"},
		"deep by aliases": {deepAliases(), "nested deeper than 100 levels with its aliases"},
		"many tags":       {"a: " + strings.Repeat("!t ", 20_000) + "1", "t.yaml:"},
		"many anchors":    {"a: " + strings.Repeat("&t ", 20_000) + "1", "t.yaml:"},
		"many values":     {"a: [" + strings.Repeat("1, ", 50_000) + "]", "too many values"},
		"large":           {"a: " + strings.Repeat("x", 4<<20), "t.yaml: the file is larger than 4 MiB"},
	} {
		_, err := parseValue(c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %.300v, want %s", name, err, c.want)
		}
	}
}

func deepBlocks(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

func deepAliases() string {
	nest := func(inner string) string { return strings.Repeat("[", 60) + inner + strings.Repeat("]", 60) }
	return "a: &a " + nest("1") + "\nb: " + nest("*a") + "\n"
}

// Merge keys copy fields, which counts as well.
func TestMergeIsBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString("a: &a\n")
	for i := range 3000 {
		fmt.Fprintf(&b, "  k%d: v\n", i)
	}
	b.WriteString("b:\n")
	for range 3000 {
		b.WriteString("- <<: *a\n")
	}
	if _, err := parseValue(b.String()); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("got %.300v", err)
	}
}
