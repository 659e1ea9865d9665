package teff

import (
	"context"
	"errors"

	"github.com/flowtui/flowtui/engine/teff/py"
)

// inside is the executor of nodes within a parallel, loop or map: a subflow
// there has no checkpoint of its own.
func (x *executor) inside() *executor {
	inner := *x
	inner.id, inner.store = "", nil
	return &inner
}

// loop runs its body on the live state until key=until holds or the rounds are
// used up; where a command wants to go is ignored.
func (x *executor) loop(ctx context.Context, n *Node, state *py.Dict) (result, error) {
	c := n.Config
	key := text(c, "key", "")
	if key == "" {
		return result{}, py.Errorf("ValueError", "loop requires config.key")
	}
	rounds, err := py.Int(orElse(c.GetOr("max_rounds", nil), int64(10)))
	if err != nil {
		return result{}, err
	}
	until := key + "=" + py.Str(c.GetOr("until", nil))
	most, _ := rounds.(int64)
	for range most {
		if err := x.proceed(); err != nil {
			return result{}, err
		}
		for _, step := range n.Body {
			r, err := x.inside().execute(ctx, step, state)
			if err != nil {
				return result{}, err
			}
			if err := x.merge(state, r.update); err != nil {
				return result{}, err
			}
		}
		done, err := Holds(until, state)
		if err != nil || done {
			return result{}, err
		}
	}
	return result{}, nil
}

// parallel runs each branch on a shallow copy of the state. Branches that never
// wait for anything run one after the other in teff too, and also those behind
// a failing one before its failure is noticed: what they changed in lists that
// are shared with the state stays. See sharing for those that may wait.
func (x *executor) parallel(ctx context.Context, n *Node, state *py.Dict) (result, error) {
	var deltas []*py.Dict
	order := newSharing(state)
	for _, branch := range n.Branches {
		delta, err := x.branch(ctx, branch, state.Copy())
		order.note(waits(branch), err)
		deltas = append(deltas, delta)
	}
	if err := order.settled(); err != nil {
		return result{}, err
	}
	total := py.NewDict()
	for _, delta := range deltas {
		if err := x.merge(total, delta); err != nil {
			return result{}, err
		}
	}
	return result{update: total}, nil
}

func (x *executor) branch(ctx context.Context, steps []*Node, state *py.Dict) (*py.Dict, error) {
	delta := py.NewDict()
	for _, step := range steps {
		r, err := x.inside().attempt(ctx, step, state)
		if err != nil {
			return nil, err
		}
		if err := errors.Join(x.merge(state, r.update), x.merge(delta, r.update)); err != nil {
			return nil, err
		}
	}
	return delta, nil
}

// mapped runs the processor once per item or chunk and collects one value of each.
func (x *executor) mapped(ctx context.Context, n *Node, state *py.Dict) (result, error) {
	keys, lists, err := mapInput(n.Config, state)
	if err != nil {
		return result{}, err
	}
	size := max(1, int(whole(n.Config, "chunk_size", 1)))
	collect := collected(n)
	results := py.NewList()
	order, waiting := newSharing(state), waits(n.Body)
	for from := 0; from < len(lists[0]); from += size {
		if err := x.proceed(); err != nil {
			return result{}, err
		}
		chunk := state.Copy()
		for i, key := range keys {
			items := lists[i][from:min(from+size, len(lists[i]))]
			if size == 1 {
				chunk.Set(key, items[0])
			} else {
				chunk.Set(key, py.NewList(append([]py.Value(nil), items...)...))
			}
		}
		err := x.process(ctx, n.Body, chunk)
		order.note(waiting, err)
		results.Items = append(results.Items, chunk.GetOr(collect, nil))
	}
	update := py.NewDict(py.Entry{Key: text(n.Config, "output_key", ""), Value: results})
	return result{update: update}, order.settled()
}

func (x *executor) process(ctx context.Context, steps []*Node, state *py.Dict) error {
	for _, step := range steps {
		r, err := x.inside().execute(ctx, step, state)
		if err != nil {
			return err
		}
		if err := x.merge(state, r.update); err != nil {
			return err
		}
	}
	return nil
}

// mapInput gives the lists that are zipped, with their keys.
func mapInput(c, state *py.Dict) (keys []string, lists [][]py.Value, err error) {
	if s, ok := c.GetOr("input_keys", nil).(string); ok {
		keys = py.Characters(s)
	} else {
		keys = strs(list(c, "input_keys"))
	}
	for _, key := range keys {
		l, ok := state.GetOr(key, py.NewList()).(*py.List)
		if !ok {
			return nil, nil, py.Errorf("TypeError", "map input_key '%s' is not a list", key)
		}
		lists = append(lists, append([]py.Value(nil), l.Items...))
	}
	for i, l := range lists {
		if len(lists[0]) > 0 && len(l) != len(lists[0]) {
			return nil, nil, py.Errorf("ValueError", "map input_keys length mismatch: '%s' has %d items, expected %d",
				keys[i], len(l), len(lists[0]))
		}
	}
	return keys, lists, nil
}

// collected is the key whose value is taken from each chunk.
func collected(n *Node) string {
	if key := text(n.Config, "result_key", ""); key != "" {
		return key
	}
	if len(n.Body) == 1 {
		if key := text(n.Body[0].Config, "output_key", ""); key != "" {
			return key
		}
	}
	return text(n.Config, "output_key", "")
}
