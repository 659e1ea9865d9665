package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/viewer"
)

func newImportCommand(a *app) *cobra.Command {
	var dryRun, force bool
	var note string
	cmd := &cobra.Command{
		Use:   "import STORE FILE",
		Short: "Take the runs of a bundle into a store",
		Long: `Take the runs of a bundle, made by export, into a store. Every run comes whole or not
at all, and only if it verifies; a run whose id is taken is listed and left alone. A
run that has not ended could then be gone on with in two places, so it is imported
with --force only. With --owner only that owner's runs are imported. A STORE that is
not there is made as by run.`,
		Args: arguments("STORE", "FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.importBundle(cmd.Context(), args[0], args[1], importing{dryRun, force, note})
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "print what would be imported, and import nothing")
	cmd.Flags().BoolVar(&force, "force", false, "also runs that have not ended, and a bundle whose manifest was damaged")
	cmd.Flags().StringVar(&note, "note", "", "why, as `TEXT` for the log of each run")
	return cmd
}

type importing struct {
	dryRun, force bool
	note          string
}

func (a *app) importBundle(ctx context.Context, store, file string, i importing) error {
	if !i.dryRun {
		if err := a.mayAskOf(false); err != nil {
			return err
		}
	}
	if !storeExists(file) { // nothing of it is to be made
		return problem("not-found", "give the path of a bundle, as export makes it", "there is no bundle %s", file)
	}
	targets, err := a.targets([]string{store, file})
	if err != nil {
		return err
	}
	targets[1] = target{spec: file, location: file} // a file, even where a context has its name
	targets[1].context = targets[0].context         // of which the keys are
	if err := creatable(targets[0].location); err != nil {
		return err
	}
	s, err := a.attachTargets(ctx, true, targets)
	if err != nil {
		return err
	}
	defer s.Close()
	owner := cmp.Or(a.global.owner, stores.AnyOwner)
	plan, err := s.PlanImport(ctx, owner, i.force)
	if err != nil {
		return err
	}
	coming := part(plan, nil, viewer.Importing.Comes).ahead
	if i.dryRun {
		if err := a.result(imports("would_import", plan, nil), func(w io.Writer) { a.imports(w, plan) }); err != nil {
			return err
		}
		a.note("%s would be imported, nothing was", plural(len(coming), "run"))
		return left(plan)
	}
	if len(coming) > 0 {
		if !a.global.yes {
			a.imports(textWriter{a.stderr}, viewer.ForPeople(plan))
		}
		if err := a.confirmIn(ctx, s, targets[0], s.Find("", owner), "import "+plural(len(coming), "run")+" into "+s.shown(store), strconv.Itoa(len(coming))); err != nil {
			return err
		}
	}
	return a.importAll(ctx, s, plan, i.note)
}

func (a *app) importAll(ctx context.Context, s *session, plan []viewer.Importing, note string) error {
	done, stopped := s.Import(ctx, plan, note, nil)
	err := a.result(imports("imported", plan, done), func(w io.Writer) {
		a.imports(w, part(plan, nil, viewer.Importing.Comes).left)
		n := 0
		for _, d := range done {
			if d.Error == nil {
				n++
				continue
			}
			fmt.Fprintf(w, "left out: run %s of %s: %s\n", d.Run, d.Owner, oneLine(d.Error.Message))
		}
		fmt.Fprintf(w, "%s imported\n", plural(n, "run"))
	})
	return cmp.Or(stopped, err, firstFailure(done), left(plan))
}

// left is the exit code for runs that stay out.
func left(plan []viewer.Importing) error {
	for _, i := range part(plan, nil, viewer.Importing.Comes).left {
		return exit(viewer.Problem{Code: i.Code}.Exit())
	}
	return nil
}

// imports is a plan as JSON, or what became of it.
func imports(comes string, plan []viewer.Importing, done []viewer.Removed) map[string]any {
	return part(plan, done, viewer.Importing.Comes).json(comes, "left", done != nil)
}

// imports prints a plan for people: what comes, then what stays out and why.
func (a *app) imports(w io.Writer, plan []viewer.Importing) {
	var t table
	for _, i := range part(plan, nil, viewer.Importing.Comes).aheadFirst() {
		what, why := "comes", i.Mind
		if !i.Comes() {
			what, why = "stays out", i.Left
		}
		t.add(what, i.Run, dash(i.Flow), i.Owner, i.Status, fmt.Sprint(i.Step), age(a.now(), i.Updated), oneLine(why))
	}
	a.writePlan(w, t)
}
