package redis

import (
	"context"
	"fmt"
	"strconv"

	"github.com/flowtui/flowtui/stores"
)

// Save implements stores.Store.
func (s *Store) Save(ctx context.Context, w stores.Save) error {
	return s.wrap("save", w.Checkpoint.Key, s.save(ctx, w))
}

func (s *Store) save(ctx context.Context, w stores.Save) error {
	if err := w.Check(); err != nil {
		return err
	}
	c := w.Checkpoint
	for _, call := range w.Calls {
		if err := call.MayRecord(&c); err != nil {
			return err
		}
	}
	row, err := encodeCheckpoint(c)
	if err != nil {
		return err
	}
	head, err := encodeHead(w.Head)
	if err != nil {
		return err
	}
	args := append(s.target(c.Key), c.Step, c.Step-1, c.Segment, c.Segment-1, c.Base, string(c.Status), c.Incarnation,
		order(w.Head.Updated), c.Flow, row, string(c.Payload), head, c.Digest, bit(w.Graph != nil), string(w.Graph))
	if args, err = logArgs(args, w.Calls, w.Events); err != nil {
		return err
	}
	answer, err := s.write(ctx, scripts.save, c.Key, args...)
	if err != nil {
		return err
	}
	switch answer[0] {
	case "ok":
		if answer[1] != "0" {
			s.sweep(ctx)
		}
		return nil
	case "conflict":
		last, err := lastOf(c.Place, answer)
		if err == nil {
			err = c.Follows(last)
		}
		return refusal(err)
	}
	return taken(answer)
}

// target is what every script about a run is told first.
func (s *Store) target(k stores.Key) []any {
	return []any{id(k), k.Owner, k.Run, s.conf.ttl.Milliseconds()}
}

// logArgs adds what log.lua reads.
func logArgs(args []any, calls []stores.Call, events []stores.Event) ([]any, error) {
	args = append(args, len(calls))
	for _, c := range calls {
		row, err := encodeCall(c)
		if err != nil {
			return nil, err
		}
		args = append(args, c.Segment, c.N, c.Step, c.Ordinal, c.Node, bit(doubtful(c)), row)
	}
	args = append(args, len(events))
	for _, e := range events {
		row, err := encodeEvent(e)
		if err != nil {
			return nil, err
		}
		args = append(args, e.N, row)
	}
	return args, nil
}

// doubtful reports whether a record, as the newest one of its call, leaves the
// call open. See [stores.OpenCalls].
func doubtful(c stores.Call) bool {
	return stores.OpenCalls(stores.Head{Status: stores.StatusRunning, Base: c.Step}, []stores.Call{c}) > 0
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// lastOf reads where a run stands from a refusal, nil if there is no such run.
func lastOf(p stores.Place, answer []string) (*stores.Checkpoint, error) {
	if len(answer) < 5 {
		return nil, nil
	}
	c := stores.Checkpoint{Place: p, Status: stores.Status(answer[3])}
	c.Incarnation = answer[4]
	var err error
	if c.Step, err = strconv.ParseInt(answer[1], 10, 64); err == nil {
		c.Segment, err = strconv.ParseInt(answer[2], 10, 64)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: step %q, segment %q", stores.ErrUnreadable, answer[1], answer[2])
	}
	return &c, nil
}

// refusal is the contract's word for what a script refused. The rule is there
// and in the script; should they ever differ, nothing was written.
func refusal(err error) error {
	if err == nil {
		return fmt.Errorf("%w: the store refused it", stores.ErrConflict)
	}
	return err
}

func taken(answer []string) error {
	switch {
	case len(answer) == 4 && answer[1] == "call":
		return fmt.Errorf("%w: call record %s of segment %s exists already", stores.ErrConflict, answer[3], answer[2])
	case len(answer) == 3 && answer[1] == "event":
		return fmt.Errorf("%w: event %s exists already", stores.ErrConflict, answer[2])
	}
	return doubt{fmt.Errorf("the script answered %q", answer)}
}

// RecordCall implements stores.Store.
func (s *Store) RecordCall(ctx context.Context, w stores.CallWrite) error {
	return s.wrap("record call", w.Call.Key, s.record(ctx, w))
}

func (s *Store) record(ctx context.Context, w stores.CallWrite) error {
	if err := w.Check(); err != nil {
		return err
	}
	c := w.Call
	args := append(s.target(c.Key), c.Incarnation, bit(c.Status == stores.CallStarted))
	args, err := logArgs(args, []stores.Call{c}, w.Events)
	if err != nil {
		return err
	}
	answer, err := s.write(ctx, scripts.record, c.Key, args...)
	if err != nil {
		return err
	}
	switch answer[0] {
	case "ok":
		return nil
	case "conflict":
		last, err := lastOf(c.Place, answer)
		if err == nil {
			err = c.MayRecord(last)
		}
		return refusal(err)
	}
	return taken(answer)
}

// Delete implements stores.Store. Graphs stay: other runs may share them.
func (s *Store) Delete(ctx context.Context, k stores.Key) error {
	answer, err := s.write(ctx, scripts.remove, k, id(k), k.Owner, k.Run, 0)
	if err == nil && answer[0] == "none" {
		err = stores.ErrNotFound
	}
	return s.wrap("delete", k, err)
}

// DeleteAt implements stores.Remover.
func (s *Store) DeleteAt(ctx context.Context, k stores.Key, incarnation string, step int64) error {
	answer, err := s.write(ctx, scripts.remove, k, id(k), k.Owner, k.Run, 1, incarnation, step)
	if err == nil && answer[0] != "ok" {
		var last *stores.Checkpoint
		if last, err = lastOf(stores.Place{Key: k}, answer); err == nil {
			err = refusal(stores.MayDelete(incarnation, step, last))
		}
	}
	return s.wrap("delete", k, err)
}

// sweep drops from the indexes what expired. Nobody waits for it to succeed: the
// next save tries again, and readers leave out what expired by themselves.
func (s *Store) sweep(ctx context.Context) {
	_, _ = s.write(ctx, scripts.sweep, stores.Key{})
}
