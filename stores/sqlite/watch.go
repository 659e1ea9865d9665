package sqlite

import (
	"context"
	"time"

	"github.com/flowtui/flowtui/stores"
)

// pollEvery is how often a watcher looks for changes by other processes.
const pollEvery = 200 * time.Millisecond

// Watch implements stores.Watcher. Writes through this store are noticed at
// once, those of other processes by polling.
func (s *Store) Watch(ctx context.Context) (<-chan struct{}, error) {
	if err := ctx.Err(); err != nil {
		return nil, s.wrap("watch", stores.Key{}, err)
	}
	p := &probe{store: s}
	p.changed(ctx) // what is there now is no news
	ch := make(chan struct{}, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		p.drop()
		return nil, s.wrap("watch", stores.Key{}, stores.ErrClosed)
	}
	s.watchers[ch] = struct{}{}
	go s.watch(ctx, ch, p)
	return ch, nil
}

func (s *Store) watch(ctx context.Context, ch chan struct{}, p *probe) {
	defer func() {
		p.drop()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watchers, ch)
		close(ch)
	}()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.done:
			return
		case <-tick.C:
			if p.changed(ctx) {
				s.mu.Lock()
				give(ch)
				s.mu.Unlock()
			}
		}
	}
}

// notify gives every watcher a notice.
func (s *Store) notify() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for ch := range s.watchers {
		give(ch)
	}
}

// give leaves one notice; a second one would say nothing new.
func give(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}
