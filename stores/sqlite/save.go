package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/flowtui/flowtui/stores"
)

// Save implements stores.Store.
func (s *Store) Save(ctx context.Context, w stores.Save) error {
	k := w.Checkpoint.Key
	if err := w.Check(); err != nil {
		return s.wrap("save", k, err)
	}
	return s.write(ctx, "save", k, func(t tx) error { return save(t, w) })
}

func save(t tx, w stores.Save) error {
	c := w.Checkpoint
	last, err := newest(t, c.Key)
	if err != nil {
		return err
	}
	if err := c.Follows(last); err != nil {
		return err
	}
	if err := t.insert(insertCheckpoint, checkpointArgs(c)...); err != nil {
		return err
	}
	for _, call := range w.Calls {
		if err := call.MayRecord(&c); err != nil {
			return err
		}
		if err := t.insert(insertCall, callArgs(call)...); err != nil {
			return err
		}
	}
	if err := addEvents(t, w.Events); err != nil {
		return err
	}
	h := w.Head
	if h.Open, err = openCalls(t, c); err != nil {
		return err
	}
	if err := t.insert(upsertHead, headArgs(h)...); err != nil {
		return err
	}
	if w.Graph != nil {
		_, err = t.exec(`INSERT INTO graphs (digest, graph) VALUES (?, ?) ON CONFLICT DO NOTHING`, c.Digest, w.Graph)
	}
	return err
}

// newest returns the run's newest checkpoint without its payload, or nil when
// there is no such run. What cannot be read cannot be followed.
func newest(t tx, k stores.Key) (*stores.Checkpoint, error) {
	rows, err := t.query(`SELECT `+checkpointColumns+`, octet_length(payload), NULL FROM checkpoints
		WHERE owner = ? AND run = ? ORDER BY step DESC LIMIT 1`, k.Owner, k.Run)
	c, err := one(collect(rows, err, bindCheckpoint(false), finishCheckpoint))
	switch {
	case errors.Is(err, stores.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	case c.Bad != "":
		return nil, fmt.Errorf("%w: the newest checkpoint cannot be read: %s", stores.ErrUnreadable, c.Bad)
	}
	return &c, nil
}

func addEvents(t tx, events []stores.Event) error {
	for _, e := range events {
		if err := t.insert(insertEvent, eventArgs(e)...); err != nil {
			return err
		}
	}
	return nil
}

// openCalls is the value of Head.Open when c is the newest checkpoint.
func openCalls(t tx, c stores.Checkpoint) (n int64, err error) {
	if c.Status != stores.StatusRunning {
		return 0, nil
	}
	rows, err := t.query(`SELECT count(*) FROM (
			SELECT status, idempotent, row_number() OVER (PARTITION BY node, ordinal ORDER BY segment DESC, n DESC) AS age
			FROM calls INDEXED BY calls_step WHERE owner = ? AND run = ? AND step = ?)
		WHERE age = 1 AND idempotent = 0 AND status IN ('started', 'unrecordable')`, c.Owner, c.Run, c.Base)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	if rows.Next() {
		err = rows.Scan(&n)
	}
	return n, errors.Join(err, rows.Err())
}

// RecordCall implements stores.Store.
func (s *Store) RecordCall(ctx context.Context, w stores.CallWrite) error {
	k := w.Call.Key
	if err := w.Check(); err != nil {
		return s.wrap("record call", k, err)
	}
	return s.write(ctx, "record call", k, func(t tx) error { return record(t, w) })
}

func record(t tx, w stores.CallWrite) error {
	last, err := newest(t, w.Call.Key)
	if err != nil {
		return err
	}
	if err := w.Call.MayRecord(last); err != nil {
		return err
	}
	before, err := recorded(t, w.Call)
	if err != nil {
		return err
	}
	if err := t.insert(insertCall, callArgs(w.Call)...); err != nil {
		return err
	}
	if err := addEvents(t, w.Events); err != nil {
		return err
	}
	// One call changes Open by one at most. Counting all calls of the step for
	// each record would make a step of many calls slow.
	h := stores.Head{Status: last.Status, Base: last.Base}
	change := stores.OpenCalls(h, append(before, w.Call)) - stores.OpenCalls(h, before)
	if change == 0 {
		return nil
	}
	_, err = t.exec(`UPDATE runs SET open = max(0, open + ?) WHERE owner = ? AND run = ?`, change, last.Owner, last.Run)
	return err
}

// recorded returns the newest record of the call that c is about, if any.
func recorded(t tx, c stores.Call) ([]stores.Call, error) {
	rows, err := t.query(`SELECT `+callColumns+` FROM calls INDEXED BY calls_step
		WHERE owner = ? AND run = ? AND step = ? AND node = ? AND ordinal = ?
		ORDER BY segment DESC, n DESC LIMIT 1`, c.Owner, c.Run, c.Step, c.Node, c.Ordinal)
	return collect(rows, err, bindCall, finishCall)
}

// Delete implements stores.Store. Graphs stay: other runs may share them.
func (s *Store) Delete(ctx context.Context, k stores.Key) error {
	return s.write(ctx, "delete", k, func(t tx) error {
		var found int64
		for _, table := range []string{"checkpoints", "runs", "calls", "events", "leases"} {
			res, err := t.exec(`DELETE FROM `+table+` WHERE owner = ? AND run = ?`, k.Owner, k.Run)
			if err != nil {
				return err
			}
			n, err := res.RowsAffected()
			if err != nil {
				return err
			}
			if table != "leases" {
				found += n
			}
		}
		if found == 0 {
			return stores.ErrNotFound
		}
		return nil
	})
}
