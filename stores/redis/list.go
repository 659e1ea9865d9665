package redis

import (
	"cmp"
	"context"
	"slices"
	"time"

	client "github.com/redis/go-redis/v9"

	"github.com/flowtui/flowtui/stores"
)

// entry is a run's place in the order of lists.
type entry struct {
	member member
	key    stores.Key
}

// listed is a head with its place.
type listed struct {
	stores.Head
	member member
	flow   string // by the index, for a head that cannot be read
}

var everyStatus = []stores.Status{stores.StatusRunning, stores.StatusPaused, stores.StatusDone, stores.StatusFailed}

// statuses is what a filter asks for.
func statuses(f stores.Filter) []stores.Status {
	if len(f.Statuses) == 0 {
		return everyStatus
	}
	return slices.Compact(slices.Sorted(slices.Values(f.Statuses)))
}

// sets are the sorted sets that together have all runs of a filter, and the
// fewest others. Each run is in one of them.
func (s *Store) sets(ctx context.Context, f stores.Filter) ([]string, error) {
	if f.Open {
		if len(f.Statuses) > 0 && !slices.Contains(f.Statuses, stores.StatusRunning) {
			return nil, nil // only a running run has open calls
		}
		return []string{s.keys.open()}, nil
	}
	var byStatus, byOwner, byFlow []string
	for _, status := range statuses(f) {
		byStatus = append(byStatus, s.keys.status(status))
		byOwner = append(byOwner, s.keys.owner(f.Owner, status))
		byFlow = append(byFlow, s.keys.flow(f.Flow, status))
	}
	switch everyOwner := f.Owner == stores.AnyOwner; {
	case everyOwner && f.Flow == "":
		return byStatus, nil
	case everyOwner:
		return byFlow, nil
	case f.Flow == "":
		return byOwner, nil
	}
	sizes, err := s.sizes(ctx, append(slices.Clone(byOwner), byFlow...))
	if err != nil {
		return nil, err
	}
	if sum(sizes[:len(byOwner)]) <= sum(sizes[len(byOwner):]) {
		return byOwner, nil
	}
	return byFlow, nil
}

func sum(numbers []int64) (n int64) {
	for _, m := range numbers {
		n += m
	}
	return n
}

// sizes are the numbers of members of sorted sets.
func (s *Store) sizes(ctx context.Context, sets []string) ([]int64, error) {
	cmds := make([]*client.IntCmd, len(sets))
	_, err := s.read(ctx, strict, func(p client.Pipeliner) {
		for i, set := range sets {
			cmds[i] = p.ZCard(ctx, set)
		}
	})
	if err != nil {
		return nil, err
	}
	sizes := make([]int64, len(sets))
	for i, cmd := range cmds {
		sizes[i] = cmd.Val()
	}
	return sizes, nil
}

// scan reads the next entries of the sets after a place, n at most.
func (s *Store) scan(ctx context.Context, sets []string, after member, n int) ([]entry, error) {
	if len(sets) == 0 {
		return nil, nil
	}
	by := &client.ZRangeBy{Min: "-", Max: "+", Count: int64(n)}
	if after != "" {
		by.Min = "(" + string(after)
	}
	cmds := make([]*client.StringSliceCmd, len(sets))
	_, err := s.read(ctx, strict, func(p client.Pipeliner) {
		for i, set := range sets {
			cmds[i] = p.ZRangeByLex(ctx, set, by)
		}
	})
	if err != nil {
		return nil, err
	}
	var all []entry
	for _, cmd := range cmds {
		for _, text := range cmd.Val() {
			m, k, ok := parseMember(text)
			if !ok {
				m = member(text) // not written by a worker: passed over, but its place counts
			}
			all = append(all, entry{m, k})
		}
	}
	slices.SortFunc(all, func(a, b entry) int { return cmp.Compare(a.member, b.member) })
	return all[:min(len(all), n)], nil
}

// walk goes through the entries of a filter, in growing parts, until f wants no
// more. The flow of a run is not known here.
func (s *Store) walk(ctx context.Context, filter stores.Filter, after member, first int, f func([]entry) (more bool, err error)) error {
	sets, err := s.sets(ctx, filter)
	if err != nil {
		return err
	}
	named := stores.Filter{Owner: filter.Owner, Text: filter.Text}
	for size := first; ; size = min(2*size, stores.MaxLimit) {
		part, err := s.scan(ctx, sets, after, size)
		if err != nil || len(part) == 0 {
			return err
		}
		after = part[len(part)-1].member
		last := len(part) < size
		part = slices.DeleteFunc(part, func(e entry) bool {
			return e.key.Run == "" || !named.Matches(stores.Head{Place: stores.Place{Key: e.key}})
		})
		more, err := f(part)
		if err != nil || !more || last {
			return err
		}
	}
}

