package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/flowtui/flowtui/stores"
)

// drive runs supersteps until the run is done, failed or paused, or until this
// worker has to stop. A stop leaves the run as it is stored: recoverable.
func (s *session) drive(ctx context.Context) (Result, error) {
	s.ctx = ctx
	for {
		if ctx.Err() != nil {
			return s.cutShort(s.stoppedBy(context.Cause(ctx)))
		}
		q, err := s.superstep(ctx)
		if err != nil {
			return s.cutShort(err)
		}
		if err := s.save(ctx, q); err != nil {
			return s.cutShort(err)
		}
		s.replay, s.asked = nil, nil
		if q.held != nil {
			return s.cutShort(q.held)
		}
		if q.status != stores.StatusRunning {
			return s.result(q.status, q), nil
		}
	}
}

// cutShort says where the run is stored, without a state: what this worker has
// in hand was not saved.
func (s *session) cutShort(err error) (Result, error) {
	r := s.result(stores.StatusRunning, saveRequest{})
	r.State = nil
	return r, takenOver(s.ctx, s.place.Key, err)
}

func (s *session) stoppedBy(cause error) error {
	if errors.Is(cause, errLeaseLost) {
		return lostLease(s.place.Key)
	}
	return fmt.Errorf("run %q: stopped, it can be recovered: %w", s.place.Run, cause)
}

// outcome is what one node of a superstep came to.
type outcome struct {
	update State
	err    error
	state  *nodeState
	run    NodeRun
	failed []string // the calls whose errors ended the node
}

// superstep runs the frontier concurrently on the same state and returns what
// to save. The order of the results is the order of the frontier, so nothing
// depends on which node finished first.
func (s *session) superstep(ctx context.Context) (saveRequest, error) {
	if s.supersteps >= s.g.maxSteps && !slices.Contains(s.frontier, turnNode) { // the next message starts anew
		return s.tooMany(fmt.Errorf("more than %d supersteps: the flow may be looping", s.g.maxSteps)), nil
	}
	outcomes := s.runFrontier(ctx)
	if err := s.stopped(); err != nil {
		if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
			err = s.stoppedBy(context.Cause(ctx))
		}
		return saveRequest{}, err
	}
	if ctx.Err() != nil {
		return saveRequest{}, s.stoppedBy(context.Cause(ctx))
	}
	s.collect(outcomes)
	if q, ok := s.failed(outcomes); ok {
		return q, nil
	}
	if q, ok := s.paused(outcomes); ok {
		return q, nil
	}
	return s.finished(outcomes), nil
}

// tooMany ends a run, or a turn of a conversation, before another superstep.
func (s *session) tooMany(err error) saveRequest {
	ended, next, err := s.endTurn(nil, err)
	if err != nil {
		return s.fail(nil, Failure{Message: err.Error()})
	}
	state := s.state.Clone()
	maps.Copy(state, ended)
	s.text.forget([]State{ended})
	s.state, s.frontier, s.decisions, s.again, s.log = state, next, nil, nil, nil
	return saveRequest{status: stores.StatusRunning, base: s.step + 1}
}

func (s *session) runFrontier(ctx context.Context) []outcome {
	if len(s.frontier) == 1 { // needs no goroutine
		return []outcome{s.runNode(ctx, s.frontier[0])}
	}
	outcomes := make([]outcome, len(s.frontier))
	var wg sync.WaitGroup
	for i, id := range s.frontier {
		wg.Go(func() { outcomes[i] = s.runNode(ctx, id) })
	}
	wg.Wait()
	return outcomes
}

func (s *session) runNode(ctx context.Context, id string) (o outcome) {
	n := s.node(id)
	o = outcome{state: n, run: NodeRun{Node: id, Started: s.r.clock.now()}}
	defer func() {
		if r := recover(); r != nil {
			o.err = fmt.Errorf("the node panicked: %v", r)
		}
		n.close()
		o.run.Ended = s.r.clock.now()
		o.run.Replayed, o.run.Unreplayed = n.replayed, n.unreplayed
		if o.err != nil && len(n.waiting) == 0 {
			o.run.Error, o.failed = validText(o.err.Error()), failedCalls(o.err)
		}
	}()
	node, ok := s.g.byID[id]
	if !ok {
		o.err = fmt.Errorf("the flow has no node %q", id)
		return o
	}
	update, err := node.Run(context.WithValue(ctx, nodeStateKey{}, n), s.state.Clone())
	if err == nil {
		update, err = exact(update)
	}
	if err == nil {
		err = s.g.accepts(s.state, update)
	}
	o.update, o.err = update, err
	return o
}

// exact turns a node's update into JSON values, or says what cannot be kept.
func exact(u State) (State, error) {
	if len(u) == 0 {
		return State{}, nil
	}
	raw, err := Seal(map[string]any(u))
	if err != nil {
		return nil, fmt.Errorf("the update cannot be kept: %w", err)
	}
	return DecodeState(raw)
}

func (s *session) collect(outcomes []outcome) {
	for _, o := range outcomes {
		s.notes.replayed = append(s.notes.replayed, o.state.replayed...)
		s.notes.unreplayed = append(s.notes.unreplayed, o.state.unreplayed...)
	}
}

