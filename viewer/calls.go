package viewer

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

// Calls returns the calls of a run in the order in which they were made.
func (s *Service) Calls(ctx context.Context, ref Ref, reveal bool) ([]Call, error) {
	a, k, err := s.at(ref)
	if err != nil {
		return nil, err
	}
	g, err := s.glimpse(ctx, a, k)
	if err != nil {
		return nil, s.absent(ctx, a, k, err)
	}
	rows, err := a.store.Calls(ctx, k, 0)
	if err != nil {
		return nil, err
	}
	folded := engine.FoldCalls(rows)
	g.calls = folded
	f := s.facts(g)
	stored, err := storedDecisions(ctx, a, k, g)
	if err == nil {
		err = s.decided(ctx, a, k, &f, folded, stored)
	}
	if err != nil {
		return nil, err
	}
	calls := callsOf(folded, f, reveal)
	for i, c := range folded {
		if calls[i].Why == "" {
			calls[i].Why = overtaken(rows, c)
		}
	}
	if err := s.again(ctx, a, k, rows, folded, calls); err != nil {
		return nil, err
	}
	return out(s, calls, reveal), nil
}

// storedDecisions reads the newest checkpoint when the run's list entry says
// that it holds decisions.
func storedDecisions(ctx context.Context, a *attachment, k stores.Key, g glimpse) ([]engine.Decision, error) {
	if g.body.Stored == 0 {
		return nil, nil
	}
	b, err := newestBody(ctx, a, k)
	return b.Decisions, err
}

func callsOf(list []engine.CallInfo, f facts, reveal bool) []Call {
	calls := []Call{}
	for _, c := range list {
		calls = append(calls, callOf(c, f, reveal))
	}
	return calls
}

// callOf is one call for showing. In doubt are only calls of the superstep
// that the run stands in, once no worker is on it.
func callOf(c engine.CallInfo, f facts, reveal bool) Call {
	v := Call{
		ID: c.ID, Step: c.Step, Segment: c.Segment, N: c.N, Node: c.Node, Ordinal: c.Ordinal, Tool: c.Tool, Idempotent: c.Idempotent,
		Args: asJSON(c.Args), Status: string(c.Status), Result: asJSON(c.Result), Error: c.Error, By: c.By,
		Started: moment(c.Started), Ended: moment(c.Ended), Digest: c.Digest,
	}
	v.InDoubt = c.Doubtful() && c.Step == f.base && f.inDoubt()
	v.Ran = v.InDoubt && ran(c)
	v.State = f.stateOf(c, v.InDoubt)
	switch {
	case v.InDoubt:
		v.Why = doubtOn(c, "it")
	case unstarted(c):
		v.Why = "it could not be started: " + startError(c)
	case c.Status == stores.CallResolved && c.NotRun:
		v.Why = "an operator said that it did not run"
	case c.Status == stores.CallResolved:
		v.Why = "an operator said what it returned"
	case c.Status == stores.CallPending:
		v.Why = f.decidedBy(c)
	default:
		v.Why = c.Why
	}
	if c.Note != "" {
		v.Why += ": " + c.Note
	}
	if len(c.Args) == 0 { // a call without any has null
		v.Why = joinedBy("; ", noStart, v.Why)
	}
	if !reveal {
		args, result := maskJSON(v.Args), maskJSON(v.Result)
		v.Args, v.Result, v.Masked = args.JSON, result.JSON, args.Count()+result.Count()
	}
	return v
}

// noStart is why nothing is known of the arguments of a call.
const noStart = "the record with its arguments is missing or cannot be read"

// unstarted reports a call that its worker could not start: it surely did not
// run, and no operator had to say so.
func unstarted(c engine.CallInfo) bool {
	return c.Status == stores.CallResolved && c.NotRun && c.Why != ""
}

func startError(c engine.CallInfo) string {
	return strings.TrimPrefix(c.Why, tool.ErrNotStarted.Error()+": ")
}

func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// Events returns a run's log after the event with number after.
func (s *Service) Events(ctx context.Context, ref Ref, after int64) ([]Event, error) {
	a, k, err := s.at(ref)
	if err != nil {
		return nil, err
	}
	log, ok := a.store.(stores.EventLog)
	if !ok {
		return []Event{}, nil
	}
	events := []Event{}
	for {
		rows, err := log.Events(ctx, k, after, 0)
		if err != nil && !errors.Is(err, stores.ErrNotFound) {
			return nil, err
		}
		start := after
		for _, e := range rows {
			after = max(after, e.N)
			events = append(events, eventOf(e))
		}
		if after == start {
			break
		}
	}
	if len(events) == 0 {
		if _, err := s.head(ctx, a, k); err != nil {
			return nil, s.absent(ctx, a, k, err)
		}
	}
	return out(s, events, false), nil
}

func eventOf(e stores.Event) Event {
	v := Event{N: e.N, Time: e.Time.UTC(), Type: e.Type, Data: asJSON(e.Payload)}
	if e.Bad != "" {
		v.Type, v.Data = unreadable, quote(e.Bad)
	}
	return v
}
