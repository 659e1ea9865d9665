package views_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views"
	"github.com/flowtui/flowtui/views/viewstest"
)

// full is a program with as many rows as it ever keeps.
func full(b *testing.B) *views.App {
	backend := viewstest.New()
	backend.Rows = nil
	for range 2100 {
		r := viewstest.Rows()[len(backend.Rows)%9]
		r.Ref.Run = fmt.Sprint(r.Run, "-", len(backend.Rows))
		r.Verdict = viewer.Verified
		backend.Rows = append(backend.Rows, r)
	}
	app := views.New(views.Deps{Backend: backend, Clock: func() time.Time { return viewstest.Now }, Context: b.Context()})
	app.Update(tea.WindowSizeMsg{Width: 140, Height: 40})
	do(app, "7")
	for range 20 { // page after page
		do(app, "G")
	}
	if view := app.View(); !strings.Contains(view, "the first 2000") {
		b.Fatalf("%d reads, last %+v\n%s", len(backend.Listed), backend.Listed[len(backend.Listed)-1], view)
	}
	return app
}

// BenchmarkKeyToFrame is one key and the frame that follows from it.
func BenchmarkKeyToFrame(b *testing.B) {
	app := full(b)
	for i := 0; b.Loop(); i++ {
		app.Update(keyMsg([]string{"j", "k"}[i%2]))
		_ = app.View()
	}
}

// do presses a key and does what follows from it.
func do(app *views.App, name string) {
	_, cmd := app.Update(keyMsg(name))
	for cmds := unbatch([]tea.Cmd{cmd}); len(cmds) > 0; cmds = cmds[1:] {
		_, more := app.Update(cmds[0]())
		cmds = append(cmds, unbatch([]tea.Cmd{more})...)
	}
}
