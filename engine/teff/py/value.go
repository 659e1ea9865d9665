package py

import (
	"iter"
	"math/big"
	"slices"
)

// A Value is one of: nil (None), bool, int64, *[big.Int] (an int that does not
// fit an int64), float64, string, *[List], *[Dict] or [Opaque].
//
// A string holds UTF-8; a lone surrogate is held as its three bytes, as UTF-8
// would encode it if it could (WTF-8). Lists and dicts are pointers because
// Python's are: one list in two places of a state changes in both.
type Value = any

// A List is Python's list.
type List struct{ Items []Value }

// NewList is a list of items.
func NewList(items ...Value) *List { return &List{Items: items} }

// A Dict is Python's dict with str keys, in insertion order. The zero Dict is
// empty and ready for use.
type Dict struct {
	keys   []string
	values []Value
	index  map[string]int // only of a dict with more than scanMax keys
}

// Up to so many keys are found by looking at each.
const scanMax = 8

// NewDict is a dict of the entries; a later one replaces an earlier one.
func NewDict(entries ...Entry) *Dict {
	d := new(Dict)
	for _, e := range entries {
		d.Set(e.Key, e.Value)
	}
	return d
}

// An Entry is one key of a dict with its value.
type Entry struct {
	Key   string
	Value Value
}

// Len is the number of keys.
func (d *Dict) Len() int { return len(d.keys) }

func (d *Dict) find(key string) int {
	if d.index == nil {
		return slices.Index(d.keys, key)
	}
	if i, ok := d.index[key]; ok {
		return i
	}
	return -1
}

// Get is the value of a key and whether there is one.
func (d *Dict) Get(key string) (Value, bool) {
	if i := d.find(key); i >= 0 {
		return d.values[i], true
	}
	return nil, false
}

// GetOr is dict.get(key, missing).
func (d *Dict) GetOr(key string, missing Value) Value {
	if v, ok := d.Get(key); ok {
		return v
	}
	return missing
}

// Has reports whether there is a key.
func (d *Dict) Has(key string) bool { return d.find(key) >= 0 }

// Set gives a key its value; a known key keeps its place.
func (d *Dict) Set(key string, v Value) {
	if i := d.find(key); i >= 0 {
		d.values[i] = v
		return
	}
	d.keys, d.values = append(d.keys, key), append(d.values, v)
	switch {
	case d.index != nil:
		d.index[key] = len(d.keys) - 1
	case len(d.keys) > scanMax:
		d.reindex()
	}
}

// Delete removes a key and reports whether it was there.
func (d *Dict) Delete(key string) bool {
	i := d.find(key)
	if i < 0 {
		return false
	}
	d.keys, d.values = slices.Delete(d.keys, i, i+1), slices.Delete(d.values, i, i+1)
	if d.index != nil {
		d.reindex()
	}
	return true
}

func (d *Dict) reindex() {
	d.index = make(map[string]int, len(d.keys))
	for i, k := range d.keys {
		d.index[k] = i
	}
}

// Update is dict.update(other).
func (d *Dict) Update(other *Dict) {
	for k, v := range other.All() {
		d.Set(k, v)
	}
}

// Keys are the keys in their order, as a new slice.
func (d *Dict) Keys() []string { return slices.Clone(d.keys) }

// All goes through the entries in their order. The dict must not gain or lose
// keys meanwhile.
func (d *Dict) All() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		for i, k := range d.keys {
			if !yield(k, d.values[i]) {
				return
			}
		}
	}
}

// An Opaque is a Python object that has no JSON form, such as a YAML date: it
// can be printed, and [Dumps] refuses it.
type Opaque struct {
	Type string // of the Python class, such as "date"
	Text string // its str()
	Code string // its repr()
}

// NewInt is the int of n in its normal form: an int64 if it fits.
func NewInt(n *big.Int) Value {
	if n.IsInt64() {
		return n.Int64()
	}
	return n
}

// TypeName is type(v).__name__.
func TypeName(v Value) string {
	switch v := v.(type) {
	case nil:
		return "NoneType"
	case bool:
		return "bool"
	case int64, *big.Int:
		return "int"
	case float64:
		return "float"
	case string:
		return "str"
	case *List:
		return "list"
	case *Dict:
		return "dict"
	case Opaque:
		return v.Type
	}
	return "object"
}

// Truth is bool(v).
func Truth(v Value) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case int64:
		return v != 0
	case float64:
		return v != 0
	case string:
		return v != ""
	case *List:
		return len(v.Items) > 0
	case *Dict:
		return v.Len() > 0
	}
	return true
}
