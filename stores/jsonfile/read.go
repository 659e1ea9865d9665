package jsonfile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/internal/rowjson"
)

// read runs f on the folder of the store; not at all while there is none.
func (s *Store) read(ctx context.Context, op string, k stores.Key, f func(root *os.Root) error) error {
	return s.wrap(op, k, s.reading(ctx, f))
}

func (s *Store) reading(ctx context.Context, f func(root *os.Root) error) error {
	if err := s.ready(ctx); err != nil {
		return err
	}
	m, err := s.marker(ctx)
	if err != nil || m.ID == "" {
		if err == nil {
			err = f(nil)
		}
		return err
	}
	root, err := os.OpenRoot(s.path)
	if err != nil {
		return err
	}
	defer root.Close()
	return f(root)
}

// inOwner runs f on the folder of an owner, or not at all.
func (s *Store) inOwner(root *os.Root, owner string, f func(dir *os.Root) error) error {
	if root == nil {
		return nil
	}
	dir, err := s.ownerFolder(root, owner, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w: the folder of owner %q: %w", stores.ErrUnreadable, owner, err)
	}
	defer dir.Close()
	return f(dir)
}

// readRun runs f on a run, or not at all when there is none.
func (s *Store) readRun(ctx context.Context, op string, k stores.Key, f func(*run) error) error {
	return s.read(ctx, op, k, func(root *os.Root) error {
		if k.Validate() != nil {
			return nil // no store can hold it
		}
		return s.inOwner(root, k.Owner, func(dir *os.Root) error {
			r, err := s.look(dir, k, fileName(k.Run))
			if err != nil {
				return err
			}
			defer r.close()
			if !r.exists {
				return nil
			}
			return f(r)
		})
	})
}

// line reads the line of a row again, for its payload.
func (r *run) line(at ref) (*rowjson.Line, error) {
	b := make([]byte, at.size)
	if _, err := r.file.ReadAt(b, at.at); err != nil {
		return nil, fmt.Errorf("%w: %w", stores.ErrUnreadable, err)
	}
	l := new(rowjson.Line)
	sum, err := rowjson.Unseal(b[:len(b)-1], l)
	if err != nil || sum != at.sum {
		return nil, fmt.Errorf("%w: the line at byte %d was changed while it was read: %w", stores.ErrUnreadable, at.at, errors.Join(err))
	}
	return l, nil
}

func (r *run) checkpoint(s stepRef) (stores.Checkpoint, error) {
	if s.Bad != "" {
		return s.Checkpoint, nil
	}
	l, err := r.line(s.ref)
	if err != nil {
		return stores.Checkpoint{}, err
	}
	return l.Checkpoint.Row(s.Place), nil
}

// Latest implements stores.Store.
func (s *Store) Latest(ctx context.Context, k stores.Key) (c stores.Checkpoint, err error) {
	found := false
	err = s.readRun(ctx, "latest", k, func(r *run) error {
		found = true
		newest := r.newest()
		if newest == nil {
			c = stores.Checkpoint{Place: stores.Place{Key: k}, Bad: r.bad}
			return nil
		}
		c, err = r.checkpoint(*newest)
		c.Bad = r.bad
		return err
	})
	if err == nil && !found {
		err = s.wrap("latest", k, stores.ErrNotFound)
	}
	return c, err
}

// At implements stores.Historian.
func (s *Store) At(ctx context.Context, k stores.Key, step int64) (c stores.Checkpoint, err error) {
	found := false
	err = s.readRun(ctx, "at", k, func(r *run) error {
		for _, ref := range r.steps {
			if ref.Step == step {
				found = true
				c, err = r.checkpoint(ref)
				return err
			}
		}
		return nil
	})
	if err == nil && !found {
		err = s.wrap("at", k, stores.ErrNotFound)
	}
	return c, err
}

// History implements stores.Historian.
func (s *Store) History(ctx context.Context, k stores.Key, q stores.HistoryQuery) (steps []stores.Checkpoint, err error) {
	if q.Limit <= 0 {
		q.Limit = 1000
	}
	err = s.readRun(ctx, "history", k, func(r *run) error {
		for _, ref := range r.steps {
			if ref.Step < q.From || len(steps) >= q.Limit {
				continue
			}
			c := copyCheckpoint(ref.Checkpoint)
			if q.Payload {
				if err := ctx.Err(); err != nil {
					return err
				}
				if c, err = r.checkpoint(ref); err != nil {
					return err
				}
			}
			steps = append(steps, c)
		}
		return nil
	})
	return steps, err
}

// copyCheckpoint keeps what is remembered out of the hands of the caller.
func copyCheckpoint(c stores.Checkpoint) stores.Checkpoint {
	c.Prev, c.MAC = slices.Clone(c.Prev), slices.Clone(c.MAC)
	return c
}

// Calls implements stores.Store.
func (s *Store) Calls(ctx context.Context, k stores.Key, since int64) (calls []stores.Call, err error) {
	err = s.readRun(ctx, "calls", k, func(r *run) error {
		var l *rowjson.Line
		var have int64 = -1
		for _, ref := range r.calls {
			if ref.Step < since && ref.Bad == "" {
				continue
			}
			if ref.Bad != "" {
				calls = append(calls, ref.Call)
				continue
			}
			if have != ref.at {
				if l, err = r.line(ref.ref); err != nil {
					return err
				}
				have = ref.at
			}
			calls = append(calls, l.Calls[ref.i].Row(ref.Place))
		}
		return ctx.Err()
	})
	slices.SortStableFunc(calls, func(a, b stores.Call) int {
		return cmp.Or(cmp.Compare(a.Segment, b.Segment), cmp.Compare(a.N, b.N))
	})
	return calls, err
}

// Events implements stores.EventLog.
func (s *Store) Events(ctx context.Context, k stores.Key, after int64, limit int) (events []stores.Event, err error) {
	if limit <= 0 {
		limit = 1000
	}
	err = s.readRun(ctx, "events", k, func(r *run) error {
		refs := slices.Clone(r.events)
		slices.SortStableFunc(refs, func(a, b eventRef) int { return cmp.Compare(a.N, b.N) })
		var l *rowjson.Line
		var have int64 = -1
		for _, ref := range refs {
			if ref.N <= after && ref.Bad == "" || len(events) >= limit {
				continue
			}
			if ref.Bad != "" {
				events = append(events, ref.Event)
				continue
			}
			if have != ref.at {
				if l, err = r.line(ref.ref); err != nil {
					return err
				}
				have = ref.at
			}
			events = append(events, l.Events[ref.i].Row(ref.Place))
		}
		return ctx.Err()
	})
	return events, err
}
