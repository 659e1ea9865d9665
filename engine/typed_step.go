package engine

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// encodeFields gives the JSON of each field, also of those that encoding/json
// would leave out because they are empty.
func (c codec) encodeFields(v reflect.Value) (map[string]any, error) {
	t := v.Type()
	if t.Kind() != reflect.Struct || opaque(t) {
		raw, err := encodeSafely(v)
		if err != nil {
			return nil, fmt.Errorf("%s cannot be kept: %w", t, err)
		}
		return DecodeState(raw)
	}
	fields, err := c.fields(t)
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	for _, f := range fields {
		raw, err := encodeSafely(at(v, f))
		if err == nil {
			if f.quoted && string(raw) != "null" {
				out[f.name] = string(raw)
				continue
			}
			out[f.name], err = DecodeValue(raw)
		}
		if err != nil {
			return nil, fmt.Errorf("field %q of %s cannot be kept: %w", f.name, t, err)
		}
	}
	return out, nil
}

// at is a field of a struct, zero when it is in an embedded struct that is nil.
func at(v reflect.Value, f jsonField) reflect.Value {
	field, err := v.FieldByIndexErr(f.index)
	if err != nil {
		return reflect.Zero(f.typ)
	}
	return field
}

// encodeSafely is encode for values whose own MarshalJSON may panic.
func encodeSafely(v reflect.Value) (raw json.RawMessage, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("writing it panicked: %v", r)
		}
	}()
	if !v.IsValid() {
		return json.RawMessage("null"), nil
	}
	if !v.CanInterface() {
		return nil, fmt.Errorf("%s is not exported", v.Type())
	}
	if text, ok := v.Interface().(json.RawMessage); ok {
		if text == nil {
			return json.RawMessage("null"), nil
		}
		return encode(text)
	}
	if v.CanAddr() {
		v = v.Addr() // a MarshalJSON of the pointer counts too
	}
	return encode(v.Interface())
}

// changes is the update that turns the state as it was into what it is.
func (c codec) changes(s State, was, is map[string]any, t reflect.Type, reducers map[string]Reducer) (State, error) {
	types, err := c.members(deref(t), is)
	if err != nil {
		return nil, err
	}
	update := State{}
	for _, name := range names(is) {
		now := is[name]
		if old, ok := was[name]; ok && reflect.DeepEqual(old, now) {
			continue
		}
		if now, err = c.merge(change{s[name], was[name], now, name}, types[name]); err != nil {
			return nil, err
		}
		if list, ok := s[name].([]any); ok && reducers[name] == Append {
			if now, err = added(list, now, name); err != nil {
				return nil, err
			}
		}
		update[name] = now
	}
	for _, name := range names(was) {
		if _, ok := is[name]; !ok {
			return nil, fmt.Errorf("%q was taken away: a node can set a key of the state, to null for instance, but not remove it", name)
		}
	}
	return update, nil
}

// members are the types of the members of an object; those of an opaque type
// are not known.
func (c codec) members(t reflect.Type, object map[string]any) (map[string]reflect.Type, error) {
	types := map[string]reflect.Type{}
	switch {
	case opaque(t):
	case t.Kind() == reflect.Map:
		for name := range object {
			types[name] = t.Elem()
		}
	case t.Kind() == reflect.Struct:
		fields, err := c.fields(t)
		if err != nil {
			return nil, err
		}
		for _, f := range fields {
			types[f.name] = f.typ
		}
	}
	return types, nil
}

// added is what a list grew by.
func added(old []any, now any, name string) (any, error) {
	list, ok := now.([]any)
	if !ok || len(list) <= len(old) || !reflect.DeepEqual(list[:len(old)], old) {
		return nil, fmt.Errorf("%q has the reducer %q: a node can add to its end, and change nothing else of it", name, Append)
	}
	return list[len(old):], nil
}

// change is a value that changed: as the state has it, and as the type wrote it
// before and after.
type change struct {
	old, was, is any
	at           string
}

