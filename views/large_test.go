package views_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views"
	"github.com/flowtui/flowtui/views/viewstest"
)

// large are three open approvals whose arguments have size bytes each.
func large(size int, of string) func(*viewstest.Backend) {
	return func(b *viewstest.Backend) {
		var open []viewer.ReviewEntry
		for i := range 3 {
			e := asked(viewer.WaitApproval, fmt.Sprintf("pay.%d", i+1), "")
			e.Args = json.RawMessage(`"` + strings.Repeat(of, size/len(of)) + `"`)
			open = append(open, e)
		}
		opens(b, "order-9", open...)
	}
}

// A frame does work for what it shows, not for what the arguments weigh: a
// thousand times as much costs no more allocations.
func TestLargeApprovalsCostNoMore(t *testing.T) {
	frame := func(size int) float64 {
		x := start(t, 80, 30, large(size, "é"))
		x.keys("j", "a", pause)
		x.sees("3 are open. Which one?", "pay.3", "ééé…")
		x.exact(80, 30)
		return testing.AllocsPerRun(5, func() {
			x.press("j")
			_ = x.view()
		})
	}
	if small, big := frame(5<<10), frame(5<<20); big > 2*small {
		t.Errorf("a frame takes %.0f allocations with large arguments, %.0f with small ones", big, small)
	}
}

// What is left out is never silent, and no character is cut in two.
func TestLargeApprovalsAreCutBetweenCharacters(t *testing.T) {
	t.Parallel()
	for _, of := range []string{"a", "é", "世", "👨‍👩‍👧", "e\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301"} {
		for w := 60; w < 64; w++ {
			x := start(t, w, 30, large(4<<10, of))
			x.keys("j", "a", pause)
			x.exact(w, 30)
			if l := x.line("pay.3"); !strings.Contains(l, "…") || !utf8.ValidString(l) || strings.Contains(l, "\uFFFD") {
				t.Errorf("%d: %q", w, l)
			}
		}
	}
}

// BenchmarkLargeApprovals is a key and a frame of the list of open approvals.
func BenchmarkLargeApprovals(b *testing.B) {
	for _, size := range []int{1 << 10, 5 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			backend := viewstest.New()
			large(size, "a")(backend)
			now := viewstest.Now
			app := views.New(views.Deps{Backend: backend, Clock: func() time.Time { return now }, Context: b.Context()})
			app.Update(tea.WindowSizeMsg{Width: 80, Height: 30})
			do(app, "7")
			do(app, "j")
			do(app, "a")
			now = now.Add(time.Second)
			if v := app.View(); !strings.Contains(v, "Which one?") {
				b.Fatal(v)
			}
			for i := 0; b.Loop(); i++ {
				app.Update(keyMsg([]string{"j", "k"}[i%2]))
				_ = app.View()
			}
		})
	}
}
