package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/flowtui/flowtui/stores"
)

// hands is what the runs under way work with: they outlive the sweeping by the
// grace period.
type hands struct {
	ctx  context.Context
	cut  context.CancelCauseFunc
	once bool // for one sweep
}

func newHands(ctx context.Context, once bool) hands {
	h := hands{once: once}
	h.ctx, h.cut = context.WithCancelCause(context.WithoutCancel(ctx))
	return h
}

var errStopped = errors.New("the worker was stopped")

// putDown is how long a run that was cut short may take to write down what it
// has: the engine keeps the result of a call that has returned.
const putDown = 5 * time.Second

// stop lets the runs under way go on for the grace period, then cuts them
// short. The engine stops between two store operations, and a tool under way
// has its context cancelled.
func (s *Sweeper) stop(ctx context.Context, hands hands) {
	defer hands.cut(errStopped)
	log := context.WithoutCancel(ctx)
	s.mu.Lock()
	busy := len(s.busy)
	s.mu.Unlock()
	s.log.LogAttrs(log, slog.LevelInfo, "stopping", slog.String("why", fmt.Sprint(context.Cause(ctx))),
		slog.Int("under_way", busy), slog.Int64("grace_ms", max(0, s.o.Grace).Milliseconds()))
	idle := s.idle()
	if !within(idle, max(0, s.o.Grace)) {
		hands.cut(errStopped)
		within(idle, putDown)
	}
	for _, h := range s.underWay() {
		s.tellLeft(log, h, slog.String("error", "a call does not come back; it is in doubt when the lease on the run has run out"))
	}
	s.log.LogAttrs(log, slog.LevelInfo, "stopped")
}

// idle is closed when no run is under way.
func (s *Sweeper) idle() <-chan struct{} {
	done := make(chan struct{})
	go func() {
		s.working.Wait()
		close(done)
	}()
	return done
}

func (s *Sweeper) underWay() []stores.Head {
	s.mu.Lock()
	defer s.mu.Unlock()
	var heads []stores.Head
	for _, h := range s.busy {
		heads = append(heads, h)
	}
	return heads
}

// within reports whether done is closed in time.
func within(done <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}
