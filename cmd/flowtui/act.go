package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowtui/flowtui/viewer"
)

// addVersion adds the flag that binds an action to the plan that was seen.
func addVersion(cmd *cobra.Command, req *viewer.Request) {
	cmd.Flags().StringVar(&req.Version, "if-version", "", "only if the run is still as in the version `V` of its plan")
}

func addNoRun(cmd *cobra.Command, req *viewer.Request) {
	cmd.Flags().BoolVar(&req.NoRun, "no-run", false, "store the decision only; a worker or a recovery spends it")
}

// act does what is asked of one run: it shows the plan, asks, and acts on
// exactly the version that was shown.
func (a *app) act(ctx context.Context, args []string, req viewer.Request) error {
	if err := a.mayAskAfter("look at the plan with `flowtui plan`, then add --yes"); err != nil {
		return ofRun(err, args[1])
	}
	return a.withRun(ctx, args, func(ctx context.Context, s *session, ref viewer.Ref) error {
		req.Ref = ref
		what := ""
		if !a.global.yes {
			p, err := s.Plan(ctx, ref, false)
			if err != nil {
				return err
			}
			a.plan(textWriter{a.stderr}, viewer.ForPeople(askedLast(p, req)))
			if req.Version == "" {
				req.Version = p.Version
			}
			follows, err := s.Foretell(ctx, req)
			if err != nil {
				return err
			}
			what = question(req, refused(p, req))
			if follows != "" {
				what = continued(widthOf(a.stderr), what+": ", oneLine(viewer.ForPeople(follows)))
			}
		}
		if err := a.confirmAct(ctx, s, req, what); err != nil {
			return ofRun(err, ref.Run)
		}
		out, err := s.Act(ctx, req, a.progress)
		if err != nil {
			if p := s.Explain(err); p.Code == "needs-decision" {
				return a.undecided(ctx, s, ref, p)
			}
			return a.stopped(ctx, s, ref, err)
		}
		if req.Action == viewer.Resolve || req.NoRun { // nothing ran that could have gone wrong
			return a.result(out, func(w io.Writer) { outcomeText(w, out) })
		}
		return a.outcome(s, ref, out)
	})
}

// confirmAct is confirm of an action. That a call did not run of which the record
// says that it ran takes its id, typed: it is made a second time.
func (a *app) confirmAct(ctx context.Context, s *session, req viewer.Request, what string) error {
	if req.Action != viewer.Resolve || !req.NotRun {
		return a.confirm(ctx, s, what, req.Ref.Run)
	}
	p, err := s.Plan(ctx, req.Ref, false)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(p.InDoubt, func(c viewer.Call) bool { return c.ID == req.Target && c.Ran })
	if at < 0 {
		return a.confirm(ctx, s, what, req.Ref.Run)
	}
	a.warnf("the record says that %s ran: once it counts as not run, a recovery runs it a second time", req.Target)
	if a.global.yes {
		return a.confirm(ctx, s, what, req.Ref.Run)
	}
	name := req.Target
	if s.production {
		name = req.Ref.Run
	}
	return a.confirmTyped(ctx, fmt.Sprintf("%s, although it ran? Type %s to confirm: ", what, name), name)
}

// askedLast is the plan with what is decided on as the last thing above the
// question: the arguments of another one must not be taken for its own.
func askedLast(p viewer.Plan, req viewer.Request) viewer.Plan {
	if req.Target == "" {
		return p
	}
	p.Review = slices.Clone(p.Review)
	slices.SortStableFunc(p.Review, func(a, b viewer.ReviewEntry) int {
		return cmp.Compare(meant(a, req.Target), meant(b, req.Target))
	})
	return p
}

// meant is 1 for what a request names by its id or key, else 0.
func meant(e viewer.ReviewEntry, target string) int {
	if target == e.ID || target == e.Key {
		return 1
	}
	return 0
}

