package views

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/flowtui/flowtui/viewer"
)

func loadState(e *env, t ticket, ref viewer.Ref, step int64, reveal bool) tea.Cmd {
	return ask(e, t, func(ctx context.Context) (viewer.StateView, error) {
		return e.backend.State(ctx, ref, step, reveal)
	})
}

func loadCalls(e *env, t ticket, ref viewer.Ref, reveal bool) tea.Cmd {
	return ask(e, t, func(ctx context.Context) ([]viewer.Call, error) { return e.backend.Calls(ctx, ref, reveal) })
}

func loadConversation(e *env, t ticket, ref viewer.Ref, step int64, reveal bool) tea.Cmd {
	return ask(e, t, func(ctx context.Context) (viewer.Conversation, error) {
		return e.backend.Conversation(ctx, ref, step, reveal)
	})
}

func loadEvents(e *env, t ticket, ref viewer.Ref, after int64) tea.Cmd {
	return ask(e, t, func(ctx context.Context) ([]viewer.Event, error) { return e.backend.Events(ctx, ref, after) })
}
