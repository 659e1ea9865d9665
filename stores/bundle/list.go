package bundle

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/flowtui/flowtui/stores"
)

func (c cursor) String() string {
	b, _ := json.Marshal(c) // strings and a number always encode
	return base64.RawURLEncoding.EncodeToString(b)
}

func parseCursor(s string) (c cursor, err error) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err == nil {
		err = json.Unmarshal(b, &c)
	}
	if err != nil || c.Run == "" {
		return c, fmt.Errorf("%w: cursor %q", stores.ErrInvalid, s)
	}
	return c, nil
}

// List implements stores.Lister.
func (s *Store) List(ctx context.Context, q stores.Query) (page stores.Page, err error) {
	if err := s.ready(ctx); err != nil {
		return page, s.wrap("list", stores.Key{}, err)
	}
	size, err := q.Size()
	var after cursor
	if err == nil && q.Cursor != "" {
		after, err = parseCursor(q.Cursor)
	}
	if err != nil {
		return page, s.wrap("list", stores.Key{}, err)
	}
	for _, e := range s.runs {
		switch {
		case q.Cursor != "" && e.cursor().compare(after) <= 0, !q.Matches(e.head):
		case len(page.Heads) == size:
			last := page.Heads[size-1]
			page.Next = entry{head: last}.cursor().String()
			return page, nil
		default:
			page.Heads = append(page.Heads, copyHead(e.head))
		}
	}
	return page, nil
}

// Count implements stores.Lister.
func (s *Store) Count(ctx context.Context, f stores.Filter) (stores.Counts, error) {
	n := stores.Counts{ByStatus: map[stores.Status]int64{}}
	if err := s.ready(ctx); err != nil {
		return n, s.wrap("count", stores.Key{}, err)
	}
	for _, e := range s.runs {
		if f.Matches(e.head) {
			n.ByStatus[e.head.Status]++
			if e.head.Open > 0 {
				n.Open++
			}
		}
	}
	return n, nil
}

// Head implements stores.Lister.
func (s *Store) Head(ctx context.Context, k stores.Key) (stores.Head, error) {
	r, err := s.run(ctx, k)
	return copyHead(r.Head), s.wrap("head", k, err)
}

// Owners implements stores.Lister.
func (s *Store) Owners(ctx context.Context) (owners []string, err error) {
	for _, e := range s.runs {
		owners = append(owners, e.head.Owner)
	}
	slices.Sort(owners)
	return slices.Compact(owners), s.wrap("owners", stores.Key{}, s.ready(ctx))
}

// ListUnfinished implements stores.Store.
func (s *Store) ListUnfinished(ctx context.Context, owner string) (heads []stores.Head, err error) {
	f := stores.Filter{Owner: owner, Statuses: []stores.Status{stores.StatusRunning, stores.StatusPaused}}
	for _, e := range slices.Backward(s.runs) {
		if f.Matches(e.head) {
			heads = append(heads, copyHead(e.head))
		}
	}
	return heads, s.wrap("list unfinished", stores.Key{}, s.ready(ctx))
}

// Latest implements stores.Store.
func (s *Store) Latest(ctx context.Context, k stores.Key) (stores.Checkpoint, error) {
	r, err := s.run(ctx, k)
	switch {
	case err != nil:
		return stores.Checkpoint{}, s.wrap("latest", k, err)
	case r.bad != "":
		return unreadable(k, r.bad), nil
	}
	return copyCheckpoint(*r.Last()), nil
}

// History implements stores.Historian. Of a run that cannot be read there is one
// step, which says why.
func (s *Store) History(ctx context.Context, k stores.Key, q stores.HistoryQuery) (steps []stores.Checkpoint, err error) {
	if q.Limit <= 0 {
		q.Limit = 1000
	}
	r, err := s.run(ctx, k)
	if err != nil {
		return nil, s.none("history", k, err)
	}
	if r.bad != "" && q.From <= 0 {
		return []stores.Checkpoint{unreadable(k, r.bad)}, nil
	}
	for _, c := range r.Checkpoints {
		if c.Step < q.From || len(steps) >= q.Limit {
			continue
		}
		if !q.Payload {
			c.Payload = nil
		}
		steps = append(steps, copyCheckpoint(c))
	}
	return steps, nil
}

// unreadable stands for all steps of a run: it begins where they do.
func unreadable(k stores.Key, why string) stores.Checkpoint {
	return stores.Checkpoint{Place: stores.Place{Key: k}, Bad: why}
}

// At implements stores.Historian.
func (s *Store) At(ctx context.Context, k stores.Key, step int64) (stores.Checkpoint, error) {
	r, err := s.run(ctx, k)
	if err != nil {
		return stores.Checkpoint{}, s.wrap("at", k, err)
	}
	for _, c := range r.Checkpoints {
		if c.Step == step {
			return copyCheckpoint(c), nil
		}
	}
	return stores.Checkpoint{}, s.wrap("at", k, stores.ErrNotFound)
}

// Calls implements stores.Store.
func (s *Store) Calls(ctx context.Context, k stores.Key, since int64) (calls []stores.Call, err error) {
	r, err := s.run(ctx, k)
	if err != nil {
		return nil, s.none("calls", k, err)
	}
	for _, c := range r.Calls {
		if c.Step >= since {
			c.Payload, c.Seal = slices.Clone(c.Payload), copySeal(c.Seal)
			calls = append(calls, c)
		}
	}
	return calls, nil
}

// Events implements stores.EventLog.
func (s *Store) Events(ctx context.Context, k stores.Key, after int64, limit int) (events []stores.Event, err error) {
	if limit <= 0 {
		limit = 1000
	}
	r, err := s.run(ctx, k)
	if err != nil {
		return nil, s.none("events", k, err)
	}
	for _, e := range r.Events {
		if e.N > after && len(events) < limit {
			e.Payload, e.Seal = slices.Clone(e.Payload), copySeal(e.Seal)
			events = append(events, e)
		}
	}
	return events, nil
}

// none makes a run that is not there one without rows.
func (s *Store) none(op string, k stores.Key, err error) error {
	if err == stores.ErrNotFound {
		return nil
	}
	return s.wrap(op, k, err)
}

func copyHead(h stores.Head) stores.Head {
	h.Payload, h.Seal = slices.Clone(h.Payload), copySeal(h.Seal)
	return h
}

func copyCheckpoint(c stores.Checkpoint) stores.Checkpoint {
	c.Payload, c.Seal = slices.Clone(c.Payload), copySeal(c.Seal)
	return c
}

func copySeal(s stores.Seal) stores.Seal {
	s.Prev, s.MAC = slices.Clone(s.Prev), slices.Clone(s.MAC)
	return s
}
