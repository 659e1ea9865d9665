package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

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
	met  map[string]bool // rows without a place in the order
}

// lives is how often a run that is deleted and started anew while it is read is
// read again.
const lives = 5

// load reads and checks a whole run. A worker may save while it reads: the
// checkpoints come first, then the logs, then the checkpoints that were saved
// meanwhile, so that what the logs speak of is always there. An operator may
// resolve a call while it reads: the calls are read between the events and the
// events that came meanwhile, so that neither half of a resolution seems to miss
// the other.
func load(ctx context.Context, s stores.Store, keys *seal.Keyring, k stores.Key) (*loaded, error) {
	info, err := s.Info(ctx)
	if err != nil {
		return nil, err
	}
	// Rows that all verify and are of one life need no vote on whose they are, and
	// those whose key is not here have none.
	l, err := loadOnce(ctx, s, keys, info.ID, "", nil, k)
	if err != nil {
		return nil, err
	}
	if v := worst(l.findings); v == Verified || v == NoKey || v == UnknownKey {
		return l, nil
	}
	return loadLife(ctx, s, keys, k)
}

// loadLife loads a run that has rows which do not verify by themselves. They may
// be of other lives, of other stores, or of nobody.
func loadLife(ctx context.Context, s stores.Store, keys *seal.Keyring, k stores.Key) (*loaded, error) {
	for try := 1; ; try++ {
		before, _, err := life(ctx, s, keys, k)
		if err != nil {
			return nil, err
		}
		info, err := s.Info(ctx) // where there are rows, the store has its id
		if err != nil {
			return nil, err
		}
		l, err := loadOnce(ctx, s, keys, info.ID, before, nil, k)
		if err == nil && l.foreign {
			l, err = loadImported(ctx, s, l)
		}
		if err != nil || len(l.findings) == 0 {
			return l, err
		}
		// The rows may also be of a life that began and ended meanwhile, of which
		// perhaps only the list entry was met, or half of the rows.
		after, there, err := life(ctx, s, keys, k)
		ended := l.last != nil && !there
		switch {
		case err != nil || after == before && !ended && (l.life == after && l.last != nil || try == lives):
			return l, err
		case try == lives:
			return nil, conflict(k, "look at it again", "it was deleted and started anew while it was read, %d times", lives)
		}
	}
}

// life is the run's incarnation, by the word of the rows that verify among the
// newest checkpoint, the first one and the list entry: rows of another one do
// not belong to the run, and one of them alone cannot blame all others. It also
// tells whether any of the three is there.
func life(ctx context.Context, s stores.Store, keys *seal.Keyring, k stores.Key) (best string, there bool, err error) {
	votes := map[string]int{}
	vote := func(incarnation string, h seal.Header, payload []byte, sl stores.Seal, bad string, err error) error {
		if err == nil && bad == "" && check(keys, h, payload, sl) == nil {
			if votes[incarnation]++; best == "" || votes[incarnation] > votes[best] {
				best = incarnation
			}
		}
		if errors.Is(err, stores.ErrNotFound) {
			return nil
		}
		there = true
		return err
	}
	newest, err := s.Latest(ctx, k)
	if err := vote(newest.Incarnation, checkpointHeader(newest), newest.Payload, newest.Seal, newest.Bad, err); err != nil {
		return "", there, err
	}
	if h, ok := s.(stores.Historian); ok && newest.Step > 0 {
		first, err := h.At(ctx, k, 0)
		if err := vote(first.Incarnation, checkpointHeader(first), first.Payload, first.Seal, first.Bad, err); err != nil {
			return "", there, err
		}
	}
	if l, ok := s.(stores.Lister); ok {
		head, err := l.Head(ctx, k)
		if err := vote(head.Incarnation, headHeader(head), head.Payload, head.Seal, head.Bad, err); err != nil {
			return "", there, err
		}
	}
	return best, there, nil
}

