package redis

import (
	"context"
	"fmt"

	"github.com/flowtui/flowtui/stores"
)

// Import implements stores.Importer.
func (s *Store) Import(ctx context.Context, r stores.Run) error {
	return s.wrap("import", r.Key(), s.importRun(ctx, r))
}

func (s *Store) importRun(ctx context.Context, r stores.Run) error {
	if err := r.Check(); err != nil {
		return err
	}
	h := r.Head
	head, err := encodeHead(h)
	if err != nil {
		return err
	}
	args := append(s.target(h.Key), h.Step, h.Segment, h.Base, string(h.Status), h.Incarnation, order(h.Updated), h.Flow, head, len(r.Checkpoints))
	for _, c := range r.Checkpoints {
		row, err := encodeCheckpoint(c)
		if err != nil {
			return err
		}
		args = append(args, c.Step, row, string(c.Payload))
	}
	args = append(args, len(r.Graphs))
	for digest, graph := range r.Graphs {
		args = append(args, digest, string(graph))
	}
	if args, err = logArgs(args, r.Calls, r.Events); err != nil {
		return err
	}
	answer, err := s.write(ctx, scripts.importRun, h.Key, args...)
	if err == nil && answer[0] != "ok" {
		err = fmt.Errorf("%w: there is a run of this id already", stores.ErrConflict)
	}
	return err
}
