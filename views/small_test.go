package views_test

import (
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/flowtui/flowtui/viewer"
)

// A window that is too small for the screens shows nothing of them, so that no
// key may reach them, not even one that moves.
func TestTooSmallWindowTakesNoKeys(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]tea.WindowSizeMsg{
		"narrow": {Width: 59, Height: 100}, "low": {Width: 200, Height: 15}, "no size": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := start(t, 80, 24)
			x.keys("j")
			before := x.view()
			x.send(size)
			for _, k := range []string{"a", pause, "enter", pause, "q", "?", "G", "/", "esc"} {
				x.keys(k)
			}
			x.paste("text")
			x.seesNot("order-9")
			same(t, len(x.backend.Acted), 0)
			same(t, x.quit, false)
			x.send(tea.WindowSizeMsg{Width: 80, Height: 24})
			same(t, x.view(), before)

			x.keys(pause, "a", pause) // nor does a sheet get one
			before = x.view()
			x.send(size)
			x.keys(pause, "enter", pause, "ctrl+d", "tab", "x", "esc", pause)
			same(t, len(x.backend.Acted), 0)
			x.send(tea.WindowSizeMsg{Width: 80, Height: 24})
			same(t, x.view(), before)
			x.keys("enter", pause) // who pressed on when the window grew has to look first
			same(t, len(x.backend.Acted), 0)
			x.sees("look, then press enter again")
			x.keys("enter")
			same(t, len(x.backend.Acted), 1)
			same(t, x.backend.Acted[0].Action, viewer.Approve)

			x.send(size)
			x.keys("ctrl+c")
			same(t, x.quit, true)
		})
	}
}

// The end of text that was pasted while the window was too small is no key either.
func TestPasteOverTheEndOfATooSmallWindow(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	x.keys("j")
	x.send(tea.WindowSizeMsg{Width: 59, Height: 24})
	x.burst("some text")
	x.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	x.burst("a")
	x.sees("pasted text does nothing here")
	x.keys(pause, "a", pause)
	x.sees("wants your approval")
}
