package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/flowtui/flowtui/stores"
)

// The statements of an import insert one row each. A row that is there already
// violates its primary key, which ends the transaction.
var (
	insertHead       = `INSERT INTO {runs} (` + headColumns + `, open) VALUES (` + marks(1, 22) + `)`
	insertCheckpoint = `INSERT INTO {checkpoints} (` + checkpointColumns + `, payload) VALUES (` + marks(1, 22) + `)`
	insertCall       = `INSERT INTO {calls} (` + callColumns + `) VALUES (` + marks(1, 18) + `)`
	insertEvent      = `INSERT INTO {events} (` + eventColumns + `) VALUES (` + marks(1, 13) + `)`
	insertGraph      = `INSERT INTO {graphs} (digest, graph) VALUES ($1, $2) ON CONFLICT DO NOTHING`
)

// leftRows finds what a run left whose head is gone: nobody adds such rows, so
// it is asked before the transaction.
const leftRows = `SELECT EXISTS (SELECT FROM {checkpoints} WHERE owner = $1 AND run = $2)
	OR EXISTS (SELECT FROM {calls} WHERE owner = $1 AND run = $2) OR EXISTS (SELECT FROM {events} WHERE owner = $1 AND run = $2)`

// Import implements stores.Importer. The head comes first: the first save of a
// run, or another import, then waits for the end of this one.
func (s *Store) Import(ctx context.Context, r stores.Run) error {
	k := r.Key()
	if err := r.Check(); err != nil {
		return s.wrap("import", k, err)
	}
	if left, err := s.query(ctx, "import", k, leftRows, k.Owner, k.Run); err != nil {
		return err
	} else if len(left.Rows) > 0 {
		var there bool
		if err := facts(left, (&row{}).flag("", &there)); err != nil || there {
			return s.wrap("import", k, errors.Join(err, fmt.Errorf("%w: there are rows of a run of this id already", stores.ErrConflict)))
		}
	}
	h := r.Head
	place := placeArgs(h.Place)
	own := headArgs(h)
	list := []statement{ask(insertHead, slices.Concat(place, []any{h.Step, h.Base, h.Segment}, own[:3], []any{string(h.Status)}, own[3:],
		[]any{stores.OpenCalls(h, r.Calls)})...)}
	for _, c := range r.Checkpoints {
		list = append(list, ask(insertCheckpoint, checkpointArgs(c)...))
	}
	for _, c := range r.Calls {
		list = append(list, ask(insertCall, callArgs(c)...))
	}
	for _, e := range r.Events {
		list = append(list, ask(insertEvent, eventArgs(e)...))
	}
	for digest, graph := range r.Graphs {
		list = append(list, ask(insertGraph, digest, blob(graph)))
	}
	_, err := s.write(ctx, "import", k, list...)
	return err
}

func eventArgs(e stores.Event) []any {
	return slices.Concat(placeArgs(e.Place), []any{e.N, e.Step, e.Type, micro(e.Time)}, sealArgs(e.Seal), []any{blob(e.Payload)})
}
