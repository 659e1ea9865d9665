package sim

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/flowtui/flowtui/stores"
)

// backend is what a store must be able to do to be simulated on.
type backend interface {
	stores.Store
	stores.Lister
	stores.Auditor
	stores.Historian
	stores.EventLog
	stores.Leaser
	stores.Preparer
}

// gated is one process's way to the store. Every operation waits for its turn.
type gated struct {
	backend
	a *actor
}

// do brings an operation to the store, or not. run is "" when it is about no one run.
func (g gated) do(ctx context.Context, k kind, name, run string, f func(context.Context) error) error {
	if run != "" {
		name += " " + run
	}
	what := g.a.pass(ctx, k, name)
	err := error(nil)
	switch what {
	case goes, lost, diesAfter, cancelledAfter:
		err = f(context.WithoutCancel(ctx))
	}
	if what != goes && (what != lost || err != nil || k == leasing) { // a lost reply can be looked up
		g.a.disturb(run)
	}
	switch what {
	case goes:
		return err
	case fails:
		return fmt.Errorf("%s: %w", name, errFailed)
	case unavailable:
		return &stores.OpError{Op: name, Class: stores.ErrUnavailable, Err: errFailed}
	case busy:
		return &stores.OpError{Op: name, Class: stores.ErrBusy}
	case lost:
		return unknown(name, errLost)
	case missed:
		return unknown(name, errMissed)
	case cancelled, cancelledAfter:
		return &stores.OpError{Op: name, Err: ctx.Err()}
	}
	return errCrash
}

// unknown is what drivers say of a write whose reply did not come: some name the
// class, some only have the network's own error. Which one depends on the operation.
func unknown(name string, err error) error {
	if len(name)%2 == 0 {
		return &stores.OpError{Op: name, Class: stores.ErrUnknown, Err: err}
	}
	return fmt.Errorf("%s: %w", name, err)
}

func (g gated) Info(ctx context.Context) (i stores.Info, err error) {
	err = g.do(ctx, reading, "info", "", func(ctx context.Context) error { i, err = g.backend.Info(ctx); return err })
	i.ID = storeID // a random one would make other signatures each time
	return i, err
}

const storeID = "simulated"

func (g gated) Save(ctx context.Context, w stores.Save) error {
	c := w.Checkpoint
	g.a.sim.saves(g.a, c.Run)
	return g.do(ctx, writing, "save "+strconv.FormatInt(c.Step, 10), c.Run, func(ctx context.Context) error {
		return g.a.sim.saved(g.a, w, g.backend.Save(ctx, w))
	})
}

func (g gated) RecordCall(ctx context.Context, w stores.CallWrite) error {
	c := w.Call
	g.a.sim.offered(g.a, c)
	return g.do(ctx, writing, fmt.Sprintf("record %s.%d %s", c.Node, c.Ordinal, c.Status), c.Run, func(ctx context.Context) error {
		return g.a.sim.recorded(g.a, w, g.backend.RecordCall(ctx, w))
	})
}

func (g gated) Delete(ctx context.Context, k stores.Key) error {
	return g.do(ctx, writing, "delete", k.Run, func(ctx context.Context) error { return g.a.sim.deleted(k.Run, g.backend.Delete(ctx, k)) })
}

func (g gated) Latest(ctx context.Context, k stores.Key) (c stores.Checkpoint, err error) {
	err = g.do(ctx, reading, "latest", k.Run, func(ctx context.Context) error { c, err = g.backend.Latest(ctx, k); return err })
	return c, err
}

func (g gated) ListUnfinished(ctx context.Context, owner string) (heads []stores.Head, err error) {
	err = g.do(ctx, reading, "list", "", func(ctx context.Context) error { heads, err = g.backend.ListUnfinished(ctx, owner); return err })
	return heads, err
}

func (g gated) Orphans(ctx context.Context, owner string) (keys []stores.Key, err error) {
	err = g.do(ctx, reading, "orphans", "", func(ctx context.Context) error { keys, err = g.backend.Orphans(ctx, owner); return err })
	return keys, err
}

func (g gated) Calls(ctx context.Context, k stores.Key, since int64) (rows []stores.Call, err error) {
	err = g.do(ctx, reading, "calls", k.Run, func(ctx context.Context) error {
		g.a.sim.looks(g.a, k.Run)
		rows, err = g.backend.Calls(ctx, k, since)
		return err
	})
	return rows, err
}

func (g gated) Head(ctx context.Context, k stores.Key) (h stores.Head, err error) {
	err = g.do(ctx, reading, "head", k.Run, func(ctx context.Context) error { h, err = g.backend.Head(ctx, k); return err })
	return h, err
}

func (g gated) History(ctx context.Context, k stores.Key, q stores.HistoryQuery) (rows []stores.Checkpoint, err error) {
	err = g.do(ctx, reading, "history", k.Run, func(ctx context.Context) error { rows, err = g.backend.History(ctx, k, q); return err })
	return rows, err
}

func (g gated) At(ctx context.Context, k stores.Key, step int64) (c stores.Checkpoint, err error) {
	err = g.do(ctx, reading, "at", k.Run, func(ctx context.Context) error { c, err = g.backend.At(ctx, k, step); return err })
	return c, err
}

func (g gated) Events(ctx context.Context, k stores.Key, after int64, limit int) (rows []stores.Event, err error) {
	err = g.do(ctx, reading, "events", k.Run, func(ctx context.Context) error { rows, err = g.backend.Events(ctx, k, after, limit); return err })
	return rows, err
}

func (g gated) Prepare(ctx context.Context) error {
	return g.do(ctx, reading, "prepare", "", g.backend.Prepare)
}

func (g gated) Acquire(ctx context.Context, k stores.Key, holder string, ttl time.Duration, force bool) (l stores.Lease, err error) {
	err = g.do(ctx, leasing, "acquire", k.Run, func(ctx context.Context) error {
		l, err = g.backend.Acquire(ctx, k, holder, ttl, force)
		return err
	})
	return l, err
}

func (g gated) Renew(ctx context.Context, k stores.Key, holder string, ttl time.Duration) (l stores.Lease, err error) {
	err = g.do(ctx, leasing, "renew", k.Run, func(ctx context.Context) error { l, err = g.backend.Renew(ctx, k, holder, ttl); return err })
	return l, err
}

func (g gated) Release(ctx context.Context, k stores.Key, holder string) error {
	return g.do(ctx, leasing, "release", k.Run, func(ctx context.Context) error { return g.backend.Release(ctx, k, holder) })
}

func (g gated) Lease(ctx context.Context, k stores.Key) (l *stores.Lease, err error) {
	err = g.do(ctx, reading, "lease", k.Run, func(ctx context.Context) error { l, err = g.backend.Lease(ctx, k); return err })
	return l, err
}
