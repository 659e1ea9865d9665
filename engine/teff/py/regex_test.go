package py

import (
	"strings"
	"testing"
	"time"
)

// What Python 3.11 finds, asked there: the match and its groups.
func TestRegex(t *testing.T) {
	for _, c := range [][3]string{
		{"^[A-Z]{2}-[0-9]{4}$", "AB-1234\n", `["AB-1234"]`},
		{`\Aab\Z`, "ab\n", `null`},
		{`(?P<day>\d+)(x)?-(?P=day)`, "\u0663-\u0663", `["\u0663-\u0663", "\u0663", null]`},
		{"(x)|(?P<n>y)", "y", `["y", null, "y"]`},
		{`\w+`, "\u00bd\u00e9_\u0301", `["\u00bd\u00e9_"]`},
		{`\w+`, "\u203f\u00b2x", `["\u00b2x"]`},
		{`\s`, "\x1c", `["\u001c"]`},
		{`[^\W\d]+`, "12ab", `["ab"]`},
		{`[\D\s]`, "5 ", `[" "]`},
		{`\bа`, "\u0431\u0430 \u0430", `["\u0430"]`},
		{`\B`, "", `null`},
		{`(?a)\w+`, "\u00e9a1", `["a1"]`},
		{"(?i)\u017ftraSSe", "STRASSE", `["STRASSE"]`},
		{"(?i)[k-m]+", "K", `["K"]`},
		{"(?i)i", "\u0130", `["\u0130"]`},
		{"(?i)\u00df", "\u1e9e", `["\u1e9e"]`},
		{"(?<=ab|cd)e", "cde", `["e"]`},
		{"(a)(?(1)b|c)", "ab", `["ab", "a"]`},
		{"(?x) a b # c", "ab", `["ab"]`},
		{"a{,2}b", "aab", `["aab"]`},
		{"a{b", "a{b", `["a{b"]`},
		{"x{2}{", "xx{", `["xx{"]`},
		{"a++a", "aaa", `null`},
		{"(?>a*)b", "aab", `["aab"]`},
		{"(?s:.)(?-s:.)", "\n\n", `null`},
		{"(?m)^b$", "a\nb\nc", `["b"]`},
		{`\x41\u00e9\101\0`, "A\u00e9A\x00", `["A\u00e9A\u0000"]`},
		{"[]a]+", "a]", `["a]"]`},
		{"[a-]+", "a-", `["a-"]`},
		{"(a*)*", "b", `["", ""]`},
		{"(?:a|ab)(?:c|bcd)(d*)", "abcd", `["abcd", ""]`},
		{".", "\n", `null`},
		{"", "abc", `[""]`},
		{"a|", "b", `[""]`},
		{`\ud83c`, "\xed\xa0\xbc", `["\ud83c"]`},
		{"(?i:A)b", "aB", `null`},
	} {
		re, err := Compile(c[0])
		if err != nil {
			t.Errorf("%s: %v", c[0], err)
			continue
		}
		groups, err := re.Search(c[1])
		got := Value(nil)
		if groups != nil {
			got = NewList(groups...)
		}
		if err != nil || Repr(got) != Repr(load(t, c[2])) {
			t.Errorf("%s in %q: %s %v, want %s", c[0], c[1], Repr(got), err, c[2])
		}
		if n := re.Groups(); groups != nil && n != len(groups)-1 {
			t.Errorf("%s: %d groups", c[0], n)
		}
	}
}

func TestRegexesThatPythonRefuses(t *testing.T) {
	for pattern, want := range map[string]string{
		"(a":        "missing ), unterminated subpattern at position 0",
		"a)":        "unbalanced parenthesis at position 1",
		"[a":        "unterminated character set at position 0",
		"[b-a]":     "bad character range b-a at position 1",
		"*a":        "nothing to repeat at position 0",
		"a**":       "multiple repeat at position 2",
		"^*":        "nothing to repeat at position 1",
		"a{2,1}":    "min repeat greater than max repeat at position 1",
		`\q`:        `bad escape \q at position 0`,
		`\`:         "bad escape (end of pattern) at position 0",
		`\1`:        "invalid group reference 1 at position 1",
		`(\1)`:      "cannot refer to an open group at position 1",
		"a(?i)":     "global flags not at the start of the expression at position 1",
		"(?<=a+)b":  "look-behind requires fixed-width pattern",
		"(?<n>a)":   "unknown extension ?<n at position 1",
		"(?P<1>a)":  "bad character in group name '1' at position 4",
		"(?P=n)":    "unknown group name 'n' at position 4",
		"(?(2)a|b)": "invalid group reference 2 at position 3",
		"\n\n(":     "missing ), unterminated subpattern at position 2 (line 3, column 1)",
	} {
		_, err := Compile(pattern)
		if failure(err) != "error" || err.(*Error).Message != want {
			t.Errorf("%q: %v, want %s", pattern, err, want)
		}
	}
	if _, err := Compile(strings.Repeat("(", 2000) + strings.Repeat(")", 2000)); failure(err) != "RecursionError" {
		t.Error(err)
	}
	if _, err := Compile("a{99999999999}"); failure(err) != "OverflowError" {
		t.Error(err)
	}
}

func TestASlowRegexIsStopped(t *testing.T) {
	re, err := Compile("(a|aa)+$")
	if err != nil {
		t.Fatal(err)
	}
	if re.re.MatchTimeout != matchTime {
		t.Error("a search has no time limit")
	}
	re.re.MatchTimeout = 20 * time.Millisecond
	if _, err := re.Search(strings.Repeat("a", 60) + "b"); failure(err) != "TimeoutError" {
		t.Errorf("%v", err)
	}
}

func FuzzCompile(f *testing.F) {
	for _, s := range []string{`(?P<a>\w+)(?P=a)`, `[^\W\d-z]++(?<!\b)`, "(?xi-s:a{,3}#\n)", `\u00e9\0\12(?(1)a|b)`} {
		f.Add(s, "ab\n")
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		re, err := Compile(pattern)
		if err != nil {
			if e, ok := err.(*Error); !ok || strings.Contains(e.Message, "cannot be used") {
				t.Fatalf("%q: %v", pattern, err)
			}
			return
		}
		re.re.MatchTimeout = 50 * time.Millisecond
		if groups, err := re.Search(text); err == nil && groups != nil && len(groups) != re.Groups()+1 {
			t.Fatalf("%q has %d groups, found %d", pattern, re.Groups(), len(groups))
		}
	})
}
