package jsonfile

import (
	"context"
	"os"
	"time"

	"github.com/flowtui/flowtui/stores"
)

// pollEvery is how often a watcher looks for changes by other processes.
const pollEvery = 250 * time.Millisecond

// Watch implements stores.Watcher. Writes through this store are noticed at
// once, those of other processes by the times of the owners' folders: every
// write ends with a file that is put or removed there.
func (s *Store) Watch(ctx context.Context) (<-chan struct{}, error) {
	if err := ctx.Err(); err != nil {
		return nil, s.wrap("watch", stores.Key{}, err)
	}
	p := &probe{store: s}
	p.changed() // what is there now is no news
	ch := make(chan struct{}, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, s.wrap("watch", stores.Key{}, stores.ErrClosed)
	}
	s.watchers[ch] = struct{}{}
	go s.watch(ctx, ch, p)
	return ch, nil
}

func (s *Store) watch(ctx context.Context, ch chan struct{}, p *probe) {
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watchers, ch)
		close(ch)
	}()
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.done:
			return
		case <-poll.C:
			if p.changed() {
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

// probe notices that something was written since it was last asked.
type probe struct {
	store *Store
	seen  map[string]time.Time
	fresh bool // a folder was changed so lately that the next change may not show
}

func (p *probe) changed() bool {
	looked := time.Now()
	now := p.store.folderTimes()
	changed := p.fresh || len(now) != len(p.seen)
	p.fresh = false
	for name, t := range now {
		old, known := p.seen[name]
		if !known || !old.Equal(t) {
			changed = true
		}
		if looked.Sub(t) < tick(t) {
			p.fresh = true
		}
	}
	p.seen = now
	return changed
}

// folderTimes are when names in the folders of the store changed.
func (s *Store) folderTimes() map[string]time.Time {
	times := map[string]time.Time{}
	root, err := os.OpenRoot(s.path)
	if err != nil {
		return times
	}
	defer root.Close()
	note := func(name string) {
		if info, err := root.Lstat(name); err == nil {
			times[name] = info.ModTime()
		}
	}
	note(".")
	note(ownersDir)
	names, _ := readNames(root, ownersDir) // what cannot be read does not change
	for _, name := range names {
		note(ownersDir + "/" + name)
	}
	return times
}
