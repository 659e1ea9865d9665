package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/flowtui/flowtui/viewer"
)

func newEventsCommand(a *app) *cobra.Command {
	var follow bool
	cmd := &cobra.Command{
		Use:   "events STORE RUN",
		Short: "Print a run's events, with --json one a line",
		Args:  arguments("STORE", "RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withRun(cmd.Context(), args, func(ctx context.Context, s *session, ref viewer.Ref) error {
				return a.events(ctx, s, ref, follow)
			})
		},
	}
	cmd.Flags().BoolVar(&follow, "follow", false, "go on until the run has ended")
	return cmd
}

// events prints what is there and, when following, what comes. Watching starts
// before the first read, so nothing falls in between.
func (a *app) events(ctx context.Context, s *session, ref viewer.Ref, follow bool) error {
	var changed <-chan struct{}
	if follow {
		var err error
		if changed, err = s.Watch(ctx); err != nil {
			return err
		}
	}
	var last int64
	for {
		ended, err := s.ended(ctx, ref, follow) // before the read: what is written last is still read
		if err != nil {
			return err
		}
		if last, err = a.printEvents(ctx, s, ref, last); err != nil || ended {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case _, open := <-changed:
			if !open {
				return context.Cause(ctx)
			}
		}
	}
}

// ended reports whether no event can follow, or none is waited for.
func (s *session) ended(ctx context.Context, ref viewer.Ref, follow bool) (bool, error) {
	if !follow {
		return true, nil
	}
	d, err := s.Show(ctx, ref)
	return d.Status == "done" || d.Status == "failed", err
}

// printEvents prints the events behind the last one.
func (a *app) printEvents(ctx context.Context, s *session, ref viewer.Ref, last int64) (int64, error) {
	for {
		page, err := s.Events(ctx, ref, last)
		if err != nil || len(page) == 0 {
			return last, err
		}
		for _, e := range page {
			if err := a.event(e); err != nil {
				return last, err
			}
			last = e.N
		}
	}
}

func (a *app) event(e viewer.Event) error {
	if a.global.json {
		return writeJSON(a.stdout, e)
	}
	_, err := fmt.Fprintf(a.text(), "%d  %s  %-18s  %s\n", e.N, when(e.Time), e.Type, compact(e.Data))
	return err
}
