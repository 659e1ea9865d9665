package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/viewer"
)

func newEventsCommand(a *app) *cobra.Command {
	var follow bool
	cmd := &cobra.Command{
		Use:   "events STORE RUN",
		Short: "Print a run's events, with --json one a line",
		Long: `Print the log of a run: what was started, decided, taken over. With --follow it goes on
with what comes until the run has ended; ctrl+c ends it, with exit code 0.`,
		Args: arguments("STORE", "RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withRun(cmd.Context(), args, func(ctx context.Context, s *session, ref viewer.Ref) error {
				if s.Stores()[0].Foreign {
					if _, err := s.Show(ctx, ref); err != nil {
						return err
					}
					a.note("this format has no events")
					return nil
				}
				return a.events(ctx, s, ref, follow)
			})
		},
	}
	cmd.Flags().BoolVar(&follow, "follow", false, "go on until the run has ended")
	return cmd
}

// events prints what is there and, when following, what comes: ctrl+c is how a
// person ends that.
func (a *app) events(ctx context.Context, s *session, ref viewer.Ref, follow bool) error {
	err := a.tail(ctx, s, ref, follow)
	if follow && ctx.Err() != nil && strings.HasPrefix(context.Cause(ctx).Error(), os.Interrupt.String()) {
		return nil
	}
	return err
}

// tail starts to watch before the first read, so nothing falls in between.
func (a *app) tail(ctx context.Context, s *session, ref viewer.Ref, follow bool) error {
	var changed <-chan struct{}
	if follow {
		var err error
		if changed, err = s.Watch(ctx); err != nil {
			return err
		}
	}
	var last int64
	for {
		page, err := s.Events(ctx, ref, last)
		if err != nil {
			return err
		}
		for _, e := range page {
			if err := a.event(e); err != nil {
				return err
			}
			last = e.N
			follow = follow && !isLast(e)
		}
		switch {
		case len(page) > 0: // there may be more
		case !follow:
			return nil
		default:
			if err := wait(ctx, changed); err != nil {
				return err
			}
		}
	}
}

// isLast reports an event after which a run says nothing new of itself.
func isLast(e viewer.Event) bool {
	var saved struct {
		Status stores.Status `json:"status"`
	}
	return e.Type == engine.EventSaved && json.Unmarshal(e.Data, &saved) == nil && saved.Status.Final()
}

// wait ends with a change, or with the context.
func wait(ctx context.Context, changed <-chan struct{}) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case _, open := <-changed:
		if !open {
			return context.Cause(ctx)
		}
		return nil
	}
}

func (a *app) event(e viewer.Event) error {
	if a.global.json {
		return writeJSON(a.stdout, e)
	}
	_, err := fmt.Fprintf(a.text(), "%d  %s  %-18s  %s\n", e.N, when(e.Time), e.Type, compact(e.Data))
	return err
}
