package teff

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/flowtui/flowtui/engine/teff/py"
)

// An executor runs the nodes of one graph level of one call.
type executor struct {
	*call
	id     string       // checkpoint id of this level
	store  Checkpointer // nil: no checkpoints (inside parallel, loop and map)
	resume *py.Dict     // the answer, also offered to every subflow; nil: none
	unsure bool         // the format does not say whether a subflow gets the answer
}

// call is what all levels of one call share.
type call struct {
	reducers Reducers
	tools    []string
	now      func() time.Time
	wait     func(context.Context, time.Duration) error // between the attempts of a node
	answered bool                                       // a level has taken the answer
	halt     bool                                       // stop before the first node
	budget   int                                        // stop after so many nodes and rounds; 0: go on
	// cancelled is the context of the whole call. Nodes that never wait look at
	// it and not at that of an attempt, whose timeout cannot reach them in teff.
	cancelled func() error
}

// result is what a node returned.
type result struct {
	update *py.Dict // merged by the reducers; nil: nothing
	goTo   string   // the node to jump to, "" for the edges
	stop   bool     // end the run
}

func (x *executor) merge(state, update *py.Dict) error {
	if update == nil {
		return nil
	}
	return x.reducers.Merge(state, update)
}

// proceed is asked before every node and every round: it stops a call that is
// cancelled, or a dry one that has run enough.
func (x *executor) proceed() error {
	if x.budget > 0 {
		if x.budget--; x.budget == 0 {
			return errHalted
		}
	}
	return x.cancelled()
}

// attempt runs a node as often as its retry says. What a failed attempt
// changed in the state stays.
func (x *executor) attempt(ctx context.Context, n *Node, state *py.Dict) (result, error) {
	if n.Retry == nil || !n.Retry.Enabled {
		return x.execute(ctx, n, state)
	}
	for failed := 0; ; failed++ {
		r, err := x.limited(ctx, n, state)
		if err == nil || !n.Retry.again(err, failed+1) {
			return r, err
		}
		if err := x.wait(ctx, n.Retry.wait(failed)); err != nil {
			return result{}, err
		}
	}
}

// again reports whether an error is tried again after so many attempts.
func (r *Retry) again(err error, attempts int) bool {
	var e *py.Error
	if attempts >= max(1, r.Attempts) || isInterrupt(err) || !errors.As(err, &e) {
		return false
	}
	return len(r.On) == 0 || slices.Contains(r.On, e.Type)
}

// wait is delay*backoff^n.
func (r *Retry) wait(n int) time.Duration {
	w := float64(r.Delay) * math.Pow(r.Backoff, float64(n))
	if w >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(max(0, w))
}

// limited gives one attempt its timeout. A node that never waits cannot be
// stopped in teff either, so only waiting nodes look at the context.
func (x *executor) limited(ctx context.Context, n *Node, state *py.Dict) (result, error) {
	if n.Retry.Timeout <= 0 {
		return x.execute(ctx, n, state)
	}
	inner, cancel := context.WithTimeout(ctx, n.Retry.Timeout)
	defer cancel()
	r, err := x.execute(inner, n, state)
	if err != nil && !raised(err) && inner.Err() != nil && ctx.Err() == nil {
		err = py.Errorf("TimeoutError", "")
	}
	return r, err
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// execute runs a node once.
func (x *executor) execute(ctx context.Context, n *Node, state *py.Dict) (result, error) {
	if err := x.proceed(); err != nil {
		return result{}, err
	}
	r, err := x.dispatch(ctx, n, state)
	if own, ok := ownLimit(err); ok {
		return result{}, inexact("node %s: %v", n.ID, own)
	}
	return r, err
}

// dispatch runs a node by its type. A panic is an error, so that a bug here costs one
// call and leaves the run at its checkpoint.
func (x *executor) dispatch(ctx context.Context, n *Node, state *py.Dict) (r result, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("node %s (%s) panicked: %v", n.ID, n.Type, p)
		}
	}()
	switch n.Type {
	case "transform":
		return x.transform(n, state)
	case "interrupt":
		return interrupt(n, state)
	case "validate":
		return validate(n, state)
	case "gate":
		return gate(n, state)
	case "command":
		return command(n, state)
	case "tool_call":
		return x.toolCall(n, state)
	case "parallel":
		return x.parallel(ctx, n, state)
	case "loop":
		return x.loop(ctx, n, state)
	case "map":
		return x.mapped(ctx, n, state)
	case "subflow":
		return x.subflow(ctx, n, state)
	case "context_builder":
		return contextBuilder(n, state)
	case "append_assistant":
		return appendAssistant(n, state), nil
	case "supervisor":
		return supervise(n, state)
	case "fallback": // does nothing without a Python function
		return result{}, nil
	}
	return result{}, inexact("node %s has the type %s, which the bundled engine does not have", n.ID, n.Type)
}
