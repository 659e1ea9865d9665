package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/stores"
)

// listPatience bounds one list: a store that hangs is one that does not answer.
const listPatience = time.Minute

// pause is how long to wait before the next sweep: the gap in any case, then
// the rest unless something changes.
type pause struct{ gap, rest time.Duration }

// report is told what became of a run.
type report func(ctx context.Context, t try)

// sweep lists once and starts the runs that are due, each as soon as there is a
// place for it.
func (s *Sweeper) sweep(ctx context.Context, hands hands, tell report) (pause, error) {
	begin := time.Now()
	heads, err := s.list(ctx)
	if err != nil {
		return pause{}, err
	}
	took := time.Since(begin)
	due, next := s.due(ctx, heads, tell)
	for i, h := range due {
		select {
		case s.places <- struct{}{}:
		case <-ctx.Done():
			return pause{}, nil
		}
		if i > 0 && !hands.once && time.Since(begin) > max(s.o.Every, 10*took) {
			<-s.places // the list is old: look again what is most urgent now
			return pause{}, nil
		}
		s.start(hands, h, tell)
	}
	return s.pause(took, next), nil
}

func (s *Sweeper) list(ctx context.Context) ([]stores.Head, error) {
	ctx, stop := context.WithTimeout(ctx, listPatience)
	defer stop()
	return s.o.Store.ListUnfinished(ctx, s.o.Owner)
}

// pause spreads the sweeps of several workers, spares a store that is slow, and
// is over when the next run is due again.
func (s *Sweeper) pause(took time.Duration, next time.Time) pause {
	p := pause{gap: max(s.jitter(s.o.Every/10), 10*took)}
	p.rest = max(0, s.jitter(s.o.Every)-p.gap)
	if !next.IsZero() {
		p.rest = min(p.rest, max(0, time.Until(next)-p.gap))
	}
	return p
}

// jitter is d, give or take a quarter.
func (s *Sweeper) jitter(d time.Duration) time.Duration {
	return d - d/4 + time.Duration(s.random()*float64(d)/2)
}

// due returns the runs to start now, the oldest update first, and when the next
// one will be. What it leaves for good reasons is told once.
func (s *Sweeper) due(ctx context.Context, heads []stores.Head, tell report) (due []stores.Head, next time.Time) {
	now := time.Now()
	s.keepOnly(heads)
	for _, h := range heads {
		switch {
		case h.Bad == "" && !s.free(h, now):
		case !s.ready(h, now, &next):
		case h.Bad != "":
			tell(ctx, try{head: h, err: unreadable(h)})
		case s.mine(ctx, h):
			due = append(due, h)
		}
	}
	return due, next
}

// free reports whether a run is cut short and nobody is known to be on it.
func (s *Sweeper) free(h stores.Head, now time.Time) bool {
	if h.Status != stores.StatusRunning {
		return false
	}
	if _, leases := s.o.Store.(stores.Leaser); leases {
		return h.Lease == nil || !h.Lease.Live
	}
	return now.Sub(h.Updated) > s.o.Silent
}

// start works on a run in the place that was taken for it.
func (s *Sweeper) start(hands hands, h stores.Head, tell report) {
	s.mu.Lock()
	s.busy[h.Key] = h
	s.mu.Unlock()
	s.working.Go(func() {
		t, ok := s.work(hands, h)
		if ok {
			tell(hands.ctx, t)
		}
		s.mu.Lock()
		delete(s.busy, h.Key)
		s.mu.Unlock()
		<-s.places
	})
}

// try is one attempt to bring a run on.
type try struct {
	head   stores.Head // as it was right before
	result engine.Result
	err    error
	took   time.Duration
	cut    bool // this worker was stopped
}

// work brings one run on. It looks again first: the list may be old. It is not
// ok when there is nothing to do any more.
func (s *Sweeper) work(hands hands, h stores.Head) (t try, ok bool) {
	begin := time.Now()
	t.head = h
	defer func() { t.took, t.cut = time.Since(begin), hands.ctx.Err() != nil }()
	if t.head, t.err = s.look(hands.ctx, h); t.err != nil {
		t.head = h
		return t, true
	}
	if !s.free(t.head, time.Now()) || !hands.once && s.postponed(hands.ctx, t.head) || !s.mine(hands.ctx, t.head) {
		return t, false // it may be another run by now, with a principal that is not this worker's
	}
	if s.o.Check != nil {
		if t.err = s.o.Check(hands.ctx, t.head); t.err != nil {
			return t, true
		}
	}
	f, err := s.o.Flows(t.head.Flow)
	if err != nil {
		t.err = fmt.Errorf("flow %q: %w", t.head.Flow, err)
		return t, true
	}
	// The run's own principal is one of this worker's; the engine compares it
	// with the signed one. Its user and thread come back by themselves.
	t.result, t.err = s.o.Runner.Recover(hands.ctx, f, h.Key, engine.RecoverOptions{Identity: stores.Identity{Principal: t.head.Principal}, Unattended: true})
	return t, true
}

// look reads the run's head again, where that costs no payload.
func (s *Sweeper) look(ctx context.Context, h stores.Head) (stores.Head, error) {
	lister, ok := s.o.Store.(stores.Lister)
	if !ok {
		return h, nil
	}
	now, err := lister.Head(ctx, h.Key)
	if errors.Is(err, stores.ErrNotFound) {
		if _, gone := s.o.Store.Info(ctx); gone == nil { // the run is, not the store
			err = &engine.Error{Class: engine.ErrCheckpointNotFound, Key: h.Key, Reason: "it was deleted"}
		}
	}
	if err == nil && now.Bad != "" {
		err = unreadable(now)
	}
	return now, err
}

func unreadable(h stores.Head) error {
	return &engine.Error{Class: engine.ErrCheckpointStoreCorrupt, Key: h.Key, Reason: "its list entry is unreadable: " + h.Bad, Hint: "see flowtui verify"}
}

// audit tells of runs that no list shows, because their list entry is gone.
func (s *Sweeper) audit(ctx context.Context, tell report) error {
	auditor, ok := s.o.Store.(stores.Auditor)
	if !ok {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, listPatience)
	defer stop()
	orphans, err := auditor.Orphans(ctx, s.o.Owner)
	for _, k := range orphans {
		tell(ctx, try{head: stores.Head{Place: stores.Place{Key: k}}, err: &engine.Error{
			Class: engine.ErrCheckpointStoreCorrupt, Key: k, Reason: "its list entry is missing, but other rows of it are there", Hint: "see flowtui verify",
		}})
	}
	return err
}
