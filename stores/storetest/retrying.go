package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/flowtui/flowtui/stores"
)

// Trouble is what the callers of stores on one failing server met.
type Trouble struct {
	// Interrupt runs beside the operations whenever Every more of them have begun,
	// never twice at once. It is told how often it has run, from 1.
	Interrupt func(n int64)
	Every     int64

	interrupted atomic.Bool
	interrupts  sync.WaitGroup

	operations, interruptions, unknown, unavailable atomic.Int64
}

// Wait waits until no interrupt runs. No operation may begin meanwhile.
func (t *Trouble) Wait() { t.interrupts.Wait() }

// Interruptions is how often Interrupt was run.
func (t *Trouble) Interruptions() int64 { return t.interruptions.Load() }

// Unknown is how many writes ended with an unknown outcome.
func (t *Trouble) Unknown() int64 { return t.unknown.Load() }

// Unavailable is how many operations did not reach the server.
func (t *Trouble) Unavailable() int64 { return t.unavailable.Load() }

// Short are the groups that write, for a quick run on a failing server.
func Short() []string { return []string{"save", "calls", "delete", "import", "lease"} }

// Open opens a store that is then used as [Trouble.Retrying] does.
func (t *Trouble) Open(open func() (stores.Store, error)) (stores.Store, error) {
	for end := time.Now().Add(outage); ; time.Sleep(settle) {
		s, err := open()
		if err == nil {
			return t.Retrying(s), nil
		}
		if !errors.Is(err, stores.ErrUnavailable) || time.Now().After(end) {
			return nil, err
		}
		t.unavailable.Add(1)
	}
}

// Retrying is the store as the contract asks its callers to use it when the
// server fails: what was not sent is tried again, and after a write whose
// outcome is unknown the run is looked at. It hides no other error.
func (t *Trouble) Retrying(s stores.Store) stores.Store {
	return &retrying{All: s.(All), met: t, acknowledged: map[stores.Key]map[string]bool{}}
}

const (
	// outage is how long a server may be away before a caller gives up.
	outage = 20 * time.Second
	// settle is the pause before a failed operation is tried again. What a broken
	// connection has left for the server to do is done by then.
	settle = 20 * time.Millisecond
)

type retrying struct {
	All
	met *Trouble

	mu           sync.Mutex
	acknowledged map[stores.Key]map[string]bool // rows that are there, by what tells them apart
}

// count notes how an operation ended and says whether it may be tried again.
func (s *retrying) count(err error) (again, unknown bool) {
	switch {
	case errors.Is(err, stores.ErrUnknown):
		s.met.unknown.Add(1)
		return true, true
	case errors.Is(err, stores.ErrUnavailable):
		s.met.unavailable.Add(1)
		return true, false
	}
	return false, false
}

func (s *retrying) begin() {
	t := s.met
	if n := t.operations.Add(1); t.Interrupt == nil || n%t.Every != 0 || !t.interrupted.CompareAndSwap(false, true) {
		return
	}
	t.interrupts.Go(func() {
		defer t.interrupted.Store(false)
		t.Interrupt(t.interruptions.Add(1))
	})
}

// insist does what can be done twice: reading, and what a lease's holder does.
func insist[T any](s *retrying, do func() (T, error)) (T, error) {
	s.begin()
	for end := time.Now().Add(outage); ; time.Sleep(settle) {
		v, err := do()
		if again, _ := s.count(err); !again || time.Now().After(end) {
			return v, err
		}
	}
}

// write does what must take effect once. there reports whether it has; when it
// had before, an earlier write has done the same.
func (s *retrying) write(before bool, do func() error, there func() bool) error {
	s.begin()
	doubt := false
	for end := time.Now().Add(outage); ; {
		err := do()
		again, unknown := s.count(err)
		doubt = doubt || unknown
		if again {
			time.Sleep(settle)
		}
		refused := errors.Is(err, stores.ErrConflict) || errors.Is(err, stores.ErrNotFound)
		if doubt && !before && (unknown || refused) && there() {
			return nil
		}
		if !again || time.Now().After(end) {
			return err
		}
	}
}

