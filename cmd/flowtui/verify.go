package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/viewer"
)

func newVerifyCommand(a *app) *cobra.Command {
	var forget bool
	cmd := &cobra.Command{
		Use:   "verify STORE [RUN]",
		Short: "Check every signature and list every row that is not sound",
		Long: `Check the signature of every row of a store, or of one run, and list what is not sound. The
exit code is 6 when a row is forged, missing, set back or unreadable, 7 when rows could not
be checked for want of a key, 3 when the owner has no runs.`,
		Args: arguments("STORE", "[RUN]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.verify(cmd.Context(), args, forget)
		},
	}
	cmd.Flags().BoolVar(&forget, "forget-seen", false, "first forget how far this machine has seen the store or the run, as after a restored backup")
	return cmd
}

func (a *app) verify(ctx context.Context, args []string, forget bool) error {
	named := strings.Join(args[1:], "")
	if forget && a.global.readOnly {
		return ofRun(refuse("leave --read-only out", "--read-only refuses to forget what was seen"), named)
	}
	if forget && !a.global.yes && !isTerminal(a.stdin) {
		return ofRun(refuse("look at what verify finds, then add --yes", "no terminal and no --yes"), named)
	}
	s, err := a.attach(ctx, false, args[0])
	if err != nil {
		return err
	}
	defer s.Close()
	args = append([]string{s.shown(args[0])}, args[1:]...)
	req := viewer.VerifyRequest{Owner: s.owner}
	if len(args) == 2 {
		ref, err := s.find(args[1])
		if err != nil {
			return err
		}
		req.Refs = []viewer.Ref{ref}
	}
	if forget {
		if err := a.forgetSeen(ctx, s, args, req); err != nil {
			return err
		}
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
	if report.Runs == 0 && judged == nil && len(report.Problems) == 0 {
		judged = a.nobody(ctx, s, args[0])
	}
	if report.SetBack > 0 {
		a.note("hint: %s at a later step before; if a backup was restored on purpose, forget that: %s --forget-seen",
			were(report.SetBack), strings.Join(append([]string{"flowtui verify"}, quoted(args)...), " "))
	}
	for _, p := range report.Problems {
		if judged == nil {
			return p.Problem
		}
		a.warnf("%s", p.Problem.Message) // what was found says more
	}
	return judged
}

// nobody is the error of an owner that has no runs, which must not look like one
// whose runs all verify; nil when a store without any runs was verified.
func (a *app) nobody(ctx context.Context, s *session, store string) error {
	n := s.Others(ctx, s.owner)
	if n == 0 && (s.ownerless || s.owner == stores.AnyOwner) {
		return nil
	}
	hint := ""
	if n > 0 {
		hint = othersHint(n)
	}
	return problem("not-found", hint, "nothing was verified: the owner %s has no runs in %s", s.owner, store)
}

// forgetSeen forgets, after asking, how far the runs to verify were seen.
func (a *app) forgetSeen(ctx context.Context, s *session, args []string, req viewer.VerifyRequest) error {
	what, name := "every run of "+args[0], args[0]
	if len(args) == 2 {
		what, name = args[1], args[1]
	}
	if err := a.confirm(ctx, s, "forget how far "+what+" was seen: an older copy then counts as sound", name); err != nil {
		return ofRun(err, strings.Join(args[1:], ""))
	}
	run := ""
	for _, ref := range req.Refs {
		run = ref.Run
	}
	n, err := s.seen.forget(s.Stores()[0].Location, s.owner, run)
	if err != nil {
		return fmt.Errorf("what was seen cannot be forgotten: %w", err)
	}
	a.note("forgot how far %s", were(n))
	return nil
}

// were is "1 run was", "2 runs were".
func were(n int) string {
	if n == 1 {
		return "1 run was seen"
	}
	return plural(n, "run") + " were seen"
}

func quoted(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = quote(w)
	}
	return out
}

func findings(w io.Writer, r viewer.Report) {
	for _, f := range r.Findings {
		place := fmt.Sprintf("%s, step %d", f.Record, f.Step)
		if f.N > 0 {
			place += fmt.Sprintf(", number %d", f.N)
		}
		if f.Run == "" { // about the bundle as a whole
			fmt.Fprintf(w, "%s: %s\n", f.Verdict, oneLine(f.Reason))
			continue
		}
		fmt.Fprintf(w, "%s: run %s of %s, %s: %s\n", f.Verdict, f.Run, f.Owner, place, oneLine(f.Reason))
	}
	unsigned := ""
	if r.Unsigned > 0 {
		unsigned = fmt.Sprintf(", %d unsigned (their format has no signatures: only that the rows can be read is known)", r.Unsigned)
	}
	fmt.Fprintf(w, "%s, %d verified%s, %s\n", plural(r.Runs, "run"), r.Verified, unsigned, plural(len(r.Findings), "finding"))
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
