package teff

import (
	"context"
	"errors"
)

// errHalted ends a call that was to stop before its first node.
var errHalted = errors.New("halted before the first node")

// A Change is what is to be done with one row: its new checkpoint, or its
// removal. Seen is the row that it was made from, to compare with.
type Change struct {
	ID        string
	Seen, New *Checkpoint // nil: no row
}

// overlay keeps what is saved to itself and reads through to a store, which it
// never changes.
type overlay struct {
	under Checkpointer
	order []string
	seen  map[string]*Checkpoint
	rows  map[string]*Checkpoint
}

func newOverlay(under Checkpointer) *overlay {
	return &overlay{under: under, seen: map[string]*Checkpoint{}, rows: map[string]*Checkpoint{}}
}

// Load reads what was saved here, else the store.
func (o *overlay) Load(ctx context.Context, id string) (Checkpoint, bool, error) {
	if err := o.look(ctx, id); err != nil {
		return Checkpoint{}, false, err
	}
	row, changed := o.rows[id]
	if !changed {
		row = o.seen[id]
	}
	if row == nil {
		return Checkpoint{}, false, nil
	}
	return *row, true, nil
}

// look remembers the row that the store has.
func (o *overlay) look(ctx context.Context, id string) error {
	if _, known := o.seen[id]; known {
		return nil
	}
	c, found, err := o.under.Load(ctx, id)
	if err != nil {
		return err
	}
	o.seen[id] = nil
	if found {
		o.seen[id] = &c
	}
	return nil
}

// Save keeps a row here.
func (o *overlay) Save(ctx context.Context, id string, c Checkpoint) error { return o.put(ctx, id, &c) }

// Delete removes a row here.
func (o *overlay) Delete(ctx context.Context, id string) error { return o.put(ctx, id, nil) }

func (o *overlay) put(ctx context.Context, id string, c *Checkpoint) error {
	if err := o.look(ctx, id); err != nil {
		return err
	}
	if _, changed := o.rows[id]; !changed {
		o.order = append(o.order, id)
	}
	o.rows[id] = c
	return nil
}

// changes are the rows that differ, in the order in which they were first saved.
func (o *overlay) changes() []Change {
	var all []Change
	for _, id := range o.order {
		if o.seen[id] != nil || o.rows[id] != nil {
			all = append(all, Change{ID: id, Seen: o.seen[id], New: o.rows[id]})
		}
	}
	return all
}
