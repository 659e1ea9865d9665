//go:build unix

package crash

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/internal/teststores"
	"github.com/flowtui/flowtui/stores"
)

// trap says at which store operation a process kills or stops itself.
type trap struct {
	Op    string // what the operation's label begins with; "" is any but renew
	At    int    // the how manieth of those, from 1
	After bool   // after the operation, else before it
	Stop  bool   // SIGSTOP, else SIGKILL
}

func (t trap) String() string {
	how, when := "kill", "before"
	if t.Stop {
		how = "stop"
	}
	if t.After {
		when = "after"
	}
	return fmt.Sprintf("%s %s %d", how, when, t.At)
}

const renew = "renew"

// hook is a process's way to the store. It counts the operations, springs the
// trap, and notes each write that was acknowledged.
type hook struct {
	s       teststores.Store
	worker  string
	journal *journal
	deaf    bool // renewals of leases do not arrive

	// Held for reading by each operation that is under way. A process that is
	// stopped in one would keep the lock of a file from all others.
	underway sync.RWMutex

	mu    sync.Mutex
	ops   int   // since the last order
	armed *trap // At counts down
}

var _ interface {
	stores.Store
	stores.Lister
	stores.Auditor
	stores.Historian
	stores.EventLog
	stores.Grapher
	stores.Leaser
	stores.Preparer
} = (*hook)(nil)

func (h *hook) arm(t trap) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.armed = &t
}

// counted returns how many operations there were since it was called last.
func (h *hook) counted() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := h.ops
	h.ops = 0
	return n
}

// count counts an operation and returns the trap if it is the one. Renewals of
// leases come by the clock, so they are not numbered with the others.
func (h *hook) count(label string) *trap {
	h.mu.Lock()
	defer h.mu.Unlock()
	if label != renew {
		h.ops++
	}
	t := h.armed
	if t == nil || !strings.HasPrefix(label, t.Op) || label == renew && t.Op != renew {
		return nil
	}
	if t.At--; t.At > 0 {
		return nil
	}
	h.armed = nil
	t.At = h.ops
	return t
}

