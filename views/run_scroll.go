package views

import (
	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/flowtui/flowtui/keymap"
	"github.com/flowtui/flowtui/views/theme"
	"github.com/flowtui/flowtui/views/widget"
)

// scroller is a cursor in a list of any length, of which only a window is
// drawn.
type scroller struct {
	cursor, top, height, n int
}

// fit says how many entries there are and how many of them can be seen.
func (s *scroller) fit(n, height int) {
	s.n, s.height = n, max(0, height)
	s.clamp()
}

// window is the range of entries that can be seen.
func (s *scroller) window() (from, to int) { return s.top, min(s.n, s.top+s.height) }

func (s *scroller) atEnd() bool { return s.cursor >= s.n-1 }

func (s *scroller) set(i int) {
	s.cursor = i
	s.clamp()
}

func (s *scroller) clamp() {
	s.cursor = max(0, min(s.cursor, s.n-1))
	s.top = min(s.top, s.cursor)
	s.top = max(s.top, s.cursor-s.height+1)
	s.top = max(0, min(s.top, s.n-s.height))
}

// key moves the cursor; it reports false for keys that mean something else.
func (s *scroller) key(msg tea.KeyMsg, k keymap.Nav) bool {
	return navigate(msg, k, s.height, func(n int) { s.set(s.cursor + n) }, func() { s.set(0) }, func() { s.set(s.n - 1) })
}

// paneKey moves a text.
func paneKey(msg tea.KeyMsg, k keymap.Nav, p *widget.TextPane) bool {
	return navigate(msg, k, p.Height(), p.Scroll, p.Top, p.Bottom)
}

// navigate turns the keys of Nav into movements by lines.
func navigate(msg tea.KeyMsg, k keymap.Nav, page int, move func(int), top, bottom func()) bool {
	switch {
	case key.Matches(msg, k.Up):
		move(-1)
	case key.Matches(msg, k.Down):
		move(1)
	case key.Matches(msg, k.PageUp):
		move(-max(1, page-1))
	case key.Matches(msg, k.PageDown):
		move(max(1, page-1))
	case key.Matches(msg, k.HalfUp):
		move(-max(1, page/2))
	case key.Matches(msg, k.HalfDown):
		move(max(1, page/2))
	case key.Matches(msg, k.Top):
		top()
	case key.Matches(msg, k.Bottom):
		bottom()
	default:
		return false
	}
	return true
}

// moveHints are the keys of Nav, for the help.
func moveHints(k keymap.Nav) []keymap.Hint {
	var hints []keymap.Hint
	for _, b := range k.Bindings() {
		hints = append(hints, keymap.Hint{Binding: b, More: true})
	}
	return hints
}

// paneLines draws a text in its room, and says how much of it is below.
func paneLines(st *theme.Styles, p *widget.TextPane, text []string, height int) []string {
	p.SetLines(text)
	p.SetHeight(height)
	if p.Below() > 0 {
		p.SetHeight(height - 1)
	}
	lines := make([]string, 0, max(0, height))
	for _, l := range p.View() {
		lines = append(lines, " "+l)
	}
	if n := p.Below(); n > 0 && height > 0 {
		lines = append(lines, st.Tone(theme.Attention).Render(" "+st.More+" "+plural(n, "more line")))
	}
	return lines
}
