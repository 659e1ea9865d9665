package viewer

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/flowtui/flowtui/stores"
)

// place is where a head stands in the order of lists: newest update first,
// then owner, then run.
type place struct {
	Updated int64  `json:"u"`
	Owner   string `json:"o"`
	Run     string `json:"r"`
}

func placeOf(h stores.Head) place { return place{h.Updated.UnixMicro(), h.Owner, h.Run} }

func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(q.Updated, p.Updated), strings.Compare(p.Owner, q.Owner), strings.Compare(p.Run, q.Run))
}

// mark is how far a list has read one store: the store's own cursor of the
// page under way, and the last head that was taken from it. Both are needed,
// because a page of several stores ends in the middle of a store's page, and
// because rows that move to the front meanwhile must not shift the rest.
type mark struct {
	Cursor string `json:"c,omitempty"`
	After  *place `json:"a,omitempty"`
	End    bool   `json:"e,omitempty"`
}

// stream reads the heads of one store in order, a page at a time.
type stream struct {
	s      *Service
	at     *attachment
	filter stores.Filter
	size   int
	mark   mark
	next   string // the store's cursor after the page under way
	page   []stores.Head
	loaded bool
	read   int // heads read so far
	err    error
	partly error // why the store's pages lack runs
}

// storePatience is how long one of several stores may hold up the others.
const storePatience = 10 * time.Second

// fill makes sure that the next head, if any, is at hand.
func (t *stream) fill(ctx context.Context) {
	for t.err == nil && !t.mark.End && len(t.page) == 0 {
		if t.loaded {
			if t.next == "" {
				t.mark.End = true
				return
			}
			t.mark.Cursor = t.next
		}
		t.load(ctx)
	}
}

func (t *stream) load(ctx context.Context) {
	if !t.loaded {
		if t.err = t.s.present(ctx, t.at); t.err != nil {
			return
		}
	}
	lister, ok := t.at.store.(stores.Lister)
	if !ok {
		t.loadUnfinished(ctx)
		return
	}
	page, err := lister.List(ctx, stores.Query{Filter: t.filter, Limit: t.size, Cursor: t.mark.Cursor})
	if err != nil && len(page.Heads) == 0 {
		t.err = err
		return
	}
	t.partly = err
	t.take(page.Heads, page.Next)
}

// loadUnfinished is for stores that cannot list: they know their unfinished runs.
func (t *stream) loadUnfinished(ctx context.Context) {
	heads, err := t.at.store.ListUnfinished(ctx, t.filter.Owner)
	if err != nil {
		t.err = err
		return
	}
	heads = slices.DeleteFunc(heads, func(h stores.Head) bool { return !t.filter.Matches(h) })
	slices.SortStableFunc(heads, func(a, b stores.Head) int { return placeOf(a).compare(placeOf(b)) })
	t.take(heads, "")
}

func (t *stream) take(heads []stores.Head, next string) {
	t.read += len(heads)
	if t.mark.After != nil {
		heads = slices.DeleteFunc(heads, func(h stores.Head) bool { return placeOf(h).compare(*t.mark.After) <= 0 })
	}
	t.page, t.next, t.loaded = heads, next, true
}

// pop takes the next head.
func (t *stream) pop() stores.Head {
	h := t.page[0]
	t.page = t.page[1:]
	p := placeOf(h)
	t.mark.After = &p
	return h
}

// first returns the stream whose next head comes first, nil when all have ended.
func first(list []*stream) *stream {
	var best *stream
	for _, t := range list {
		if len(t.page) == 0 {
			continue
		}
		if best == nil || placeOf(t.page[0]).compare(placeOf(best.page[0])) < 0 {
			best = t
		}
	}
	return best
}
