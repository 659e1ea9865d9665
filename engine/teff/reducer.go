package teff

import "github.com/flowtui/flowtui/engine/teff/py"

// Reducers says how each top-level key of a state is merged; a key that is
// absent overrides.
type Reducers map[string]Reducer

// Merge merges what a node returned into a state. Lists are taken by reference
// and extended in place, as teff does: a list of a command's update becomes
// the state's own and grows with it.
func (r Reducers) Merge(state, update *py.Dict) {
	for key, v := range update.All() {
		old, known := state.Get(key)
		switch r[key] {
		case Keep:
			if known {
				continue
			}
		case Append:
			if list, ok := old.(*py.List); ok {
				extend(list, v)
				continue
			}
		}
		state.Set(key, v)
	}
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
