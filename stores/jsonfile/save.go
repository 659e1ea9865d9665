package jsonfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/internal/rowjson"
)

// Save implements stores.Store.
func (s *Store) Save(ctx context.Context, w stores.Save) error {
	k := w.Checkpoint.Key
	if err := w.Check(); err != nil {
		return s.wrapWrite("save", k, err)
	}
	return s.write(ctx, "save", k, true, func(r *writing) error { return r.save(ctx, w) })
}

func (w *writing) save(ctx context.Context, save stores.Save) error {
	if err := w.sound(); err != nil {
		return err
	}
	c := save.Checkpoint
	if err := c.Follows(w.last()); err != nil {
		return err
	}
	l := rowjson.LineAt(c.Place)
	l.Checkpoint, l.Head = rowjson.CheckpointOf(c), rowjson.HeadOf(save.Head)
	for _, call := range save.Calls {
		if err := call.MayRecord(&c); err != nil {
			return err
		}
		l.Calls = append(l.Calls, rowjson.CallOf(call))
	}
	for _, e := range save.Events {
		l.Events = append(l.Events, rowjson.EventOf(e))
	}
	if err := w.taken(l); err != nil {
		return err
	}
	if save.Graph == nil {
		return w.commit(l, nil)
	}
	return w.commit(l, func() error { return w.s.saveGraph(ctx, w.root, c.Digest, save.Graph) })
}

// RecordCall implements stores.Store.
func (s *Store) RecordCall(ctx context.Context, w stores.CallWrite) error {
	k := w.Call.Key
	if err := w.Check(); err != nil {
		return s.wrapWrite("record call", k, err)
	}
	return s.write(ctx, "record call", k, false, func(r *writing) error { return r.record(w) })
}

func (w *writing) record(record stores.CallWrite) error {
	if err := w.sound(); err != nil {
		return err
	}
	if err := record.Call.MayRecord(w.last()); err != nil {
		return err
	}
	l := rowjson.LineAt(record.Call.Place)
	l.Calls = []rowjson.CallRow{rowjson.CallOf(record.Call)}
	for _, e := range record.Events {
		l.Events = append(l.Events, rowjson.EventOf(e))
	}
	if err := w.taken(l); err != nil {
		return err
	}
	return w.commit(l, nil)
}

// taken is asked while the run is locked, so that the answer holds.
func (w *writing) taken(l *rowjson.Line) error {
	if w.journal == nil {
		return new(journal).taken(l)
	}
	w.journal.mu.Lock()
	defer w.journal.mu.Unlock()
	return w.journal.taken(l)
}

// Delete implements stores.Store. Graphs stay: other runs may share them. The
// run is there until its journal is gone, and then all of it is.
func (s *Store) Delete(ctx context.Context, k stores.Key) error {
	return s.write(ctx, "delete", k, false, func(w *writing) error {
		if !w.exists {
			return stores.ErrNotFound
		}
		return w.delete()
	})
}

// DeleteAt implements stores.Remover.
func (s *Store) DeleteAt(ctx context.Context, k stores.Key, incarnation string, step int64) error {
	return s.write(ctx, "delete", k, false, func(w *writing) error {
		if err := w.sound(); err != nil {
			return err
		}
		if err := stores.MayDelete(incarnation, step, w.last()); err != nil {
			return err
		}
		return w.delete()
	})
}

func (w *writing) delete() error {
	s := w.s
	w.close() // some systems do not remove what is open
	w.file = nil
	s.step("remove head of " + w.name)
	if err := w.remove(headExt); err != nil {
		return err
	}
	s.step("sync removal of head of " + w.name)
	if err := s.syncFolder(w.dir); err != nil {
		return err
	}
	s.step("remove " + w.name)
	if err := w.remove(journalExt); err != nil {
		return err
	}
	// The run is gone; what is left of it means nothing.
	for _, ext := range []string{leaseExt, journalExt + tempExt, headExt + tempExt, leaseExt + tempExt} {
		_ = w.remove(ext)
	}
	s.step("sync removal of " + w.name)
	if err := s.syncFolder(w.dir); err != nil {
		return fmt.Errorf("%w: %w", stores.ErrUnknown, err)
	}
	return nil
}

// remove removes a file of the run, if it is there.
func (w *writing) remove(ext string) error {
	err := w.dir.Remove(w.name + ext)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
