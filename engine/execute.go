package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/flowtui/flowtui/stores"
)

// Execution asks [Runner.Execute] for a run.
type Execution struct {
	Key      stores.Key // an empty owner is the default owner; an empty run id is made up, for a new run
	State    State      // of a new run; nil: the flow's initial state. The saved state of a run wins over it
	Identity stores.Identity
	// Resume are answers by the keys of the interrupts that the run is paused
	// for, or by their ids where several have one key. They are stored together or
	// not at all.
	Resume map[string]any
	By     string // who answers; "" is the identity's user, else the owner
}

// Execute starts a run, or brings the one of the same id on from where it was
// saved: after a crash it is recovered, and one that is paused gets the answers
// in Resume. Without answers a paused run is given back as it is, and one that
// has ended always is; answers that nothing waits for are an error. A node's
// error is [ErrHeld], as after [Flow.HoldOnError], and so is that of a condition:
// Execute with the same id goes on there. See the reference on durable execution.
func (r *Runner) Execute(ctx context.Context, f *Flow, e Execution) (Result, error) {
	held := *f
	held.holds = true
	f = &held
	if e.Key.Owner == "" {
		e.Key.Owner = stores.DefaultOwner
	}
	if err := f.Check(); err != nil {
		return Result{}, err
	}
	var last stores.Checkpoint
	err := stores.ErrNotFound
	if e.Key.Run != "" {
		last, err = r.store.Latest(ctx, e.Key)
	}
	switch {
	case errors.Is(err, stores.ErrNotFound) && len(e.Resume) > 0:
		return Result{}, NotFound(e.Key)
	case errors.Is(err, stores.ErrNotFound):
		return r.Run(ctx, f, Start{Key: e.Key, State: e.State, Identity: e.Identity})
	case err != nil:
		return Result{}, err
	case last.Status == stores.StatusPaused && len(e.Resume) > 0:
		ds, err := e.decisions()
		if err != nil {
			return Result{}, err
		}
		return r.resume(ctx, f, e.Key, ds)
	}
	return r.goOn(ctx, f, e)
}

// goOn brings on a run that waits for no answer of this execution.
func (r *Runner) goOn(ctx context.Context, f *Flow, e Execution) (Result, error) {
	l, b, err := r.open(ctx, e.Key)
	if err != nil {
		return Result{}, err
	}
	if f.name != l.last.Flow {
		return Result{}, conflict(e.Key, "", "it belongs to flow %q, not %q", l.last.Flow, f.name)
	}
	if err := r.unasked(ctx, l, b, e); err != nil {
		return Result{}, err
	}
	if !l.last.Status.Final() {
		return r.Recover(ctx, f, e.Key, RecoverOptions{Identity: e.Identity})
	}
	if err := allowed(e.Identity, l.last); err != nil {
		return Result{}, err
	}
	res, err := pausedResult(l, b)
	res.Status = l.last.Status
	if b.Error != nil {
		res.Error, res.Denied = b.Error.Message, b.Error.Denied
	}
	return res, err
}

// unasked refuses answers to a run that does not wait, unless they are the ones
// that it has stored: who did not learn that may ask again.
func (r *Runner) unasked(ctx context.Context, l *loaded, b Checkpoint, e Execution) error {
	if len(e.Resume) == 0 {
		return nil
	}
	ds, err := e.decisions()
	if err != nil {
		return err
	}
	for _, d := range ds {
		stored := slices.ContainsFunc(b.Decisions, func(o Decision) bool {
			return o.Type == DecideAnswer && o.By == d.By && (o.Key == d.ID || o.ID == d.ID) && string(o.Value) == string(d.Value)
		})
		if !stored || l.last.Status != stores.StatusRunning {
			d.ID = "" // whoever answered last
			return r.lost(ctx, l, d, "it waits for no answer: it is %s at step %d", l.last.Status, l.last.Step)
		}
	}
	return nil
}

// decisions are the answers of Resume.
func (e Execution) decisions() ([]Decide, error) {
	var ds []Decide
	for _, key := range slices.Sorted(maps.Keys(e.Resume)) {
		value, err := Seal(e.Resume[key])
		if err != nil {
			return nil, &Error{Class: ErrInvalid, Key: e.Key, Reason: fmt.Sprintf("the answer to %q cannot be kept", key), Err: err}
		}
		ds = append(ds, Decide{Type: DecideAnswer, ID: key, Value: value, By: answerer(e.By, e.Identity, e.Key), Identity: e.Identity})
	}
	return ds, nil
}

func answerer(by string, id stores.Identity, k stores.Key) string {
	return cmp.Or(by, id.User, k.Owner)
}

