package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/flowtui/flowtui/viewer"
)

func newPlanCommand(a *app) *cobra.Command {
	var reveal bool
	cmd := &cobra.Command{
		Use:   "plan STORE RUN",
		Short: "Say what bringing the run on would do, touching nothing",
		Long: `Say what bringing a run on would do: which calls replay, which run again, what is in doubt,
and why it would be refused. Nothing is written. The version that it prints is what
--if-version takes: the action is refused when the run changed since.`,
		Args: arguments("STORE", "RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withRun(cmd.Context(), args, func(ctx context.Context, s *session, ref viewer.Ref) error {
				p, err := s.Plan(ctx, ref, reveal)
				if err != nil {
					return err
				}
				p = undecided(p)
				return a.result(p, func(w io.Writer) { a.plan(w, p) })
			})
		},
	}
	addReveal(cmd, &reveal)
	return cmd
}

// undecided makes calls in doubt a reason why the action is blocked: on the
// command line, which has no form that asks about them, it is one.
func undecided(p viewer.Plan) viewer.Plan {
	if p.Undecided != "" {
		p.Blocked, p.Hint = &p.Undecided, ""
	}
	return p
}

// plan says in words what an action would do, all of it.
func (a *app) plan(w io.Writer, p viewer.Plan) {
	fmt.Fprintf(w, "%s  %s, %s\n", p.Run, a.badges(p.Row), a.verdict(p.Row.Verdict))
	fmt.Fprintf(w, "  action   %s\n", p.Action)
	if p.Claims != "" {
		fmt.Fprintf(w, "           %s\n", p.Claims)
	}
	callLines(w, "replays", p.Replay)
	callLines(w, reruns, p.Rerun)
	callLines(w, "runs", p.Runs)
	callLines(w, "in doubt", p.InDoubt)
	if p.Then != "" {
		fmt.Fprintf(w, "           %s\n", p.Then)
	}
	for _, r := range p.Review {
		review(w, r)
	}
	if d := p.Decision; d != nil {
		fmt.Fprintf(w, "  stored   %s of %s by %s, %s\n", d.Type, d.ID, d.By, when(d.Time))
	}
	if p.Lease != nil {
		fmt.Fprintf(w, "  lease    %s\n", lease(p.Lease))
	}
	if p.Blocked != nil {
		fmt.Fprintf(w, "  blocked  %s\n", oneLine(*p.Blocked))
		if p.Hint != "" {
			fmt.Fprintf(w, "           %s\n", oneLine(p.Hint))
		}
	}
	fmt.Fprintf(w, "  version  %s\n", p.Version)
}

// reruns says that a call is made again.
const reruns = "reruns"

// callLines are calls with what happens to them, and how those went that failed.
func callLines(w io.Writer, what string, calls []viewer.Call) {
	for _, c := range calls {
		fmt.Fprintf(w, "  %-8s %s %s %s\n", what, c.ID, c.Tool, compact(c.Args))
		switch {
		case c.InDoubt && c.Why != "":
			fmt.Fprintf(w, "           %s\n", oneLine(c.Why))
		case what == reruns && c.Failure() != "":
			fmt.Fprintf(w, "           %s, runs again\n", oneLine(c.Failure()))
		case c.Error != "":
			fmt.Fprintf(w, "           failed: %s\n", oneLine(c.Error))
		}
	}
}

// review is one thing that is asked, with all of its arguments.
func review(w io.Writer, r viewer.ReviewEntry) {
	switch r.Type {
	case viewer.WaitApproval:
		fmt.Fprintf(w, "  approval %s: %s\n", r.ID, r.Tool)
	case viewer.WaitInterrupt:
		fmt.Fprintf(w, "  question %s (%s): %s\n", r.Key, r.ID, oneLine(r.Prompt))
	default: // the calls in doubt are listed already
		return
	}
	for _, l := range r.Lines {
		if l.Path == "" && l.Children > 0 {
			continue // the arguments as a whole
		}
		fmt.Fprintf(w, "    %*s%s %s\n", 2*l.Depth, "", dash(l.Key), l.Text)
	}
	if r.Masked > 0 {
		fmt.Fprintf(w, "    secrets masked: %d, `flowtui plan --reveal` shows them\n", r.Masked)
	}
	// Named by what is decided: the y of the question below may well deny.
	yes := "if approved"
	if r.Type == viewer.WaitInterrupt {
		yes = "if answered"
	}
	for _, line := range []struct{ name, text string }{{yes, r.IfYes}, {"if denied", r.IfNo}} {
		if line.text != "" {
			fmt.Fprintf(w, "    %s: %s\n", line.name, line.text)
		}
	}
}