func loadOnce(ctx context.Context, s stores.Store, keys *seal.Keyring, storeID, life string, origins []origin, k stores.Key) (*loaded, error) {
	l := &loaded{chain: newChain(keys, storeID, life, k), met: map[string]bool{}}
	l.imported(origins)
	if err := l.readCheckpoints(ctx, s); err != nil {
		return nil, err
	}
	l.read()
	log, hasEvents := s.(stores.EventLog)
	if hasEvents {
		if err := l.readEvents(ctx, log); err != nil {
			return nil, err
		}
	}
	calls, err := s.Calls(ctx, k, 0)
	if err != nil && !errors.Is(err, stores.ErrNotFound) {
		return nil, err
	}
	l.calls(calls)
	if hasEvents {
		l.newer = true
		if err := l.readEvents(ctx, log); err != nil {
			return nil, err
		}
	}
	if err := l.readHead(ctx, s); err != nil {
		return nil, err
	}
	if err := l.readNewer(ctx, s); err != nil {
		return nil, err
	}
	if l.last == nil && l.head == nil && len(calls) == 0 && l.events.N == 0 && len(l.findings) == 0 {
		return nil, NotFound(k)
	}
	if !hasEvents && l.last != nil {
		l.events.N = l.last.Events // numbers go on, though the log cannot be read
	}
	l.finish(l.head, hasEvents)
	return l, nil
}

func (l *loaded) readHead(ctx context.Context, s stores.Store) error {
	lister, ok := s.(stores.Lister)
	if !ok {
		return nil
	}
	switch h, err := lister.Head(ctx, l.key); {
	case err == nil:
		l.head = &h
	case !errors.Is(err, stores.ErrNotFound):
		return err
	case l.last != nil:
		l.find(RecordHead, l.last.Step, 0, 0, Gap, "the run's list entry is missing")
	}
	return nil
}

// readNewer reads the checkpoints that were saved since the first reading.
func (l *loaded) readNewer(ctx context.Context, s stores.Store) error {
	if l.last == nil {
		return nil
	}
	if h, ok := s.(stores.Historian); ok {
		return eachStep(ctx, h, l.key, l.last.Step+1, l.add)
	}
	now, err := s.Latest(ctx, l.key)
	if err == nil && now.Step > l.last.Step {
		l.chain.last, l.lastOK = &stores.Checkpoint{Step: now.Step - 1}, false
		l.checkpoint(now)
	}
	return err
}

func (l *loaded) add(c stores.Checkpoint) error {
	l.once(func() bool { return l.checkpoint(c) }, RecordCheckpoint, c.Step, c.Bad, c.MAC)
	return nil
}

// once feeds a row to the chain unless it was met before without a place in the
// order: a later page may bring such a row again.
func (l *loaded) once(feed func() bool, row ...any) {
	if len(l.met) > 0 && l.met[fmt.Sprint(row...)] {
		return
	}
	if !feed() {
		l.met[fmt.Sprint(row...)] = true
	}
}

// NotFound is the error that a store has nothing of a run.
func NotFound(k stores.Key) *Error {
	hint := "see flowtui ls --owner '*' for the runs of every owner"
	if k.Owner != stores.DefaultOwner {
		hint = fmt.Sprintf("see flowtui ls --owner '%s' for the runs of this owner, --owner '*' for those of every owner", strings.ReplaceAll(k.Owner, "'", `'\''`))
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
			l.chain.last = &stores.Checkpoint{Step: last.Step - 1} // what was before is not kept
			l.checkpoint(last)
		} else if !errors.Is(err, stores.ErrNotFound) {
			return err
		}
		return nil
	}
	return eachStep(ctx, history, l.key, math.MinInt64, l.add)
}

// eachStep calls f with every saved step from the given one on, payload
// included, in bounded pieces.
func eachStep(ctx context.Context, h stores.Historian, k stores.Key, from int64, f func(stores.Checkpoint) error) error {
	for {
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
			if r.Bad == "" || r.Step >= from {
				from = max(from, r.Step+1)
			}
		}
		if from == start { // only rows whose step cannot be read are left
			return nil
		}
	}
}

func (l *loaded) readEvents(ctx context.Context, log stores.EventLog) error {
	for after := l.events.N; ; {
		events, err := log.Events(ctx, l.key, after, 1000)
		if err != nil && !errors.Is(err, stores.ErrNotFound) {
			return err
		}
		if len(events) == 0 {
			return nil
		}
		start := after
		for _, e := range events {
			l.once(func() bool { return l.event(e) }, RecordEvent, e.N, e.Bad, e.MAC)
			after = max(after, e.N)
		}
		if after == start { // only rows whose number cannot be read are left
			return nil
		}
	}
}
