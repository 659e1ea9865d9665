package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/flowtui/flowtui/stores"
)

// holding is a worker's lease on a run. Its context ends when the lease is
// lost, so that no further call starts.
type holding struct {
	ctx     context.Context
	release func()
}

var errLeaseLost = errors.New("the lease on the run was lost to another worker")

// takenOver is what an error means that came of a lost lease: a store only says
// that the context ended. Other errors stay as they are.
func takenOver(ctx context.Context, k stores.Key, err error) error {
	if err == nil || !errors.Is(context.Cause(ctx), errLeaseLost) || !errors.Is(err, ctx.Err()) {
		return err
	}
	return lostLease(k)
}

func lostLease(k stores.Key) error {
	return conflict(k, "look who recovered it", "another worker took the run over")
}

// detached bounds writes that must be tried even after the caller gave up,
// like the result of a call that has just run.
const detached = 5 * time.Second

// What to do while somebody else holds a run: a recovery may take it over, whatever
// else is tried may not.
const (
	takeOverHint = "wait until the lease expires, or take the run over with --takeover if that worker is dead"
	actingHint   = "somebody is acting on it now: look at it again"
)

// hold takes the run's lease and keeps it alive; hint says what to do when another
// worker has it. A store without leases gives none, and the run's liveness is
// unknown there.
func (r *Runner) hold(ctx context.Context, k stores.Key, takeover bool, hint string) (holding, error) {
	leaser, ok := r.store.(stores.Leaser)
	if !ok {
		return holding{ctx: ctx, release: func() {}}, nil
	}
	// Each hold has a name of its own: two in one process must not share a lease.
	holder := r.worker + "/" + short(r.ids())
	if _, err := leaser.Acquire(ctx, k, holder, r.ttl, takeover); err != nil {
		if errors.Is(err, stores.ErrConflict) {
			return holding{}, r.heldBy(ctx, leaser, k, hint)
		}
		return holding{}, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.renew(ctx, leaser, k, holder, cancel)
	}()
	return holding{ctx: ctx, release: func() {
		cancel(nil)
		<-done
		end, stop := context.WithTimeout(context.WithoutCancel(ctx), detached)
		defer stop()
		// A lease that cannot be released expires.
		_ = leaser.Release(end, k, holder)
	}}, nil
}

func (r *Runner) renew(ctx context.Context, leaser stores.Leaser, k stores.Key, holder string, lost context.CancelCauseFunc) {
	tick := time.NewTicker(r.ttl / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			_, err := leaser.Renew(ctx, k, holder, r.ttl)
			if errors.Is(err, stores.ErrNotFound) { // somebody took it and gave it back
				_, err = leaser.Acquire(ctx, k, holder, r.ttl, false)
			}
			if errors.Is(err, stores.ErrConflict) {
				lost(errLeaseLost)
				return
			}
		}
	}
}

func (r *Runner) heldBy(ctx context.Context, leaser stores.Leaser, k stores.Key, hint string) error {
	who := "another worker"
	if l, err := leaser.Lease(ctx, k); err == nil && l != nil && l.Live {
		who = fmt.Sprintf("%s, until %s unless it is renewed", l.Holder, r.clockTime(l.Expires))
	}
	if c, err := r.store.Latest(ctx, k); err == nil {
		who += lastDecision(ctx, r.store, r.keys, k, c.Events, "")
	}
	return conflict(k, hint, "it is being worked on by %s", who)
}

// clockTime is a time of day, with its date when it is not near.
func (r *Runner) clockTime(t time.Time) string {
	if d := t.Sub(r.clock.now()); d > 12*time.Hour || d < -12*time.Hour {
		return t.UTC().Format(time.RFC3339)
	}
	return t.UTC().Format(time.TimeOnly) + " UTC"
}

// liveLease returns the run's lease if somebody holds it now.
func liveLease(ctx context.Context, s stores.Store, k stores.Key) (*stores.Lease, error) {
	leaser, ok := s.(stores.Leaser)
	if !ok {
		return nil, nil
	}
	l, err := leaser.Lease(ctx, k)
	if err != nil || l == nil || !l.Live {
		return nil, err
	}
	return l, nil
}

// outlast is a context that ends so long after ctx. It needs no timer before.
func outlast(ctx context.Context) (context.Context, func()) {
	late, end := context.WithCancel(context.WithoutCancel(ctx))
	forget := context.AfterFunc(ctx, func() { time.AfterFunc(detached, end) })
	return late, func() { forget(); end() }
}