// spring kills or stops this process. A signal to oneself may take a moment to
// arrive, and nothing must happen in between.
func (h *hook) spring(t trap, label string) {
	h.journal.note("trap", h.worker, t, label)
	if !t.Stop {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	h.underway.Lock()
	defer h.underway.Unlock()
	woken := make(chan os.Signal, 1)
	signal.Notify(woken, syscall.SIGCONT)
	defer signal.Stop(woken)
	_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	<-woken
}

// op does one operation.
func op[T any](h *hook, label string, acknowledged func(), do func() (T, error)) (T, error) {
	t := h.count(label)
	if t != nil && !t.After {
		h.spring(*t, label)
	}
	v, err := done(h, label, acknowledged, do)
	if t != nil && t.After {
		h.spring(*t, label)
	}
	return v, err
}

// done brings an operation to the store. What it acknowledged is noted before
// anything else can happen to the process.
func done[T any](h *hook, label string, acknowledged func(), do func() (T, error)) (T, error) {
	h.underway.RLock()
	defer h.underway.RUnlock()
	v, err := do()
	switch {
	case err == nil && acknowledged != nil:
		acknowledged()
	case err != nil && acknowledged != nil:
		h.journal.note("fault", h.worker, classOf(err), label)
	}
	return v, err
}

func (h *hook) noteEvents(events []stores.Event) {
	for _, e := range events {
		h.journal.note("event", e.Run, e.N, 0, fmt.Sprintf("%x", e.MAC))
	}
}

func (h *hook) noteCall(c stores.Call) {
	h.journal.note("call", c.Run, c.Segment, c.N, fmt.Sprintf("%x", c.MAC))
}

type none struct{}

func (h *hook) Save(ctx context.Context, w stores.Save) error {
	_, err := op(h, "save", func() {
		h.journal.note("save", w.Checkpoint.Run, w.Checkpoint.Step, 0, fmt.Sprintf("%x", w.Checkpoint.MAC))
		for _, c := range w.Calls {
			h.noteCall(c)
		}
		h.noteEvents(w.Events)
	}, func() (none, error) { return none{}, h.s.Save(ctx, w) })
	return err
}

func (h *hook) RecordCall(ctx context.Context, w stores.CallWrite) error {
	label := fmt.Sprintf("record-%s %s", w.Call.Status, engine.CallID(w.Call.Node, w.Call.Ordinal))
	_, err := op(h, label, func() {
		h.noteCall(w.Call)
		h.noteEvents(w.Events)
	}, func() (none, error) { return none{}, h.s.RecordCall(ctx, w) })
	return err
}

func (h *hook) Info(ctx context.Context) (stores.Info, error) {
	return op(h, "info", nil, func() (stores.Info, error) { return h.s.Info(ctx) })
}

func (h *hook) Latest(ctx context.Context, k stores.Key) (stores.Checkpoint, error) {
	return op(h, "latest", nil, func() (stores.Checkpoint, error) { return h.s.Latest(ctx, k) })
}

func (h *hook) ListUnfinished(ctx context.Context, owner string) ([]stores.Head, error) {
	return op(h, "list-unfinished", nil, func() ([]stores.Head, error) { return h.s.ListUnfinished(ctx, owner) })
}

func (h *hook) Delete(ctx context.Context, k stores.Key) error {
	_, err := op(h, "delete", nil, func() (none, error) { return none{}, h.s.Delete(ctx, k) })
	return err
}

func (h *hook) Calls(ctx context.Context, k stores.Key, since int64) ([]stores.Call, error) {
	return op(h, "calls", nil, func() ([]stores.Call, error) { return h.s.Calls(ctx, k, since) })
}

func (h *hook) Close() error { return h.s.Close() }

func (h *hook) List(ctx context.Context, q stores.Query) (stores.Page, error) {
	return op(h, "list", nil, func() (stores.Page, error) { return h.s.List(ctx, q) })
}

func (h *hook) Count(ctx context.Context, f stores.Filter) (stores.Counts, error) {
	return op(h, "count", nil, func() (stores.Counts, error) { return h.s.Count(ctx, f) })
}

func (h *hook) Head(ctx context.Context, k stores.Key) (stores.Head, error) {
	return op(h, "head", nil, func() (stores.Head, error) { return h.s.Head(ctx, k) })
}

func (h *hook) Owners(ctx context.Context) ([]string, error) {
	return op(h, "owners", nil, func() ([]string, error) { return h.s.Owners(ctx) })
}

func (h *hook) Orphans(ctx context.Context, owner string) ([]stores.Key, error) {
	return op(h, "orphans", nil, func() ([]stores.Key, error) { return h.s.Orphans(ctx, owner) })
}

func (h *hook) History(ctx context.Context, k stores.Key, q stores.HistoryQuery) ([]stores.Checkpoint, error) {
	return op(h, "history", nil, func() ([]stores.Checkpoint, error) { return h.s.History(ctx, k, q) })
}

func (h *hook) At(ctx context.Context, k stores.Key, step int64) (stores.Checkpoint, error) {
	return op(h, "at", nil, func() (stores.Checkpoint, error) { return h.s.At(ctx, k, step) })
}

func (h *hook) Events(ctx context.Context, k stores.Key, after int64, limit int) ([]stores.Event, error) {
	return op(h, "events", nil, func() ([]stores.Event, error) { return h.s.Events(ctx, k, after, limit) })
}

func (h *hook) Graph(ctx context.Context, digest string) ([]byte, error) {
	return op(h, "graph", nil, func() ([]byte, error) { return h.s.Graph(ctx, digest) })
}

func (h *hook) Acquire(ctx context.Context, k stores.Key, holder string, ttl time.Duration, force bool) (stores.Lease, error) {
	return op(h, "acquire", nil, func() (stores.Lease, error) { return h.s.Acquire(ctx, k, holder, ttl, force) })
}

func (h *hook) Renew(ctx context.Context, k stores.Key, holder string, ttl time.Duration) (stores.Lease, error) {
	return op(h, renew, nil, func() (stores.Lease, error) {
		if h.deaf {
			return stores.Lease{}, fmt.Errorf("%w: the renewal was lost", stores.ErrUnavailable)
		}
		return h.s.Renew(ctx, k, holder, ttl)
	})
}

func (h *hook) Release(ctx context.Context, k stores.Key, holder string) error {
	_, err := op(h, "release", nil, func() (none, error) { return none{}, h.s.Release(ctx, k, holder) })
	return err
}

func (h *hook) Lease(ctx context.Context, k stores.Key) (*stores.Lease, error) {
	return op(h, "lease", nil, func() (*stores.Lease, error) { return h.s.Lease(ctx, k) })
}

func (h *hook) Prepare(ctx context.Context) error {
	_, err := op(h, "prepare", nil, func() (none, error) { return none{}, h.s.Prepare(ctx) })
	return err
}
