package memory

import (
	"context"
	"fmt"
	"slices"

	"github.com/flowtui/flowtui/stores"
)

// Import implements stores.Importer.
func (s *Store) Import(ctx context.Context, r stores.Run) error {
	k := r.Key()
	return s.do(ctx, "import", k, func() error {
		if err := r.Check(); err != nil {
			return err
		}
		if s.runs[k] != nil {
			return fmt.Errorf("%w: there is a run of this id already", stores.ErrConflict)
		}
		next := &run{head: copyHead(r.Head)}
		for _, c := range r.Checkpoints {
			c.Size = int64(len(c.Payload))
			next.steps = append(next.steps, copyCheckpoint(c))
		}
		for _, c := range r.Calls {
			next.calls = append(next.calls, copyCall(c))
		}
		for _, e := range r.Events {
			next.events = append(next.events, copyEvent(e))
		}
		next.head.Open = stores.OpenCalls(next.head, next.calls)
		s.runs[k] = next
		for digest, graph := range r.Graphs {
			if _, known := s.graphs[digest]; !known {
				s.graphs[digest] = slices.Clone(graph)
			}
		}
		s.notify()
		return nil
	})
}
