package views_test

import (
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
	for range 2000 {
		r := viewstest.Rows()[len(backend.Rows)%9]
		r.Ref.Run = r.Run + time.Duration(len(backend.Rows)).String()
		r.Verdict = viewer.Verified
		backend.Rows = append(backend.Rows, r)
	}
	app := views.New(views.Deps{Backend: backend, Clock: func() time.Time { return viewstest.Now }, Context: b.Context()})
	app.Update(tea.WindowSizeMsg{Width: 140, Height: 40})
	app.Update(keyMsg("7"))
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
