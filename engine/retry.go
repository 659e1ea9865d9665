package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/flowtui/flowtui/engine/tool"
)

// Retry says how often a node is tried. Only what is safe to repeat is: a node
// that has called a tool which is not idempotent, or has asked a person, fails
// with its first error, whatever that call came to, also when it made the call
// before a crash and does not come to it again.
type Retry struct {
	Attempts int              // in all; below 2 is one
	Delay    time.Duration    // before the second attempt
	Backoff  float64          // each further wait is longer by this factor; 0 is 1
	Timeout  time.Duration    // of one attempt; 0: none
	On       func(error) bool // which errors are tried again; nil: all
}

// Wrap is the node with its retries. It is an error for a node that runs others:
// those are to be tried again by themselves.
func (r Retry) Wrap(n Node) (Node, error) {
	switch n.(type) {
	case container, loopModel, loopTools, Interrupt, turn:
		return nil, fmt.Errorf("a node of type %q cannot be tried again", n.Type())
	}
	if r.Backoff == 0 {
		r.Backoff = 1
	}
	return retried{n, r}, nil
}

// retried is a node that is tried again.
type retried struct {
	Node
	r Retry
}

// unwrapped is the node itself.
func unwrapped(n Node) Node {
	if r, ok := n.(retried); ok {
		return r.Node
	}
	return n
}

// Run tries the node. The calls of each attempt are calls of their own. That an
// attempt failed is kept in the call log: when the node runs again, after a pause
// or a crash, that attempt is over, or its calls would be taken for those of the
// next one.
func (t retried) Run(ctx context.Context, s State) (State, error) {
	n, err := nodeRun(ctx)
	if err != nil {
		return nil, err
	}
	for failed := 1; ; failed++ {
		n.begin()
		before, known := n.failedBefore()
		var update State
		var last bool
		if known {
			err, last = n.lastAttempt(before.Last, errors.New(before.Error)), before.Last
		} else {
			if update, err = t.once(ctx, s); err == nil {
				return update, nil
			}
			last = failed >= t.r.Attempts || !n.repeatable(ctx) || t.r.On != nil && !t.r.On(err)
			kept, failure := n.keepFailure(ctx, failed, last, err)
			if failure != nil {
				return nil, errors.Join(err, failure)
			}
			err = n.lastAttempt(last && kept, err)
		}
		if last {
			return update, err
		}
		if known {
			continue // the wait is over too
		}
		if werr := wait(ctx, t.r.wait(failed)); werr != nil {
			return nil, errors.Join(err, werr)
		}
	}
}

// begin starts an attempt: its calls are counted anew in their idempotency keys.
func (n *nodeState) begin() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.first = n.n
}

// lastAttempt is the error of the attempt that ended the node, and its record,
// which stands for it.
type lastAttempt struct {
	error
	call string // id
}

func (e *lastAttempt) Unwrap() error { return e.error }

func (n *nodeState) lastAttempt(last bool, err error) error {
	if !last {
		return err
	}
	return &lastAttempt{err, CallID(n.id, n.n)}
}

// attemptTool names the records of failed attempts in the call log.
const attemptTool = "attempt"

// failedAttempt is the result of such a record.
type failedAttempt struct {
	Attempt int    `json:"failed_attempt"`
	Last    bool   `json:"last,omitempty"` // it ended the node
	Error   string `json:"error"`
}

func attemptOf(c CallInfo) (a failedAttempt, ok bool) {
	if c.Tool != attemptTool || !c.Finished() || json.Unmarshal(c.Result, &a) != nil {
		return a, false
	}
	return a, a.Attempt > 0
}

// failedBefore is what is kept of the attempt that is next, if it failed before.
// The calls after it are those of the attempt that followed.
func (n *nodeState) failedBefore() (failedAttempt, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	var next CallInfo
	for k, c := range n.s.replay {
		if _, is := attemptOf(c); is && k.step == n.s.base && k.node == n.id && k.ordinal > n.n && (next.Ordinal == 0 || k.ordinal < next.Ordinal) {
			next = c
		}
	}
	a, failed := attemptOf(next)
	if failed {
		n.n = next.Ordinal
	}
	return a, failed
}

// keepFailure keeps that an attempt failed. That this worker stops, or that the
// node waits, is no failure, and what ended the node is kept already when it is a
// call that failed, or a person's no.
func (n *nodeState) keepFailure(ctx context.Context, attempt int, last bool, failure error) (kept bool, err error) {
	known := len(failedCalls(failure)) > 0 || denial(failure) != nil
	if n.paused() || n.s.stopped() != nil || n.s.ctx.Err() != nil || last && known {
		return false, nil
	}
	record := tool.Tool{Name: attemptTool, Idempotent: true, Run: func(context.Context, tool.Input) (any, error) {
		return failedAttempt{attempt, last, validText(failure.Error())}, nil
	}}
	p, err := n.numbered(record, n.afterAll(), json.RawMessage(fmt.Sprintf(`{"attempt":%d}`, attempt)))
	if err != nil {
		return false, err
	}
	defer n.underway.Done()
	_, err = n.attempt(context.WithoutCancel(ctx), p)
	return err == nil, err
}

// afterAll is the number after all calls of the node that are known, also those
// that it made before a crash and did not come to again: their records stand.
func (n *nodeState) afterAll() int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	last := n.n
	for k, c := range n.s.replay {
		if k.step == n.s.base && k.node == n.id && c.Tool != attemptTool {
			last = max(last, k.ordinal)
		}
	}
	return last + 1
}

// actedBefore reports whether the log has a call of the node that may not be
// repeated. A node that is not deterministic may fail before it comes to it.
func (n *nodeState) actedBefore() bool {
	for k, c := range n.s.replay {
		if k.step == n.s.base && k.node == n.id && !c.Idempotent && (c.Finished() || c.Open()) {
			return true
		}
	}
	return false
}

func (t retried) once(ctx context.Context, s State) (State, error) {
	if t.r.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, t.r.Timeout, fmt.Errorf("no end within %s", t.r.Timeout))
		defer cancel()
	}
	return t.Node.Run(ctx, s.Clone())
}

// repeatable reports whether the node may run again in this superstep: nobody
// waits or was asked, also not for an approval, no call that is not idempotent
// was made, by any worker, and this worker may go on.
func (n *nodeState) repeatable(ctx context.Context) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return !n.waits && n.asks == 0 && !n.acted && !n.actedBefore() && ctx.Err() == nil && n.s.stopped() == nil
}

// wait is how long to wait after so many failures.
func (r Retry) wait(failed int) time.Duration {
	w := float64(r.Delay) * math.Pow(r.Backoff, float64(failed-1))
	if w >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(max(0, w))
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
