package py

import (
	"strings"
	"testing"
)

func TestRecordedTemplates(t *testing.T) {
	for _, c := range section(t, "templates") {
		template, _ := c.Get("template")
		state, _ := c.Get("state")
		got, err := Render(template.(string), state.(*Dict))
		want, fine := c.Get("result")
		if fine {
			if got != want || err != nil {
				t.Errorf("%q: %q %v, want %q", template, got, err, want)
			}
			continue
		}
		e, _ := c.Get("error")
		class, _ := e.(*Dict).Get("type")
		message, _ := e.(*Dict).Get("message")
		if failure(err) != class || err.(*Error).Message != message {
			t.Errorf("%q: %v, want %s: %s", template, err, class, message)
		}
	}
}

// What Python 3.11 answers for the str methods, asked there.
func TestCase(t *testing.T) {
	for s, want := range map[string][2]string{
		"ß ﬁ ŉ ǆ":         {"SS FI ʼN Ǆ", "ß ﬁ ŉ ǆ"},
		"İ ΑΣ ΑΣ.Β Σ ΑΣ'": {"İ ΑΣ ΑΣ.Β Σ ΑΣ'", "i̇ ας ασ.β σ ας'"},
		"ΑΣΒ Α\u00adΣ":    {"ΑΣΒ Α\u00adΣ", "ασβ α\u00adς"},
		"ႠႡ ა ꭰ Ω":        {"ႠႡ Ა Ꭰ Ω", "ⴀⴁ ა ꭰ ω"},
		"a\xed\xa0\x80b":  {"A\xed\xa0\x80B", "a\xed\xa0\x80b"},
	} {
		if got := [2]string{Upper(s), Lower(s)}; got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}

func TestStripAndSplit(t *testing.T) {
	if got := Strip("\x1c\u3000\u0085 a\u200b b\ufeff \x1f\u2028"); got != "a\u200b b\ufeff" {
		t.Errorf("%q", got)
	}
	lines := SplitLines("a\nb\r\nc\rd\ve\ff\x1cg\x1dh\x1ei\u0085j\u2028k\u2029l\n\nm\n")
	if got := Repr(strings.Join(lines, "|")); got != "'a|b|c|d|e|f|g|h|i|j|k|l||m'" {
		t.Error(got)
	}
	words := Fields(" a\u00a0b\x1fc ")
	if strings.Join(words, "|") != "a|b|c" {
		t.Errorf("%q", words)
	}
	parts, err := Split("a,,b,", ",")
	if strings.Join(parts, "|") != "a||b|" || err != nil {
		t.Errorf("%q %v", parts, err)
	}
	if _, err := Split("a", ""); failure(err) != "ValueError" {
		t.Error(err)
	}
	if got := Replace("é🍵", "", "-"); got != "-é-🍵-" {
		t.Error(got)
	}
	if got := Replace("aaa", "aa", "b"); got != "ba" {
		t.Error(got)
	}
	if got := Characters("e\u0301\xed\xa0\x80"); len(got) != 3 || Len("e\u0301\xed\xa0\x80") != 3 {
		t.Errorf("%q", got)
	}
}

func TestFloatOfText(t *testing.T) {
	for s, want := range map[string]string{
		" 1_000.5\n": "1000.5", "٣": "3.0", "Infinity": "inf", "-INF": "-inf", "+nan": "nan", "1e5": "100000.0", ".5": "0.5",
		"5.": "5.0", "1e400": "inf", "-0": "-0.0", "1e-400": "0.0", "\u2003２\u2003": "2.0",
	} {
		f, err := ParseFloat(s)
		if Str(f) != want || err != nil {
			t.Errorf("%q: %s %v, want %s", s, Str(f), err, want)
		}
	}
	for _, s := range []string{"", "0x10", "1__0", "_1", "1_", "1e_5", "1 2", "--1", "infinit", "1p3", "½", "e5", "."} {
		_, err := ParseFloat(s)
		if want := "ValueError: could not convert string to float: " + Repr(s); err == nil || err.Error() != want {
			t.Errorf("%q: %v", s, err)
		}
	}
}

func TestIntOfValues(t *testing.T) {
	for text, want := range map[string]string{
		`" +1_0 "`: "10", `"٣٤"`: "34", "1e22": "10000000000000000000000", "-1.9": "-1", "true": "1", "99999999999999999999": "99999999999999999999",
		`"-99999999999999999999"`: "-99999999999999999999",
	} {
		v, err := Int(load(t, text))
		if Str(v) != want || err != nil {
			t.Errorf("%s: %s %v, want %s", text, Str(v), err, want)
		}
	}
	for text, want := range map[string]string{
		`"1.0"`: "ValueError", `""`: "ValueError", `"--1"`: "ValueError", `"1-"`: "ValueError", "NaN": "ValueError",
		"Infinity": "OverflowError", "null": "TypeError", "[]": "TypeError",
	} {
		if _, err := Int(load(t, text)); failure(err) != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if _, err := Float(load(t, "1"+strings.Repeat("0", 400))); failure(err) != "OverflowError" {
		t.Error(err)
	}
	if f, err := Float(load(t, "9007199254740993")); f != 9007199254740992 || err != nil {
		t.Error(f, err)
	}
	if f, err := Float(true); f != 1 || err != nil {
		t.Error(f, err)
	}
}

func TestTemplatesThatPythonCannotFill(t *testing.T) {
	state := NewDict(Entry{"x", "ab"})
	for template, want := range map[string]string{
		"{x.upper}": "NotImplementedError", "{x:99999999999}": "MemoryError", "{x:{x:{x}}}": "ValueError",
		"{0}": "ValueError", "{}": "ValueError", "{y!z}": "KeyError", "{x.nope}": "AttributeError",
	} {
		if _, err := Render(template, state); failure(err) != want {
			t.Errorf("%s: %v, want %s", template, err, want)
		}
	}
}

func FuzzFormatMap(f *testing.F) {
	for _, s := range []string{"{x!r:>9}", "{x[0]}{{", "{x:{w}}", "{x.y[", "}", "{x:05,_.3d}", "{\xff}"} {
		f.Add(s)
	}
	state := NewDict(Entry{"x", "it's\n"}, Entry{"w", int64(4)})
	f.Fuzz(func(t *testing.T, template string) {
		if _, err := Render(template, state); err != nil && failure(err) == "" {
			t.Fatalf("not Python's error: %v", err)
		}
	})
}

func FuzzNumbers(f *testing.F) {
	for _, s := range []string{" +1_000 ", "٣.5e-2", "-inf", "nAn", "0x1p4", "1e999", "--1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := ParseInt(s)
		x, errFloat := ParseFloat(s)
		if errFloat != nil && failure(errFloat) != "ValueError" || err != nil && failure(err) != "ValueError" {
			t.Fatal(err, errFloat)
		}
		if err != nil {
			return
		}
		if y, err := Float(n); errFloat != nil || err == nil && x != y {
			t.Fatalf("int(%q) is %s, float(%q) is %s (%v)", s, Str(n), s, Str(x), errFloat)
		}
	})
}
