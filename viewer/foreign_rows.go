package viewer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"

	"github.com/flowtui/flowtui/engine/teff"
	"github.com/flowtui/flowtui/stores"
)

// teffRows are the checkpoints of one owner, for the engine that runs teff's
// workflows. A row is read again and written only as it was read or written here
// last: where teff would let two processes run one run, the second stops.
type teffRows struct {
	store stores.Store
	owner string

	mu     sync.Mutex
	seen   map[string][]byte // payloads by id, nil for no row
	writes int
	began  func() // called with the first write, nil for nothing
}

var _ teff.Checkpointer = (*teffRows)(nil)

func rowsOf(a *attachment, owner string) *teffRows {
	return &teffRows{store: a.store, owner: owner, seen: map[string][]byte{}}
}

func (t *teffRows) key(id string) stores.Key { return stores.Key{Owner: t.owner, Run: id} }

// Load implements teff.Checkpointer.
func (t *teffRows) Load(ctx context.Context, id string) (teff.Checkpoint, bool, error) {
	c, err := t.store.Latest(ctx, t.key(id))
	t.mu.Lock()
	defer t.mu.Unlock()
	var now []byte
	switch {
	case errors.Is(err, stores.ErrNotFound):
	case err != nil:
		return teff.Checkpoint{}, false, err
	case c.Bad != "":
		return teff.Checkpoint{}, false, Problem{Code: codeCorrupt, Message: fmt.Sprintf("the row of %q cannot be read: %s", id, c.Bad), Run: id}
	default:
		now = c.Payload
	}
	if seen, met := t.seen[id]; met && (seen == nil) != (now == nil) || met && !bytes.Equal(seen, now) {
		return teff.Checkpoint{}, false, changedForeign(id, t.writes > 0)
	}
	if t.seen[id] = now; now == nil {
		return teff.Checkpoint{}, false, nil
	}
	row, err := teff.ReadCheckpoint(c.Payload)
	return row, err == nil, err
}

// question names what a message to a run answers: the run as it stands, with the
// nested run that asks. Node and iteration would not do, as each turn counts
// from 0. The row is nil when there is no run.
func (t *teffRows) question(ctx context.Context, id string) (string, *teff.Row, error) {
	var top *teff.Row
	sum := sha256.New()
	for level := 0; id != "" && level < maxNested; level++ {
		c, found, err := t.Load(ctx, id)
		if err != nil {
			return "", nil, err
		}
		if !found {
			break
		}
		row, err := teff.ReadRow(c.Payload())
		if err != nil {
			return "", nil, err
		}
		if top == nil {
			top = &row
		}
		fmt.Fprintf(sum, "%d %s", len(c.Payload()), c.Payload())
		id = row.Nested
	}
	if top == nil {
		return "", nil, nil
	}
	return turnVersion + hex.EncodeToString(sum.Sum(nil)[:16]), top, nil
}

const (
	turnVersion = "as-" // starts the name of what a run of teff asks
	maxNested   = 100   // levels of subflows that are looked at
)

// Save implements teff.Checkpointer.
func (t *teffRows) Save(ctx context.Context, id string, c teff.Checkpoint) error {
	return t.replace(ctx, id, c.Payload())
}

// Delete implements teff.Checkpointer.
func (t *teffRows) Delete(ctx context.Context, id string) error {
	if err := t.look(ctx, id); err != nil {
		return err
	}
	t.mu.Lock()
	none := t.seen[id] == nil
	t.mu.Unlock()
	if none {
		return nil
	}
	return t.replace(ctx, id, nil)
}

// look reads a row that was not met yet.
func (t *teffRows) look(ctx context.Context, id string) error {
	t.mu.Lock()
	_, met := t.seen[id]
	t.mu.Unlock()
	if met {
		return nil
	}
	_, _, err := t.Load(ctx, id)
	return err
}

func (t *teffRows) replace(ctx context.Context, id string, next []byte) error {
	if err := t.look(ctx, id); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	answerer, ok := t.store.(stores.Answerer)
	if !ok {
		return fmt.Errorf("%w: this kind of store is only read", stores.ErrReadOnly)
	}
	stored, err := answerer.Replace(ctx, stores.Replacement{Key: t.key(id), Seen: t.seen[id], Next: next})
	if err != nil {
		return err
	}
	t.seen[id] = stored[0]
	if t.writes++; t.writes == 1 && t.began != nil {
		t.began()
	}
	return nil
}

// apply writes changes that were made from rows that this has read, all or none.
func (t *teffRows) apply(ctx context.Context, changes []teff.Change) error {
	answerer, ok := t.store.(stores.Answerer)
	if !ok {
		return fmt.Errorf("%w: this kind of store is only read", stores.ErrReadOnly)
	}
	var rows []stores.Replacement
	t.mu.Lock()
	for _, c := range changes {
		r := stores.Replacement{Key: t.key(c.ID), Seen: t.seen[c.ID]}
		if c.New != nil {
			r.Next = c.New.Payload()
		}
		rows = append(rows, r)
	}
	t.mu.Unlock()
	if len(rows) == 0 {
		return nil
	}
	_, err := answerer.Replace(ctx, rows...)
	return err
}