// merge applies a change to the value in the state, so that what the type does
// not have stays.
func (c codec) merge(ch change, t reflect.Type) (any, error) {
	if t == nil || opaque(deref(t)) {
		return ch.is, nil
	}
	t = deref(t)
	switch old := ch.old.(type) {
	case map[string]any:
		was, ok1 := ch.was.(map[string]any)
		is, ok2 := ch.is.(map[string]any)
		if ok1 && ok2 && (t.Kind() == reflect.Struct || t.Kind() == reflect.Map) {
			return c.mergeObject(old, was, is, ch.at, t)
		}
	case []any:
		was, ok1 := ch.was.([]any)
		is, ok2 := ch.is.([]any)
		if ok1 && ok2 && len(old) == len(was) && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) {
			return c.mergeList(old, was, is, ch.at, t.Elem())
		}
	}
	return ch.is, nil
}

func (c codec) mergeObject(old, was, is map[string]any, at string, t reflect.Type) (any, error) {
	types, err := c.members(t, is)
	if err != nil {
		return nil, err
	}
	out := maps.Clone(old)
	for name := range was {
		if _, ok := is[name]; !ok {
			delete(out, name)
		}
	}
	for _, name := range names(is) {
		now := is[name]
		before, ok := was[name]
		if ok && reflect.DeepEqual(before, now) {
			continue
		}
		if out[name], err = c.merge(change{old[name], before, now, join(at, name)}, types[name]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// mergeList finds out which old element each new one was, see [Step].
func (c codec) mergeList(old, was, is []any, at string, elem reflect.Type) (any, error) {
	from, moved, gone, err := match(was, is)
	if err != nil {
		return nil, err
	}
	inPlace := !moved && len(is) >= len(was)
	out := make([]any, len(is))
	for i, now := range is {
		switch {
		case from[i] >= 0:
			out[i] = old[from[i]]
		case inPlace && i < len(was):
			if out[i], err = c.merge(change{old[i], was[i], now, fmt.Sprintf("%s[%d]", at, i)}, elem); err != nil {
				return nil, err
			}
		case inPlace:
			out[i] = now // added at the end
		default:
			if err := c.losesNothing(old, gone, at, elem); err != nil {
				return nil, err
			}
			out[i] = now
		}
	}
	return out, nil
}

// losesNothing reports an old element with something that its type does not
// have, when it cannot be told whether it is one of the new ones.
func (c codec) losesNothing(old []any, gone []int, at string, elem reflect.Type) error {
	for _, j := range gone {
		if known, err := c.fit(old[j], elem, ""); err != nil || !reflect.DeepEqual(known, old[j]) {
			return fmt.Errorf("elements of %s were moved or removed and changed at once, and %s[%d] has something that %s does not: "+
				"which one would keep it cannot be told; add it to the type, or move and change in two nodes", at, at, j, elem)
		}
	}
	return nil
}

// match finds for each element of a list the equal one that it was, -1 for
// none; those at the same place first. Gone are the old ones that are none.
func match(was, is []any) (from []int, moved bool, gone []int, err error) {
	from = make([]int, len(is))
	left := map[string][]int{}
	for j, w := range was {
		if j < len(is) && reflect.DeepEqual(w, is[j]) {
			continue
		}
		raw, err := marshal(w)
		if err != nil {
			return nil, false, nil, err
		}
		left[string(raw)] = append(left[string(raw)], j)
	}
	for i, now := range is {
		from[i] = i
		if i < len(was) && reflect.DeepEqual(was[i], now) {
			continue
		}
		raw, err := marshal(now)
		if err != nil {
			return nil, false, nil, err
		}
		from[i] = -1
		if same := left[string(raw)]; len(same) > 0 {
			from[i], left[string(raw)], moved = same[0], same[1:], true
		}
	}
	for _, same := range left {
		gone = append(gone, same...)
	}
	slices.Sort(gone)
	return from, moved, gone, nil
}
