package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/viewer"
)

func newRecoverAllCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "recover-all STORE",
		Short: "Recover every run whose worker is gone, each for itself",
		Long: `Recover every unfinished run that nobody holds, of one owner or with --owner '*' of all,
each for itself: one that needs a decision, or fails, holds up no other. The exit code is
0 when every run got its outcome and none failed but by a denial.`,
		Args: arguments("STORE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.recoverAll(cmd.Context(), args[0])
		},
	}
}

func (a *app) recoverAll(ctx context.Context, store string) error {
	if err := a.mayAskAfter("look at what would be recovered with `flowtui ls --tab running`, then add --yes"); err != nil {
		return err
	}
	s, err := a.attach(ctx, false, store)
	if err != nil {
		return err
	}
	defer s.Close()
	var opts viewer.RecoverAllOptions
	if !a.global.yes {
		if opts.Shown, err = a.showUnfinished(ctx, s); err != nil {
			return err
		}
	}
	if err := a.confirm(ctx, s, "recover all of them", store); err != nil {
		return err
	}
	results, err := s.RecoverAll(ctx, "", s.owner, opts)
	if err != nil {
		return err
	}
	if err := a.result(recoveries(results), func(w io.Writer) { recoveryText(w, results) }); err != nil {
		return err
	}
	return worst(results)
}

// showUnfinished shows what would be recovered, and returns each run with the
// version that was shown: the answer holds for exactly those.
func (a *app) showUnfinished(ctx context.Context, s *session) (map[viewer.Ref]string, error) {
	shown := map[viewer.Ref]string{}
	var rows []viewer.Row
	for q := (viewer.Query{Tab: viewer.TabRunning, Limit: stores.MaxLimit, Check: true}); ; {
		page, err := s.List(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, r := range page.Rows {
			shown[r.Ref] = r.Version
		}
		rows = append(rows, page.Rows...)
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
	}
	a.rows(textWriter{a.stderr}, viewer.ForPeople(rows), s.owner == stores.AnyOwner, 0) // what is confirmed is shown whole
	return shown, nil
}

// recoveries is the results as JSON has them: an outcome or an error.
func recoveries(results map[string]viewer.RecoverAllResult) map[string]any {
	byRun := map[string]any{}
	for run, r := range results {
		if r.Problem != nil {
			byRun[run] = map[string]viewer.Problem{"error": *r.Problem}
		} else {
			byRun[run] = withLists(*r.Outcome)
		}
	}
	return map[string]any{"results": byRun}
}

func recoveryText(w io.Writer, results map[string]viewer.RecoverAllResult) {
	for _, run := range slices.Sorted(maps.Keys(results)) {
		r := results[run]
		if r.Problem == nil {
			fmt.Fprintf(w, "%s: %s\n", run, oneLine(r.Outcome.Outcome))
			continue
		}
		fmt.Fprintf(w, "%s: %s\n", run, oneLine(r.Problem.Message))
		if r.Problem.Hint != "" {
			fmt.Fprintf(w, "  hint: %s\n", oneLine(r.Problem.Hint))
		}
	}
	fmt.Fprintf(w, "%s\n", plural(len(results), "unfinished run"))
}

// worst is the exit code of many results: that of all problems when they agree,
// else 1. A run that failed because it was denied did what was asked.
func worst(results map[string]viewer.RecoverAllResult) error {
	codes := map[int]bool{}
	for _, r := range results {
		switch {
		case r.Problem != nil:
			codes[r.Problem.Exit()] = true
		case r.Outcome.Status == string(stores.StatusFailed) && !r.Outcome.Denied:
			codes[viewer.Problem{}.Exit()] = true
		}
	}
	all := slices.Collect(maps.Keys(codes))
	switch len(all) {
	case 0:
		return nil
	case 1:
		return exit(all[0])
	}
	return exit(1)
}
