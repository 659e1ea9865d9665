package viewer

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/flowtui/flowtui/stores"
)

// pollEvery is how often a store that gives no notices is probed.
const pollEvery = 2 * time.Second

// Watch sends when something may have changed in any store, until ctx ends.
// Notices are coalesced: a slow reader gets one for many changes. The first
// comes when a store is being listened to.
func (s *Service) Watch(ctx context.Context) (<-chan struct{}, error) {
	notices := make(chan struct{}, 1)
	notify := func() {
		select {
		case notices <- struct{}{}:
		default:
		}
	}
	var wg sync.WaitGroup
	for _, a := range s.stores {
		wg.Go(func() { a.watch(ctx, notify) })
	}
	go func() {
		wg.Wait()
		close(notices)
	}()
	return notices, nil
}

// watch relays a store's own notices; without them, or once they end, it polls.
func (a *attachment) watch(ctx context.Context, notify func()) {
	if w, ok := a.store.(stores.Watcher); ok {
		if own, err := w.Watch(ctx); err == nil {
			notify() // for what changed before the store was listened to
			for range own {
				notify()
			}
		}
	}
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	last := a.probe(ctx)
	notify()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if now := a.probe(ctx); now != last {
				last = now
				notify()
			}
		}
	}
}

// probe is a cheap fingerprint of the store's newest run.
func (a *attachment) probe(ctx context.Context) string {
	ctx, stop := context.WithTimeout(ctx, storePatience)
	defer stop()
	lister, ok := a.store.(stores.Lister)
	if !ok {
		heads, err := a.store.ListUnfinished(ctx, stores.AnyOwner)
		text := fmt.Sprint(err, len(heads))
		for _, h := range heads {
			text += h.Run + fingerprint(h)
		}
		return text
	}
	page, err := lister.List(ctx, stores.Query{Filter: stores.Filter{Owner: stores.AnyOwner}, Limit: 1})
	if err != nil || len(page.Heads) == 0 {
		return fmt.Sprint(err)
	}
	h := page.Heads[0]
	return h.Owner + "/" + h.Run + fingerprint(h)
}
