package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/flowtui/flowtui/stores"
)

// RecordCall implements stores.Store.
func (s *Store) RecordCall(ctx context.Context, w stores.CallWrite) error {
	return s.do(ctx, "record call", w.Call.Key, func() error {
		if err := w.Check(); err != nil {
			return err
		}
		r := s.runs[w.Call.Key]
		if r == nil {
			return w.Call.MayRecord(nil)
		}
		next := *r
		if err := next.addCalls(r.last(), w.Call); err != nil {
			return err
		}
		if err := next.addEvents(w.Events...); err != nil {
			return err
		}
		next.head.Open = stores.OpenCalls(next.head, next.calls)
		s.runs[w.Call.Key] = &next
		s.notify()
		return nil
	})
}

// addCalls adds records to r, a copy of the stored run. The stored run stays
// as it was, so a write that fails in a later part needs no undo.
func (r *run) addCalls(last *stores.Checkpoint, calls ...stores.Call) error {
	for _, c := range calls {
		if err := c.MayRecord(last); err != nil {
			return err
		}
		i, taken := slices.BinarySearchFunc(r.calls, c, byNumber)
		if taken {
			return fmt.Errorf("%w: call record %d of segment %d exists already", stores.ErrConflict, c.N, c.Segment)
		}
		r.calls = insert(r.calls, i, copyCall(c))
	}
	return nil
}

// insert is slices.Insert that leaves the elements of s alone: it may only
// write past their end, where no one looks.
func insert[T any](s []T, i int, v T) []T {
	if i < len(s) {
		s = slices.Clone(s)
	}
	return slices.Insert(s, i, v)
}

func byNumber(a, b stores.Call) int {
	return cmp.Or(cmp.Compare(a.Segment, b.Segment), cmp.Compare(a.N, b.N))
}

// addEvents is addCalls for events.
func (r *run) addEvents(events ...stores.Event) error {
	for _, e := range events {
		i, taken := slices.BinarySearchFunc(r.events, e, func(a, b stores.Event) int { return cmp.Compare(a.N, b.N) })
		if taken {
			return fmt.Errorf("%w: event %d exists already", stores.ErrConflict, e.N)
		}
		r.events = insert(r.events, i, copyEvent(e))
	}
	return nil
}

// Calls implements stores.Store.
func (s *Store) Calls(ctx context.Context, k stores.Key, since int64) (calls []stores.Call, err error) {
	err = s.do(ctx, "calls", k, func() error {
		r := s.runs[k]
		if r == nil {
			return nil
		}
		for _, c := range r.calls {
			if c.Step >= since {
				calls = append(calls, copyCall(c))
			}
		}
		return nil
	})
	return calls, err
}

// Events implements stores.EventLog.
func (s *Store) Events(ctx context.Context, k stores.Key, after int64, limit int) (events []stores.Event, err error) {
	err = s.do(ctx, "events", k, func() error {
		if limit <= 0 {
			limit = 1000
		}
		r := s.runs[k]
		if r == nil {
			return nil
		}
		for _, e := range r.events {
			if e.N > after && len(events) < limit {
				events = append(events, copyEvent(e))
			}
		}
		return nil
	})
	return events, err
}

// History implements stores.Historian.
func (s *Store) History(ctx context.Context, k stores.Key, q stores.HistoryQuery) (steps []stores.Checkpoint, err error) {
	err = s.do(ctx, "history", k, func() error {
		if q.Limit <= 0 {
			q.Limit = 1000
		}
		r := s.runs[k]
		if r == nil {
			return nil
		}
		for _, c := range r.steps {
			if c.Step < q.From || len(steps) >= q.Limit {
				continue
			}
			if !q.Payload {
				c.Payload = nil
			}
			steps = append(steps, copyCheckpoint(c))
		}
		return nil
	})
	return steps, err
}

// At implements stores.Historian.
func (s *Store) At(ctx context.Context, k stores.Key, step int64) (c stores.Checkpoint, err error) {
	err = s.do(ctx, "at", k, func() error {
		r := s.runs[k]
		if r == nil || step < 0 || step >= int64(len(r.steps)) {
			return stores.ErrNotFound
		}
		c = copyCheckpoint(r.steps[step])
		return nil
	})
	return c, err
}

// Graph implements stores.Grapher.
func (s *Store) Graph(ctx context.Context, digest string) (graph []byte, err error) {
	err = s.do(ctx, "graph", stores.Key{}, func() error {
		g, ok := s.graphs[digest]
		if !ok {
			return stores.ErrNotFound
		}
		graph = slices.Clone(g)
		return nil
	})
	return graph, err
}
