package widget

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Width is the number of cells of s.
func Width(s string) int {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return ansi.StringWidth(s)
		}
	}
	return len(s) // most texts
}

// Plain makes control and bidirectional characters visible, so that text can
// neither move the cursor nor add a line. What comes from the viewer is clean
// already; this is for what is typed, and the second lock on the door.
func Plain(s string) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	if strings.IndexFunc(s, hostile) < 0 {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case hostile(r):
			return '\uFFFD'
		}
		return r
	}, s)
}

func hostile(r rune) bool {
	switch {
	case unicode.IsControl(r), r == '\u2028', r == '\u2029', r == '\u061C', r == '\uFEFF':
		return true
	case r >= '\u200E' && r <= '\u200F', r >= '\u202A' && r <= '\u202E', r >= '\u2066' && r <= '\u2069':
		return true
	}
	return false
}

// Cut shortens s to at most width cells, ending in tail when something is
// left out. s may be styled.
func Cut(s string, width int, tail string) string {
	if width <= 0 {
		return ""
	}
	if Width(s) <= width {
		return s
	}
	if Width(tail) > width {
		tail = ""
	}
	return ansi.Truncate(s, width, tail)
}

// CutLeft shortens plain text to at most width cells at its start, where head
// stands for what is left out.
func CutLeft(s string, width int, head string) string {
	if width <= 0 {
		return ""
	}
	w := Width(s)
	if w <= width {
		return s
	}
	n := w - width + Width(head)
	left := ansi.TruncateLeft(s, n, head)
	for ; n < w && Width(left) > width; n++ { // a wide character stands across the cut
		left = ansi.TruncateLeft(s, n+1, head)
	}
	return Cut(left, width, "")
}

// CutMiddle shortens plain text to at most width cells in its middle, where mark
// stands for what is left out: both ends of a name tell it from others.
func CutMiddle(s string, width int, mark string) string {
	room := width - Width(mark)
	if Width(s) <= width || room < 2 {
		return Cut(s, width, mark)
	}
	end := room / 2
	return Cut(s, room-end, "") + mark + CutLeft(s, end, "")
}

// Pad fills s with spaces up to width cells.
func Pad(s string, width int) string {
	return s + Space(width-Width(s))
}

// PadLeft puts spaces before s up to width cells.
func PadLeft(s string, width int) string {
	return Space(width-Width(s)) + s
}

// Fit makes s exactly width cells wide.
func Fit(s string, width int, tail string) string {
	if w := Width(s); w <= width {
		return s + Space(width-w)
	}
	return Pad(Cut(s, width, tail), width)
}

// Space is n spaces, none when n is negative.
func Space(n int) string { return strings.Repeat(" ", max(0, n)) }

// Rule is a line of width cells.
func Rule(glyph string, width int) string { return strings.Repeat(glyph, max(0, width)) }

// Ends puts left and right at the two ends of a line of width cells. When both
// do not fit, left is cut first down to a third of the line, then right.
func Ends(left, right string, width int, tail string) string {
	if right == "" {
		return Fit(left, width, tail)
	}
	room := width - Width(right) - 1
	if room < width/3 {
		room = min(Width(left), width/3)
		right = Cut(right, max(0, width-room-1), tail)
	}
	left = Fit(left, max(0, room), tail)
	return Fit(left+" "+PadLeft(right, width-Width(left)-1), width, tail)
}

// Wrap breaks plain text into lines of at most width cells, at spaces where
// there are any. Nothing is lost: spaces stay, long words are broken.
func Wrap(s string, width int) []string {
	if width <= 0 {
		return nil
	}
	var lines []string
	for _, line := range strings.Split(s, "\n") {
		lines = append(lines, strings.Split(ansi.Wrap(Plain(line), width, ""), "\n")...)
	}
	return lines
}

// Break breaks plain text into lines of at most width cells, anywhere: for
// values, where every space counts.
func Break(s string, width int) []string {
	if width <= 0 {
		return nil
	}
	return strings.Split(ansi.Hardwrap(Plain(s), width, true), "\n")
}

// Fill makes lines exactly height lines of exactly width cells.
func Fill(lines []string, width, height int, tail string) []string {
	out := make([]string, 0, max(0, height))
	for i := range max(0, height) {
		line := ""
		if i < len(lines) {
			line = lines[i]
		}
		out = append(out, Fit(line, width, tail))
	}
	return out
}

// Safe keeps styles (SGR sequences) and makes every other control character
// visible. It is the last thing that happens to a line.
func Safe(line string) string {
	if utf8.ValidString(line) && strings.IndexFunc(line, hostile) < 0 {
		return line
	}
	var b strings.Builder
	for len(line) > 0 {
		if n := styleLen(line); n > 0 {
			b.WriteString(line[:n])
			line = line[n:]
			continue
		}
		_, n := utf8.DecodeRuneInString(line)
		b.WriteString(Plain(line[:n]))
		line = line[n:]
	}
	return b.String()
}

// styleLen is the length of the SGR sequence that s begins with, 0 for none.
func styleLen(s string) int {
	rest, ok := strings.CutPrefix(s, "\x1b[")
	if !ok {
		return 0
	}
	n := len(rest) - len(strings.TrimLeft(rest, "0123456789;"))
	if n == len(rest) || rest[n] != 'm' {
		return 0
	}
	return len("\x1b[") + n + 1
}
