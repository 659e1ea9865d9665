package views

import (
	"strings"

	"github.com/flowtui/flowtui/views/theme"
	"github.com/flowtui/flowtui/views/widget"
)

// manyLines is from how many lines on a tree starts with only its first level
// open.
const manyLines = 300

// stateTree is a value drawn as lines that can be folded. Only what can be seen is
// drawn, so its size does not matter.
type stateTree struct {
	scroller
	lines              []changedLine
	end                []int           // the line after all that is below a line
	folded             map[string]bool // what was folded or opened by hand, by path
	shown              []int           // the lines that are not folded away
	changes            bool            // show only what changed
	plus, tilde, minus int             // lines that differ by themselves
}

// set replaces the lines. The cursor stays on its path, or on the closest one
// above it that is still there.
func (t *stateTree) set(lines []changedLine) {
	path := t.path()
	t.lines, t.end = lines, ends(lines)
	t.plus, t.tilde, t.minus = tally(lines)
	t.unfold()
	t.find(path)
}

// ends gives for each line the index of the first one that is not below it.
func ends(lines []changedLine) []int {
	out := make([]int, len(lines))
	var open []int
	for i := range lines {
		for len(open) > 0 && lines[open[len(open)-1]].Depth >= lines[i].Depth {
			out[open[len(open)-1]] = i
			open = open[:len(open)-1]
		}
		open = append(open, i)
	}
	for _, i := range open {
		out[i] = len(lines)
	}
	return out
}

// unfold makes anew which lines are shown.
func (t *stateTree) unfold() {
	t.shown = t.shown[:0]
	for i := 0; i < len(t.lines); {
		if t.changes && t.lines[i].change == same && i > 0 {
			i = t.end[i]
			continue
		}
		t.shown = append(t.shown, i)
		if t.closed(i) {
			i = t.end[i]
		} else {
			i++
		}
	}
	t.fit(len(t.shown), t.height)
}

// changed reports that any line differs: the first one contains all others, folded
// away or not.
func (t *stateTree) changed() bool { return len(t.lines) > 0 && t.lines[0].change != same }

// branch reports that there are lines below the one at i.
func (t *stateTree) branch(i int) bool { return t.end[i] > i+1 }

func (t *stateTree) closed(i int) bool {
	if !t.branch(i) {
		return false
	}
	if by, ok := t.folded[t.lines[i].Path]; ok {
		return by
	}
	return !t.changes && len(t.lines) > manyLines && t.lines[i].Depth > 0
}

// fold closes or opens the line at i.
func (t *stateTree) fold(i int, closed bool) {
	if !t.branch(i) {
		return
	}
	if t.folded == nil {
		t.folded = map[string]bool{}
	}
	t.folded[t.lines[i].Path] = closed
	at := t.at()
	t.unfold()
	t.goTo(at)
}

// at is the line under the cursor, -1 when there is none.
func (t *stateTree) at() int {
	if t.cursor < 0 || t.cursor >= len(t.shown) {
		return -1
	}
	return t.shown[t.cursor]
}

func (t *stateTree) path() string {
	if i := t.at(); i >= 0 {
		return t.lines[i].Path
	}
	return ""
}

// parent is the line that contains the one at i, or i itself at the top.
func (t *stateTree) parent(i int) int {
	for p := i - 1; p >= 0; p-- {
		if t.lines[p].Depth < t.lines[i].Depth {
			return p
		}
	}
	return i
}

// toggle opens what is closed and the other way round.
func (t *stateTree) toggle() {
	if i := t.at(); i >= 0 {
		t.fold(i, !t.closed(i))
	}
}

// out closes the line under the cursor, or goes to the one that contains it.
func (t *stateTree) out() {
	i := t.at()
	switch {
	case i < 0:
	case t.branch(i) && !t.closed(i):
		t.fold(i, true)
	default:
		t.goTo(t.parent(i))
	}
}

// in opens the line under the cursor, or goes into it.
func (t *stateTree) in() {
	i := t.at()
	switch {
	case i < 0:
	case t.closed(i):
		t.fold(i, false)
	case t.branch(i):
		t.scroller.set(t.cursor + 1)
	}
}

// goTo puts the cursor on the line at i, or on what it is folded away in.
func (t *stateTree) goTo(i int) {
	best := 0
	for n, line := range t.shown {
		if line > i {
			break
		}
		best = n
	}
	t.scroller.set(best)
}

// find puts the cursor on a path, or on the longest path that it begins with.
func (t *stateTree) find(path string) {
	best, length := -1, -1
	for i, l := range t.lines {
		if len(l.Path) > length && strings.HasPrefix(path, l.Path) {
			best, length = i, len(l.Path)
		}
	}
	if best >= 0 {
		t.goTo(best)
	}
}

// search goes to the next line that contains text, in the direction by, and
// opens what it is folded away in. It reports false when no line does.
func (t *stateTree) search(text string, from, by int) bool {
	n := len(t.lines)
	text = strings.ToLower(text)
	for step := range n {
		i := ((from+by*step)%n + n) % n
		l := t.lines[i]
		if !strings.Contains(strings.ToLower(l.Key), text) && !strings.Contains(strings.ToLower(l.Text), text) {
			continue
		}
		if t.changes && l.change == same {
			continue
		}
		for p := i; p > 0; {
			if p = t.parent(p); t.closed(p) {
				t.folded = opened(t.folded, t.lines[p].Path)
			}
			if t.lines[p].Depth == 0 {
				break
			}
		}
		t.unfold()
		t.goTo(i)
		return true
	}
	return false
}

func opened(m map[string]bool, path string) map[string]bool {
	if m == nil {
		m = map[string]bool{}
	}
	m[path] = false
	return m
}

// line draws the nth of the shown lines.
func (t *stateTree) line(st *theme.Styles, n, width int) string {
	i := t.shown[n]
	l := t.lines[i]
	mark := " "
	if t.branch(i) {
		mark = st.Opened
		if t.closed(i) {
			mark = st.Closed
		}
	}
	lead := widget.Space(2)
	if n == t.cursor {
		lead = widget.Fit(st.Cursor, 2, "")
	}
	tone := theme.Normal
	switch l.change {
	case added:
		tone = theme.OK
	case altered:
		tone = theme.Attention
	case removed:
		tone = theme.Danger
	}
	head := string(l.change) + " " + widget.Space(min(2*l.Depth, width/3)) + mark + " "
	key := widget.Plain(l.Key)
	if key != "" {
		key = widget.Cut(key, max(1, width/2), st.Ellipsis) + "  "
	}
	text := widget.Plain(l.Text)
	if l.Masked {
		text += "   (masked)"
	}
	if n == t.cursor {
		return st.Selected.Render(widget.Fit(lead+head+key+text, width, st.Ellipsis))
	}
	room := max(0, width-widget.Width(lead+head))
	rest := widget.Cut(key+text, room, st.Ellipsis)
	if tone == theme.Normal && l.Masked {
		tone = theme.Muted
	}
	return widget.Cut(lead+st.Tone(tone).Render(head+rest), width, "")
}
