package viewer

import (
	"fmt"
	"strings"
	"testing"
)

func TestLines(t *testing.T) {
	m := maskJSON([]byte(`{"amount":249.00,"card":"4242424242424242","list":[1,{"a.b":"x"},[],{}],"dup":1,"dup":2,"one":[true]}`))
	lines, cut := linesOf(m, browsing)
	var got []string
	for _, l := range lines {
		got = append(got, fmt.Sprintf("%d|%s|%s|%s|%d|%v", l.Depth, l.Path, l.Key, l.Text, l.Children, l.Masked))
	}
	want := []string{
		"0|||{6 keys}|11|false",
		"1|amount|amount|249.00|0|false",
		"1|card|card|••••4242|0|true",
		"1|list|list|[4 items]|5|false",
		"2|list[0]|[0]|1|0|false",
		"2|list[1]|[1]|{1 key}|1|false",
		`3|list[1]."a.b"|a.b|"x"|0|false`,
		"2|list[2]|[2]|[]|0|false",
		"2|list[3]|[3]|{}|0|false",
		"1|dup|dup|1|0|false",
		"1|dup#2|dup|2|0|false",
		"1|one|one|[1 item]|1|false",
		"2|one[0]|[0]|true|0|false",
	}
	want[0] = fmt.Sprintf("0|||{6 keys}|%d|false", len(want)-1)
	if strings.Join(got, "\n") != strings.Join(want, "\n") || cut != 0 {
		t.Errorf("cut %d, got\n%s", cut, strings.Join(got, "\n"))
	}
}

func TestLinesAreBounded(t *testing.T) {
	huge := []byte("[" + strings.Repeat("1,", 1_000_000) + "1]")
	lines, cut := linesOf(maskedJSON{JSON: huge}, browsing)
	if len(lines) != 20_000 || cut != 980_002 || lines[0].Children != 1_000_001 || lines[0].Text != "[1000001 items]" {
		t.Errorf("%d lines, %d cut, root %+v", len(lines), cut, lines[0])
	}
	long := []byte(`{"s":"` + strings.Repeat(`\u00e9`, 100_000) + `"}`)
	lines, _ = linesOf(maskedJSON{JSON: long}, browsing)
	if n := len([]rune(lines[1].Text)); n > 2100 || !strings.Contains(lines[1].Text, "more") {
		t.Errorf("a scalar of %d characters", n)
	}
	deep := []byte(strings.Repeat("[", 5_000_000) + strings.Repeat("]", 5_000_000))
	if lines, cut = linesOf(maskedJSON{JSON: deep}, browsing); len(lines) != 1001 || cut != 5_000_000-1001 {
		t.Errorf("%d lines, %d cut", len(lines), cut)
	}
}

// Nothing of what is approved is left out: the lines hold every character.
func TestReviewLinesHideNothing(t *testing.T) {
	text := strings.Repeat("0123456789é", 1000)
	lines, cut := linesOf(maskedJSON{JSON: quote(text)}, reviewing)
	var all strings.Builder
	for _, l := range lines {
		all.WriteString(l.Text)
	}
	if all.String() != `"`+text+`"` || cut != 0 {
		t.Errorf("cut %d, %d characters of %d", cut, all.Len(), len(text))
	}
	key := strings.Repeat("0123456789é", 100)
	if lines, _ = linesOf(maskedJSON{JSON: []byte(`{"` + key + `":1,"` + key + `2":2}`)}, reviewing); lines[1].Key != key || lines[2].Key != key+"2" {
		t.Errorf("a key is cut: %q, %q", lines[1].Key, lines[2].Key)
	}
	many := []byte("[" + strings.Repeat(`{"a":1},`, 30_000) + "1]")
	if lines, cut = linesOf(maskedJSON{JSON: many}, reviewing); len(lines) != 60_002 || cut != 0 {
		t.Errorf("%d lines, %d cut", len(lines), cut)
	}
}
