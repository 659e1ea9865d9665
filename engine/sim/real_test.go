package sim

import (
	"context"
	"time"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/memory"
)

// real is a store that does I/O, as the bubble sees it. Its driver waits for
// files and sockets and has deadlines of the wall clock, so it runs on
// goroutines outside of the bubble, with contexts of their own; the bubble's
// clock stands still meanwhile. Leases are kept by the bubble's clock, so that
// they expire when the simulation says so.
type real struct {
	driver backend
	desks  chan desk
	leases *memory.Store
}

// desk is a goroutine outside of a bubble that does one thing at a time. Its
// channels were made outside: who waits at one is not idle for the bubble.
type desk struct {
	work chan func(context.Context)
	done chan struct{}
}

// newDesks starts so many desks, which end with the returned function. It is
// called outside of bubbles.
func newDesks(n int) (desks chan desk, end func()) {
	desks, stop := make(chan desk, n), make(chan struct{})
	for range n {
		d := desk{make(chan func(context.Context)), make(chan struct{})}
		go d.serve(stop)
		desks <- d
	}
	return desks, func() { close(stop) }
}

// ioLimit ends an operation that does not come to an end by itself.
const ioLimit = time.Minute

func (d desk) serve(stop <-chan struct{}) {
	for {
		select {
		case f := <-d.work:
			ctx, cancel := context.WithTimeout(context.Background(), ioLimit)
			f(ctx)
			cancel()
			d.done <- struct{}{}
		case <-stop:
			return
		}
	}
}

// outside has f done at a desk.
func outside[T any](r real, f func(context.Context) (T, error)) (v T, err error) {
	d := <-r.desks
	d.work <- func(ctx context.Context) { v, err = f(ctx) }
	<-d.done
	r.desks <- d
	return v, err
}

func (r real) do(f func(context.Context) error) error {
	_, err := outside(r, func(ctx context.Context) (struct{}, error) { return struct{}{}, f(ctx) })
	return err
}

func (r real) Info(context.Context) (stores.Info, error) { return outside(r, r.driver.Info) }

func (r real) Prepare(context.Context) error { return r.do(r.driver.Prepare) }

func (r real) Close() error { return r.do(func(context.Context) error { return r.driver.Close() }) }

func (r real) Save(_ context.Context, w stores.Save) error {
	return r.do(func(ctx context.Context) error { return r.driver.Save(ctx, w) })
}

func (r real) RecordCall(_ context.Context, w stores.CallWrite) error {
	return r.do(func(ctx context.Context) error { return r.driver.RecordCall(ctx, w) })
}

// Delete removes the lease with the run, as every store does.
func (r real) Delete(ctx context.Context, k stores.Key) error {
	err := r.do(func(ctx context.Context) error { return r.driver.Delete(ctx, k) })
	if err != nil {
		return err
	}
	l, err := r.leases.Lease(ctx, k)
	if err == nil && l != nil {
		err = r.leases.Release(ctx, k, l.Holder)
	}
	return err
}

func (r real) Latest(_ context.Context, k stores.Key) (stores.Checkpoint, error) {
	return outside(r, func(ctx context.Context) (stores.Checkpoint, error) { return r.driver.Latest(ctx, k) })
}

func (r real) Calls(_ context.Context, k stores.Key, since int64) ([]stores.Call, error) {
	return outside(r, func(ctx context.Context) ([]stores.Call, error) { return r.driver.Calls(ctx, k, since) })
}

func (r real) History(_ context.Context, k stores.Key, q stores.HistoryQuery) ([]stores.Checkpoint, error) {
	return outside(r, func(ctx context.Context) ([]stores.Checkpoint, error) { return r.driver.History(ctx, k, q) })
}

func (r real) At(_ context.Context, k stores.Key, step int64) (stores.Checkpoint, error) {
	return outside(r, func(ctx context.Context) (stores.Checkpoint, error) { return r.driver.At(ctx, k, step) })
}

func (r real) Events(_ context.Context, k stores.Key, after int64, limit int) ([]stores.Event, error) {
	return outside(r, func(ctx context.Context) ([]stores.Event, error) { return r.driver.Events(ctx, k, after, limit) })
}

func (r real) Orphans(_ context.Context, owner string) ([]stores.Key, error) {
	return outside(r, func(ctx context.Context) ([]stores.Key, error) { return r.driver.Orphans(ctx, owner) })
}

func (r real) Owners(context.Context) ([]string, error) { return outside(r, r.driver.Owners) }

func (r real) Count(_ context.Context, f stores.Filter) (stores.Counts, error) {
	return outside(r, func(ctx context.Context) (stores.Counts, error) { return r.driver.Count(ctx, f) })
}

func (r real) List(ctx context.Context, q stores.Query) (stores.Page, error) {
	p, err := outside(r, func(ctx context.Context) (stores.Page, error) { return r.driver.List(ctx, q) })
	return p, r.held(ctx, p.Heads, err)
}

func (r real) ListUnfinished(ctx context.Context, owner string) ([]stores.Head, error) {
	heads, err := outside(r, func(ctx context.Context) ([]stores.Head, error) { return r.driver.ListUnfinished(ctx, owner) })
	return heads, r.held(ctx, heads, err)
}

func (r real) Head(ctx context.Context, k stores.Key) (stores.Head, error) {
	h, err := outside(r, func(ctx context.Context) (stores.Head, error) { return r.driver.Head(ctx, k) })
	one := []stores.Head{h}
	err = r.held(ctx, one, err)
	return one[0], err
}

// held says of heads who has their leases, unless they could not be read.
func (r real) held(ctx context.Context, heads []stores.Head, err error) error {
	for i := 0; i < len(heads) && err == nil; i++ {
		heads[i].Lease, err = r.leases.Lease(ctx, heads[i].Key)
	}
	return err
}

func (r real) Acquire(ctx context.Context, k stores.Key, holder string, ttl time.Duration, force bool) (stores.Lease, error) {
	return r.leases.Acquire(ctx, k, holder, ttl, force)
}

func (r real) Renew(ctx context.Context, k stores.Key, holder string, ttl time.Duration) (stores.Lease, error) {
	return r.leases.Renew(ctx, k, holder, ttl)
}

func (r real) Release(ctx context.Context, k stores.Key, holder string) error {
	return r.leases.Release(ctx, k, holder)
}

func (r real) Lease(ctx context.Context, k stores.Key) (*stores.Lease, error) {
	return r.leases.Lease(ctx, k)
}
