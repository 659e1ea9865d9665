package redis

import (
	"cmp"
	"context"
	"slices"
	"strings"

	client "github.com/redis/go-redis/v9"

	"github.com/flowtui/flowtui/stores"
)

// Orphans implements stores.Auditor: runs that no sorted set has. It is the only
// operation that goes through the keys of the database.
func (s *Store) Orphans(ctx context.Context, owner string) ([]stores.Key, error) {
	keys, err := s.orphans(ctx, owner)
	return keys, s.wrap("orphans", stores.Key{}, err)
}

func (s *Store) orphans(ctx context.Context, owner string) (lost []stores.Key, err error) {
	for cursor := uint64(0); ; {
		var page *client.ScanCmd
		_, err := s.read(ctx, strict, func(p client.Pipeliner) { page = p.Scan(ctx, cursor, s.keys.runs(), stores.MaxLimit) })
		if err != nil {
			return nil, err
		}
		var names []string
		names, cursor = page.Val()
		var keys []stores.Key
		for _, name := range names {
			k, ok := parseID(strings.TrimPrefix(name, strings.TrimSuffix(s.keys.runs(), "*")))
			if ok && (owner == stores.AnyOwner || k.Owner == owner) {
				keys = append(keys, k)
			}
		}
		part, err := s.unlisted(ctx, keys)
		if err != nil {
			return nil, err
		}
		if lost = append(lost, part...); cursor == 0 {
			break
		}
	}
	slices.SortFunc(lost, func(a, b stores.Key) int {
		return cmp.Or(strings.Compare(a.Owner, b.Owner), strings.Compare(a.Run, b.Run))
	})
	return slices.Compact(lost), nil // a scan may give a key twice
}

// unlisted are the runs that are in no list. Others write meanwhile: a run whose
// index record is not the one whose entry was looked for was saved since, and
// each save lists its run. So the record is read again, last.
func (s *Store) unlisted(ctx context.Context, keys []stores.Key) (lost []stores.Key, err error) {
	ids := make([]string, len(keys))
	for i, k := range keys {
		ids[i] = id(k)
	}
	before, err := s.records(ctx, ids)
	if err != nil || len(keys) == 0 {
		return nil, err
	}
	scores := make([]*client.FloatCmd, len(keys))
	exist := make([]*client.IntCmd, len(keys))
	_, err = s.read(ctx, strict, func(p client.Pipeliner) {
		for i, k := range keys {
			scores[i] = p.ZScore(ctx, s.keys.status(before[i].status), before[i].order+k.Owner+"\x00"+k.Run)
			exist[i] = p.Exists(ctx, s.keys.run(k))
		}
	})
	if err != nil {
		return nil, err
	}
	after, err := s.records(ctx, ids)
	if err != nil {
		return nil, err
	}
	for i, k := range keys {
		same := before[i].order == after[i].order && before[i].status == after[i].status
		if same && scores[i].Err() == client.Nil && exist[i].Val() == 1 {
			lost = append(lost, k)
		}
	}
	return lost, nil
}
