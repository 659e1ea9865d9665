package worker

import (
	"context"
	"log/slog"
	"time"

	"github.com/flowtui/flowtui/stores"
)

// watching listens to a store's change notices. Without them, and while they
// are broken, the sweeper polls.
type watching struct {
	store   stores.Store
	notices <-chan struct{}
}

// on listens, if that is not done already.
func (w *watching) on(ctx context.Context) <-chan struct{} {
	if watcher, ok := w.store.(stores.Watcher); ok && w.notices == nil {
		w.notices, _ = watcher.Watch(ctx) // without notices it is polled
	}
	return w.notices
}

// wait ends with a notice, after d, or with ctx.
func (w *watching) wait(ctx context.Context, notices <-chan struct{}, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case _, open := <-notices:
		if open {
			return
		}
		w.notices = nil // it broke off: listen again next time
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
	}
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// outage is a time in which the store does not answer.
type outage struct {
	since time.Time
	tries int
	told  string
}

// unanswered tells of an outage, once for each reason, and returns how long to
// wait before the store is asked again. No run is blamed for it.
func (s *Sweeper) unanswered(ctx context.Context, o *outage, err error) time.Duration {
	if o.tries == 0 {
		o.since = time.Now()
	}
	o.tries++
	wait := backoff(firstAsk, lastAsk, o.tries, s.random())
	level := slog.LevelDebug
	if o.told != err.Error() {
		o.told, level = err.Error(), slog.LevelWarn
	}
	s.log.LogAttrs(ctx, level, "store does not answer", slog.Any("error", err), slog.Int("tries", o.tries), again(wait))
	return wait
}

func (s *Sweeper) answered(ctx context.Context, o *outage) {
	if o.tries > 0 {
		s.log.LogAttrs(ctx, slog.LevelInfo, "store answers again", slog.Int("tries", o.tries), slog.Int64("down_ms", time.Since(o.since).Milliseconds()))
	}
	*o = outage{}
}