// add writes rows, which it remembers. The first one tells whether they are there.
func (s *retrying) add(k stores.Key, rows []string, do func() error, there func() bool) error {
	s.mu.Lock()
	before := s.acknowledged[k][rows[0]]
	s.mu.Unlock()
	err := s.write(before, do, there)
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.acknowledged[k] == nil {
			s.acknowledged[k] = map[string]bool{}
		}
		for _, row := range rows {
			s.acknowledged[k][row] = true
		}
	}
	return err
}

// remove deletes a run, and forgets its rows.
func (s *retrying) remove(ctx context.Context, k stores.Key, do func() error) error {
	gone := func() bool {
		_, err := s.Latest(ctx, k)
		return errors.Is(err, stores.ErrNotFound)
	}
	err := s.write(gone(), do, gone)
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.acknowledged, k)
	}
	return err
}

// The rows of a run are told apart by these, as long as no two writers make the
// same ones.

func stepRow(c stores.Checkpoint) string {
	return fmt.Sprintf("step %d %q %d %x %x", c.Step, c.Incarnation, c.Segment, c.Payload, c.MAC)
}

func callRow(c stores.Call) string {
	return fmt.Sprintf("call %d %d %q %s %x %x", c.Segment, c.N, c.Incarnation, c.Status, c.Payload, c.MAC)
}

func (s *retrying) saved(ctx context.Context, c stores.Checkpoint) bool {
	got, err := s.At(ctx, c.Key, c.Step)
	return err == nil && stepRow(got) == stepRow(c)
}

func (s *retrying) recorded(ctx context.Context, c stores.Call) bool {
	calls, _ := s.Calls(ctx, c.Key, 0)
	return slices.ContainsFunc(calls, func(got stores.Call) bool { return callRow(got) == callRow(c) })
}

func (s *retrying) Save(ctx context.Context, w stores.Save) error {
	c := w.Checkpoint
	rows := []string{stepRow(c)}
	for _, call := range w.Calls {
		rows = append(rows, callRow(call))
	}
	return s.add(c.Key, rows, func() error { return s.All.Save(ctx, w) }, func() bool { return s.saved(ctx, c) })
}

func (s *retrying) RecordCall(ctx context.Context, w stores.CallWrite) error {
	c := w.Call
	return s.add(c.Key, []string{callRow(c)}, func() error { return s.All.RecordCall(ctx, w) }, func() bool { return s.recorded(ctx, c) })
}

func (s *retrying) Import(ctx context.Context, r stores.Run) error {
	if len(r.Checkpoints) == 0 {
		return s.All.Import(ctx, r) // which refuses it
	}
	last := *r.Last()
	rows := []string{stepRow(last)}
	for _, c := range r.Checkpoints {
		rows = append(rows, stepRow(c))
	}
	for _, c := range r.Calls {
		rows = append(rows, callRow(c))
	}
	return s.add(r.Key(), rows, func() error { return s.All.Import(ctx, r) }, func() bool { return s.saved(ctx, last) })
}

func (s *retrying) Delete(ctx context.Context, k stores.Key) error {
	return s.remove(ctx, k, func() error { return s.All.Delete(ctx, k) })
}

func (s *retrying) DeleteAt(ctx context.Context, k stores.Key, incarnation string, step int64) error {
	return s.remove(ctx, k, func() error { return s.All.DeleteAt(ctx, k, incarnation, step) })
}

// nothing is the result of what has none.
type nothing struct{}

func (s *retrying) Prepare(ctx context.Context) error {
	_, err := insist(s, func() (nothing, error) { return nothing{}, s.All.Prepare(ctx) })
	return err
}

func (s *retrying) Release(ctx context.Context, k stores.Key, holder string) error {
	_, err := insist(s, func() (nothing, error) { return nothing{}, s.All.Release(ctx, k, holder) })
	return err
}
