package views_test

import (
	"bytes"
	"io"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/exp/teatest"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views"
	"github.com/flowtui/flowtui/views/viewstest"
)

func program(t *testing.T, b *viewstest.Backend) *teatest.TestModel {
	t.Helper()
	return teatest.NewTestModel(t, views.New(views.Deps{Backend: b, Clock: time.Now, Context: t.Context()}),
		teatest.WithInitialTermSize(80, 24))
}

func until(t *testing.T, r io.Reader, want string) {
	t.Helper()
	teatest.WaitFor(t, r, func(out []byte) bool { return bytes.Contains(out, []byte(want)) },
		teatest.WithDuration(10*time.Second), teatest.WithCheckInterval(5*time.Millisecond))
}

func TestProgramApproves(t *testing.T) {
	t.Parallel()
	b := viewstest.New()
	b.Outcome = viewer.Outcome{Outcome: "approved, the run is done"}
	p := program(t, b)
	until(t, p.Output(), "order-9")
	p.Send(keyMsg("j"))
	p.Send(keyMsg("a"))
	until(t, p.Output(), "wants your approval")
	time.Sleep(time.Second) // a sheet takes no key before it was seen
	p.Send(keyMsg("enter"))
	until(t, p.Output(), "approved, the run is done")
	time.Sleep(time.Second) // nor that it ends
	p.Send(keyMsg("enter"))
	p.Send(keyMsg("q"))
	p.WaitFinished(t, teatest.WithFinalTimeout(10*time.Second))
	same(t, len(b.Acted), 1)
}

func TestProgramFollowsTheStore(t *testing.T) {
	t.Parallel()
	b := viewstest.New()
	p := program(t, b)
	until(t, p.Output(), "order-9")
	insert(b, viewstest.Row("brand-new", "tickets", time.Second, viewer.Failed))
	b.Notify()
	until(t, p.Output(), "brand-new")
	p.Send(keyMsg("ctrl+c"))
	p.WaitFinished(t, teatest.WithFinalTimeout(10*time.Second))
}

var _ tea.Model = (*views.App)(nil)