// refused is why the answer would not pass, "" when it would or when that cannot
// be told before.
func refused(p viewer.Plan, r viewer.Request) string {
	for _, e := range p.Review {
		if e.Type == viewer.WaitInterrupt && (r.Target == "" || r.Target == e.ID || r.Target == e.Key) {
			return e.Refused(r.Value)
		}
	}
	return ""
}

// question is what confirming means: all that was given, so that what is
// confirmed is what is sent, and why an answer would not pass.
func question(r viewer.Request, refused string) string {
	q := string(r.Action)
	if r.Target != "" {
		q += " " + r.Target
	}
	switch {
	case r.NotRun:
		q += " as not run"
	case r.Value != nil && r.Action == viewer.Resolve:
		q += " with the result " + exactly(r.Value)
	case r.Value != nil:
		q += " with " + exactly(r.Value)
	}
	switch {
	case r.Unchecked && refused != "":
		q += ", although " + oneLine(refused)
	case r.Unchecked:
		q += ", also if it would not pass"
	}
	if r.Note != "" {
		q += fmt.Sprintf(" (note: %s)", oneLine(r.Note))
	}
	if r.RerunInDoubt {
		q += " and run the calls in doubt again"
	}
	if r.Takeover {
		q += " and cut off whoever works on it"
	}
	if r.NoRun {
		q += ", without running on"
	}
	return q
}

// exactly is JSON on one line, its strings as they are.
func exactly(value json.RawMessage) string {
	var b bytes.Buffer
	if err := json.Compact(&b, value); err != nil {
		return string(value)
	}
	return b.String()
}

// ofRun names the run that was refused something, "" for none, in the text and in the
// JSON.
func ofRun(err error, run string) error {
	p, ok := errors.AsType[viewer.Problem](err)
	if !ok || run == "" || p.Run != "" {
		return err
	}
	p.Run, p.Message = run, "run "+run+": "+p.Message
	return p
}

// mayAskAfter refuses a write that nobody can confirm, before anything is opened.
// hint is what to do then.
func (a *app) mayAskAfter(hint string) error {
	switch {
	case a.global.readOnly:
		return refuse("leave out --read-only", "nothing is written with --read-only")
	case !a.global.yes && !isTerminal(a.stdin):
		return refuse(hint, "no terminal and no --yes")
	}
	return nil
}

// confirm asks on stderr. In a production context the run's name is typed, so
// that no habit of pressing y decides.
func (a *app) confirm(ctx context.Context, s *session, what, name string) error {
	if a.global.yes {
		if s.production {
			a.warnf("production: --yes given")
		}
		return nil
	}
	if s.production {
		return a.confirmTyped(ctx, fmt.Sprintf("%s? This is production: type %s to confirm: ", what, name), name)
	}
	return a.confirmTyped(ctx, what+"? [y/N] ", "y", "yes")
}

// confirmTyped asks, and takes only one of these for a yes.
func (a *app) confirmTyped(ctx context.Context, question string, yes ...string) error {
	fmt.Fprint(textWriter{a.stderr}, question)
	answer, err := readLine(ctx, a.stdin)
	if err != nil {
		return err
	}
	if slices.Contains(yes, "y") {
		answer = strings.ToLower(answer)
	}
	if !slices.Contains(yes, answer) {
		return refuse("", "not confirmed, nothing was done")
	}
	return nil
}

// readLine reads one line, or gives up with the context.
func readLine(ctx context.Context, r io.Reader) (string, error) {
	type line struct {
		text string
		err  error
	}
	read := make(chan line, 1)
	go func() {
		text, err := bufio.NewReader(r).ReadString('\n')
		if errors.Is(err, io.EOF) {
			err = nil
		}
		read <- line{strings.TrimSpace(text), err}
	}()
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case l := <-read:
		return l.text, l.err
	}
}

// progress tells of a stage; the last one is the result.
func (a *app) progress(p viewer.Progress) {
	if p.Stage != "completed" {
		a.note("%s", p.Text)
	}
}