// HoldOnError lets the error of a node, or of a condition on an edge, stop the
// worker instead of ending the run as failed: the call that ran it returns
// [ErrHeld], and whoever brings the run on later goes on at that superstep, where
// the calls whose errors ended a node run again and all others replay. So let the
// node return a call's error, or wrap it with %w: a failed call that the node
// took, like one that an error edge takes, stays failed. Error edges come first,
// and a denied call ends the run all the same. [Runner.RecoverAll] and workers
// leave a run that is held at a call whose tool is not idempotent.
func (f *Flow) HoldOnError() *Flow {
	f.holds = true
	return f
}

// hold keeps the superstep open after a node's error, and says so in the log.
// The calls whose errors it is made of run again, and those of an earlier hold that
// were not come to: what an error edge takes is none of them. Approvals of calls
// that ran are spent, so that another try is asked for anew, by whichever worker
// makes it.
func (s *session) hold(outcomes []outcome, f Failure) saveRequest {
	s.decisions, s.again = s.unspent(outcomes), s.stillAgain(outcomes)
	for _, o := range outcomes {
		if !s.g.hasErrorEdge(o.run.Node) {
			s.again = append(s.again, o.failed...)
		}
	}
	return saveRequest{
		status: stores.StatusRunning, base: s.base, nodes: runs(outcomes), failure: &f,
		events: []newEvent{{EventHeld, map[string]any{"node": f.Node, "message": f.Message}}},
		held: &Error{
			Class: ErrHeld, Key: s.place.Key, Reason: f.what(),
			Hint: "mend what is wrong, then recover the run, or execute it again with the same id: it goes on there",
		},
	}
}

// what says what failed: a node, or what chooses the next ones.
func (f Failure) what() string {
	if f.Node == "" {
		return "no next node could be chosen: " + f.Message
	}
	return fmt.Sprintf("node %q failed: %s", f.Node, f.Message)
}

// again reports whether a call is one of those that a superstep was kept open
// for: whoever brings the run on wants another try, and the same error would
// replay for ever. A failed call that its node took is none of them: what the node
// did about it has happened.
// Neither is one that failed since: in a row that only carries the list on, of the
// given segment, a call of the list counts as long as its newest record is older
// than that segment.
func (b Checkpoint) again(c CallInfo, segment int64) bool {
	if b.Error == nil && c.Segment >= segment {
		return false
	}
	a, attempt := attemptOf(c)
	return (c.Failed && c.Denied == nil || attempt && a.Last) && slices.Contains(b.Again, c.ID)
}

// stillAgain are the calls of a hold that did not run since.
func (s *session) stillAgain(outcomes []outcome) []string {
	return slices.DeleteFunc(slices.Clone(s.again), func(id string) bool {
		return slices.ContainsFunc(outcomes, func(o outcome) bool { return o.state.ran[id] })
	})
}

// left is why nobody but who asks for it brings a held run on, nil when it is
// not held at a call that is not idempotent: a call that failed may have had its
// effect all the same, so that one more try is for a person to decide.
func (b Checkpoint) left(l *loaded) error {
	for _, c := range FoldCalls(l.current()) {
		if b.again(c, l.last.Segment) && !c.Idempotent {
			return &Error{
				Class: ErrHeld, Key: l.key, Reason: fmt.Sprintf("it is held at %s, which failed and is not idempotent: %s: %s", c.ID, c.Tool, c.Error),
				Hint: "mend what is wrong, then recover this run by name, or execute it again with the same id: the call runs again",
			}
		}
	}
	return nil
}

// failedCalls are the calls whose errors an error is made of.
func failedCalls(err error) (calls []string) {
	switch e := err.(type) {
	case *ToolError:
		return []string{e.call}
	case *lastAttempt:
		return append(failedCalls(e.error), e.call)
	case *alsoFailed:
		return append(failedCalls(e.error), e.calls...)
	case interface{ Unwrap() error }:
		return failedCalls(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, part := range e.Unwrap() {
			calls = append(calls, failedCalls(part)...)
		}
	}
	return calls
}

// alsoFailed is the first error of nodes that ran at the same time, with the
// calls that failed in the others: another try is one of them all.
type alsoFailed struct {
	error
	calls []string
}

func (e *alsoFailed) Unwrap() error { return e.error }

// Runs are the ids of an owner's runs, sorted: those of every owner with
// [stores.AnyOwner] would not tell whose they are, so that is refused.
func Runs(ctx context.Context, s stores.Store, owner string) ([]string, error) {
	if owner == stores.AnyOwner {
		return nil, &Error{Class: ErrInvalid, Reason: "run ids without their owners are not unique", Hint: "name one owner"}
	}
	lister, ok := s.(stores.Lister)
	if !ok {
		return nil, &Error{Class: ErrRefused, Reason: "the store cannot list the runs of an owner"}
	}
	runs := []string{}
	q := stores.Query{Filter: stores.Filter{Owner: owner}, Limit: 1000}
	for {
		page, err := lister.List(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, h := range page.Heads {
			runs = append(runs, h.Run)
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
	}
	slices.Sort(runs)
	return slices.Compact(runs), nil
}
