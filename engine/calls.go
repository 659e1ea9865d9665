package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

type idempotencyKey struct{}

// IdempotencyKey is the key of the tool call under way: the same on every
// worker and after every recovery. Pass it to any outside service that takes
// one. It is "" outside a tool call.
func IdempotencyKey(ctx context.Context) string {
	k, _ := ctx.Value(idempotencyKey{}).(string)
	return k
}

// pendingCall is a call record before it has a place in the log.
type pendingCall struct {
	base    int64 // step of the superstep that makes it
	node    string
	ordinal int64
	tool    tool.Tool
	status  stores.CallStatus
	body    callBody
	ask     bool       // of the approval port, once the call is logged
	events  []newEvent // that belong to the record
	nth     int64      // ordinal within the node's attempt
	since   time.Time  // before the newest record of its start was written
	missed  *notBegun  // set once it surely did not begin
}

func (p pendingCall) id() string { return CallID(p.node, p.ordinal) }

// execute logs started, runs the tool, and logs what came of it.
func (s *session) execute(ctx context.Context, p pendingCall) (json.RawMessage, error) {
	p.status, p.since = stores.CallStarted, time.Now()
	if err := s.record(ctx, p); err != nil {
		s.stop(err)
		return nil, err
	}
	var value any
	err := s.askFirst(ctx, &p)
	if err == nil {
		err = s.mayBegin(ctx, p)
	}
	if err == nil {
		value, err = s.runTool(ctx, p)
	}
	p.missed, _ = errors.AsType[*notBegun](err)
	missed := p.missed != nil || errors.Is(err, errNotAsked) || errors.Is(err, errTooLate)
	switch {
	case err == nil || ctx.Err() == nil || missed || p.body.Denied != nil:
	case s.ctx.Err() != nil:
		// Stopping is a fact of this process, not an outcome of the call.
		s.stop(context.Cause(s.ctx))
		return nil, err
	case errors.Is(err, tool.ErrOutcomeUnknown): // which it says
		err = fmt.Errorf("the node gave up waiting: %w", err)
	default:
		err = fmt.Errorf("the node gave up waiting: %w: %w", err, tool.ErrOutcomeUnknown)
	}
	p.status, p.body.Args = stores.CallDone, nil
	var result json.RawMessage
	switch {
	case missed, errors.Is(err, tool.ErrNotStarted):
		p.status, p.body.NotRun, p.body.Why = stores.CallResolved, true, p.says(err)
	case p.body.Denied != nil:
		p.body.Failed, p.body.Error = true, p.says(err)
	case errors.Is(err, tool.ErrOutcomeUnknown) && !p.tool.Idempotent:
		p.status, p.body.Why = stores.CallUnrecordable, p.says(err)
	case err != nil:
		p.body.Failed, p.body.Error = true, p.says(err)
	default:
		if result, err = Seal(value); err != nil {
			p.status, p.body.Why = stores.CallUnrecordable, err.Error()
		}
		p.body.Result = result
	}
	return s.recordOutcome(ctx, p)
}

// recordOutcome keeps what a call returned, even when the worker is being
// stopped: the effect has happened.
func (s *session) recordOutcome(ctx context.Context, p pendingCall) (json.RawMessage, error) {
	late, stop := outlast(ctx)
	defer stop()
	if err := s.record(late, p); err != nil {
		s.stop(err)
		return nil, err
	}
	switch {
	case p.body.Denied != nil:
		return nil, p.body.Denied.err()
	case p.status == stores.CallResolved:
		err := s.notRun(p)
		s.stop(err)
		return nil, err
	case p.status == stores.CallUnrecordable:
		err := s.doubtful(p)
		s.stop(err)
		return nil, err
	case p.body.Failed:
		return nil, &ToolError{Tool: p.tool.Name, Message: p.body.Error, call: p.id()}
	}
	return p.body.Result, nil
}

// notRun is why this worker stops at a call that surely did not run.
func (s *session) notRun(p pendingCall) error {
	if s.ctx.Err() != nil {
		return context.Cause(s.ctx)
	}
	hint := "put its program in place, then recover the run; nothing was lost"
	switch {
	case p.missed != nil && p.missed.moved:
		return conflict(s.place.Key, "look who acted on it", "%s: %s", p.tool.Name, p.body.Why)
	case p.missed != nil:
		hint = "recover the run; nothing was lost"
	case p.ask:
		hint = "recover the run where somebody can be asked; nothing was lost"
	}
	return &Error{Class: ErrRefused, Key: s.place.Key, Reason: fmt.Sprintf("%s: %s; it did not run", p.tool.Name, p.body.Why), Hint: hint}
}

