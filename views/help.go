package views

import (
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/flowtui/flowtui/keymap"
	"github.com/flowtui/flowtui/views/widget"
)

// help is the overlay that lists every key of the layer under it, with the
// reason for those that do nothing now.
type help struct {
	*env
	of            string
	hints         []keymap.Hint
	pane          widget.TextPane
	width, height int
}

func newHelp(e *env, of string, hints []keymap.Hint) *help {
	return &help{env: e, of: of, hints: hints}
}

// openHelp explains the keys of the layer in front.
func (a *App) openHelp() tea.Cmd {
	front := a.frontLayer()
	hints := front.screen.Help()
	if !front.sheet {
		g := a.keys.Global
		hints = append(hints, keymap.Hint{Binding: g.Quit}, keymap.Hint{Binding: g.Suspend}, keymap.Hint{Binding: g.Kill})
	}
	title := front.screen.Title()
	return a.sheet(func(e *env) Screen { return newHelp(e, title, hints) })
}

func isHelp(s Screen) bool {
	_, ok := s.(*help)
	return ok
}

func (h *help) Init() tea.Cmd       { return nil }
func (h *help) Title() string       { return "help" }
func (h *help) Typing() bool        { return false }
func (h *help) Help() []keymap.Hint { return nil }

func (h *help) Update(msg tea.Msg) tea.Cmd {
	k, ok := msg.(tea.KeyMsg)
	if !ok {
		return nil
	}
	keys := h.keys.Sheet
	switch {
	case key.Matches(k, keys.Up):
		h.pane.Scroll(-1)
	case key.Matches(k, keys.Down):
		h.pane.Scroll(1)
	case key.Matches(k, keys.PageUp):
		h.pane.Page(-1)
	case key.Matches(k, keys.PageDown):
		h.pane.Page(1)
	case key.Matches(k, keys.Top):
		h.pane.Top()
	case key.Matches(k, keys.Bottom):
		h.pane.Bottom()
	case key.Matches(k, keys.Leave, keys.Help, keys.Confirm, h.keys.Global.Quit):
		return h.leave()
	}
	return nil
}

func (h *help) SetSize(w, ht int) {
	h.width, h.height = min(w, 78), ht
	h.pane.SetHeight(max(0, ht-3))
	h.pane.SetLines(h.lines())
}

func (h *help) lines() []string {
	inner := max(0, h.width-4)
	var lines []string
	for _, hint := range h.hints {
		text := widget.Fit(h.styles.KeyName(hint.Binding.Help().Key), 12, "") + widget.Plain(hint.Binding.Help().Desc)
		if hint.Off == "" {
			lines = append(lines, widget.Fit(text, inner, h.styles.Ellipsis))
			continue
		}
		why := widget.Wrap(text+": not now, "+hint.Off, inner)
		for i, l := range why {
			if i > 0 {
				l = widget.Fit(widget.Space(12)+strings.TrimSpace(l), inner, h.styles.Ellipsis)
			}
			lines = append(lines, h.styles.Muted.Render(l))
		}
	}
	return lines
}

func (h *help) View() string {
	lines := h.pane.View()
	foot := "esc closes"
	if h.pane.Below() > 0 {
		foot = "esc closes   j more " + h.styles.More
	}
	lines = append(lines[:len(lines):len(lines)], h.styles.Muted.Render(foot))
	return strings.Join(widget.Box(h.styles, "keys: "+h.of, lines, h.width), "\n")
}
