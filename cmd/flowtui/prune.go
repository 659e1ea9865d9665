package main

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/viewer"
)

func newPruneCommand(a *app) *cobra.Command {
	var r removal
	var older, text string
	keep := -1
	cmd := &cobra.Command{
		Use:   "prune STORE (--older-than TIME | --keep-last N | --query Q)...",
		Short: "Delete runs that have ended, by age and number",
		Long: `Delete runs that have ended and verify. All that is given must hold: not updated for
--older-than (like 36h or 30d, by this machine's clock), not among the newest
--keep-last of those that fit --query and verify. Runs that have not ended are never
pruned: delete --force is for those. A deleted run leaves nothing in the store, its log
included. Steps of runs that stay are not dropped: the rest would not verify.`,
		Args: arguments("STORE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("history") {
				return refuse("--older-than, --keep-last and --query delete whole runs; export keeps a copy of them",
					"--history: the steps of a run are one signed chain from step 0 on, and a run whose first steps are gone does not verify; so no steps are dropped")
			}
			p, err := newPruning(older, keep, text, cmd)
			if err != nil {
				return err
			}
			p.now = a.now()
			r.choose = p.choose
			return a.remove(cmd.Context(), args[0], r, p.candidates)
		},
	}
	f := cmd.Flags()
	f.StringVar(&older, "older-than", "", "only runs that were not updated for `TIME`")
	f.IntVar(&keep, "keep-last", -1, "keep the newest `N`")
	f.Lookup("keep-last").DefValue = "0" // which is not shown
	f.StringVar(&text, "query", "", "only runs that fit the query `Q`, as for ls")
	f.String("history", "", "refused: a run whose first steps are gone does not verify")
	f.Lookup("history").Hidden = true
	f.BoolVar(&r.dryRun, "dry-run", false, "print what would go, and delete nothing")
	return cmd
}

// pruning is which runs go.
type pruning struct {
	older time.Duration // 0: of any age
	now   time.Time
	keep  int
	words query
}

func newPruning(older string, keep int, text string, cmd *cobra.Command) (p pruning, err error) {
	p.keep = max(0, keep)
	if older != "" {
		if p.older, err = ageOf(older); err != nil {
			return p, usagef("--older-than: %v", err)
		}
	}
	if cmd.Flags().Changed("keep-last") && keep < 0 {
		return p, usagef("--keep-last is not negative")
	}
	if p.words, err = parseQuery(text); err != nil {
		return p, err
	}
	if older == "" && keep < 0 && strings.TrimSpace(text) == "" {
		return p, problem("usage", "to delete every run that has ended, say --keep-last 0", "say which runs go: --older-than, --keep-last or --query")
	}
	return p, nil
}

// ageOf reads a duration that may also be in days.
func ageOf(text string) (time.Duration, error) {
	const day = 24 * time.Hour
	var d time.Duration
	var err error
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var n int
		if n, err = strconv.Atoi(days); err == nil && n < int((1<<63-1)/day) {
			d = time.Duration(n) * day
		}
	} else {
		d, err = time.ParseDuration(text)
	}
	if err != nil || d <= 0 {
		return 0, usagef("%q is no time like 36h or 30d", text)
	}
	return d, nil
}

// candidates are the runs whose list entries say that they have ended and may
// fit. Whether they have, and do, is decided when they were verified.
func (p pruning) candidates(ctx context.Context, s *session) ([]viewer.Ref, error) {
	refs := []viewer.Ref{}
	for _, tab := range []viewer.Tab{viewer.TabDone, viewer.TabFailed} {
		q := viewer.Query{Tab: tab, Text: p.words.text, Owner: p.words.owner, Limit: stores.MaxLimit}
		for {
			page, err := s.List(ctx, q)
			if err != nil {
				return nil, err
			}
			if len(page.Problems) > 0 {
				return nil, page.Problems[0].Problem
			}
			for _, row := range page.Rows {
				// What is recent need not be verified to stay, unless it is counted.
				if p.words.mayMatch(row) && (p.keep > 0 || !p.recent(row.Updated)) {
					refs = append(refs, row.Ref)
				}
			}
			if q.Cursor = page.Next; q.Cursor == "" {
				break
			}
		}
	}
	return refs, nil
}

func (p pruning) recent(updated time.Time) bool { return p.older > 0 && p.now.Sub(updated) < p.older }

// choose leaves of the runs that fit those that are old enough and not among
// the newest. A run that turned out to be under way, or to be gone, is none of
// them; one that does not verify is named, since its list entry said it ended,
// but takes no place of the newest: its time proves nothing.
func (p pruning) choose(plan []viewer.Removal) []viewer.Removal {
	plan = slices.DeleteFunc(plan, func(r viewer.Removal) bool {
		ended := stores.Status(r.Status).Final() || r.Code == "corrupt"
		return !ended || r.Code == "not-found" || !p.words.matches(r.Row)
	})
	slices.SortStableFunc(plan, func(a, b viewer.Removal) int { return b.Updated.Compare(a.Updated) })
	newest := 0
	return slices.DeleteFunc(plan, func(r viewer.Removal) bool {
		if r.Goes() && newest < p.keep {
			newest++
			return true
		}
		return p.recent(r.Updated)
	})
}