// undecided reports calls in doubt with the commands that settle them, ready to
// copy.
func (a *app) undecided(ctx context.Context, s *session, ref viewer.Ref, p viewer.Problem) error {
	var commands []string
	// Of a run that somebody works on nothing is to be said yet.
	if plan, err := s.Plan(ctx, ref, false); err == nil && plan.Lease == nil {
		for _, c := range plan.InDoubt {
			commands = append(commands, settling(s, ref, c.ID, c.Ran)...)
		}
	}
	if a.global.json {
		p.Hint = strings.Join(append([]string{p.Hint}, commands...), "; ")
	}
	a.report(p)
	for _, c := range commands {
		a.note("      %s", c)
	}
	return exit(p.Exit())
}

// settling are the commands that say what happened to a call in doubt. Of one that
// ran its result is asked for: that it did not run comes last.
func settling(s *session, ref viewer.Ref, call string, ran bool) []string {
	settle := viewer.Request{Ref: ref, Action: viewer.Resolve, Target: call, NotRun: true}
	notRun := s.Command(settle)
	settle.NotRun, settle.Value = false, []byte("JSON") // to be filled in
	if ran {
		return []string{s.Command(settle), notRun}
	}
	return []string{notRun, s.Command(settle)}
}

// stopped says how a run whose worker was told to stop can be brought on.
func (a *app) stopped(ctx context.Context, s *session, ref viewer.Ref, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return a.cutOff(ctx, s, ref, context.Cause(ctx))
}

// cutOff says how a run is brought on whose worker was told to stop because of
// cause.
func (a *app) cutOff(ctx context.Context, s *session, ref viewer.Ref, cause error) error {
	look, done := context.WithTimeout(context.WithoutCancel(ctx), lastLook)
	defer done()
	if plan, err := s.Plan(look, ref, false); err == nil && plan.Undecided != "" {
		return a.undecided(look, s, ref, viewer.Problem{
			Code: "failed", Run: ref.Run, Message: fmt.Sprintf("run %s was stopped (%v) while a call was under way: %s", ref.Run, cause, plan.Undecided),
		})
	}
	return viewer.Problem{Code: "failed", Run: ref.Run, Message: fmt.Sprintf("run %s was stopped (%v); it can be recovered", ref.Run, cause),
		Hint: s.Command(viewer.Request{Ref: ref, Action: viewer.Recover})}
}

// lastLook bounds how long a command that was told to stop still looks at its run.
const lastLook = 3 * time.Second

// outcome prints where the run stands and returns the exit code that says it.
// A run that failed because it was denied did what was asked.
func (a *app) outcome(s *session, ref viewer.Ref, o viewer.Outcome) error {
	if err := a.result(o, func(w io.Writer) { outcomeText(w, o) }); err != nil {
		return err
	}
	doubt, ran := "", false
	for _, w := range o.Waiting {
		if w.Type == viewer.WaitInDoubt {
			doubt, ran = w.ID, w.Ran
		}
	}
	p := viewer.Problem{Run: o.Run, Message: o.Outcome}
	switch {
	case doubt != "":
		p.Code = "needs-decision"
		p.Hint = settling(s, ref, doubt, ran)[0]
		a.note("hint: %s", p.Hint)
	case o.Status == "failed" && !o.Denied:
		p.Code = "failed"
	case o.Unused:
		p.Code, p.Hint = "conflict", "look at what it asks now, and answer that"
		a.note("hint: %s", p.Hint)
	default:
		return nil
	}
	if a.global.json {
		a.report(p)
	}
	return exit(p.Exit())
}

func outcomeText(w io.Writer, o viewer.Outcome) {
	fmt.Fprintf(w, "%s: %s\n", o.Run, oneLine(o.Outcome))
	fmt.Fprintf(w, "  %s, step %d, segment %d\n", o.Status, o.Step, o.Segment)
	for _, l := range []struct {
		name string
		ids  []string
	}{{"replayed", o.Replayed}, {"rerun", o.Rerun}, {"unreplayed", o.Unreplayed}} {
		if len(l.ids) > 0 {
			fmt.Fprintf(w, "  %s %s\n", l.name, strings.Join(l.ids, ", "))
		}
	}
	waitingLines(w, o.Waiting)
}
