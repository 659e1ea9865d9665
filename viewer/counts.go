package viewer

import (
	"context"

	"github.com/flowtui/flowtui/stores"
)

// Counts returns the numbers of runs for the tabs. All but NeedsYou and InDoubt
// are counted by the stores. Those two come from the same bounded walk as the
// list of NeedsYou: beyond 2000 unfinished or failed runs of a store they are
// lower bounds. A store that cannot be read is left out, unless it is the only
// one: then that is the error.
func (s *Service) Counts(ctx context.Context, q Query) (Counts, error) {
	counts := Counts{}
	for _, tab := range Tabs {
		counts[tab] = 0
	}
	failed := s.countStatuses(ctx, q, counts)
	q.Tab = TabNeedsYou
	f, _ := s.filter(q)
	w, err := s.walk(ctx, f, cursor{Tab: TabNeedsYou})
	if err != nil {
		return nil, err
	}
	for _, t := range w.streams {
		if t.err != nil {
			failed[t.at] = t.err
		}
	}
	if len(failed) == len(s.stores) { // zeros would say that there is nothing
		return nil, failed[s.stores[0]]
	}
	for _, r := range w.rows {
		counts[TabNeedsYou]++
		if r.has(InDoubt) {
			counts[TabInDoubt]++
		}
	}
	return counts, nil
}

// countStatuses counts what the stores count, and returns which could not.
func (s *Service) countStatuses(ctx context.Context, q Query, counts Counts) map[*attachment]error {
	q.Tab = TabAll
	f, _ := s.filter(q)
	failed := map[*attachment]error{}
	for _, a := range s.stores {
		n, err := s.countIn(ctx, a, f)
		if err != nil {
			failed[a] = err // List tells the problem
			continue
		}
		counts[TabRunning] += n[stores.StatusRunning]
		counts[TabPaused] += n[stores.StatusPaused]
		counts[TabFailed] += n[stores.StatusFailed]
		counts[TabDone] += n[stores.StatusDone]
	}
	counts[TabAll] = counts[TabRunning] + counts[TabPaused] + counts[TabFailed] + counts[TabDone]
	return failed
}

// Others counts the runs of all other owners when the one that is asked for, ""
// for the Service's, has none; else it is 0. A store that cannot be read is left out.
func (s *Service) Others(ctx context.Context, owner string) int64 {
	own, all := Counts{}, Counts{}
	if s.countStatuses(ctx, Query{Owner: owner}, own); own[TabAll] > 0 {
		return 0
	}
	s.countStatuses(ctx, Query{Owner: stores.AnyOwner}, all)
	return all[TabAll]
}

func (s *Service) countIn(ctx context.Context, a *attachment, f stores.Filter) (map[stores.Status]int64, error) {
	if err := s.present(ctx, a); err != nil {
		return nil, err
	}
	if lister, ok := a.store.(stores.Lister); ok {
		ctx, stop := context.WithTimeout(ctx, storePatience)
		defer stop()
		n, err := lister.Count(ctx, f)
		return n.ByStatus, err
	}
	heads, err := a.store.ListUnfinished(ctx, f.Owner)
	n := map[stores.Status]int64{}
	for _, h := range heads {
		if f.Matches(h) {
			n[h.Status]++
		}
	}
	return n, err
}
