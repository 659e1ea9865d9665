package redis

import (
	"context"
	"slices"
	"strconv"

	client "github.com/redis/go-redis/v9"

	"github.com/flowtui/flowtui/stores"
)

// expired finds the runs that have expired and are still in the indexes, because
// nobody has written since.
func (s *Store) expired(ctx context.Context) (map[stores.Key]record, error) {
	var first *client.ZSliceCmd
	now, err := s.read(ctx, strict, func(p client.Pipeliner) { first = p.ZRangeWithScores(ctx, s.keys.expiring(), 0, 0) })
	if err != nil || len(first.Val()) == 0 || int64(first.Val()[0].Score) > now.UnixMilli() {
		return nil, err
	}
	until := &client.ZRangeBy{Min: "-inf", Max: strconv.FormatInt(now.UnixMilli(), 10)}
	var ids *client.StringSliceCmd
	if _, err := s.read(ctx, strict, func(p client.Pipeliner) { ids = p.ZRangeByScore(ctx, s.keys.expiring(), until) }); err != nil {
		return nil, err
	}
	dead := map[stores.Key]record{}
	for part := range slices.Chunk(ids.Val(), stores.MaxLimit) {
		records, err := s.records(ctx, part)
		if err != nil {
			return nil, err
		}
		for i, r := range records {
			if k, ok := parseID(part[i]); ok && r.expired(now) {
				dead[k] = r
			}
		}
	}
	return dead, nil
}

// records reads index records; that of an unknown run is zero.
func (s *Store) records(ctx context.Context, ids []string) ([]record, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var cmd *client.SliceCmd
	if _, err := s.read(ctx, strict, func(p client.Pipeliner) { cmd = p.HMGet(ctx, s.keys.index(), ids...) }); err != nil {
		return nil, err
	}
	records := make([]record, len(ids))
	for i, v := range cmd.Val() {
		text, _ := v.(string)
		records[i], _ = parseRecord(text)
	}
	return records, nil
}

// Count implements stores.Lister. With at most one of owner and flow it asks for
// the sizes of sets, else it goes through their members.
func (s *Store) Count(ctx context.Context, f stores.Filter) (stores.Counts, error) {
	n, err := s.count(ctx, f)
	return n, s.wrap("count", stores.Key{}, err)
}

func (s *Store) count(ctx context.Context, f stores.Filter) (n stores.Counts, err error) {
	n.ByStatus = map[stores.Status]int64{}
	dead, err := s.expired(ctx)
	if err != nil {
		return n, err
	}
	open := f
	open.Open = true
	if n.Open, err = s.countOne(ctx, open, dead); err != nil {
		return n, err
	}
	for _, status := range statuses(f) {
		one := f
		one.Statuses = []stores.Status{status}
		m := n.Open
		if !f.Open {
			m, err = s.countOne(ctx, one, dead)
		} else if status != stores.StatusRunning {
			m = 0
		}
		if err != nil {
			return n, err
		}
		if m > 0 {
			n.ByStatus[status] = m
		}
	}
	return n, nil
}

// countOne counts the runs of a filter that asks for one status or for open ones.
func (s *Store) countOne(ctx context.Context, f stores.Filter, dead map[stores.Key]record) (n int64, err error) {
	byOwner, byFlow := f.Owner != stores.AnyOwner, f.Flow != ""
	if f.Text == "" && !(byOwner && byFlow) && !(f.Open && (byOwner || byFlow)) {
		sets, err := s.sets(ctx, f)
		if err != nil || len(sets) == 0 {
			return 0, err
		}
		sizes, err := s.sizes(ctx, sets)
		if err != nil {
			return 0, err
		}
		n = sum(sizes)
		for k, r := range dead {
			if f.Matches(r.head(k)) {
				n--
			}
		}
		return max(0, n), nil
	}
	err = s.walk(ctx, f, "", stores.MaxLimit, func(part []entry) (bool, error) {
		part = slices.DeleteFunc(part, func(e entry) bool { _, gone := dead[e.key]; return gone })
		if !byFlow {
			n += int64(len(part))
			return true, nil
		}
		ids := make([]string, len(part))
		for i, e := range part {
			ids[i] = id(e.key)
		}
		records, err := s.records(ctx, ids)
		for _, r := range records {
			if r.flow == f.Flow {
				n++
			}
		}
		return true, err
	})
	return n, err
}

// head is what an index record knows of a head, for filters.
func (r record) head(k stores.Key) stores.Head {
	return stores.Head{Place: stores.Place{Key: k}, Status: r.status, Flow: r.flow, Open: int64(bit(r.open))}
}

// Owners implements stores.Lister.
func (s *Store) Owners(ctx context.Context) ([]string, error) {
	owners, err := s.everyOwner(ctx)
	return owners, s.wrap("owners", stores.Key{}, err)
}

func (s *Store) everyOwner(ctx context.Context) ([]string, error) {
	dead, err := s.expired(ctx)
	if err != nil {
		return nil, err
	}
	var cmd *client.StringSliceCmd
	if _, err := s.read(ctx, strict, func(p client.Pipeliner) { cmd = p.ZRange(ctx, s.keys.owners(), 0, -1) }); err != nil {
		return nil, err
	}
	doubted := map[string]bool{}
	for k := range dead {
		doubted[k.Owner] = true
	}
	var owners []string
	for _, owner := range cmd.Val() {
		if doubted[owner] {
			n, err := s.count(ctx, stores.Filter{Owner: owner})
			if err != nil {
				return nil, err
			}
			if len(n.ByStatus) == 0 {
				continue
			}
		}
		owners = append(owners, owner)
	}
	slices.Sort(owners)
	return owners, nil
}
