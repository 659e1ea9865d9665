package views

import (
	"context"
	"io"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/flowtui/flowtui/viewer"
)

// Tick is the message of the clock, for tests.
func Tick(t time.Time) tea.Msg { return tickMsg(t) }

// Changed is the message of a change notice, for tests.
func Changed() tea.Msg { return changedMsg{} }

// Notice is a message that shows one sentence, for tests.
func Notice(text string) tea.Msg { return noticeMsg{Text: text} }

// Rested is the message that the keys of the layer in front have rested.
func Rested(a *App) tea.Msg { return restedMsg{ticket{screen: a.frontLayer().id}} }

// Age is how ages are written, for tests.
func Age(now, t time.Time) string { return age(now, t) }

// Heartbeat is how old what is called live may be, for tests.
const Heartbeat = heartbeat

// Leave leaves while a request is under way, which has begun when it says so,
// for tests.
func Leave(ctx context.Context, b Backend, r viewer.Request, began <-chan struct{}, patience time.Duration, say io.Writer) error {
	u := &underway{Backend: b}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { _, _ = u.Act(ctx, r, func(viewer.Progress) {}) }()
	<-began
	cancel()
	if cut := u.leave(context.WithoutCancel(ctx), patience, say); len(cut) > 0 {
		return &CutError{cut}
	}
	return nil
}
