package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/flowtui/flowtui/stores"
)

// RecoverOptions are how a run is recovered.
type RecoverOptions struct {
	Identity     stores.Identity // empty: the run's own, but a principal must be given back
	RerunInDoubt bool            // run calls in doubt again
	Takeover     bool            // also when another worker's lease is live
	Version      string          // Plan.Version that was seen; "" for none
	By           string          // the operator, for the audit log; "" for a worker on its own
	Note         string
	// Unattended says that nobody asked for this run: one that is held at a call
	// whose tool is not idempotent is left, with [ErrHeld], for that call would
	// run again. See [Flow.HoldOnError].
	Unattended bool
}

// Recover brings on a run that was cut short. A run that is paused is given
// back as it is. Nothing is written before it is certain that the run can go
// on; then one save claims it with a new segment, and one worker wins.
func (r *Runner) Recover(ctx context.Context, f *Flow, k stores.Key, o RecoverOptions) (Result, error) {
	g, err := f.compile()
	if err != nil {
		return Result{}, err
	}
	l, b, err := r.open(ctx, k)
	if err != nil {
		return Result{}, err
	}
	if err := r.recoverable(ctx, g, l, b, o); err != nil {
		return Result{}, err
	}
	if l.last.Status == stores.StatusPaused {
		return pausedResult(l, b)
	}
	if err := r.startable(ctx, k, l, o); err != nil {
		return Result{}, err
	}
	held, err := r.hold(ctx, k, o.Takeover, takeOverHint)
	if err != nil {
		return Result{}, err
	}
	defer held.release()
	s, err := r.claim(held.ctx, g, k, o, l)
	if err != nil {
		return Result{}, takenOver(held.ctx, k, err)
	}
	return s.drive(held.ctx)
}

// recoverable is every check that needs no write.
func (r *Runner) recoverable(ctx context.Context, g *graph, l *loaded, b Checkpoint, o RecoverOptions) error {
	if err := fits(g, l.last); err != nil {
		return err
	}
	if l.last.Status.Final() {
		return conflict(l.key, "there is nothing to recover", "it has ended, it is %s%s", l.last.Status, lastDecision(ctx, r.store, r.keys, l.key, l.events.N, ""))
	}
	if err := allowed(o.Identity, l.last); err != nil {
		return err
	}
	if o.Version != "" && o.Version != l.version() {
		return conflict(l.key, "look at it again before you act", "changed since you looked: %s", l.now(ctx, r.store))
	}
	if o.Unattended && l.last.Status == stores.StatusRunning {
		return b.left(l)
	}
	return nil
}

// startable refuses what another worker is at, and calls in doubt. A call of a
// live worker is not in doubt yet, so the lease comes first.
func (r *Runner) startable(ctx context.Context, k stores.Key, l *loaded, o RecoverOptions) error {
	if lease, err := liveLease(ctx, r.store, k); err != nil || lease != nil && !o.Takeover {
		if err == nil {
			err = r.heldBy(ctx, r.store.(stores.Leaser), k, takeOverHint)
		}
		return err
	}
	return undecided(l, o.mayRerun(l))
}

// undecided fails closed on calls in doubt, but for those of which somebody
// said that they may run again.
func undecided(l *loaded, mayRerun rerunnable) error {
	var calls []DoubtfulCall
	for _, c := range doubtful(l) {
		if !mayRerun.means(c) {
			calls = append(calls, DoubtfulCall{ID: c.ID, Tool: c.Tool, Why: c.Doubt()})
		}
	}
	if len(calls) == 0 {
		return nil
	}
	return &Error{
		Class: ErrRecoveryNeedsDecision, Key: l.key, Reason: "it needs a decision before it can be recovered", Calls: calls,
		Hint: "look where the call should have had its effect, then use flowtui resolve, or recover with --rerun-in-doubt",
	}
}

func doubtful(l *loaded) []CallInfo {
	if l.last.Status != stores.StatusRunning {
		return nil
	}
	return slices.DeleteFunc(FoldCalls(l.current()), func(c CallInfo) bool { return !c.Doubtful() })
}

// rerunnable are the calls that RerunInDoubt means, each by its newest record:
// those that are in doubt when it is said. It means neither a call that the old
// worker starts later, nor one of which more is known by then: its resolution, or
// the late word that it ran and its result could not be kept.
type rerunnable map[callKey]recordID

type recordID struct{ segment, n int64 }

func (m rerunnable) means(c CallInfo) bool {
	seen, ok := m[c.key()]
	return ok && seen == recordID{c.Segment, c.N}
}

func (o RecoverOptions) mayRerun(l *loaded) rerunnable {
	m := rerunnable{}
	if o.RerunInDoubt {
		for _, c := range doubtful(l) {
			m[c.key()] = recordID{c.Segment, c.N}
		}
	}
	return m
}

