package engine

import (
	"context"
	"errors"

	"github.com/flowtui/flowtui/engine/seal"
	"github.com/flowtui/flowtui/stores"
)

// Report is the outcome of verifying one run.
type Report struct {
	Key      stores.Key
	Verdict  Verdict
	Findings []Finding
}

// Verify checks every row of a run: signatures, order, gaps, and whether the
// newest rows are as new as the others say. It reads in bounded pieces and
// writes nothing. The error is a store that cannot be read, or
// ErrCheckpointNotFound; a bad row is a finding.
func Verify(ctx context.Context, s stores.Store, keys *seal.Keyring, k stores.Key) (Report, error) {
	l, err := load(ctx, s, keys, k)
	if err != nil {
		return Report{Key: k}, err
	}
	return Report{Key: k, Verdict: worst(l.findings), Findings: l.findings}, nil
}

// loaded is a run as it was read and checked.
type loaded struct {
	*chain
	head *stores.Head
}

// moving is how often a run that is being written is read again before the
// reader takes what it has.
const moving = 5

// load reads and checks a whole run. A worker may save while it reads, so it
// reads again when the newest step moved underneath.
func load(ctx context.Context, s stores.Store, keys *seal.Keyring, k stores.Key) (*loaded, error) {
	info, err := s.Info(ctx)
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		l, err := loadOnce(ctx, s, keys, info.ID, k)
		if err != nil {
			return nil, err
		}
		if len(l.findings) == 0 || try == moving {
			return l, nil
		}
		if moved, err := hasMoved(ctx, s, l); err != nil || !moved {
			return l, err
		}
	}
}

func hasMoved(ctx context.Context, s stores.Store, l *loaded) (bool, error) {
	now, err := s.Latest(ctx, l.key)
	if errors.Is(err, stores.ErrNotFound) {
		return l.last != nil, nil
	}
	if err != nil {
		return false, err
	}
	return l.last == nil || now.Step != l.last.Step || now.Incarnation != l.last.Incarnation, nil
}

func loadOnce(ctx context.Context, s stores.Store, keys *seal.Keyring, storeID string, k stores.Key) (*loaded, error) {
	l := &loaded{chain: newChain(keys, storeID, k)}
	if err := l.readCheckpoints(ctx, s); err != nil {
		return nil, err
	}
	calls, err := s.Calls(ctx, k, 0)
	if err != nil && !errors.Is(err, stores.ErrNotFound) {
		return nil, err
	}
	l.calls(calls)
	log, hasEvents := s.(stores.EventLog)
	if hasEvents {
		if err := l.readEvents(ctx, log); err != nil {
			return nil, err
		}
	}
	if lister, ok := s.(stores.Lister); ok {
		switch h, err := lister.Head(ctx, k); {
		case err == nil:
			l.head = &h
		case !errors.Is(err, stores.ErrNotFound):
			return nil, err
		case l.last != nil:
			l.find(RecordHead, l.last.Step, 0, 0, Gap, "the run's list entry is missing")
		}
	}
	if l.last == nil && l.head == nil {
		return nil, notFound(k)
	}
	if !hasEvents && l.last != nil {
		l.events.N = l.last.Events // numbers go on, though the log cannot be read
	}
	l.finish(l.head, hasEvents)
	return l, nil
}

func notFound(k stores.Key) error {
	hint := "see flowtui ls for the runs of this owner"
	if k.Owner == stores.DefaultOwner {
		hint = "see flowtui ls --owner '*' for the runs of every owner"
	}
	return &Error{Class: ErrCheckpointNotFound, Key: k, Hint: hint}
}

// Payloads are read in pieces of about this size, so that verifying a store
// of large states needs little memory.
const pieceBytes = 8 << 20

func (l *loaded) readCheckpoints(ctx context.Context, s stores.Store) error {
	history, ok := s.(stores.Historian)
	if !ok {
		last, err := s.Latest(ctx, l.key)
		if err == nil {
			// Without history the first row seen is not step 0.
			l.chain.last = &stores.Checkpoint{Step: last.Step - 1}
			l.checkpoint(last)
		} else if !errors.Is(err, stores.ErrNotFound) {
			return err
		}
		return nil
	}
	return eachStep(ctx, history, l.key, func(c stores.Checkpoint) error {
		l.checkpoint(c)
		return nil
	})
}

// eachStep calls f with every saved step, payload included, in bounded pieces.
func eachStep(ctx context.Context, h stores.Historian, k stores.Key, f func(stores.Checkpoint) error) error {
	for from := int64(0); ; {
		sizes, err := h.History(ctx, k, stores.HistoryQuery{From: from, Limit: 200})
		if err != nil && !errors.Is(err, stores.ErrNotFound) {
			return err
		}
		if len(sizes) == 0 {
			return nil
		}
		n, bytes := 0, int64(0)
		for n < len(sizes) && (n == 0 || bytes+sizes[n].Size <= pieceBytes) {
			bytes += sizes[n].Size
			n++
		}
		rows, err := h.History(ctx, k, stores.HistoryQuery{From: from, Limit: n, Payload: true})
		if err != nil {
			return err
		}
		start := from
		for _, r := range rows {
			if err := f(r); err != nil {
				return err
			}
			from = max(from, r.Step+1)
		}
		if from == start { // only rows whose step cannot be read are left
			return nil
		}
	}
}

func (l *loaded) readEvents(ctx context.Context, log stores.EventLog) error {
	for after := int64(0); ; {
		events, err := log.Events(ctx, l.key, after, 1000)
		if err != nil && !errors.Is(err, stores.ErrNotFound) {
			return err
		}
		if len(events) == 0 {
			return nil
		}
		start := after
		for _, e := range events {
			l.event(e)
			after = max(after, e.N)
		}
		if after == start { // only rows whose number cannot be read are left
			return nil
		}
	}
}
