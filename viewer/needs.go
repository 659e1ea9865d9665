package viewer

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/flowtui/flowtui/stores"
)

// sortKey is the order of NeedsYou: urgency, then who waits longest.
type sortKey struct {
	Urgency int    `json:"g"`
	Updated int64  `json:"u"`
	Store   string `json:"s"`
	Owner   string `json:"o"`
	Run     string `json:"r"`
}

func keyOf(r Row) sortKey {
	return sortKey{r.urgency(), r.Updated.UnixMicro(), r.Ref.Store, r.Ref.Owner, r.Ref.Run}
}

func (k sortKey) compare(o sortKey) int {
	return cmp.Or(cmp.Compare(k.Urgency, o.Urgency), cmp.Compare(k.Updated, o.Updated),
		strings.Compare(k.Store, o.Store), strings.Compare(k.Owner, o.Owner), strings.Compare(k.Run, o.Run))
}

// walked is one window of NeedsYou: what was found in at most maxWalk heads of
// each store, in order.
type walked struct {
	rows    []Row
	streams []*stream
	more    bool
}

// needsYou returns the next rows of a window, and then the next window.
func (s *Service) needsYou(ctx context.Context, q Query, f stores.Filter, c cursor) (Page, error) {
	w, err := s.walk(ctx, f, c)
	if err != nil {
		return Page{}, err
	}
	rows := w.rows
	if c.Shown != nil {
		rows = slices.DeleteFunc(rows, func(r Row) bool { return keyOf(r).compare(*c.Shown) <= 0 })
	}
	page := Page{Rows: rows, Problems: s.lacks(ctx, w.streams)}
	switch {
	case len(rows) > q.Limit:
		page.Rows = rows[:q.Limit]
		last := keyOf(page.Rows[q.Limit-1])
		page.Next = cursor{Tab: q.Tab, Marks: c.Marks, Shown: &last}.String()
	case w.more:
		page.Next = nextOf(cursor{Tab: q.Tab}, w.streams)
	}
	if q.Check {
		s.checkPage(ctx, &page)
		page.Rows = slices.DeleteFunc(page.Rows, func(r Row) bool { return !r.NeedsYou() })
		slices.SortStableFunc(page.Rows, func(a, b Row) int { return keyOf(a).compare(keyOf(b)) })
	}
	page.Unread = unread(page.Rows...)
	return page, ctx.Err()
}

// walk reads a window of every store and keeps the runs that need a person.
func (s *Service) walk(ctx context.Context, f stores.Filter, c cursor) (walked, error) {
	w := walked{streams: s.streams(f, maxPage, c)}
	fillAll(ctx, w.streams)
	for _, t := range w.streams {
		for t.err == nil && !t.mark.End {
			if len(t.page) == 0 {
				if t.read >= maxWalk {
					break
				}
				t.fill(ctx)
				continue
			}
			g, err := s.look(ctx, t.at, t.page[0], false)
			if err != nil {
				t.err = err
				break
			}
			t.pop()
			if r := s.row(g); r.NeedsYou() {
				w.rows = append(w.rows, r)
			}
		}
		w.more = w.more || t.err == nil && !t.mark.End && (len(t.page) > 0 || t.next != "")
	}
	if len(c.Marks) == 0 {
		w.rows = append(w.rows, s.tamperedElsewhere(ctx, f, w.rows)...)
	}
	slices.SortFunc(w.rows, func(a, b Row) int { return keyOf(a).compare(keyOf(b)) })
	return w, ctx.Err()
}

// tamperedElsewhere are runs that were found tampered but that the walk does
// not meet: done ones.
func (s *Service) tamperedElsewhere(ctx context.Context, f stores.Filter, have []Row) []Row {
	var refs []Ref
	s.mu.Lock()
	for ref, c := range s.verdicts {
		if c.verdict.Bad() && !slices.ContainsFunc(have, func(r Row) bool { return r.Ref == ref }) {
			refs = append(refs, ref)
		}
	}
	s.mu.Unlock()
	slices.SortFunc(refs, func(a, b Ref) int { return strings.Compare(a.Run, b.Run) })
	f.Statuses = nil
	var rows []Row
	for _, ref := range refs[:min(len(refs), maxPage)] {
		a, k, err := s.at(ref)
		if err != nil {
			continue
		}
		if g, err := s.glimpse(ctx, a, k); err == nil && f.Matches(g.head) {
			if r := s.row(g); r.has(Tampered) {
				rows = append(rows, r)
			}
		}
	}
	return rows
}
