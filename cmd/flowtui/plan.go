package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

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

// under is where a plan says more of what stands above.
const under = "           "

// plan says in words what an action would do, all of it. Its sentences are broken
// at spaces; arguments are shown as they are.
func (a *app) plan(w io.Writer, p viewer.Plan) {
	width := a.textWidth(w)
	say := func(head, text string) {
		if text != "" {
			fmt.Fprintln(w, wrapped(width, head, text))
		}
	}
	fmt.Fprintf(w, "%s  %s, %s\n", p.Run, a.badges(p.Row), a.verdict(p.Row.Verdict))
	fmt.Fprintf(w, "  action   %s\n", p.Action)
	say(under, p.Claims)
	callLines(w, say, "replays", p.Replay)
	callLines(w, say, reruns, p.Rerun)
	callLines(w, say, "runs", p.Runs)
	callLines(w, say, "in doubt", p.InDoubt)
	say(under, p.Then)
	for _, r := range p.Review {
		review(w, say, r)
	}
	if d := p.Decision; d != nil {
		say("  stored   ", fmt.Sprintf("%s of %s by %s, %s", d.Type, d.ID, d.By, when(d.Time)))
	}
	if p.Lease != nil {
		say("  lease    ", lease(p.Lease))
	}
	if p.Blocked != nil {
		say("  blocked  ", oneLine(*p.Blocked))
		say(under, oneLine(p.Hint))
	}
	fmt.Fprintf(w, "  version  %s\n", p.Version)
}

// reruns says that a call is made again.
const reruns = "reruns"

// callLines are calls with what happens to them, and how those went that failed.
func callLines(w io.Writer, say func(head, text string), what string, calls []viewer.Call) {
	for _, c := range calls {
		fmt.Fprintf(w, "  %-8s %s %s %s\n", what, c.ID, c.Tool, compact(c.Args))
		switch {
		case c.InDoubt && c.Why != "":
			say(under, oneLine(c.Why))
		case what == reruns && c.Failure() != "":
			say(under, oneLine(c.Failure())+", runs again")
		case c.Error != "":
			say(under, "failed: "+oneLine(c.Error))
		}
	}
}

// review is one thing that is asked, with all of its arguments.
func review(w io.Writer, say func(head, text string), r viewer.ReviewEntry) {
	switch r.Type {
	case viewer.WaitApproval:
		fmt.Fprintf(w, "  approval %s: %s\n", r.ID, r.Tool)
	case viewer.WaitInterrupt:
		say("  question ", fmt.Sprintf("%s (%s): %s", r.Key, r.ID, oneLine(r.Prompt)))
	default: // the calls in doubt are listed already
		return
	}
	key := ""
	for _, l := range r.Lines {
		if l.Path == "" && l.Children > 0 {
			continue // the arguments as a whole
		}
		if !l.More {
			key = dash(l.Key)
		} else {
			key = strings.Repeat(" ", utf8.RuneCountInString(key))
		}
		fmt.Fprintf(w, "    %*s%s %s\n", 2*l.Depth, "", key, l.Text)
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
			say("    ", line.name+": "+line.text)
		}
	}
}
