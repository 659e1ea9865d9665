package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/stores"
)

// Recoverer brings one run on. An [engine.Runner] is one.
type Recoverer interface {
	Recover(ctx context.Context, f *engine.Flow, k stores.Key, o engine.RecoverOptions) (engine.Result, error)
}

// Options are what a Sweeper works with.
type Options struct {
	Runner Recoverer    // required: an *engine.Runner on Store that has the tools of all flows
	Store  stores.Store // required
	// Flows gives a flow by its name; required. Its error leaves the flow's runs
	// to workers that have the flow.
	Flows func(name string) (*engine.Flow, error)
	Owner string // whose runs; "" is stores.AnyOwner
	// Principals are those that this worker may act for. Runs without one need
	// none; runs with another one are left alone.
	Principals  []string
	Concurrency int           // runs at a time; 0: 4
	Every       time.Duration // how often to look when nothing tells of a change; 0: 5 seconds
	// Grace is how long runs under way may go on after a stop; 0: 10 seconds,
	// negative: they are cut short at once.
	Grace time.Duration
	// Silent is for a store without leases, which cannot tell who works on a
	// run: only a run whose last save is older than this, by this machine's
	// clock, is taken; 0: 1 minute. Taking a slow worker's run is safe, since
	// that worker is fenced, but its call under way is then in doubt.
	Silent time.Duration
	// Check may refuse a run before anything is read of it; nil refuses none. The
	// class of its error counts as if Recover had returned it.
	Check func(ctx context.Context, h stores.Head) error
	Log   *slog.Logger // nil: nothing is logged
}

const (
	defaultConcurrency = 4
	defaultEvery       = 5 * time.Second
	defaultGrace       = 10 * time.Second
	defaultSilent      = time.Minute
)

// Sweeper recovers the runs of a store that nobody holds.
type Sweeper struct {
	o      Options
	log    *slog.Logger
	random func() float64 // in [0, 1)

	places  chan struct{} // one for each run under way
	working sync.WaitGroup

	mu   sync.Mutex
	busy map[stores.Key]stores.Head // runs under way
	runs map[ref]*entry             // what is remembered of runs that were left
}

// New returns a Sweeper for one Run or Sweep at a time.
func New(o Options) (*Sweeper, error) {
	switch {
	case o.Runner == nil || o.Store == nil || o.Flows == nil:
		return nil, errors.New("worker: a runner, a store and flows are needed")
	case o.Concurrency < 0 || o.Every < 0 || o.Silent < 0:
		return nil, fmt.Errorf("worker: concurrency %d, every %s, silent %s: none may be negative", o.Concurrency, o.Every, o.Silent)
	}
	if o.Owner == "" {
		o.Owner = stores.AnyOwner
	}
	if o.Concurrency == 0 {
		o.Concurrency = defaultConcurrency
	}
	for d, usual := range map[*time.Duration]time.Duration{&o.Every: defaultEvery, &o.Grace: defaultGrace, &o.Silent: defaultSilent} {
		if *d == 0 {
			*d = usual
		}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Sweeper{
		o: o, log: o.Log, random: rand.Float64, places: make(chan struct{}, o.Concurrency),
		busy: map[stores.Key]stores.Head{}, runs: map[ref]*entry{},
	}, nil
}

// Run sweeps until ctx ends, then lets go of the runs under way. It returns nil
// after such a stop. A store that does not answer is asked again, less and less
// often, until it does.
func (s *Sweeper) Run(ctx context.Context) error {
	s.log.InfoContext(ctx, "started", "owner", s.o.Owner, "concurrency", s.o.Concurrency)
	hands := newHands(ctx, false)
	defer s.stop(ctx, hands)
	watch := watching{store: s.o.Store}
	var down outage
	for audited := false; ctx.Err() == nil; {
		notices := watch.on(ctx) // before the list, so that nothing falls in between
		next, err := s.sweep(ctx, hands, s.settle)
		if err == nil && !audited {
			audited = true
			if err := s.audit(ctx, s.settle); err != nil && ctx.Err() == nil {
				s.log.WarnContext(ctx, "not looked for runs whose list entry is missing", "error", err)
			}
		}
		switch {
		case ctx.Err() != nil:
		case err != nil:
			sleep(ctx, s.unanswered(ctx, &down, err))
		default:
			s.answered(ctx, &down)
			sleep(ctx, next.gap)
			watch.wait(ctx, notices, next.rest)
		}
	}
	return nil
}

// Outcome is what became of one run of a sweep.
type Outcome struct {
	Head   stores.Head // as it was found
	Result engine.Result
	Err    error
}

// Sweep looks once, recovers what is there, and returns when all of that is
// done. Runs that are left to others, because they are held, paused or not for
// this worker, have no outcome. The error is a store that could not be listed,
// or the end of ctx.
func (s *Sweeper) Sweep(ctx context.Context) ([]Outcome, error) {
	var mu sync.Mutex
	var all []Outcome
	keep := func(ctx context.Context, t try) {
		s.settle(ctx, t)
		if isConflict(t.err) {
			return // somebody else was faster
		}
		mu.Lock()
		defer mu.Unlock()
		all = append(all, Outcome{t.head, t.result, t.err})
	}
	hands := newHands(ctx, true)
	defer hands.cut(nil)
	_, err := s.sweep(ctx, hands, keep)
	if err == nil {
		err = s.audit(ctx, keep)
	}
	select {
	case <-s.idle():
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
		s.stop(ctx, hands)
	}
	mu.Lock()
	defer mu.Unlock()
	return all, err
}
