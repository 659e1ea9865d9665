package widget

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCutMiddle(t *testing.T) {
	for _, c := range []struct {
		s     string
		width int
		want  string
	}{
		{"order-9", 7, "order-9"}, {"order-1234567-a7", 9, "orde…7-a7"}, {"order-1234567-a7", 10, "order…7-a7"},
		{"漢字漢字漢字", 7, "漢…字"}, {"abcdef", 2, "a…"}, {"abcdef", 0, ""},
	} {
		if got := CutMiddle(c.s, c.width, "…"); Width(got) > c.width || c.want != got {
			t.Errorf("%q in %d: %q, want %q", c.s, c.width, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s, width := Plain(rapid.String().Draw(t, "s")), rapid.IntRange(0, 30).Draw(t, "width")
		got := CutMiddle(s, width, "…")
		if Width(got) > width {
			t.Fatalf("%q is wider than %d", got, width)
		}
		if head, _, cut := strings.Cut(got, "…"); cut && !strings.Contains(s, "…") && !strings.HasPrefix(s, head) {
			t.Fatalf("%q does not begin as %q", got, s)
		}
	})
}
