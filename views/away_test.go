package views_test

import (
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/flowtui/flowtui/viewer"
)

// cursor is the run under the cursor of the list.
func (x *harness) cursor() string {
	x.Helper()
	for _, l := range strings.Split(x.view(), "\n") {
		if f := strings.Fields(l); strings.HasPrefix(l, "▸") && len(f) > 3 {
			return f[3] // after the mark and the badge
		}
	}
	x.Fatal(x.view())
	return ""
}

// away lets order-9 leave the list while its sheet is open, and closes the sheet.
func (x *harness) away() (back func()) {
	x.keys("j", "a", pause)
	touch(x.backend, "order-9", func(r *viewer.Row) { r.Badges = []viewer.Badge{viewer.Running} })
	x.changed()
	x.keys("esc")
	return func() {
		touch(x.backend, "order-9", func(r *viewer.Row) { r.Badges = []viewer.Badge{viewer.Paused} })
		x.changed()
	}
}

// The cursor goes back to a run that left only while nobody can have begun to work
// on the one under it.
func TestCursorDoesNotJumpFromUnderTheHands(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do   func(x *harness)
		back bool
	}{
		"at once":          {func(*harness) {}, true},
		"copied its id":    {func(x *harness) { x.keys("y") }, false},
		"looked at it":     {func(x *harness) { x.keys("enter", pause, "esc") }, false},
		"opened its sheet": {func(x *harness) { x.keys("i", pause, "esc") }, false},
		"some time later":  {func(x *harness) { x.wait(4 * time.Second) }, false},
		"resized, later": {func(x *harness) {
			x.wait(2 * time.Second)
			x.send(tea.WindowSizeMsg{Width: 90, Height: 30})
			x.wait(2 * time.Second)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := start(t, 80, 24)
			back := x.away()
			if l := x.cursor(); l != "trip-2" {
				t.Fatal(l)
			}
			c.do(x)
			back()
			want := "trip-2"
			if c.back {
				want = "order-9"
			}
			same(t, x.cursor(), want)
		})
	}
}
