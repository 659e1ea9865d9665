package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowtui/flowtui/viewer"
)

func newCallsCommand(a *app) *cobra.Command {
	var reveal bool
	cmd := &cobra.Command{
		Use:   "calls STORE RUN",
		Short: "List a run's tool calls",
		Long: `List the tool calls of a run, with how each stands: done, failed, in doubt, waiting for
approval, denied. The ids are those that approve and resolve take.`,
		Args: arguments("STORE", "RUN"),
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
				logged := make([]loggedCall, len(calls))
				for i, c := range calls {
					logged[i] = loggedCall{c, c.State}
				}
				return a.result(logged, func(w io.Writer) { a.calls(w, calls) })
			})
		},
	}
	addReveal(cmd, &reveal)
	return cmd
}

// loggedCall is a call as JSON: with how it stands, which its status in the log
// alone does not tell.
type loggedCall struct {
	viewer.Call
	State viewer.CallState `json:"state"`
}

func (a *app) calls(w io.Writer, calls []viewer.Call) {
	if len(calls) == 0 {
		a.note("no calls")
		return
	}
	var t table
	t.add("CALL", "TOOL", "STATUS", "STEP", "SEGMENT", "ARGS", "RESULT")
	for _, c := range calls {
		t.add(c.ID, c.Tool, c.State.Word(), fmt.Sprint(c.Step), fmt.Sprint(c.Segment), clip(compact(c.Args), 40), clip(callResult(c), 80))
	}
	t.write(w)
}

// callResult is what came of a call, and behind it what is remarked: who said so,
// and that it was made more than once.
func callResult(c viewer.Call) string {
	var parts []string
	if len(c.Result) > 0 {
		parts = append(parts, compact(c.Result))
	}
	if c.Error != "" {
		parts = append(parts, "error: "+oneLine(c.Error))
	}
	if c.Why != "" && (c.Error == "" || c.Result != nil || c.State == viewer.CallFailed) {
		parts = append(parts, oneLine(c.Why))
	}
	if again := c.Again(); again != "" {
		parts = append(parts, "before that it "+oneLine(again))
	}
	return dash(strings.Join(parts, "; "))
}
