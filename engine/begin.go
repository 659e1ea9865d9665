package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/flowtui/flowtui/stores"
)

// notBegun is why a call did not run though its start is logged.
type notBegun struct {
	why   string
	moved bool // somebody else acted on the run
}

func (e *notBegun) Error() string { return "it did not begin: " + e.why }

// mayBegin is asked between the record of a call's start and the call. The record
// was fenced, but the store's answer may have come late, or the worker may have
// hung since: then the lease may have run out, and somebody who saw no effect may
// have let another worker run the call. A call that does not begin is logged as
// not run, which takes it out of doubt.
func (s *session) mayBegin(ctx context.Context, p pendingCall) error {
	if !within(p.since, s.r.ttl/3) { // as long as between two renewals
		if err := s.stillMine(ctx, p); err != nil {
			return err
		}
	}
	if s.ctx.Err() != nil {
		return &notBegun{why: validText(context.Cause(s.ctx).Error())}
	}
	return nil
}

// stillMine looks whether another worker has claimed the run, or a person has
// resolved the call.
func (s *session) stillMine(ctx context.Context, p pendingCall) error {
	last, err := s.r.store.Latest(ctx, s.place.Key)
	if err != nil {
		return &notBegun{why: validText("its worker hung, and whose the run is by now could not be read: " + err.Error())}
	}
	if last.Segment != s.segment || last.Incarnation != s.place.Incarnation {
		return &notBegun{fmt.Sprintf("its worker hung, and the run is in segment %d by now", last.Segment), true}
	}
	calls, err := s.r.store.Calls(ctx, s.place.Key, p.base)
	if err != nil {
		return &notBegun{why: validText("its worker hung, and the call log could not be read: " + err.Error())}
	}
	for _, c := range calls {
		if c.Segment == s.segment && c.Step == p.base && c.Node == p.node && c.Ordinal == p.ordinal && c.Status == stores.CallResolved {
			return &notBegun{"its worker hung, and it was resolved meanwhile", true}
		}
	}
	return nil
}

// within reports whether no more than d has passed, by the clock that stands
// still while the machine sleeps and by the one that does not.
func within(since time.Time, d time.Duration) bool {
	now := time.Now()
	wall := now.Round(0).Sub(since.Round(0))
	return now.Sub(since) < d && wall >= 0 && wall < d
}
