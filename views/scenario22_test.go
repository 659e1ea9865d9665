package views_test

import (
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/viewstest"
)

var odd = []string{
	"👨‍👩‍👧‍👦family", "🇩🇪🇫🇷flags", "🎙\ufe0fmic", "漢字漢字漢字漢字漢字漢字", "e\u0301a\u0300o\u0302combined", "ﾊﾝｶｸ", "tab\there", "cr\rlf\n", "nul\x00",
	"a" + strings.Repeat("\u0301", 300), "مرحبا بالعالم", strings.Repeat("long", 100), "",
}

func oddRows(b *viewstest.Backend) {
	var rows []viewer.Row
	for _, s := range odd {
		r := viewstest.Row(s, s, time.Minute, viewer.Failed)
		r.Owner, r.At, r.Error, r.Why, r.Next, r.User = s, []string{s}, s, s, s, s
		rows = append(rows, r)
	}
	b.Rows = rows
}

// column is the cell at which s starts in line.
func column(line, s string) int {
	before, _, _ := strings.Cut(line, s)
	return ansi.StringWidth(before)
}

func TestScenario22OddTextKeepsTheColumns(t *testing.T) {
	t.Parallel()
	for _, w := range []int{60, 80, 100, 119, 120, 140, 200} {
		x := start(t, w, 40, oddRows)
		lines := strings.Split(x.view(), "\n")
		same(t, len(lines), 40)
		for i, l := range lines {
			if got := ansi.StringWidth(l); got != w {
				t.Errorf("width %d, line %d: %d cells: %q", w, i, got, l)
			}
		}
		end := column(x.line("waiting for"), "age") + 3
		for i := range odd {
			l := lines[4+i]
			if got := column(l, " 1m") + 3; got != end {
				t.Errorf("width %d: age ends at %d, not %d: %q", w, got, end, l)
			}
		}
	}
}

// TestScenario22EverySizeIsExact draws every width and every height, and all
// pairs around the sizes where the layout changes.
func TestScenario22EverySizeIsExact(t *testing.T) {
	t.Parallel()
	heights := []int{1, 2, 10, minHeight - 1, minHeight, 17, 19, 24, 60}
	widths := []int{1, 40, minWidth - 1, minWidth, 80, 119, 120, 200}
	screens := map[string]func(*testing.T) *harness{
		"runs":    func(t *testing.T) *harness { return start(t, 80, 24, oddRows) },
		"run":     func(t *testing.T) *harness { x := start(t, 80, 24, oddRows); x.keys("enter"); return x },
		"approve": func(t *testing.T) *harness { x := start(t, 80, 24); x.keys("j", "a"); return x },
		"help":    func(t *testing.T) *harness { x := start(t, 80, 24); x.keys("?"); return x },
	}
	for name, open := range screens {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := open(t)
			draw := func(w, h int) {
				x.send(tea.WindowSizeMsg{Width: w, Height: h})
				x.exact(w, h)
			}
			for w := 1; w <= 200; w++ {
				for _, h := range heights {
					draw(w, h)
				}
			}
			for h := 1; h <= 60; h++ {
				for _, w := range widths {
					draw(w, h)
				}
			}
		})
	}
}

const minWidth, minHeight = 60, 16

func TestScenario22ResizingBackIsAFreshStart(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, oddRows)
	fresh := x.view()
	for _, w := range []int{12, 1, 200, 0, 80} {
		x.send(tea.WindowSizeMsg{Width: w, Height: max(1, w/3)})
		_ = x.view()
	}
	x.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	if x.view() != fresh {
		t.Fatalf("got\n%s\nwant\n%s", x.view(), fresh)
	}
}
