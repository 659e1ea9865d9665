package views

import (
	"context"

	"github.com/flowtui/flowtui/viewer"
)

// Backend is what the screens need from the viewer. Texts that it returns are
// free of control characters and secrets are masked, except in a viewer.Ref.
type Backend interface {
	Stores() []viewer.StoreInfo
	List(context.Context, viewer.Query) (viewer.Page, error)
	Counts(context.Context, viewer.Query) (viewer.Counts, error)
	// Owners lists whose runs the list can be narrowed to.
	Owners(context.Context) ([]viewer.Owner, error)
	Show(context.Context, viewer.Ref) (viewer.Detail, error)
	// State gives the state at a step; step -1 is the latest.
	State(ctx context.Context, ref viewer.Ref, step int64, reveal bool) (viewer.StateView, error)
	// Conversation gives the messages of the state at a step; step -1 is the latest.
	Conversation(ctx context.Context, ref viewer.Ref, step int64, reveal bool) (viewer.Conversation, error)
	Calls(ctx context.Context, ref viewer.Ref, reveal bool) ([]viewer.Call, error)
	Events(ctx context.Context, ref viewer.Ref, after int64) ([]viewer.Event, error)
	Verify(context.Context, viewer.VerifyRequest) (viewer.Report, error)
	Plan(ctx context.Context, ref viewer.Ref, reveal bool) (viewer.Plan, error)
	// Act does what is asked; progress is told of each stage.
	Act(ctx context.Context, r viewer.Request, progress func(viewer.Progress)) (viewer.Outcome, error)
	// Watch sends when something may have changed, until ctx ends.
	Watch(context.Context) (<-chan struct{}, error)
	// Command is the command line that does the same as the request, "" for none.
	Command(viewer.Request) string
	Explain(error) viewer.Problem
}