// claim cuts the old worker off and takes the run over. It reads the run again
// under the lease, and the call log once more after the claim: until then the
// old worker could still start a call. Whoever claimed the run since it was seen
// keeps it.
func (r *Runner) claim(ctx context.Context, g *graph, k stores.Key, o RecoverOptions, seen *loaded) (*session, error) {
	l, b, err := r.open(ctx, k)
	if err != nil {
		return nil, err
	}
	if err := r.recoverable(ctx, g, l, b, o); err != nil {
		return nil, err
	}
	if l.last.Status != stores.StatusRunning || l.last.Segment != seen.last.Segment || l.last.Incarnation != seen.last.Incarnation {
		return nil, changed(ctx, r.store, r.keys, k, nil)
	}
	mayRerun := o.mayRerun(seen)
	if err := undecided(l, mayRerun); err != nil {
		return nil, err
	}
	s, err := r.session(g, l, b)
	if err != nil {
		return nil, err
	}
	s.segment++
	s.calls, s.callMAC = 0, nil
	s.ends(l)
	replayed, rerun := sortCalls(b, FoldCalls(l.current()), l.last.Segment)
	q := saveRequest{status: stores.StatusRunning, base: s.base, events: []newEvent{{EventRecovered, map[string]any{
		"kind": s.g.kind, "step": l.last.Step + 1, "replayed": ids(replayed), "rerun": ids(rerun),
	}}}}
	if o.By != "" {
		q.events = append(q.events, newEvent{EventRecovery, operatorEvent{Action: "recover", By: o.By, Note: o.Note, Plan: o.Version}})
	}
	if err := s.save(ctx, q); err != nil {
		return nil, err
	}
	s.log = nil
	s.notes.rerun = ids(rerun)
	return s, s.lookAgain(ctx, b, mayRerun)
}

// lookAgain reads the call log as it was when the old worker was cut off.
func (s *session) lookAgain(ctx context.Context, claimed Checkpoint, mayRerun rerunnable) error {
	l, _, err := s.r.open(ctx, s.place.Key)
	if err != nil {
		return err
	}
	if l.last.Step != s.step {
		return changed(ctx, s.r.store, s.r.keys, s.place.Key, nil)
	}
	if err := undecided(l, mayRerun); err != nil {
		return err
	}
	calls := FoldCalls(l.current())
	s.replay = claimed.replay(calls, s.segment-1)
	_, rerun := sortCalls(claimed, calls, s.segment-1)
	s.notes.rerun = ids(rerun)
	return nil
}

// sortCalls parts the calls of a superstep into those that replay and those
// that run again.
func sortCalls(b Checkpoint, calls []CallInfo, segment int64) (replay, rerun []CallInfo) {
	for _, c := range calls {
		switch {
		case c.Finished() && !b.again(c, segment):
			replay = append(replay, c)
		case c.Finished(), c.Open(), c.Status == stores.CallResolved:
			rerun = append(rerun, c)
		}
	}
	return replay, rerun
}

func ids(calls []CallInfo) []string {
	out := []string{}
	for _, c := range calls {
		out = append(out, c.ID)
	}
	return out
}

func pausedResult(l *loaded, b Checkpoint) (Result, error) {
	state, err := DecodeState(b.State)
	if err != nil {
		return Result{}, &Error{Class: ErrCheckpointStoreCorrupt, Key: l.key, Err: err}
	}
	return Result{Key: l.key, Status: stores.StatusPaused, Step: l.last.Step, Segment: l.last.Segment, State: state, Waiting: b.Waiting}, nil
}

// Recovery is what became of one run of RecoverAll.
type Recovery struct {
	Result Result
	Err    error
}

// RecoverAll recovers every unfinished run of an owner (stores.AnyOwner: of
// all) whose flow the given function knows, unattended: see
// [RecoverOptions.Unattended]. Each run gets its result or its error; one bad
// run never strands the others. The error is a list of runs that could not be
// read at all.
func (r *Runner) RecoverAll(ctx context.Context, owner string, flows func(name string) (*Flow, error), o RecoverOptions) (map[stores.Key]Recovery, error) {
	heads, err := r.store.ListUnfinished(ctx, owner)
	if err != nil {
		return nil, err
	}
	out := map[stores.Key]Recovery{}
	var unread error
	if a, ok := r.store.(stores.Auditor); ok {
		orphans, err := a.Orphans(ctx, owner)
		if err != nil {
			unread = fmt.Errorf("runs whose list entry is missing were not looked for: %w", err)
		}
		for _, k := range orphans {
			out[k] = Recovery{Err: &Error{Class: ErrCheckpointStoreCorrupt, Key: k, Reason: "its list entry is missing, but other rows of it are there", Hint: "see flowtui verify"}}
		}
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	places := make(chan struct{}, recoverAtOnce)
	for _, h := range heads {
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			one := r.recoverOne(ctx, h, flows, o)
			mu.Lock()
			defer mu.Unlock()
			if _, known := out[h.Key]; !known || h.Bad == "" { // a second, bad list entry hides nothing
				out[h.Key] = one
			}
		})
	}
	wg.Wait()
	return out, unread
}

// recoverAtOnce is how many runs RecoverAll works on at a time, so that one
// slow tool does not hold up the others.
const recoverAtOnce = 4

func (r *Runner) recoverOne(ctx context.Context, h stores.Head, flows func(string) (*Flow, error), o RecoverOptions) Recovery {
	if h.Bad != "" {
		return Recovery{Err: &Error{Class: ErrCheckpointStoreCorrupt, Key: h.Key, Reason: "its list entry is unreadable: " + h.Bad}}
	}
	if ctx.Err() != nil {
		return Recovery{Err: fmt.Errorf("run %q: not tried: %w", h.Run, context.Cause(ctx))}
	}
	f, err := flows(h.Flow)
	if err != nil {
		return Recovery{Err: &Error{Class: ErrRefused, Key: h.Key, Reason: err.Error()}}
	}
	o.Unattended = true
	res, err := r.Recover(ctx, f, h.Key, o)
	if errors.Is(err, stores.ErrNotFound) {
		err = NotFound(h.Key)
	}
	return Recovery{res, err}
}
