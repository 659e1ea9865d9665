package teff

import "github.com/flowtui/flowtui/engine/teff/py"

// Reducers says how each top-level key of a state is merged; a key that is
// absent overrides.
type Reducers map[string]Reducer

// Merge merges what a node returned into a state. Lists are taken by reference
// and extended in place, as teff does: a list of a command's update becomes
// the state's own and grows with it. It is an *[InexactError] when a list has
// grown so large that teff would die of it.
func (r Reducers) Merge(state, update *py.Dict) error {
	for key, v := range update.All() {
		old, known := state.Get(key)
		switch r[key] {
		case Keep:
			if known {
				continue
			}
		case Append:
			if list, ok := old.(*py.List); ok {
				if extend(list, v); len(list.Items) > mostItems {
					return inexact("the list %q has grown to %d items", key, len(list.Items))
				}
				continue
			}
		}
		state.Set(key, v)
	}
	return nil
}

// A cycle that appends a list to itself, or a text, doubles it each time: teff
// works on until its memory ends, which is not to be that of a viewer.
const (
	mostItems = 1 << 22
	mostText  = 1 << 26 // bytes
)

// bounded refuses a text that has grown too large.
func bounded(v py.Value, err error) (py.Value, error) {
	if s, ok := v.(string); ok && len(s) > mostText {
		return nil, inexact("a text has grown to %d bytes", len(s))
	}
	return v, err
}

// extend appends the items of a list, which may be the same list, or else the
// value itself.
func extend(list *py.List, v py.Value) {
	if more, ok := v.(*py.List); ok {
		list.Items = append(list.Items, more.Items...)
		return
	}
	list.Items = append(list.Items, v)
}
