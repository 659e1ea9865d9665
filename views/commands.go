package views

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/theme"
	"github.com/flowtui/flowtui/views/widget"
)

// ask makes the command for one request: it calls f under the screen's context
// and gives its answer to the ticket. A screen that was closed gets no answer.
func ask[T any](e *env, t ticket, f func(context.Context) (T, error)) tea.Cmd {
	return func() tea.Msg {
		v, err := f(e.ctx)
		if e.ctx.Err() != nil {
			return nil
		}
		return reply[T]{ticket: t, Value: v, Problem: explain(e.shared, err)}
	}
}

func explain(s *shared, err error) *viewer.Problem {
	if err == nil {
		return nil
	}
	p := s.backend.Explain(err)
	return &p
}

func loadPage(e *env, t ticket, q viewer.Query) tea.Cmd {
	return ask(e, t, func(ctx context.Context) (viewer.Page, error) { return e.backend.List(ctx, q) })
}

func loadCounts(e *env, t ticket, q viewer.Query) tea.Cmd {
	return ask(e, t, func(ctx context.Context) (viewer.Counts, error) { return e.backend.Counts(ctx, q) })
}

func loadOwners(e *env, t ticket) tea.Cmd {
	return ask(e, t, e.backend.Owners)
}

func loadDetail(e *env, t ticket, ref viewer.Ref) tea.Cmd {
	return ask(e, t, func(ctx context.Context) (viewer.Detail, error) { return e.backend.Show(ctx, ref) })
}

func loadPlan(e *env, t ticket, ref viewer.Ref, reveal bool) tea.Cmd {
	return ask(e, t, func(ctx context.Context) (viewer.Plan, error) { return e.backend.Plan(ctx, ref, reveal) })
}

func verify(e *env, t ticket, q viewer.VerifyRequest) tea.Cmd {
	return ask(e, t, func(ctx context.Context) (viewer.Report, error) { return e.backend.Verify(ctx, q) })
}

// act runs an action under the program's context, so that closing its sheet
// does not stop it. The second command delivers the stages.
func act(e *env, t ticket, run string, r viewer.Request) (do, stages tea.Cmd) {
	e.acting++
	ch := make(chan viewer.Progress, 16)
	do = func() tea.Msg {
		defer close(ch)
		o, err := e.backend.Act(e.app, r, func(p viewer.Progress) {
			select {
			case ch <- p:
			default: // nobody looks: the outcome tells the rest
			}
		})
		return outcomeMsg{ticket: t, Action: r.Action, Run: run, Outcome: o, Problem: explain(e.shared, err)}
	}
	return do, nextStage(t, ch)
}

func nextStage(t ticket, ch <-chan viewer.Progress) tea.Cmd {
	return func() tea.Msg {
		p, ok := <-ch
		if !ok {
			return nil
		}
		return progressMsg{ticket: t, Progress: p, more: ch}
	}
}

// watch subscribes to change notices.
func watch(s *shared) tea.Cmd {
	return func() tea.Msg {
		ch, err := s.backend.Watch(s.app)
		if s.app.Err() != nil {
			return nil
		}
		return watchingMsg{notices: ch, problem: explain(s, err)}
	}
}

func nextNotice(s *shared, ch <-chan struct{}) tea.Cmd {
	return func() tea.Msg {
		select {
		case _, ok := <-ch:
			if ok {
				return changedMsg{notices: ch}
			}
			return watchEndedMsg{}
		case <-s.app.Done():
			return nil
		}
	}
}

// rewatchAfter is how long the program waits before it subscribes again.
const rewatchAfter = 5 * time.Second

func rewatch() tea.Cmd {
	return tea.Tick(rewatchAfter, func(time.Time) tea.Msg { return rewatchMsg{} })
}

// rest lets the moment pass after which a key is known not to be one of a burst.
func rest(e *env) tea.Cmd {
	return tea.Tick(burstGap, func(time.Time) tea.Msg { return restedMsg{ticket{screen: e.id}} })
}

func tick() tea.Cmd {
	return tea.Tick(time.Second, func(t time.Time) tea.Msg { return tickMsg(t) })
}

// copyText sends text to the clipboard. Whether the terminal took it is not
// known, so the notice says what was done, and with what text.
func copyText(s *shared, text string) tea.Cmd {
	return func() tea.Msg {
		if s.clipboard == nil {
			return noticeMsg{"there is no clipboard here", theme.Attention}
		}
		s.clipboard(text)
		start := widget.Cut(widget.Plain(text), 30, s.styles.Ellipsis)
		return noticeMsg{"sent to the terminal's clipboard (OSC 52): " + start, theme.OK}
	}
}

// commandLine is the command that does the same as r.
func commandLine(s *shared, r viewer.Request) string { return s.backend.Command(r) }

// stores are the attached stores, as the header shows them.
func stores(s *shared) []viewer.StoreInfo { return s.backend.Stores() }

func send(m tea.Msg) tea.Cmd { return func() tea.Msg { return m } }

func notice(text string, tone theme.Tone) tea.Cmd { return send(noticeMsg{text, tone}) }
