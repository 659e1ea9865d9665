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
	old := t.w.runs[c.Key]
	run, err := old.after(t, w)
	if err != nil {
		return err
	}
	if err := addCheckpoint(t, c); err != nil {
		return err
	}
	run.newest = asRead(c)
	*t.own = effect{complete: run.newest != nil, key: c.Key, saved: run}
	for _, call := range w.Calls {
		if err := call.MayRecord(&c); err != nil {
			return err
		}
		if err := addCall(t, call); err != nil {
			return err
		}
	}
	if err := addEvents(t, w.Events); err != nil {
		return err
	}
	if err := putHead(t, w.Head, old, run); err != nil {
		return err
	}
	if w.Graph != nil {
		_, err = t.exec(insertGraph, c.Digest, w.Graph)
	}
	return err
}

// newest returns the run's newest checkpoint without its payload, or nil when
// there is no such run. What cannot be read cannot be followed.
func newest(t tx, k stores.Key) (*stores.Checkpoint, error) {
	if run, known := t.w.runs[k]; known {
		return run.newest, nil
	}
	c, err := readNewest(t, k)
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

func readNewest(t tx, k stores.Key) (stores.Checkpoint, error) {
	rows, err := t.query(`SELECT `+checkpointColumns+`, octet_length(payload), NULL FROM checkpoints
		WHERE owner = ? AND run = ? ORDER BY step DESC LIMIT 1`, k.Owner, k.Run)
	return one(collect(rows, err, bindCheckpoint(false), finishCheckpoint))
}

func addCheckpoint(t tx, c stores.Checkpoint) error {
	st, err := t.prepare(insertCheckpoint)
	if err != nil {
		return err
	}
	st.checkpoint(c)
	return t.insert(st)
}

func addCall(t tx, c stores.Call) error {
	st, err := t.prepare(insertCall)
	if err != nil {
		return err
	}
	st.call(c)
	return t.insert(st)
}

func addEvents(t tx, events []stores.Event) error {
	for _, e := range events {
		st, err := t.prepare(insertEvent)
		if err != nil {
			return err
		}
		st.event(e)
		if err := t.insert(st); err != nil {
			return err
		}
	}
	return nil
}

// putHead writes the head of a run. Where the row that is there is known, only
// what changes is written, and open calls are only counted when there may be any.
func putHead(t tx, h stores.Head, old, now *knownRun) error {
	query := upsertHead
	if old != nil && old.sameRun(h) {
		query = updateHead
		if h.Status != stores.StatusRunning || now.lastCall < h.Base {
			query = updateHeadNoCalls
		}
	}
	st, err := t.prepare(query)
	if err != nil {
		return err
	}
	switch query {
	case upsertHead:
		st.head(h)
	case updateHead:
		st.headChange(h)
		st.openCalls(h)
		st.texts(h.Owner, h.Run)
	default:
		st.headChange(h)
		st.texts(h.Owner, h.Run)
	}
	return t.insert(st)
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
	*t.own = effect{complete: true, key: w.Call.Key, called: wordOf(w.Call)}
	if err := countOpen(t, w.Call, last); err != nil {
		return err
	}
	if err := addCall(t, w.Call); err != nil {
		return err
	}
	return addEvents(t, w.Events)
}

// Delete implements stores.Store. Graphs stay: other runs may share them.
func (s *Store) Delete(ctx context.Context, k stores.Key) error {
	return s.write(ctx, "delete", k, func(t tx) error { return remove(t, k) })
}

// DeleteAt implements stores.Remover.
func (s *Store) DeleteAt(ctx context.Context, k stores.Key, incarnation string, step int64) error {
	return s.write(ctx, "delete", k, func(t tx) error {
		last, err := newest(t, k)
		if err == nil {
			err = stores.MayDelete(incarnation, step, last)
		}
		if err != nil {
			return err
		}
		return remove(t, k)
	})
}

func remove(t tx, k stores.Key) error {
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
}
