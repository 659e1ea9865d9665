package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/viewer"
)

func newDeleteCommand(a *app) *cobra.Command {
	var r removal
	cmd := &cobra.Command{
		Use:   "delete STORE RUN...",
		Short: "Delete runs that have ended, with all that the store has of them",
		Long: `Delete the named runs; with - their ids are read from stdin, one a line. What goes is
shown first and asked for; a run that changed since then stays. Runs that have not
ended, and runs that do not verify, stay unless --force is given. A deleted run
leaves nothing in the store, its log included.`,
		Args: func(cmd *cobra.Command, args []string) error {
			return arguments("STORE", "RUN")(cmd, args[:min(len(args), 2)])
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.remove(cmd.Context(), args[0], r, func(_ context.Context, s *session) ([]viewer.Ref, error) {
				return a.named(s, args[1:])
			})
		},
		PreRun: func(_ *cobra.Command, args []string) { r.ids = slices.Contains(args[1:], "-") },
	}
	r.flags(cmd)
	return cmd
}

// removal is how runs are deleted.
type removal struct {
	dryRun bool
	force  bool
	ids    bool // they come from stdin, so nobody can answer there
	choose func([]viewer.Removal) []viewer.Removal
}

func (r *removal) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&r.dryRun, "dry-run", false, "print what would go, and delete nothing")
	cmd.Flags().BoolVar(&r.force, "force", false, "also runs that have not ended, and runs that do not verify")
}

// named are the runs that the arguments name; - stands for those on stdin.
func (a *app) named(s *session, args []string) ([]viewer.Ref, error) {
	var refs []viewer.Ref
	add := func(run string) error {
		ref, err := s.find(run)
		if err == nil && !slices.Contains(refs, ref) {
			refs = append(refs, ref)
		}
		return err
	}
	for _, run := range args {
		if run != "-" {
			if err := add(run); err != nil {
				return nil, err
			}
			continue
		}
		lines := bufio.NewScanner(a.stdin)
		lines.Buffer(nil, stores.MaxIDBytes+2)
		for lines.Scan() {
			if id := strings.TrimSuffix(lines.Text(), "\r"); id != "" {
				if err := add(id); err != nil {
					return nil, err
				}
			}
		}
		if err := lines.Err(); err != nil {
			return nil, usagef("the run ids on stdin cannot be read: %v", err)
		}
	}
	if len(refs) == 0 {
		return nil, usagef("no run was named")
	}
	return refs, nil
}

// remove shows what a deletion takes, asks, and deletes exactly that.
func (a *app) remove(ctx context.Context, store string, r removal, which func(context.Context, *session) ([]viewer.Ref, error)) error {
	targets, err := a.targets([]string{store})
	if err != nil {
		return err
	}
	if !r.dryRun {
		if err := a.mayAskOf(r.ids); err != nil {
			return cmp.Or(a.storeSays(ctx, targets, (*viewer.Service).Deletes), err)
		}
	}
	s, err := a.attachTargets(ctx, false, targets)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.Deletes(); err != nil {
		return err
	}
	refs, err := which(ctx, s)
	if err != nil {
		return err
	}
	plan, err := s.PlanRemoval(ctx, refs, r.force)
	if err != nil {
		return err
	}
	if r.choose != nil {
		plan = r.choose(plan)
	}
	going := part(plan, nil, viewer.Removal.Goes).ahead
	if r.dryRun {
		if err := a.result(removals("would_delete", plan, nil), func(w io.Writer) { a.removals(w, plan) }); err != nil {
			return err
		}
		a.note("%s would be deleted, nothing was", plural(len(going), "run"))
		return kept(plan)
	}
	if len(going) > 0 {
		if !a.global.yes {
			a.removals(textWriter{a.stderr}, viewer.ForPeople(plan))
		}
		name := going[0].Ref.Run
		if len(going) > 1 {
			name = strconv.Itoa(len(going))
		}
		if err := a.confirm(ctx, s, "delete "+plural(len(going), "run")+" for good", name); err != nil {
			return err
		}
	}
	return a.removeAll(ctx, s, plan)
}

// mayAskOf is mayAskAfter for what has a dry run. Ids that come from stdin leave
// nobody to answer there.
func (a *app) mayAskOf(ids bool) error {
	switch {
	case a.global.readOnly:
		return refuse("leave out --read-only, or add --dry-run", "nothing is written with --read-only")
	case !a.global.yes && (ids || !isTerminal(a.stdin)):
		return refuse("look at what would happen with --dry-run, then add --yes", "nobody can be asked on stdin, and there is no --yes")
	}
	return nil
}

func (a *app) removeAll(ctx context.Context, s *session, plan []viewer.Removal) error {
	done, stopped := s.Remove(ctx, plan, nil)
	err := a.result(removals("deleted", plan, done), func(w io.Writer) {
		p := part(plan, nil, viewer.Removal.Goes)
		a.removals(w, p.left)
		n := 0
		for i, d := range done {
			switch {
			case d.Error != nil:
				fmt.Fprintf(w, "stays: %s: %s\n", d.Run, oneLine(d.Error.Message))
				continue
			case p.ahead[i].Loses != "": // with --yes nobody was shown it
				fmt.Fprintf(w, "lost with %s: %s\n", d.Run, oneLine(p.ahead[i].Loses))
			}
			n++
		}
		fmt.Fprintf(w, "%s deleted\n", plural(n, "run"))
	})
	return cmp.Or(stopped, err, firstFailure(done), kept(plan))
}

// kept is the exit code for runs that were asked for and stay.
func kept(plan []viewer.Removal) error {
	for _, r := range part(plan, nil, viewer.Removal.Goes).left {
		return exit(viewer.Problem{Code: r.Code}.Exit())
	}
	return nil
}

// removals is a plan as JSON, or what became of it.
func removals(goes string, plan []viewer.Removal, done []viewer.Removed) map[string]any {
	return part(plan, done, viewer.Removal.Goes).json(goes, "kept", done != nil)
}

// removals prints a plan for people: what goes, then what stays and why.
func (a *app) removals(w io.Writer, plan []viewer.Removal) {
	var t table
	for _, r := range part(plan, nil, viewer.Removal.Goes).aheadFirst() {
		what, why := "goes", r.Loses
		if !r.Goes() {
			what, why = "stays", r.Kept
		}
		t.add(what, r.Run, dash(r.Flow), r.Owner, dash(r.Status), fmt.Sprint(r.Step), age(a.now(), r.Updated), oneLine(why))
	}
	a.writePlan(w, t)
}