func runs(outcomes []outcome) []NodeRun {
	out := make([]NodeRun, len(outcomes))
	for i, o := range outcomes {
		out[i] = o.run
	}
	return out
}

// failed reports a node that failed and has no error edge: the first one that a
// person said no to, which ends a run also where errors hold it, else the first.
func (s *session) failed(outcomes []outcome) (saveRequest, bool) {
	var worst *outcome
	for i, o := range outcomes {
		if o.err == nil || len(o.state.waiting) > 0 || s.g.hasErrorEdge(o.run.Node) {
			continue
		}
		if worst == nil || denial(o.err) != nil && denial(worst.err) == nil {
			worst = &outcomes[i]
		}
	}
	if worst == nil {
		return saveRequest{}, false
	}
	f := Failure{Node: worst.run.Node, Message: worst.run.Error}
	if d := denial(worst.err); d != nil {
		f.Denied = &Denial{Tool: d.Tool, By: d.By, Note: d.Note}
	} else if s.g.holds {
		return s.hold(outcomes, f), true
	}
	return s.fail(runs(outcomes), f), true
}

// denial is the person's no in an error, nil for none.
func denial(err error) *DeniedError {
	d, _ := errors.AsType[*DeniedError](err)
	return d
}

func (s *session) fail(nodes []NodeRun, f Failure) saveRequest {
	s.frontier, s.decisions, s.again = nil, nil, nil
	return saveRequest{status: stores.StatusFailed, base: s.step + 1, failure: &f, nodes: nodes}
}

// paused asks for a row that keeps the superstep open: the same state and
// frontier, and what is waited for. Calls that finished replay when it goes on.
func (s *session) paused(outcomes []outcome) (saveRequest, bool) {
	q := saveRequest{status: stores.StatusPaused, base: s.base, nodes: runs(outcomes)}
	now := s.r.clock.now()
	for _, o := range outcomes {
		o.state.sort()
		for _, w := range o.state.waiting {
			w.Since = s.since(w, now)
			q.waiting = append(q.waiting, w)
			q.events = append(q.events, newEvent{EventWaiting, map[string]any{"type": w.Type, "id": w.ID, "tool": w.Tool, "key": w.Key}})
		}
		for _, p := range o.state.pending {
			p.status = stores.CallStarted
			pend := p
			pend.status, pend.body.Args = stores.CallPending, nil
			q.pending = append(q.pending, p, pend)
		}
	}
	if len(q.waiting) == 0 {
		return q, false
	}
	s.decisions, s.again = s.unspent(outcomes), s.stillAgain(outcomes)
	return q, true
}

// since is when a question was first asked: that others were answered meanwhile
// does not make it newer.
func (s *session) since(w Waiting, now time.Time) time.Time {
	for _, old := range s.asked {
		if old.Type == w.Type && old.ID == w.ID && old.Digest == w.Digest {
			return old.Since
		}
	}
	return now
}

// unspent keeps answers, which the open superstep still reads, and approvals
// of calls that did not run yet.
func (s *session) unspent(outcomes []outcome) []Decision {
	return slices.DeleteFunc(slices.Clone(s.decisions), func(d Decision) bool {
		return d.Type == DecideApprove && slices.ContainsFunc(outcomes, func(o outcome) bool { return o.state.ran[d.ID] })
	})
}

// finished merges the updates and finds the next frontier.
func (s *session) finished(outcomes []outcome) saveRequest {
	updates := make([]State, len(outcomes))
	failed := map[string]bool{}
	for i, o := range outcomes {
		if o.err != nil {
			failed[o.run.Node] = true
			o.update = s.g.failure(o.run.Node, o.run.Error)
		}
		updates[i] = o.update
	}
	state := merge(s.state, s.g.reducers, updates)
	next, err := s.g.next(s.state, state, s.frontier, failed)
	ended, next, err := s.endTurn(next, err)
	if err != nil && s.g.holds {
		return s.hold(outcomes, Failure{Message: validText(err.Error())})
	}
	maps.Copy(state, ended)
	s.text.forget(append(updates, ended)) // everything that is another value now
	s.supersteps++
	if err != nil {
		return s.fail(runs(outcomes), Failure{Message: validText(err.Error())})
	}
	for _, id := range s.frontier {
		s.visits[id]++
	}
	s.state, s.frontier, s.decisions, s.again, s.log = state, next, nil, nil, nil
	q := saveRequest{status: stores.StatusRunning, base: s.step + 1, nodes: runs(outcomes)}
	if len(next) == 0 {
		q.status = stores.StatusDone
	}
	return q
}

func (s *session) result(status stores.Status, q saveRequest) Result {
	r := Result{
		Key: s.place.Key, Status: status, Step: s.step, Segment: s.segment, State: s.state.Clone(), Waiting: q.waiting,
		Replayed: s.notes.replayed, Rerun: s.notes.rerun, Unreplayed: s.notes.unreplayed,
	}
	if q.failure != nil {
		r.Error, r.Denied = q.failure.Message, q.failure.Denied
	}
	return r
}
