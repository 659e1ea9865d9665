package views_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views"
	"github.com/flowtui/flowtui/views/viewstest"
)

// tooled is a backend whose actions run a tool: one that stops when it is told
// to, or one that does not.
type tooled struct {
	*viewstest.Backend
	began    chan struct{}
	stubborn chan struct{} // nil: it stops
}

func (b tooled) Act(ctx context.Context, _ viewer.Request, _ func(viewer.Progress)) (viewer.Outcome, error) {
	close(b.began)
	if b.stubborn != nil {
		<-b.stubborn
		return viewer.Outcome{}, nil
	}
	<-ctx.Done()
	return viewer.Outcome{}, ctx.Err()
}

// heard is a writer that hands on what is written.
type heard chan string

func (h heard) Write(p []byte) (int, error) {
	h <- string(p)
	return len(p), nil
}

// Leaving says at once what it waits for, before that has ended, and at the end
// which call was cut off and what decides it.
func TestLeavingNamesTheCall(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stubborn, idempotent bool
		want                 []string
	}{
		"it stops":         {false, false, []string{"order-9 is at pay.1 (charge_card): it may or may not have its effect", "resolve the call"}},
		"it does not":      {true, false, []string{"order-9 is at pay.1 (charge_card), and did not stop: it may or may not", "resolve the call"}},
		"it may run again": {true, true, []string{"order-9 is at pay.1 (charge_card), and did not stop; it may run again, so recover the run"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := tooled{viewstest.New(), make(chan struct{}), nil}
			if c.stubborn {
				b.stubborn = make(chan struct{})
				defer close(b.stubborn)
			}
			ref := viewstest.Ref("order-9")
			b.CallLog = map[viewer.Ref][]viewer.Call{ref: {
				{ID: "hold.1", Tool: "hold_seats", Status: "done"},
				{ID: "pay.1", Tool: "charge_card", Status: "started", Idempotent: c.idempotent},
			}}
			said, ended := make(heard), make(chan error, 1)
			go func() {
				ended <- views.Leave(t.Context(), b, viewer.Request{Ref: ref}, b.began, time.Second, said)
			}()
			if got, want := <-said, "stopping, at most 1s: order-9 is at pay.1 (charge_card)\n"; got != want {
				t.Errorf("said %q, want %q", got, want)
			}
			var cut *views.CutError
			if err := <-ended; !errors.As(err, &cut) {
				t.Fatalf("ended with %v", err)
			}
			for _, want := range c.want {
				if !strings.Contains(cut.Error(), want) {
					t.Errorf("no %q in %q", want, cut)
				}
			}
		})
	}
}
