package views

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/widget"
)

// list shows the open things, each with what tells it from the others.
func (p *picker) list(width int, low bool) []string {
	if len(p.open) == 0 {
		return widget.Wrap(p.nothing(), width)
	}
	lines := []string{fmt.Sprintf("%d are open. Which one?", len(p.open))}
	if len(p.open) == 1 {
		lines[0] = "1 is open. Is it this one?"
	}
	if p.on != (target{}) {
		lines = append(widget.Wrap(p.on.id+" is not open any more.", width), lines...)
	}
	lines = append(lines, widget.Wrap("enter shows all of it, before anything is decided", width)...)
	return append(lines, p.window(p.at, len(p.open), low, func(i int) string {
		return p.choice(p.summary(p.open[i], width-2), i == p.at, width)
	})...)
}

// window draws those of n things to choose from that stand around the cursor, and
// says how many more there are.
func (p *picker) window(cursor, n int, low bool, draw func(int) string) (lines []string) {
	most := mostOpen
	if low {
		most = fewOpen
	}
	from, to := around(cursor, n, most)
	if from > 0 {
		lines = append(lines, p.styles.Muted.Render(fmt.Sprintf("  %d above", from)))
	}
	for i := from; i < to; i++ {
		lines = append(lines, draw(i))
	}
	if to < n {
		lines = append(lines, p.styles.Muted.Render(fmt.Sprintf("  %d below", n-to)))
	}
	return lines
}

// atMost is how many lines a text field has, one in a low window.
func atMost(lines int, low bool) int {
	if low {
		return 1
	}
	return lines
}

// summary is one open thing on a line, cut so that its id and both ends of what
// is asked stay.
func (p *picker) summary(e viewer.ReviewEntry, width int) string {
	const least = 16 // cells for the arguments
	dots := p.styles.Ellipsis
	id := "  " + bothEnds(e.ID, width/3, dots) + "  "
	text := bothEnds(waitingText(e.Waiting), width-widget.Width(id)-least, dots) + id
	room := width - widget.Width(text)
	if len(e.Args) > 0 {
		return text + bothEnds(e.Args, room, dots)
	}
	what := strings.Join(nonEmpty(prefixed("node ", e.Node), prefixed("sha256 ", widget.Cut(e.Digest, 8, ""))), "  ")
	return text + bothEnds(what, room, dots)
}

// mostOpen is how many things to choose from are listed at a time, around the
// cursor, and fewOpen how many in a low window.
const (
	mostOpen = 8
	fewOpen  = 3
)

// around is the window of n things, at most most of them, around at.
func around(at, n, most int) (from, to int) {
	from = max(0, min(at-most/2, n-most))
	return from, min(n, from+most)
}

// bothEnds is a text of at most width cells of which both ends are shown: what two
// arguments differ in may be the last of them.
func bothEnds[T ~string | ~[]byte](text T, width int, mark string) string {
	width = max(8, width)
	n := width * utf8.UTFMax // what is drawn in every frame must not depend on how large a value is
	if len(text) <= 2*n {
		return widget.CutMiddle(widget.Plain(string(text)), width, mark)
	}
	head, tail := string(text[:n]), strings.ToValidUTF8(string(text[len(text)-n:]), "")
	return widget.CutMiddle(widget.Plain(strings.ToValidUTF8(head, "")+tail), width, mark)
}

// start is as much of s as a line of width cells can show: what is drawn in
// every frame must not depend on how large a value is.
func start[T ~string | ~[]byte](s T, width int, tail string) T {
	n := max(0, width) * utf8.UTFMax
	if len(s) <= n {
		return s
	}
	for back := 1; back < utf8.UTFMax && n > 0 && !utf8.RuneStart(s[n]); back++ {
		n--
	}
	return T(string(s[:n]) + tail)
}
