package views_test

import (
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views"
	"github.com/flowtui/flowtui/views/viewstest"
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

// Where not all tabs fit, a mark says on which side there are more.
func TestTabsThatDoNotFitAreMarked(t *testing.T) {
	t.Parallel()
	x := start(t, 60, 16)
	if l := strings.TrimRight(x.line("Needs you"), " "); !strings.HasPrefix(l, " ▸1") || !strings.HasSuffix(l, " …") {
		t.Errorf("more on the right: %q", l)
	}
	x.keys("7")
	if l := x.line("▸7 All"); !strings.HasPrefix(l, "… ") || strings.HasSuffix(strings.TrimRight(l, " "), "…") {
		t.Errorf("more on the left: %q", l)
	}
	x.exact(60, 16)
	x = start(t, 120, 40)
	if l := x.line("Needs you"); strings.Contains(l, "…") {
		t.Errorf("all fit: %q", l)
	}
}

// A refusal that is longer than the window is wide is read to its end, which says
// what to do. Over a sheet it takes one line.
func TestLongNoticeWraps(t *testing.T) {
	t.Parallel()
	long := "the workflow file is needed: its edges say which node follows the answer; give it with --flow FILE"
	x := start(t, 80, 24, func(b *viewstest.Backend) {
		b.Rows[2].Actions = []viewer.Offer{{Action: viewer.Answer, Target: "ask.1", Disabled: long}}
	})
	x.keys("j", "j", "i")
	x.sees("trip-2: the workflow file", "--flow FILE")
	x.exact(80, 24)
	x.keys("k") // the notice goes
	x.seesNot("--flow FILE")
	x.sees("enter open")

	x = start(t, 80, 24, func(b *viewstest.Backend) { b.NoLine = true })
	x.keys("j", "a", pause)
	before := strings.Split(x.view(), "\n")
	x.send(views.Notice(strings.Repeat("long ", 60)))
	after := strings.Split(x.view(), "\n")
	same(t, after[:len(after)-1], before[:len(before)-1])
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
