package memory

import (
	"context"

	"github.com/flowtui/flowtui/stores"
)

// Watch implements stores.Watcher.
func (s *Store) Watch(ctx context.Context) (<-chan struct{}, error) {
	ch := make(chan struct{}, 1)
	err := s.do(ctx, "watch", stores.Key{}, func() error {
		s.watchers[ch] = struct{}{}
		return nil
	})
	if err != nil {
		return nil, err
	}
	go func() {
		select {
		case <-ctx.Done():
		case <-s.done:
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watchers, ch)
		close(ch)
	}()
	return ch, nil
}

// notify leaves one notice per watcher; a second one would say nothing new.
func (s *Store) notify() {
	for ch := range s.watchers {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}
