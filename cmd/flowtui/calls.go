package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/flowtui/flowtui/viewer"
)

func newCallsCommand(a *app) *cobra.Command {
	var reveal bool
	cmd := &cobra.Command{
		Use:   "calls STORE RUN",
		Short: "List a run's tool calls",
		Args:  arguments("STORE", "RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withRun(cmd.Context(), args, func(ctx context.Context, s *session, ref viewer.Ref) error {
				calls, err := s.Calls(ctx, ref, reveal)
				if err != nil {
					return err
				}
				if s.Stores()[0].Foreign && !a.global.json {
					a.note("this format has no call log")
					return nil
				}
				return a.result(calls, func(w io.Writer) { a.calls(w, calls) })
			})
		},
	}
	addReveal(cmd, &reveal)
	return cmd
}

func (a *app) calls(w io.Writer, calls []viewer.Call) {
	if len(calls) == 0 {
		a.note("no calls")
		return
	}
	var t table
	t.add("CALL", "TOOL", "STATUS", "STEP", "SEGMENT", "ARGS", "RESULT")
	for _, c := range calls {
		t.add(c.ID, c.Tool, callStatus(c), fmt.Sprint(c.Step), fmt.Sprint(c.Segment), clip(compact(c.Args), 40), clip(callResult(c), 60))
	}
	t.write(w)
}

func callStatus(c viewer.Call) string {
	if c.InDoubt {
		return c.Status + ", in doubt"
	}
	return c.Status
}

func callResult(c viewer.Call) string {
	switch {
	case c.Error != "":
		return "error: " + oneLine(c.Error)
	case c.Why != "":
		return oneLine(c.Why)
	}
	return dash(compact(c.Result))
}
