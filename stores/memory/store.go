package memory

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"slices"
	"sync"
	"time"

	"github.com/flowtui/flowtui/stores"
)

// The store has every capability.
var _ interface {
	stores.Store
	stores.Lister
	stores.Historian
	stores.EventLog
	stores.Grapher
	stores.Watcher
	stores.Leaser
	stores.Preparer
	stores.Remover
	stores.Importer
	stores.Examiner
} = (*Store)(nil)

// Options configure a store. The zero value is ready to use.
type Options struct {
	Clock func() time.Time // for leases; nil means time.Now
}

// Store keeps runs in memory. It is safe for concurrent use.
type Store struct {
	id    string
	clock func() time.Time

	mu       sync.Mutex
	closed   bool
	runs     map[stores.Key]*run
	leases   map[stores.Key]stores.Lease
	graphs   map[string][]byte
	watchers map[chan struct{}]struct{}
	done     chan struct{} // closed by Close
}

// run holds the rows of one run, each slice in the order of its numbers.
type run struct {
	head   stores.Head
	steps  []stores.Checkpoint // steps[i].Step == i
	calls  []stores.Call       // by segment, then number
	events []stores.Event
}

func (r *run) last() *stores.Checkpoint {
	if r == nil {
		return nil
	}
	return &r.steps[len(r.steps)-1]
}

// New returns an empty store with a random id.
func New(opts Options) *Store {
	if opts.Clock == nil {
		opts.Clock = time.Now
	}
	id := make([]byte, 16)
	rand.Read(id) // never fails, see crypto/rand
	return &Store{
		id:       hex.EncodeToString(id),
		clock:    opts.Clock,
		runs:     map[stores.Key]*run{},
		leases:   map[stores.Key]stores.Lease{},
		graphs:   map[string][]byte{},
		watchers: map[chan struct{}]struct{}{},
		done:     make(chan struct{}),
	}
}

// do runs f under the lock and says in an error what was tried.
func (s *Store) do(ctx context.Context, op string, k stores.Key, f func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := ctx.Err()
	switch {
	case err != nil:
	case s.closed:
		err = stores.ErrClosed
	default:
		err = f()
	}
	if err != nil {
		return &stores.OpError{Op: op, Store: "memory", Key: k, Err: err}
	}
	return nil
}

// Info implements stores.Store.
func (s *Store) Info(ctx context.Context) (stores.Info, error) {
	info := stores.Info{Format: "memory", Location: "memory", ID: s.id, Version: 1}
	if err := s.do(ctx, "info", stores.Key{}, func() error { return nil }); err != nil {
		return stores.Info{}, err
	}
	return info, nil
}

// Prepare implements stores.Preparer; there is nothing to do.
func (s *Store) Prepare(ctx context.Context) error {
	return s.do(ctx, "prepare", stores.Key{}, func() error { return nil })
}

// Save implements stores.Store.
func (s *Store) Save(ctx context.Context, w stores.Save) error {
	return s.do(ctx, "save", w.Checkpoint.Key, func() error { return s.save(w) })
}

func (s *Store) save(w stores.Save) error {
	if err := w.Check(); err != nil {
		return err
	}
	c := w.Checkpoint
	r := s.runs[c.Key]
	if err := c.Follows(r.last()); err != nil {
		return err
	}
	next := &run{}
	if r != nil {
		*next = *r
	}
	if err := next.addCalls(&c, w.Calls...); err != nil {
		return err
	}
	if err := next.addEvents(w.Events...); err != nil {
		return err
	}
	c.Size, c.Bad = int64(len(c.Payload)), ""
	next.steps = append(next.steps, copyCheckpoint(c))
	next.head = copyHead(w.Head)
	next.head.Open = stores.OpenCalls(next.head, next.calls)
	s.runs[c.Key] = next
	if _, known := s.graphs[c.Digest]; w.Graph != nil && !known {
		s.graphs[c.Digest] = slices.Clone(w.Graph)
	}
	s.notify()
	return nil
}

// Latest implements stores.Store.
func (s *Store) Latest(ctx context.Context, k stores.Key) (c stores.Checkpoint, err error) {
	err = s.do(ctx, "latest", k, func() error {
		r := s.runs[k]
		if r == nil {
			return stores.ErrNotFound
		}
		c = copyCheckpoint(*r.last())
		return nil
	})
	return c, err
}

// Delete implements stores.Store.
func (s *Store) Delete(ctx context.Context, k stores.Key) error {
	return s.do(ctx, "delete", k, func() error {
		if s.runs[k] == nil {
			return stores.ErrNotFound
		}
		s.remove(k)
		return nil
	})
}

// DeleteAt implements stores.Remover.
func (s *Store) DeleteAt(ctx context.Context, k stores.Key, incarnation string, step int64) error {
	return s.do(ctx, "delete", k, func() error {
		if err := stores.MayDelete(incarnation, step, s.runs[k].last()); err != nil {
			return err
		}
		s.remove(k)
		return nil
	})
}

func (s *Store) remove(k stores.Key) {
	delete(s.runs, k)
	delete(s.leases, k)
	s.notify()
}

// Close implements stores.Store.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.closed = true
		close(s.done)
	}
	return nil
}
