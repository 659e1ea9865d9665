package teff

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/flowtui/flowtui/stores"
)

var _ stores.Examiner = (*Store)(nil)

// Examine implements stores.Examiner. It tells what of the store cannot be read
// or written, which lists show row by row only.
func (s *Store) Examine(ctx context.Context) (stores.Examination, error) {
	e := stores.Examination{Bytes: -1}
	x, err := s.all(ctx)
	if err != nil {
		return e, s.wrap("examine", stores.Key{}, err)
	}
	var bad []stores.Head
	for _, h := range x.heads {
		if h.Bad != "" {
			bad = append(bad, h)
		}
	}
	rows := stores.Fact{Name: "rows", Value: fmt.Sprintf("%d, %d of them cannot be read", len(x.heads), len(bad))}
	if len(bad) > 0 {
		rows.Problem = fmt.Sprintf("of %d runs the row cannot be read, they are counted as running: see flowtui verify; the first is %s of %s: %s", len(bad), bad[0].Run, bad[0].Owner, bad[0].Bad)
	}
	e.Facts = append(e.Facts, rows)
	if closed := slices.Sorted(maps.Keys(x.closed)); len(closed) > 0 {
		e.Facts = append(e.Facts, stores.Fact{
			Name: "closed to you", Value: strings.Join(closed, ", "), Problem: "the runs of these owners cannot be listed: ask for the permission to read their folders",
		})
	}
	f, ok := s.b.(*files)
	if !ok {
		return e, nil
	}
	locked, all, err := f.locked()
	if err == nil && len(locked) > 0 && !all {
		e.Facts = append(e.Facts, stores.Fact{
			Name: "not writable", Value: strings.Join(locked, ", "), Problem: "runs in these folders cannot be answered or brought on: ask for the permission to write to them",
		})
	}
	return e, s.wrap("examine", stores.Key{}, err)
}
