package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/flowtui/flowtui/stores"
)

// Approver is a synchronous approval port: it asks a person, waits, and says
// what they decided. The call is logged as started before, so a crash while it
// waits leaves the call in doubt, as the reference on durable runs says. A yes is
// logged before the call runs, and is refused when the worker was cut off
// while the person thought. An
// error means that nobody decided: the call did not run, this worker stops, and
// the run can be recovered.
type Approver func(ctx context.Context, a Approval) (Answer, error)

// Approval is a call that needs a person's approval before it runs.
type Approval struct {
	Key  stores.Key
	Call string // id
	Node string
	Tool string
	Args json.RawMessage // all that is approved
}

// Answer is what a person decided about an [Approval].
type Answer struct {
	Approved bool
	By       string // who; required
	Note     string
}

var (
	// errNotAsked marks a call that did not run because nobody decided on it.
	errNotAsked = errors.New("nobody decided whether it may run")
	// errTooLate marks one that did not run because this worker may no longer
	// start calls.
	errTooLate = errors.New("it was approved when this worker could no longer run it")
)

// askFirst asks the approval port about a call that is logged already. It
// returns nil when the call may run.
func (s *session) askFirst(ctx context.Context, p *pendingCall) (err error) {
	if !p.ask {
		return nil
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: the approval port panicked: %v", errNotAsked, r)
		}
	}()
	a, err := s.r.approver(ctx, Approval{Key: s.place.Key, Call: p.id(), Node: p.node, Tool: p.tool.Name, Args: p.body.Args})
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", errNotAsked, err)
	case a.By == "":
		return fmt.Errorf("%w: the approval port does not say who decided", errNotAsked)
	}
	if !a.Approved {
		p.body.Denied = &Denial{Tool: p.tool.Name, By: a.By, Note: a.Note}
		p.events = []newEvent{{EventDecision, operatorEvent{Action: DecideDeny, Target: p.id(), By: a.By, Note: a.Note}}}
		return p.body.Denied.err()
	}
	p.since = time.Now()
	return s.agreed(ctx, *p, a)
}

// agreed logs a yes together with a second started record: the first one was
// fenced before the person thought, and the run may be another worker's by now.
func (s *session) agreed(ctx context.Context, p pendingCall, a Answer) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%w: %w", errTooLate, context.Cause(ctx))
	}
	p.body.Args = nil // they stand in the first record
	p.events = []newEvent{{EventDecision, operatorEvent{Action: DecideApprove, Target: p.id(), By: a.By, Note: a.Note}}}
	if err := s.record(ctx, p); err != nil {
		s.stop(err)
		return fmt.Errorf("%w: %w", errTooLate, err)
	}
	return nil
}
