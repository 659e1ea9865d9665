package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/viewer"
)

func newShowCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "show STORE RUN",
		Short: "Show one run: what it is, why it is not moving, what it went through",
		Long: `Show one run: where it stands, why it is not moving and what to do about it, what it
waits for, each of its steps, and the end of its conversation. Secrets are masked.`,
		Args: arguments("STORE", "RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withRun(cmd.Context(), args, func(ctx context.Context, s *session, ref viewer.Ref) error {
				// However long its history is: what show says agrees with ls and plan.
				if _, err := s.Verify(ctx, viewer.VerifyRequest{Refs: []viewer.Ref{ref}}); err != nil {
					return err
				}
				d, err := s.Show(ctx, ref)
				if err != nil {
					return err
				}
				s.sayTurns(ctx, &d.Row)
				c, err := s.Conversation(ctx, ref, -1, false)
				if err != nil { // the run is shown all the same
					a.warnf("the conversation cannot be read: %s", s.Explain(err).Message)
				}
				err = a.result(shown{d, c.Messages}, func(w io.Writer) {
					a.detail(w, d)
					conversation(w, c)
				})
				if err != nil || d.Unread == "" {
					return err
				}
				return viewer.Problem{Code: "corrupt", Message: d.Unread, Run: d.Run, Hint: "verify lists all that cannot be read"}
			})
		},
	}
}

// shown is what show prints as JSON.
type shown struct {
	viewer.Detail
	Conversation []viewer.Message `json:"conversation"`
}

// withRun attaches the store and finds the run that the arguments name.
func (a *app) withRun(ctx context.Context, args []string, use func(context.Context, *session, viewer.Ref) error) error {
	s, err := a.attach(ctx, false, args[0])
	if err != nil {
		return err
	}
	defer s.Close()
	ref, err := s.find(args[1])
	if err != nil {
		return err
	}
	return use(ctx, s, ref)
}

// find names one run, which has one owner.
func (s *session) find(run string) (viewer.Ref, error) {
	if s.owner == stores.AnyOwner {
		return viewer.Ref{}, usagef("--owner * is for lists: name the owner of the run")
	}
	return s.Find(run, s.owner), nil
}

func (a *app) detail(w io.Writer, d viewer.Detail) {
	fmt.Fprintf(w, "%s  %s\n\n", d.Run, a.badges(d.Row))
	var t table
	t.add("flow", dash(d.Row.Flow)+" ("+d.Kind+")")
	t.add("owner", d.Owner)
	t.add("status", standing(d.Row))
	t.add("verdict", a.verdict(d.Verdict))
	for _, f := range []struct{ name, value string }{
		{"parent", d.Parent}, {"user", d.Identity.User}, {"thread", d.Identity.Thread}, {"principal", d.Identity.Principal},
		{"why", d.Why}, {"next", d.Next}, {"error", d.Error},
	} {
		if f.value != "" {
			t.add(f.name, oneLine(f.value))
		}
	}
	t.add("updated", when(d.Updated)+ago(a.now(), d.Updated))
	if !d.Foreign() { // a format of our own has leases
		t.add("lease", lease(d.Lease))
	}
	if d.Expires != nil {
		t.add("expires", fmt.Sprintf("%s, in %s, unless it is written to before", when(*d.Expires), age(*d.Expires, a.now())))
	}
	t.write(w)
	for _, note := range d.Notes {
		fmt.Fprintf(w, "\nnote: %s\n", oneLine(note))
	}
	if len(d.Waiting) > 0 {
		fmt.Fprintln(w, "\nwaiting for")
		waitingLines(w, d.Waiting)
		if first := d.Waiting[0]; unanswered(first) && first.Why != "" {
			fmt.Fprintf(w, "    %s\n", oneLine(first.Why))
		}
	}
	if len(d.Nested) > 0 {
		fmt.Fprintln(w, "\nnested runs")
		var t table
		for _, n := range d.Nested {
			t.add("  "+n.Run, standing(n))
		}
		t.write(w)
	}
	a.history(w, d.History, d.Foreign())
}

// standing is where a run stands, in the word of its own store too.
func standing(r viewer.Row) string {
	if r.Foreign() {
		return fmt.Sprintf("%s (%s), iteration %d, at %s", r.Status, nameOf(r), r.Step, dash(strings.Join(r.Where(), ", ")))
	}
	return fmt.Sprintf("%s, step %d, segment %d, at %s", r.Status, r.Step, r.Segment, dash(strings.Join(r.At, ", ")))
}

// nameOf is the store's own word for how a run stands.
func nameOf(r viewer.Row) string {
	if r.Native == "" {
		return "teff has no word for it"
	}
	return r.Native
}

// ago is nothing for a time that is not known.
func ago(now, t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return ", " + age(now, t) + " ago"
}

func lease(l *viewer.Lease) string {
	if l == nil {
		return "nobody holds it"
	}
	return fmt.Sprintf("held by %s until %s", l.Holder, when(l.Expires))
}

func (a *app) history(w io.Writer, steps []viewer.HistoryStep, foreign bool) {
	if len(steps) == 0 {
		return
	}
	fmt.Fprintln(w)
	var t table
	if foreign { // without segments, signatures and times of steps
		t.add("ITERATION", "STATUS", "AT")
		for _, h := range steps {
			t.add(fmt.Sprint(h.Step), h.Status, dash(strings.Join(h.At, ",")))
		}
		t.write(w)
		return
	}
	t.add("STEP", "SEGMENT", "STATUS", "AT", "TIME", "VERDICT")
	for _, h := range steps {
		status := h.Status
		if h.Claim {
			status += " (claim)"
		}
		t.add(fmt.Sprint(h.Step), fmt.Sprint(h.Segment), status, dash(strings.Join(h.At, ",")), when(h.Time), a.verdict(h.Verdict))
	}
	t.write(w)
}
