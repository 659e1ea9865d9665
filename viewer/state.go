package viewer

import (
	"context"
	"errors"
	"fmt"

	"github.com/flowtui/flowtui/stores"
)

// State returns the state at a step; -1 is the latest. Numbers and the order
// of keys are as stored. Masked values are counted; reveal shows them.
func (s *Service) State(ctx context.Context, ref Ref, step int64, reveal bool) (StateView, error) {
	a, k, err := s.at(ref)
	if err != nil {
		return StateView{}, err
	}
	c, err := checkpointAt(ctx, a, k, step)
	if err != nil {
		return StateView{}, s.absent(ctx, a, k, err)
	}
	body, err := decodeCheckpoint(c)
	if err != nil {
		return StateView{}, Problem{Code: codeCorrupt, Message: fmt.Sprintf("step %d: %v", c.Step, err), Run: k.Run}
	}
	v := StateView{Step: c.Step, Size: int64(len(body.State))}
	m := maskedJSON{JSON: body.State}
	if !reveal {
		m = maskValid(body.State)
	}
	v.JSON, v.Masked = m.JSON, m.Count()
	v.Lines, v.Cut = linesOf(m, browsing)
	return out(s, v, reveal), nil
}

func checkpointAt(ctx context.Context, a *attachment, k stores.Key, step int64) (stores.Checkpoint, error) {
	if step < 0 {
		return a.store.Latest(ctx, k)
	}
	if history, ok := a.store.(stores.Historian); ok {
		c, err := history.At(ctx, k, step)
		if errors.Is(err, stores.ErrNotFound) {
			if _, exists := a.store.Latest(ctx, k); exists == nil {
				return c, Problem{Code: codeNotFound, Message: fmt.Sprintf("run %q has no step %d", k.Run, step), Run: k.Run}
			}
		}
		return c, err
	}
	c, err := a.store.Latest(ctx, k)
	if err == nil && c.Step != step {
		err = Problem{Code: codeNotFound, Message: fmt.Sprintf("this store keeps the latest step only, step %d", c.Step), Run: k.Run}
	}
	return c, err
}
