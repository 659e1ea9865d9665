package sqlite

import (
	"context"
	"fmt"

	"github.com/flowtui/flowtui/stores"
)

// anyRow finds a row of a run in any table that makes a run.
const anyRow = `SELECT EXISTS (SELECT 1 FROM runs WHERE owner = ?1 AND run = ?2)
	OR EXISTS (SELECT 1 FROM checkpoints WHERE owner = ?1 AND run = ?2)
	OR EXISTS (SELECT 1 FROM calls WHERE owner = ?1 AND run = ?2)
	OR EXISTS (SELECT 1 FROM events WHERE owner = ?1 AND run = ?2)`

// Import implements stores.Importer.
func (s *Store) Import(ctx context.Context, r stores.Run) error {
	if err := r.Check(); err != nil {
		return s.wrap("import", r.Key(), err)
	}
	return s.write(ctx, "import", r.Key(), func(t tx) error { return importRun(t, r) })
}

func importRun(t tx, r stores.Run) error {
	k := r.Key()
	rows, err := t.query(anyRow, k.Owner, k.Run)
	there, err := one(collect(rows, err, func(r *row, there *bool) []any { return []any{r.flag("", there)} }, func(*bool, string) {}))
	switch {
	case err != nil:
		return err
	case there:
		return fmt.Errorf("%w: there are rows of a run of this id already", stores.ErrConflict)
	}
	for _, c := range r.Checkpoints {
		if err := addCheckpoint(t, c); err != nil {
			return err
		}
	}
	for _, c := range r.Calls {
		if err := addCall(t, c); err != nil {
			return err
		}
	}
	if err := addEvents(t, r.Events); err != nil {
		return err
	}
	for digest, graph := range r.Graphs {
		if err := t.run(insertGraph, digest, graph); err != nil {
			return err
		}
	}
	return putHead(t, r.Head, nil, nil)
}
