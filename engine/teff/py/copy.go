package py

import (
	"maps"
	"slices"
)

// copyDepth is how deep copy.deepcopy reaches into lists and dicts under
// Python's default recursion limit (teff format, stores).
const copyDepth = 490

// ShallowCopy is copy.copy(v): a new list or dict with the same elements.
func ShallowCopy(v Value) Value {
	switch v := v.(type) {
	case *List:
		return &List{Items: slices.Clone(v.Items)}
	case *Dict:
		return v.Copy()
	}
	return v
}

// Copy is dict(d): a new dict with the same elements.
func (d *Dict) Copy() *Dict {
	return &Dict{keys: slices.Clone(d.keys), values: slices.Clone(d.values), index: maps.Clone(d.index)}
}

// DeepCopy is copy.deepcopy(v): what is one list in two places stays one list.
// It is a RecursionError when v is nested too deeply for Python.
func DeepCopy(v Value) (Value, error) {
	return deepCopy(v, map[any]Value{}, 0)
}

func deepCopy(v Value, memo map[any]Value, depth int) (Value, error) {
	switch v.(type) {
	case *List, *Dict:
	default:
		return v, nil
	}
	if done, ok := memo[v]; ok {
		return done, nil
	}
	if depth >= copyDepth {
		return nil, Errorf("RecursionError", "maximum recursion depth exceeded")
	}
	if l, ok := v.(*List); ok {
		c := &List{Items: make([]Value, len(l.Items))}
		memo[v] = c
		for i, e := range l.Items {
			var err error
			if c.Items[i], err = deepCopy(e, memo, depth+1); err != nil {
				return nil, err
			}
		}
		return c, nil
	}
	c := v.(*Dict).Copy()
	memo[v] = c
	for i, e := range c.values {
		var err error
		if c.values[i], err = deepCopy(e, memo, depth+1); err != nil {
			return nil, err
		}
	}
	return c, nil
}
