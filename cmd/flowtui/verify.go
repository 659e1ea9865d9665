package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/flowtui/flowtui/viewer"
)

func newVerifyCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "verify STORE [RUN]",
		Short: "Check every signature and list every row that is not sound",
		Args:  arguments("STORE", "[RUN]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.verify(cmd.Context(), args)
		},
	}
}

func (a *app) verify(ctx context.Context, args []string) error {
	s, err := a.attach(ctx, false, args[0])
	if err != nil {
		return err
	}
	defer s.Close()
	req := viewer.VerifyRequest{Owner: s.owner}
	if len(args) == 2 {
		ref, err := s.find(args[1])
		if err != nil {
			return err
		}
		req.Refs = []viewer.Ref{ref}
	}
	if isTerminal(a.stderr) {
		req.Progress = func(done, total int) { fmt.Fprintf(a.stderr, "\r\x1b[K%d of %d runs", done, total) }
		defer fmt.Fprint(a.stderr, "\r\x1b[K")
	}
	report, err := s.Verify(ctx, req)
	if err != nil {
		return err
	}
	if err := a.result(report, func(w io.Writer) { findings(w, report) }); err != nil {
		return err
	}
	judged := a.judge(report)
	for _, p := range report.Problems {
		if judged == nil {
			return p.Problem
		}
		a.warnf("%s", p.Problem.Message) // what was found says more
	}
	return judged
}

func findings(w io.Writer, r viewer.Report) {
	for _, f := range r.Findings {
		place := fmt.Sprintf("%s, step %d", f.Record, f.Step)
		if f.N > 0 {
			place += fmt.Sprintf(", number %d", f.N)
		}
		fmt.Fprintf(w, "%s: run %s of %s, %s: %s\n", f.Verdict, f.Run, f.Owner, place, oneLine(f.Reason))
	}
	fmt.Fprintf(w, "%s, %d verified, %s\n", plural(r.Runs, "run"), r.Verified, plural(len(r.Findings), "finding"))
}

// judge turns a report into the exit code: rows that somebody changed come
// before rows that could not be checked.
func (a *app) judge(r viewer.Report) error {
	unchecked := false
	for _, f := range r.Findings {
		if f.Verdict.Bad() {
			return exit(viewer.Problem{Code: "corrupt"}.Exit())
		}
		unchecked = unchecked || f.Verdict == viewer.NoKeyGiven || f.Verdict == viewer.UnknownKey
	}
	if unchecked {
		a.note("hint: some rows could not be checked: give their key with --key-file, --key-env or --key-cmd")
		return exit(viewer.Problem{Code: "refused"}.Exit())
	}
	return nil
}
