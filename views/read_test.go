package views_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/viewstest"
)

// of gives what is approved so many lines.
func of(n int) func(*viewer.ReviewEntry) {
	return func(e *viewer.ReviewEntry) {
		e.Lines = []viewer.Line{{Text: fmt.Sprintf("{%d keys}", n), Children: n}}
		for i := range n {
			e.Lines = append(e.Lines, viewer.Line{Depth: 1, Key: fmt.Sprintf("k%03d", i), Text: "v"})
		}
	}
}

// Lines that were never drawn were not on the screen, however the text was moved
// over them; who then looks at them can approve.
func TestLinesThatWereNotDrawnWereNotRead(t *testing.T) {
	t.Parallel()
	for name, pass := range map[string]func(x *harness){
		"in a window too small to show them": func(x *harness) {
			x.send(tea.WindowSizeMsg{Width: 59, Height: 200})
			x.wait(10 * time.Second)
			x.send(tea.WindowSizeMsg{Width: 80, Height: 24})
		},
		"in a large window that was there for a moment": func(x *harness) {
			x.send(tea.WindowSizeMsg{Width: 80, Height: 200})
			x.send(tea.WindowSizeMsg{Width: 80, Height: 24})
		},
		"under the help": func(x *harness) {
			x.keys("?")
			x.send(tea.WindowSizeMsg{Width: 80, Height: 200})
			x.wait(10 * time.Second)
			x.send(tea.WindowSizeMsg{Width: 80, Height: 24})
			x.keys("esc")
		},
		"paged past to the help": func(x *harness) {
			for range 20 {
				x.burst("pgdown", "?")
				x.wait(10 * time.Second)
				x.burst("esc")
			}
		},
		"a key held down, in one message": func(x *harness) {
			x.send(keyMsg(strings.Repeat(" ", 20)))
			x.run()
		},
		"many keys at once": func(x *harness) {
			for range 20 {
				x.burst("pgdown")
			}
		},
		"a change of the run between keys at once": func(x *harness) {
			for range 20 {
				x.burst("pgdown")
				x.changed()
			}
		},
		"a jump to the end": func(x *harness) { x.keys("G") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := start(t, 80, 24, approving(of(120)))
			x.keys("j", "a", pause)
			x.sees("not yet, read to the end first")
			pass(x)
			x.keys(pause)
			x.sees("enter approve: not yet, read to the end first")
			x.keys("enter", pause, "enter", pause)
			same(t, len(x.backend.Acted), 0)
			x.keys("g")
			for range 30 {
				x.keys("pgdown")
			}
			x.seesNot("not yet", "not on the screen yet")
			x.keys(pause, "enter")
			same(t, len(x.backend.Acted), 1)
		})
	}
}

// The sheet says how much was passed too quickly, and where.
func TestPassedLinesAreCounted(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, approving(of(60)))
	x.keys("j", "a", pause)
	rows := strings.Count(x.view(), "  v ")
	for range 20 {
		x.burst("pgdown")
	}
	last := strings.Count(x.view(), "  v ")
	x.sees(fmt.Sprintf("%d lines above were not on the screen yet", 60-rows-last))
}

// A call in doubt is not run again either before what it is made with was drawn.
func TestRerunIsNotReadByKeysAtOnce(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, func(b *viewstest.Backend) {
		p := b.Plans[viewstest.Ref("order-7")]
		p.InDoubt = append([]viewer.Call(nil), p.InDoubt...)
		p.InDoubt[0].Args = []byte(`{"to":"` + strings.Repeat("0123456789", 200) + `"}`)
		b.Plans[viewstest.Ref("order-7")] = p
	})
	x.keys("R", pause, "j", "enter", pause)
	x.send(keyMsg(strings.Repeat(" ", 20)))
	x.run()
	x.keys(pause)
	x.sees("recover, run again: not yet, read to the end first")
	x.keys("enter", pause)
	same(t, len(x.backend.Acted), 0)
	x.keys("g")
	for range 20 {
		x.keys("pgdown")
	}
	x.keys(pause, "enter")
	same(t, len(x.backend.Acted), 1)
}

// Who reads at a person's pace is never kept out.
func TestReaderIsNotKeptOut(t *testing.T) {
	t.Parallel()
	pages := func(x *harness, n int) {
		for range n {
			x.keys("pgdown")
		}
	}
	held := func(x *harness, n int) { // line by line, as fast as a key comes that is held down
		for range n {
			x.now = x.now.Add(30 * time.Millisecond)
			x.burst("j")
		}
	}
	for name, c := range map[string]struct {
		w, h int
		args func(*viewer.ReviewEntry)
		read func(x *harness)
	}{
		"no arguments":       {80, 24, func(e *viewer.ReviewEntry) { e.Lines, e.Args, e.Bytes = nil, nil, 0 }, func(*harness) {}},
		"a short one":        {80, 24, func(*viewer.ReviewEntry) {}, func(*harness) {}},
		"the least window":   {60, 16, of(30), func(x *harness) { pages(x, 60) }},
		"a very tall window": {80, 500, of(300), func(*harness) {}},
		"pages":              {80, 24, of(120), func(x *harness) { pages(x, 20) }},
		"a huge argument":    {80, 24, of(20000), func(x *harness) { pages(x, 3000) }},
		"lines, key held":    {80, 24, of(120), func(x *harness) { held(x, 200) }},
		"upwards": {80, 24, of(120), func(x *harness) {
			x.keys("G")
			for range 20 {
				x.keys("pgup")
			}
		}},
		"with the help between": {80, 24, of(120), func(x *harness) {
			for range 20 {
				x.keys("pgdown", "?", "esc")
			}
		}},
		"while the run changes": {80, 24, of(120), func(x *harness) {
			for range 20 {
				x.keys("pgdown")
				x.changed()
			}
		}},
		"resized on the way": {80, 24, of(120), func(x *harness) {
			pages(x, 10)
			x.send(tea.WindowSizeMsg{Width: 59, Height: 24})
			x.keys(pause)
			x.send(tea.WindowSizeMsg{Width: 70, Height: 40})
			x.keys(pause, "g")
			pages(x, 20)
			x.send(tea.WindowSizeMsg{Width: 100, Height: 24}) // what was read was read
		}},
		"resized all the time": {80, 24, of(120), func(x *harness) {
			for i := range 40 {
				x.keys("pgdown")
				x.send(tea.WindowSizeMsg{Width: 80, Height: 24 + i%2})
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := start(t, c.w, c.h, approving(c.args))
			x.keys("j", "a", pause)
			c.read(x)
			x.keys(pause)
			x.seesNot("not yet")
			x.keys("enter")
			same(t, len(x.backend.Acted), 1)
			same(t, x.backend.Acted[0].Action, viewer.Approve)
		})
	}
}
