package jsonfile

import (
	"context"
	"fmt"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/internal/rowjson"
)

// Import implements stores.Importer. The journal appears at once, with all of
// its lines.
func (s *Store) Import(ctx context.Context, r stores.Run) error {
	k := r.Key()
	if err := r.Check(); err != nil {
		return s.wrapWrite("import", k, err)
	}
	return s.write(ctx, "import", k, true, func(w *writing) error { return w.importRun(ctx, r) })
}

func (w *writing) importRun(ctx context.Context, r stores.Run) error {
	if w.exists {
		return fmt.Errorf("%w: there is a run of this id already", stores.ErrConflict)
	}
	b, last, err := rowjson.SealRun(r)
	if err != nil {
		return err
	}
	for digest, graph := range r.Graphs {
		if err := w.s.saveGraph(ctx, w.root, digest, graph); err != nil {
			return err
		}
	}
	if err := w.s.replace(w.dir, w.name+journalExt, b, true); err != nil {
		return err
	}
	sum, err := rowjson.NamedSum(b[last:])
	if err != nil {
		return err
	}
	w.settle(nil, ref{at: int64(last), size: int64(len(b) - last), sum: sum})
	return nil
}
