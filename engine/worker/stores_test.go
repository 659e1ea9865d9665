package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/memory"
)

// full is a store with every capability that the engine uses.
type full interface {
	stores.Store
	stores.Lister
	stores.Historian
	stores.EventLog
	stores.Grapher
	stores.Leaser
	stores.Preparer
}

var errCrash = errors.New("the worker crashed here")

// dying is a store whose worker dies right after a write. Its lease stays until
// it expires, unless freed is set.
type dying struct {
	full
	at    point
	freed bool

	mu   sync.Mutex
	dead bool
}

func (d *dying) write(last bool, do func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dead {
		return errCrash
	}
	if err := do(); err != nil || !last {
		return err
	}
	d.dead = true
	return errCrash
}

func (d *dying) gone() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.dead
}

func (d *dying) Save(ctx context.Context, w stores.Save) error {
	last := d.at == saved(w.Checkpoint.Step) || slices.ContainsFunc(w.Calls, func(c stores.Call) bool { return d.at == recorded(c.Node, c.Status) })
	return d.write(last, func() error { return d.full.Save(ctx, w) })
}

func (d *dying) RecordCall(ctx context.Context, w stores.CallWrite) error {
	return d.write(d.at == recorded(w.Call.Node, w.Call.Status), func() error { return d.full.RecordCall(ctx, w) })
}

func (d *dying) Latest(ctx context.Context, k stores.Key) (stores.Checkpoint, error) {
	if d.gone() {
		return stores.Checkpoint{}, errCrash
	}
	return d.full.Latest(ctx, k)
}

func (d *dying) Calls(ctx context.Context, k stores.Key, since int64) ([]stores.Call, error) {
	if d.gone() {
		return nil, errCrash
	}
	return d.full.Calls(ctx, k, since)
}

func (d *dying) Release(ctx context.Context, k stores.Key, holder string) error {
	if d.freed {
		return d.full.Release(ctx, k, holder)
	}
	return errCrash
}

// point is a write after which a worker dies.
type point string

func saved(step int64) point { return point(fmt.Sprint("save ", step)) }

func recorded(node string, status stores.CallStatus) point {
	return point(node + " " + string(status))
}

var (
	afterStart = saved(0)
	afterHold  = recorded("hold", stores.CallDone)
	inSend     = recorded("send", stores.CallStarted) // email_tickets did not run, but nobody can know
)

// crash starts a run whose worker dies at a point.
func crash(t testing.TB, s full, tools *tool.Registry, run string, at point, freed bool, change ...func(*engine.Start)) {
	t.Helper()
	start := engine.Start{Key: key(run)}
	for _, c := range change {
		c(&start)
	}
	d := &dying{full: s, at: at, freed: freed}
	if _, err := runner(t, d, tools, "first").Run(context.Background(), tickets(), start); err == nil || !d.gone() {
		t.Fatalf("%s: the worker did not die: %v", run, err)
	}
}

// flaky is a memory store that fails when it is told to, before an operation
// is done or, as when a reply is lost, after it.
type flaky struct {
	*memory.Store
	mu     sync.Mutex
	before func(op string, k stores.Key) error
	after  func(op string, k stores.Key) error
	ops    map[string]int // "op run"
}

func newFlaky() *flaky { return &flaky{Store: memory.New(memory.Options{}), ops: map[string]int{}} }

// set changes when it fails; nil is never.
func (f *flaky) set(before, after func(op string, k stores.Key) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.before, f.after = before, after
}

func (f *flaky) times(op, run string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ops[op+" "+run]
}

func (f *flaky) op(op string, k stores.Key, do func() error) error {
	f.mu.Lock()
	f.ops[op+" "+k.Run]++
	before, after := f.before, f.after
	f.mu.Unlock()
	if before != nil {
		if err := before(op, k); err != nil {
			return err
		}
	}
	if err := do(); err != nil || after == nil {
		return err
	}
	return after(op, k)
}

func (f *flaky) ListUnfinished(ctx context.Context, owner string) (h []stores.Head, err error) {
	err = f.op("list", stores.Key{}, func() error { h, err = f.Store.ListUnfinished(ctx, owner); return err })
	return h, err
}

func (f *flaky) Latest(ctx context.Context, k stores.Key) (c stores.Checkpoint, err error) {
	err = f.op("latest", k, func() error { c, err = f.Store.Latest(ctx, k); return err })
	return c, err
}

func (f *flaky) Head(ctx context.Context, k stores.Key) (h stores.Head, err error) {
	err = f.op("head", k, func() error { h, err = f.Store.Head(ctx, k); return err })
	return h, err
}

func (f *flaky) Calls(ctx context.Context, k stores.Key, since int64) (c []stores.Call, err error) {
	err = f.op("calls", k, func() error { c, err = f.Store.Calls(ctx, k, since); return err })
	return c, err
}

func (f *flaky) Save(ctx context.Context, w stores.Save) error {
	return f.op("save", w.Checkpoint.Key, func() error { return f.Store.Save(ctx, w) })
}

func (f *flaky) RecordCall(ctx context.Context, w stores.CallWrite) error {
	return f.op("record", w.Call.Key, func() error { return f.Store.RecordCall(ctx, w) })
}

func down(string, stores.Key) error { return &stores.OpError{Op: "test", Class: stores.ErrUnavailable} }
