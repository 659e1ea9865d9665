package stores

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
)

// Run is all that a store keeps of one run but its lease: what a copy of the
// run takes along.
type Run struct {
	Head        Head
	Checkpoints []Checkpoint      // every step from 0 on, with its payload
	Calls       []Call            // by segment, then number
	Events      []Event           // by number
	Graphs      map[string][]byte // topologies by their digests, those that are known
}

// Key names the run.
func (r Run) Key() Key { return r.Head.Key }

// Last is the newest checkpoint. The run must have passed Check.
func (r Run) Last() *Checkpoint { return &r.Checkpoints[len(r.Checkpoints)-1] }

// Check refuses rows that are not one whole run: every step must follow the one
// before it by the rule of the contract, and every row must be readable. The
// rows may name another store than the one that they go to.
func (r Run) Check() error {
	k := r.Key()
	if err := k.Validate(); err != nil {
		return err
	}
	if len(r.Checkpoints) == 0 {
		return fmt.Errorf("%w: run %q has no checkpoint", ErrInvalid, k.Run)
	}
	var last *Checkpoint
	for i := range r.Checkpoints {
		c := &r.Checkpoints[i]
		if err := r.belongs(c.Place, c.Bad); err != nil {
			return err
		}
		if c.Base < 0 || c.Base > c.Step || c.Segment < 1 || !c.Status.Valid() {
			return fmt.Errorf("%w: step %d, base %d, segment %d, status %q", ErrInvalid, c.Step, c.Base, c.Segment, c.Status)
		}
		if err := c.Follows(last); err != nil {
			return fmt.Errorf("%w: step %d of run %q: %w", ErrInvalid, c.Step, k.Run, errors.Unwrap(err))
		}
		last = c
	}
	h := r.Head
	if h.Bad != "" || h.Incarnation != last.Incarnation || h.Step != last.Step || h.Segment != last.Segment || h.Base != last.Base || h.Status != last.Status {
		return fmt.Errorf("%w: the head of run %q does not sum up its newest checkpoint", ErrInvalid, k.Run)
	}
	return r.checkLogs(last)
}

func (r Run) checkLogs(last *Checkpoint) error {
	for i, c := range r.Calls {
		if err := r.belongs(c.Place, c.Bad); err != nil {
			return err
		}
		if c.N < 1 || c.Step < 0 || c.Segment < 1 || c.Segment > last.Segment || i > 0 && byNumber(r.Calls[i-1], c) >= 0 {
			return fmt.Errorf("%w: call record %d of segment %d, step %d", ErrInvalid, c.N, c.Segment, c.Step)
		}
	}
	for i, e := range r.Events {
		if err := r.belongs(e.Place, e.Bad); err != nil {
			return err
		}
		if i > 0 && r.Events[i-1].N >= e.N {
			return fmt.Errorf("%w: event %d after event %d", ErrInvalid, e.N, r.Events[i-1].N)
		}
	}
	return nil
}

func byNumber(a, b Call) int { return cmp.Or(cmp.Compare(a.Segment, b.Segment), cmp.Compare(a.N, b.N)) }

func (r Run) belongs(p Place, bad string) error {
	switch {
	case bad != "":
		return fmt.Errorf("%w: a row of run %q cannot be read: %s", ErrInvalid, r.Head.Run, bad)
	case p.Key != r.Head.Key || p.Incarnation != r.Head.Incarnation || p.Incarnation == "":
		return fmt.Errorf("%w: a row of run %q belongs to another run", ErrInvalid, r.Head.Run)
	}
	return nil
}

// Reader is what a store must be able to do for a run to be copied from it.
type Reader interface {
	Store
	Lister
	Historian
	EventLog
}

// moving is how often a run that is written to while it is read is read again.
const moving = 5

// ReadRun reads a whole run as it was at one moment. ErrNotFound when there is
// none, ErrBusy when it was written to whenever it was read. Rows that cannot be
// read come back with Bad set, see [Run.Check].
func ReadRun(ctx context.Context, s Reader, k Key) (Run, error) {
	for try := 1; ; try++ {
		r, err := readRun(ctx, s, k)
		if err != nil {
			return Run{}, err
		}
		still, err := unchanged(ctx, s, r)
		if err != nil || still {
			return r, err
		}
		if try == moving {
			return Run{}, &OpError{Op: "read", Key: k, Class: ErrBusy, Why: "it was written to whenever it was read; try again when no worker is on it"}
		}
	}
}

func readRun(ctx context.Context, s Reader, k Key) (r Run, err error) {
	if r.Head, err = s.Head(ctx, k); err != nil {
		return r, err
	}
	r.Head.Lease = nil
	for from := int64(0); ; {
		page, err := s.History(ctx, k, HistoryQuery{From: from, Limit: 100, Payload: true})
		if err != nil && !errors.Is(err, ErrNotFound) {
			return r, err
		}
		start := from
		for _, c := range page {
			r.Checkpoints, from = append(r.Checkpoints, c), max(from, c.Step+1)
		}
		if from == start {
			break
		}
	}
	if r.Calls, err = s.Calls(ctx, k, 0); err != nil && !errors.Is(err, ErrNotFound) {
		return r, err
	}
	for after := int64(0); ; {
		page, err := s.Events(ctx, k, after, 1000)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return r, err
		}
		start := after
		for _, e := range page {
			r.Events, after = append(r.Events, e), max(after, e.N)
		}
		if after == start {
			break
		}
	}
	return r, r.readGraphs(ctx, s)
}

func (r *Run) readGraphs(ctx context.Context, s Store) error {
	grapher, ok := s.(Grapher)
	if !ok {
		return nil
	}
	r.Graphs = map[string][]byte{}
	for _, c := range r.Checkpoints {
		if _, known := r.Graphs[c.Digest]; known || c.Bad != "" {
			continue
		}
		graph, err := grapher.Graph(ctx, c.Digest)
		if err == nil {
			r.Graphs[c.Digest] = graph
		} else if !errors.Is(err, ErrNotFound) {
			return err
		}
	}
	return nil
}

// unchanged reports whether nothing was added to a run while it was read.
func unchanged(ctx context.Context, s Reader, r Run) (bool, error) {
	k := r.Key()
	now, err := s.Head(ctx, k)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	if err != nil || now.Step != r.Head.Step || now.Open != r.Head.Open || !bytes.Equal(now.MAC, r.Head.MAC) {
		return false, err
	}
	if n := len(r.Checkpoints); n > 0 && r.Checkpoints[n-1].Step != now.Step {
		return false, nil
	}
	calls, err := s.Calls(ctx, k, 0)
	if err != nil && !errors.Is(err, ErrNotFound) || len(calls) != len(r.Calls) {
		return false, err
	}
	var last int64
	if n := len(r.Events); n > 0 {
		last = r.Events[n-1].N
	}
	events, err := s.Events(ctx, k, last, 1)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return false, err
	}
	return !slices.ContainsFunc(events, func(e Event) bool { return e.N > last }), nil
}
