package document

import "github.com/flowtui/flowtui/engine/teff/py"

// get is the value under a key, nil also when there is none.
func get(d *py.Dict, key string) py.Value { return d.GetOr(key, nil) }

// text is a string under a key, "" for anything else.
func text(d *py.Dict, key string) string {
	s, _ := get(d, key).(string)
	return s
}

// items are those of a list, none of anything else.
func items(v py.Value) []py.Value {
	if l, ok := v.(*py.List); ok {
		return l.Items
	}
	return nil
}

// listOf is a list as it is, and anything else as a list of one.
func listOf(v py.Value) []py.Value {
	if l, ok := v.(*py.List); ok {
		return l.Items
	}
	return []py.Value{v}
}

// without is a copy of a dict that lacks some keys.
func without(d *py.Dict, keys ...string) *py.Dict {
	c := d.Copy()
	for _, key := range keys {
		c.Delete(key)
	}
	return c
}

// dict makes a dict of keys and values in turn.
func dict(pairs ...py.Value) *py.Dict {
	d := new(py.Dict)
	for i := 0; i < len(pairs); i += 2 {
		d.Set(pairs[i].(string), pairs[i+1])
	}
	return d
}
