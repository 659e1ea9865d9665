package jsonfile

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
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

func (e *entry) cursor() cursor { return cursor{e.updated, e.owner, e.run} }

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
	err = s.read(ctx, "list", stores.Key{}, func(root *os.Root) error {
		size, err := q.Size()
		if err != nil {
			return err
		}
		var after cursor
		if q.Cursor != "" {
			if after, err = parseCursor(q.Cursor); err != nil {
				return err
			}
		}
		found, err := s.sorted(ctx, root, q.Filter)
		if err != nil {
			return err
		}
		if q.Cursor != "" {
			found = slices.DeleteFunc(found, func(e entry) bool { return e.cursor().compare(after) <= 0 })
		}
		if len(found) > size {
			found = found[:size]
			page.Next = found[size-1].cursor().String()
		}
		page.Heads, err = s.heads(root, found, q.Filter)
		return err
	})
	return page, err
}

func (s *Store) sorted(ctx context.Context, root *os.Root, f stores.Filter) ([]entry, error) {
	found, err := s.scan(ctx, root, f)
	slices.SortFunc(found, func(a, b entry) int { return a.cursor().compare(b.cursor()) })
	return found, err
}

// heads reads the heads of entries. A run that was changed meanwhile is shown as
// it is now, and left out when it is gone or no longer selected.
func (s *Store) heads(root *os.Root, found []entry, f stores.Filter) (heads []stores.Head, err error) {
	dirs := map[string]*os.Root{}
	defer func() {
		for _, dir := range dirs {
			dir.Close()
		}
	}()
	for _, e := range found {
		k := stores.Key{Owner: e.owner, Run: e.run}
		if e.bad != "" {
			heads = append(heads, stores.Head{Place: stores.Place{Key: k}, Bad: e.bad})
			continue
		}
		dir := dirs[e.dir]
		if dir == nil {
			if dir, err = openFolder(root, ownersDir+"/"+e.dir); err != nil {
				return nil, err
			}
			dirs[e.dir] = dir
		}
		h, err := s.headAt(dir, k, e.name)
		if err != nil {
			return nil, err
		}
		if h == nil || !f.Matches(*h) {
			continue
		}
		h.Lease = s.lease(dir, e.name)
		heads = append(heads, *h)
	}
	return heads, nil
}

// ListUnfinished implements stores.Store.
func (s *Store) ListUnfinished(ctx context.Context, owner string) (heads []stores.Head, err error) {
	unfinished := stores.Filter{Owner: owner, Statuses: []stores.Status{stores.StatusRunning, stores.StatusPaused}}
	err = s.read(ctx, "list unfinished", stores.Key{}, func(root *os.Root) error {
		found, err := s.sorted(ctx, root, unfinished)
		if err != nil {
			return err
		}
		slices.Reverse(found)
		heads, err = s.heads(root, found, unfinished)
		return err
	})
	return heads, err
}

// Count implements stores.Lister.
func (s *Store) Count(ctx context.Context, f stores.Filter) (n stores.Counts, err error) {
	n.ByStatus = map[stores.Status]int64{}
	err = s.read(ctx, "count", stores.Key{}, func(root *os.Root) error {
		found, err := s.scan(ctx, root, f)
		for _, e := range found {
			n.ByStatus[e.status]++
			if e.open {
				n.Open++
			}
		}
		return err
	})
	return n, err
}

// Head implements stores.Lister.
func (s *Store) Head(ctx context.Context, k stores.Key) (h stores.Head, err error) {
	var found *stores.Head
	err = s.read(ctx, "head", k, func(root *os.Root) error {
		if k.Validate() != nil {
			return nil
		}
		return s.inOwner(root, k.Owner, func(dir *os.Root) error {
			found, err = s.headAt(dir, k, fileName(k.Run))
			if found != nil {
				found.Lease = s.lease(dir, fileName(k.Run))
			}
			return err
		})
	})
	if err != nil {
		return h, err
	}
	if found == nil {
		return h, s.wrap("head", k, stores.ErrNotFound)
	}
	return *found, nil
}

// Owners implements stores.Lister. It reads names only.
func (s *Store) Owners(ctx context.Context) (owners []string, err error) {
	err = s.read(ctx, "owners", stores.Key{}, func(root *os.Root) error {
		return s.eachOwner(root, stores.AnyOwner, func(owner, _ string, dir *os.Root, why error) error {
			var runs []string
			if why == nil {
				runs, why = runsIn(dir)
			}
			if why != nil || len(runs) > 0 { // a folder that cannot be read may have runs
				owners = append(owners, owner)
			}
			return ctx.Err()
		})
	})
	slices.Sort(owners)
	return owners, err
}

// Orphans implements stores.Auditor. The head of a run is made from its journal
// where its head file is missing, and a head file without a journal is listed as
// unreadable, so that no row is without a head.
func (s *Store) Orphans(ctx context.Context, _ string) ([]stores.Key, error) {
	return nil, s.read(ctx, "orphans", stores.Key{}, func(*os.Root) error { return nil })
}
