package teff

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/flowtui/flowtui/internal/pyjson"
	"github.com/flowtui/flowtui/stores"
)

var _ stores.Answerer = (*Store)(nil)

// change is a replacement, taken apart.
type change struct {
	key        stores.Key // as the store writes it
	seen, next []byte
	row        record // of next
	state      []byte // of next
	stored     []byte // what next has become in the store
}

// errChanged is for a row that is not the one that was seen.
func errChanged(k stores.Key) error {
	return fmt.Errorf("%w: the row of %q changed since it was seen; nothing was saved", stores.ErrConflict, k.Run)
}

func (s *Store) changes(rows []stores.Replacement) ([]change, error) {
	list := make([]change, 0, len(rows))
	for _, r := range rows {
		c := change{key: s.b.name(r.Key), seen: r.Seen, next: r.Next}
		if r.Next == nil {
			list = append(list, c)
			continue
		}
		c.row = readRow(r.Next)
		if c.row.bad != "" {
			return nil, fmt.Errorf("%w: a row of %q cannot be written: %s", stores.ErrInvalid, r.Key.Run, c.row.bad)
		}
		members, err := pyjson.Object(r.Next)
		if err != nil {
			return nil, err
		}
		c.state, _ = pyjson.Last(members, "state")
		if c.state == nil {
			c.state = []byte("{}")
		}
		next := []byte("null")
		if c.row.next != nil {
			next = pyjson.Quote(*c.row.next)
		}
		c.next = compose(c.state, next, c.row.iteration) // without anything else
		c.stored = c.next
		list = append(list, c)
	}
	return list, nil
}

// Replace implements stores.Answerer.
func (s *Store) Replace(ctx context.Context, rows ...stores.Replacement) ([][]byte, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	k := rows[0].Key
	if err := errors.Join(s.open(), ctx.Err()); err != nil {
		return nil, s.wrap("replace", k, err)
	}
	if s.opts.ReadOnly {
		return nil, s.wrap("replace", k, fmt.Errorf("%w: it was opened read-only", stores.ErrReadOnly))
	}
	list, err := s.changes(rows)
	if err == nil {
		err = s.b.replace(ctx, list)
	}
	if err != nil {
		return nil, s.wrap("replace", k, err)
	}
	stored := make([][]byte, len(list))
	for i, c := range list {
		stored[i] = c.stored
	}
	return stored, nil
}

// unchanged reports whether a row is what was seen of it; found is false when
// there is none.
func (c change) unchanged(now record, found bool) bool {
	if c.seen == nil || !found {
		return c.seen == nil && !found
	}
	return now.bad == "" && bytes.Equal(now.text, c.seen)
}

// clock is what teff writes as updated_at: seconds since 1970.
func clock() float64 { return float64(time.Now().UnixMicro()) / 1e6 }
