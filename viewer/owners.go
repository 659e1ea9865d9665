package viewer

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/flowtui/flowtui/stores"
)

// Owner is an owner that has runs.
type Owner struct {
	ID    string `scrub:"-"` // exactly as stored: never print it
	Name  string // for people; "" has a folder of teff's for runs without an owner
	Needs int64  // runs that need a person, of those that Counts looks at
}

// Owners lists the owners that have runs in the attached stores, first those of
// whom most runs need a person, then by name. Of a Service that is kept to one
// owner it is that one at most, see [Options.Owner]. A store that cannot be read
// is left out, unless all are like that: then the first one's is the error.
func (s *Service) Owners(ctx context.Context) ([]Owner, error) {
	ids := map[string]int64{}
	failed := map[*attachment]error{}
	for _, a := range s.stores {
		names, err := s.ownersIn(ctx, a)
		if err != nil {
			failed[a] = err // List tells the problem
		}
		for _, id := range names {
			if s.shows(id) {
				ids[id] = 0
			}
		}
	}
	if len(s.stores) > 0 && len(failed) == len(s.stores) {
		return nil, failed[s.stores[0]]
	}
	f, _ := s.filter(Query{Tab: TabNeedsYou, Owner: s.widest()})
	w, err := s.walk(ctx, f, cursor{Tab: TabNeedsYou})
	if err != nil {
		return nil, err
	}
	for _, r := range w.rows {
		ids[r.Ref.Owner]++
	}
	list := []Owner{}
	for id, needs := range ids {
		list = append(list, Owner{ID: id, Name: id, Needs: needs})
	}
	slices.SortFunc(list, func(a, b Owner) int {
		return cmp.Or(cmp.Compare(b.Needs, a.Needs), strings.Compare(a.ID, b.ID))
	})
	return out(s, list, false), nil
}

func (s *Service) ownersIn(ctx context.Context, a *attachment) ([]string, error) {
	if err := s.present(ctx, a); err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(ctx, storePatience)
	defer stop()
	if lister, ok := a.store.(stores.Lister); ok {
		return lister.Owners(ctx)
	}
	heads, err := a.store.ListUnfinished(ctx, s.widest())
	var names []string
	for _, h := range heads {
		names = append(names, h.Owner)
	}
	return names, err
}

// widest is all that may be shown: one owner, or those of all.
func (s *Service) widest() string {
	if s.o.AnyOwner {
		return stores.AnyOwner
	}
	return s.o.Owner
}

func (s *Service) shows(owner string) bool { return s.o.AnyOwner || owner == s.o.Owner }

// owned is whose runs a query is about.
func (s *Service) owned(owner string, none bool) string {
	if owner == "" && !none {
		return s.o.Owner
	}
	return owner
}