// heads reads the heads of entries. Runs that have gone meanwhile are left out.
func (s *Store) heads(ctx context.Context, entries []entry) (all []listed, err error) {
	for part := range slices.Chunk(entries, chunk) {
		runs := make([]*client.SliceCmd, len(part))
		ids := make([]string, len(part))
		var index, leases *client.SliceCmd
		now, err := s.read(ctx, lenient, func(p client.Pipeliner) {
			for i, e := range part {
				ids[i] = id(e.key)
				runs[i] = p.HMGet(ctx, s.keys.run(e.key), "head", "open", "step")
			}
			index = p.HMGet(ctx, s.keys.index(), ids...)
			leases = p.HMGet(ctx, s.keys.leases(), ids...)
		})
		if err == nil {
			err = index.Err()
		}
		if err != nil {
			return nil, err
		}
		for i, e := range part {
			if err := runs[i].Err(); err != nil && !isReply(err, "WRONGTYPE") {
				return nil, err
			}
			h, ok := headOf(e, runs[i], index.Val()[i], now)
			if !ok {
				continue
			}
			if leases.Err() == nil {
				h.Lease = parseLease(leases.Val()[i], now)
			}
			all = append(all, h)
		}
	}
	return all, nil
}

// headOf makes a head of what is there. What cannot be read of it is told by
// the index. It is not ok if the run was deleted or has expired.
func headOf(e entry, run *client.SliceCmd, index any, now time.Time) (h listed, ok bool) {
	text, indexed := index.(string)
	r, _ := parseRecord(text)
	h.member, h.flow = e.member, r.flow
	v := run.Val()
	switch {
	case run.Err() != nil:
		h.Bad = "the key of the run holds something else"
	case v[0] == nil && v[1] == nil && v[2] == nil:
		if !indexed || r.expired(now) {
			return h, false
		}
		h.Bad = lostRows
	case v[0] == nil:
		h.Bad = "its head is gone"
	default:
		head, _ := v[0].(string)
		h.Head = decodeHead(e.key, head)
	}
	h.Key = e.key
	if len(v) > 1 && h.Status == stores.StatusRunning {
		h.Open = number(v[1])
	}
	if h.Bad != "" && !h.Status.Valid() {
		h.Status, h.Flow = r.status, r.flow
		if e.member != "" {
			h.Updated = e.member.updated()
		}
	}
	return h, true
}

// List implements stores.Lister.
func (s *Store) List(ctx context.Context, q stores.Query) (stores.Page, error) {
	page, err := s.list(ctx, q)
	return page, s.wrap("list", stores.Key{}, err)
}

func (s *Store) list(ctx context.Context, q stores.Query) (page stores.Page, err error) {
	size, err := q.Size()
	if err != nil {
		return page, err
	}
	after, err := parseCursor(q.Cursor)
	if err != nil {
		return page, err
	}
	all, err := s.collect(ctx, q.Filter, after, size+1)
	if err != nil {
		return page, err
	}
	if len(all) > size {
		all = all[:size]
		page.Next = all[size-1].member.cursor()
	}
	for _, h := range all {
		page.Heads = append(page.Heads, h.Head)
	}
	return page, nil
}

// collect reads heads of a filter until there are enough. A run that moves in
// the list meanwhile comes once.
func (s *Store) collect(ctx context.Context, f stores.Filter, after member, enough int) (all []listed, err error) {
	seen := map[stores.Key]bool{}
	err = s.walk(ctx, f, after, min(enough, stores.MaxLimit), func(part []entry) (bool, error) {
		heads, err := s.heads(ctx, part)
		for _, h := range heads {
			wanted := f.Matches(h.Head) || h.Bad != "" && (f.Flow == "" || f.Flow == h.flow)
			if wanted && !seen[h.Key] {
				seen[h.Key] = true
				all = append(all, h)
			}
		}
		return len(all) < enough, err
	})
	return all, err
}

// ListUnfinished implements stores.Store.
func (s *Store) ListUnfinished(ctx context.Context, owner string) (heads []stores.Head, err error) {
	f := stores.Filter{Owner: owner, Statuses: []stores.Status{stores.StatusRunning, stores.StatusPaused}}
	all, err := s.collect(ctx, f, "", int(^uint(0)>>1))
	if err != nil {
		return nil, s.wrap("list unfinished", stores.Key{}, err)
	}
	for _, h := range all {
		heads = append(heads, h.Head)
	}
	slices.Reverse(heads)
	return heads, nil
}

// Head implements stores.Lister.
func (s *Store) Head(ctx context.Context, k stores.Key) (stores.Head, error) {
	all, err := s.heads(ctx, []entry{{key: k}})
	if err == nil && len(all) == 0 {
		err = stores.ErrNotFound
	}
	if err != nil {
		return stores.Head{}, s.wrap("head", k, err)
	}
	return all[0].Head, nil
}
