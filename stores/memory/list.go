package memory

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/flowtui/flowtui/stores"
)

// cursor is the place of the last head of a page in the order of lists.
type cursor struct {
	Updated int64
	Owner   string
	Run     string
}

func cursorOf(h stores.Head) cursor {
	return cursor{h.Updated.UnixMicro(), h.Owner, h.Run}
}

// compare orders by newest update, then owner, then run.
func (c cursor) compare(d cursor) int {
	return cmp.Or(cmp.Compare(d.Updated, c.Updated), strings.Compare(c.Owner, d.Owner), strings.Compare(c.Run, d.Run))
}

func (c cursor) String() string {
	b, _ := json.Marshal(c) // a struct of strings and numbers always marshals
	return base64.RawURLEncoding.EncodeToString(b)
}

func parseCursor(s string) (c cursor, err error) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err == nil {
		err = json.Unmarshal(b, &c)
	}
	if err != nil || c.Owner == "" || c.Run == "" {
		return c, fmt.Errorf("%w: cursor %q", stores.ErrInvalid, s)
	}
	return c, nil
}

// List implements stores.Lister.
func (s *Store) List(ctx context.Context, q stores.Query) (page stores.Page, err error) {
	err = s.do(ctx, "list", stores.Key{}, func() error {
		size, err := q.Size()
		if err != nil {
			return err
		}
		heads := s.heads(q.Filter.Matches)
		if q.Cursor != "" {
			after, err := parseCursor(q.Cursor)
			if err != nil {
				return err
			}
			heads = slices.DeleteFunc(heads, func(h stores.Head) bool { return cursorOf(h).compare(after) <= 0 })
		}
		if len(heads) > size {
			heads = heads[:size]
			page.Next = cursorOf(heads[size-1]).String()
		}
		page.Heads = heads
		return nil
	})
	return page, err
}

// heads copies the wanted heads, in the order of lists.
func (s *Store) heads(want func(stores.Head) bool) []stores.Head {
	var heads []stores.Head
	for _, r := range s.runs {
		if want(r.head) {
			heads = append(heads, s.outHead(r))
		}
	}
	slices.SortFunc(heads, func(a, b stores.Head) int { return cursorOf(a).compare(cursorOf(b)) })
	return heads
}

func (s *Store) outHead(r *run) stores.Head {
	h := copyHead(r.head)
	h.Lease = s.lease(h.Key)
	return h
}

// ListUnfinished implements stores.Store.
func (s *Store) ListUnfinished(ctx context.Context, owner string) (heads []stores.Head, err error) {
	unfinished := stores.Filter{Owner: owner, Statuses: []stores.Status{stores.StatusRunning, stores.StatusPaused}}
	err = s.do(ctx, "list unfinished", stores.Key{}, func() error {
		heads = s.heads(unfinished.Matches)
		slices.Reverse(heads)
		return nil
	})
	return heads, err
}

// Count implements stores.Lister.
func (s *Store) Count(ctx context.Context, f stores.Filter) (n stores.Counts, err error) {
	n.ByStatus = map[stores.Status]int64{}
	err = s.do(ctx, "count", stores.Key{}, func() error {
		for _, r := range s.runs {
			if !f.Matches(r.head) {
				continue
			}
			n.ByStatus[r.head.Status]++
			if r.head.Open > 0 {
				n.Open++
			}
		}
		return nil
	})
	return n, err
}

// Head implements stores.Lister.
func (s *Store) Head(ctx context.Context, k stores.Key) (h stores.Head, err error) {
	err = s.do(ctx, "head", k, func() error {
		r := s.runs[k]
		if r == nil {
			return stores.ErrNotFound
		}
		h = s.outHead(r)
		return nil
	})
	return h, err
}

// Owners implements stores.Lister.
func (s *Store) Owners(ctx context.Context) (owners []string, err error) {
	err = s.do(ctx, "owners", stores.Key{}, func() error {
		for k := range s.runs {
			owners = append(owners, k.Owner)
		}
		slices.Sort(owners)
		owners = slices.Compact(owners)
		return nil
	})
	return owners, err
}