func (s *session) doubtful(p pendingCall) error {
	return &Error{
		Class: ErrRecoveryNeedsDecision, Key: s.place.Key,
		Reason: "a call may have run, but its result could not be kept",
		Hint:   "find out what happened, then use flowtui resolve",
		Calls:  []DoubtfulCall{{ID: p.id(), Tool: p.tool.Name, Why: p.body.Why}},
	}
}

// says is an error's text without the tool's name, which the record has already.
func (p pendingCall) says(err error) string {
	return validText(strings.TrimPrefix(err.Error(), p.tool.Name+": "))
}

func validText(s string) string { return string(bytes.ToValidUTF8([]byte(s), []byte("�"))) }

func (s *session) runTool(ctx context.Context, p pendingCall) (v any, err error) {
	in := tool.Input{
		Args: p.body.Args, IdempotencyKey: s.idempotency(p), Run: s.place.Run, Owner: s.place.Owner,
		User: s.identity.User, Thread: s.identity.Thread, Principal: s.identity.Principal,
	}
	ctx = context.WithValue(ctx, idempotencyKey{}, in.IdempotencyKey)
	if p.tool.Timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, p.tool.Timeout, timedOut{p.tool.Timeout})
		defer stop()
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the tool panicked: %v: %w", r, tool.ErrOutcomeUnknown)
		}
	}()
	v, err = p.tool.Run(ctx, in)
	if late, ok := context.Cause(ctx).(timedOut); ok && err != nil {
		err = late.tell(err)
	}
	return v, err
}

// timedOut is the cause of a context that ended with a tool's own timeout. Nobody
// knows what its call did.
type timedOut struct{ limit time.Duration }

func (e timedOut) Error() string        { return fmt.Sprintf("no answer within %s", e.limit) }
func (e timedOut) Is(target error) bool { return target == tool.ErrOutcomeUnknown }

// tell adds to what the tool returned only what that does not say.
func (e timedOut) tell(err error) error {
	unknown := strings.Contains(err.Error(), tool.ErrOutcomeUnknown.Error())
	switch {
	case errors.Is(err, e) && unknown:
		return err
	case errors.Is(err, e):
		return fmt.Errorf("%w: %w", tool.ErrOutcomeUnknown, err)
	case unknown:
		return fmt.Errorf("%w (%w)", err, e)
	}
	return fmt.Errorf("%w (%w: %w)", err, e, tool.ErrOutcomeUnknown)
}

