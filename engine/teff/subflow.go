package teff

import (
	"bytes"
	"context"
	"errors"

	"github.com/flowtui/flowtui/engine/teff/py"
)

// subflow runs a graph of its own under a checkpoint of its own. When it had
// been started before, the child's checkpoint is resumed and the input that is
// built here is not used.
func (x *executor) subflow(ctx context.Context, n *Node, state *py.Dict) (result, error) {
	in, err := childInput(n.Config, state)
	if err != nil {
		return result{}, err
	}
	before, err := deepCopy(in)
	if err != nil {
		return result{}, err
	}
	child := &level{executor: executor{call: x.call, store: x.store, resume: x.resume, unsure: x.unsure}, graph: n.Graph}
	if x.store != nil {
		child.id = ChildID(x.id, n.ID)
	}
	if most, ok := n.Config.GetOr("max_iterations", nil).(int64); ok {
		child.maxIterations = most
	}
	given := in.Copy()
	out, err := child.run(ctx, in)
	if dict(n.Config, "input_map") != nil {
		if err := unchanged(given, before.(*py.Dict)); err != nil {
			return result{}, err
		}
	}
	if err != nil {
		return result{}, child.nested(err, n.ID)
	}
	update, err := x.childOutput(n.Config, before.(*py.Dict), out)
	if err != nil {
		return result{}, err
	}
	if x.store != nil {
		if err := x.store.Delete(ctx, child.id); err != nil {
			return result{}, err
		}
	}
	return result{update: update}, nil
}

// unchanged refuses a subflow that has extended a list of the outer state in
// place: the format does not say whether teff gives it the list or a copy.
func unchanged(given, before *py.Dict) error {
	for key, v := range given.All() {
		if !same(v, before.GetOr(key, nil)) {
			return inexact("a subflow has extended the list %q that it was given, and the format does not say whether the "+
				"outer state sees that", key)
		}
	}
	return nil
}

// same is equality in which nan equals nan: a value that only was passed on.
func same(a, b py.Value) bool {
	if py.Equal(a, b) {
		return true
	}
	x, errX := py.Dumps(a)
	y, errY := py.Dumps(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// nested makes a pause of a child one of its subflow node.
func (l *level) nested(err error, node string) error {
	var i *Interrupt
	if !errors.As(err, &i) {
		return err
	}
	outer := &Interrupt{Key: i.Key, Prompt: i.Prompt, NodeID: node, CheckpointID: i.CheckpointID}
	if l.store != nil {
		outer.NestedCheckpointID = &l.id
	}
	return outer
}

// childInput is the state that a subflow begins with: mapped keys, else a deep
// copy of everything.
func childInput(c, state *py.Dict) (*py.Dict, error) {
	names := dict(c, "input_map")
	if names == nil {
		v, err := deepCopy(state)
		if err != nil {
			return nil, err
		}
		return v.(*py.Dict), nil
	}
	in := py.NewDict()
	for outer, inner := range names.All() {
		in.Set(py.Str(inner), state.GetOr(outer, nil))
	}
	return in, nil
}

// childOutput is what a subflow returns: mapped keys, else the changed ones,
// of a key with the append reducer only the new tail of its list.
func (x *executor) childOutput(c, before, out *py.Dict) (*py.Dict, error) {
	update := py.NewDict()
	if names := dict(c, "output_map"); names != nil {
		for inner, outer := range names.All() {
			update.Set(py.Str(outer), out.GetOr(inner, nil))
		}
		return update, nil
	}
	for key, v := range out.All() {
		old, known := before.Get(key)
		if known && same(old, v) {
			continue
		}
		was, wasList := old.(*py.List)
		is, isList := v.(*py.List)
		if x.reducers[key] == Append && wasList && isList {
			n := len(was.Items)
			if len(is.Items) < n || !same(py.NewList(is.Items[:n]...), was) {
				return nil, inexact("a subflow has replaced the list %q, which has the append reducer, and the format "+
					"does not say what of it is new", key)
			}
			v = py.NewList(append([]py.Value(nil), is.Items[n:]...)...)
		}
		update.Set(key, v)
	}
	return update, nil
}

// Python's copy.deepcopy ends at about 490 levels, less inside a run; how much
// less depends on its stack.
const (
	surelyCopied = 400
	neverCopied  = 490
)

func deepCopy(v py.Value) (py.Value, error) {
	if d := depth(v, neverCopied+1); d > surelyCopied && d <= neverCopied {
		return nil, inexact("a state nested %d levels deep goes into a subflow, where teff may or may not fail", d)
	}
	return py.DeepCopy(v)
}

// depth is how many lists and dicts are around the innermost value, at most limit.
func depth(v py.Value, limit int) int {
	if limit == 0 {
		return 0
	}
	deepest := 0
	switch v := v.(type) {
	case *py.List:
		for _, item := range v.Items {
			deepest = max(deepest, depth(item, limit-1))
		}
	case *py.Dict:
		for _, item := range v.All() {
			deepest = max(deepest, depth(item, limit-1))
		}
	default:
		return 0
	}
	return deepest + 1
}