// idempotency is the same for a call on every worker: it hashes what names the
// call and its arguments, each part with its length. A node that is tried again
// makes the same call once more, as far as an outside service is concerned: the
// first try may have had its effect, though it failed.
func (s *session) idempotency(p pendingCall) string {
	b := make([]byte, 0, 256)
	for _, part := range []string{
		s.place.Owner, s.place.Run, s.place.Incarnation, strconv.FormatInt(p.base, 10), p.node, strconv.FormatInt(p.nth, 10), p.tool.Name, p.body.Digest,
	} {
		b = binary.BigEndian.AppendUint32(b, uint32(len(part)))
		b = append(b, part...)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// record appends one record to the call log. Started records are refused once
// the worker was told to stop or was cut off; all others are kept whatever
// happened meanwhile.
func (s *session) record(ctx context.Context, p pendingCall) error {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	if p.status == stores.CallStarted {
		if err := s.stopped(); err != nil {
			return err
		}
		if s.ctx.Err() != nil {
			return context.Cause(s.ctx)
		}
	}
	for try := 1; ; try++ {
		overruled := s.overruled[callKey{p.base, p.node, p.ordinal}]
		if overruled && (p.status == stores.CallStarted || p.status == stores.CallResolved) {
			return s.resolved(p)
		}
		rows, err := s.buildCalls([]pendingCall{p}, s.r.clock.now())
		if err != nil {
			return err
		}
		row := rows[0]
		events, err := s.chainEvents(s.step, p.events, row.Time)
		if err != nil {
			return err
		}
		err = s.r.store.RecordCall(ctx, stores.CallWrite{Call: row, Events: events})
		if err == nil || s.logged(ctx, row, err) {
			s.appended(row, events)
			if overruled {
				return s.resolved(p)
			}
			return nil
		}
		if !errors.Is(err, stores.ErrConflict) || try == 5 {
			return s.explain(ctx, err)
		}
		if again, rerr := s.catchUp(ctx, &p); rerr != nil || !again {
			return s.explain(ctx, err)
		}
	}
}

// resolved stops a worker at a call of which a person said meanwhile what it came
// to: from then on that is what replays, and the worker must not go on with
// another result. Its own word is kept in the log.
func (s *session) resolved(p pendingCall) error {
	return conflict(s.place.Key, "recover it: it goes on with that result", "%s was resolved while this worker was at it", p.id())
}

// catchUp reports whether a record that met a conflict may be tried again,
// because only a number was taken. The outcome of a cut-off worker's call is
// kept without its events, whose place is in another worker's log.
func (s *session) catchUp(ctx context.Context, p *pendingCall) (bool, error) {
	taken, err := s.retail(ctx)
	if err != nil || len(p.events) == 0 {
		return taken, err
	}
	moved, err := s.reread(ctx)
	if moved {
		if p.status == stores.CallStarted {
			return false, err
		}
		p.events = nil
	}
	return true, err
}

// appended takes over what a call record brought.
func (s *session) appended(row stores.Call, events []stores.Event) {
	s.calls, s.callMAC = row.N, row.MAC
	if n := len(events); n > 0 {
		s.events, s.eventMAC = events[n-1].N, events[n-1].MAC
	}
	for _, e := range events {
		s.r.sink(e)
	}
}

// buildCalls numbers, links and signs call records after the newest known one.
func (s *session) buildCalls(list []pendingCall, now time.Time) ([]stores.Call, error) {
	return chainCalls(s.r, s.place, s.segment, s.calls, s.callMAC, list, now)
}

func chainCalls(r *Runner, place stores.Place, segment, n int64, prev []byte, list []pendingCall, now time.Time) ([]stores.Call, error) {
	out := make([]stores.Call, 0, len(list))
	for _, p := range list {
		payload, err := p.body.payload()
		if err != nil {
			return nil, err
		}
		n++
		c := stores.Call{
			Place: place, Segment: segment, N: n, Step: p.base, Node: p.node, Ordinal: p.ordinal,
			Tool: p.tool.Name, Idempotent: p.tool.Idempotent, Status: p.status, Time: now, Payload: payload,
		}
		c.Prev = prev
		if c.Seal, err = sign(r.keys, callHeader(c), payload); err != nil {
			return nil, err
		}
		prev = c.MAC
		out = append(out, c)
	}
	return out, nil
}

// logged reports whether a record whose write returned an error is there all the same.
func (s *session) logged(ctx context.Context, row stores.Call, err error) bool {
	if certain(err) {
		return false
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), detached)
	defer stop()
	rows, err := s.r.store.Calls(ctx, s.place.Key, 0)
	return err == nil && slices.ContainsFunc(rows, func(r stores.Call) bool { return bytes.Equal(r.MAC, row.MAC) })
}

// retail refreshes the end of this segment's log and reports whether somebody
// else had taken the number, an operator or a reply that came late.
func (s *session) retail(ctx context.Context) (bool, error) {
	rows, err := s.r.store.Calls(ctx, s.place.Key, 0)
	if err != nil {
		return false, err
	}
	t := s.overrule(rows)
	if t.N <= s.calls {
		return false, nil
	}
	if err := check(s.r.keys, callHeader(t), t.Payload, t.Seal); err != nil {
		return false, err
	}
	s.calls, s.callMAC = t.N, t.MAC
	return true, nil
}

// overrule notes which calls of this worker a person resolved with a result since
// it last looked. It returns the newest record of the segment.
func (s *session) overrule(rows []stores.Call) (t stores.Call) {
	for _, r := range rows {
		if r.Segment != s.segment || r.Incarnation != s.place.Incarnation || r.N <= s.calls {
			continue
		}
		var b callBody
		if r.Status == stores.CallResolved && decodeBody(r.Payload, &b) == nil && !b.NotRun {
			if s.overruled == nil {
				s.overruled = map[callKey]bool{}
			}
			s.overruled[callKey{r.Step, r.Node, r.Ordinal}] = true
		}
		if r.N > t.N {
			t = r
		}
	}
	return t
}
