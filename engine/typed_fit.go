package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// misfit says where a JSON value does not fit a type.
type misfit struct{ at, want, found string }

func (m *misfit) Error() string {
	text := fmt.Sprintf("want %s, found %s", m.want, m.found)
	if m.at != "" {
		text = m.at + ": " + text
	}
	return text
}

// decodeInto reads a JSON value into what a pointer points at.
func decodeInto(value any, into reflect.Value) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("reading it panicked: %v", r)
		}
	}()
	fitted, err := codec{}.fit(value, into.Type().Elem(), "")
	if err != nil {
		return err
	}
	raw, err := marshal(fitted)
	if err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	err = dec.Decode(into.Interface())
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return &misfit{wrong.Field, wanted(wrong.Type), clip(wrong.Value)}
	}
	return err
}

// fit gives the part of a JSON value that a type has, by exact names, or says
// where the value does not fit. What a type decides itself is left to it.
func (c codec) fit(v any, t reflect.Type, at string) (any, error) {
	base := deref(t)
	found := kindOf(v)
	if found == "" || base.Kind() == reflect.Interface || opaque(base) {
		return v, nil
	}
	no := &misfit{at, wanted(base), found}
	if v == nil {
		if t.Kind() == reflect.Pointer || base.Kind() == reflect.Map || base.Kind() == reflect.Slice {
			return nil, nil
		}
		return nil, no
	}
	switch v := v.(type) {
	case map[string]any:
		return c.fitObject(v, base, at, no)
	case []any:
		return c.fitList(v, base, at, no)
	case string:
		bytes := base.Kind() == reflect.Slice && base.Elem().Kind() == reflect.Uint8
		return v, no.unless(bytes || base.Kind() == reflect.String && base != numberType)
	case bool:
		return v, no.unless(base.Kind() == reflect.Bool)
	}
	number := base.Kind() >= reflect.Int && base.Kind() <= reflect.Float64
	return v, no.unless(number || base == numberType)
}

var numberType = reflect.TypeFor[json.Number]()

func (m *misfit) unless(ok bool) error {
	if ok {
		return nil
	}
	return m
}

func (c codec) fitObject(v map[string]any, t reflect.Type, at string, no *misfit) (any, error) {
	out := map[string]any{}
	switch t.Kind() {
	case reflect.Map:
		for _, k := range names(v) {
			fitted, err := c.fit(v[k], t.Elem(), join(at, k))
			if err != nil {
				return nil, err
			}
			out[k] = fitted
		}
		return out, nil
	case reflect.Struct:
		fields, err := c.fields(t)
		if err != nil {
			return nil, err
		}
		for _, f := range fields {
			e, ok := v[f.name]
			if !ok {
				continue
			}
			if out[f.name], err = c.fitField(e, f, join(at, f.name)); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return nil, no
}

// fitField is fit for a field of a struct, which may have its JSON in a string.
func (c codec) fitField(v any, f jsonField, at string) (any, error) {
	if !f.quoted || v == nil {
		return c.fit(v, f.typ, at)
	}
	no := &misfit{at, "a string with " + wanted(f.typ), kindOf(v)}
	text, ok := v.(string)
	if !ok {
		return nil, no
	}
	inner, err := DecodeValue([]byte(text))
	if err == nil {
		_, err = c.fit(inner, f.typ, at)
	}
	if err != nil {
		no.found = "another string"
		return nil, no
	}
	return v, nil
}

func (c codec) fitList(v []any, t reflect.Type, at string, no *misfit) (any, error) {
	if t.Kind() != reflect.Slice && t.Kind() != reflect.Array {
		return nil, no
	}
	if t.Kind() == reflect.Array && t.Len() != len(v) {
		return nil, &misfit{at, fmt.Sprintf("a list of %d", t.Len()), fmt.Sprintf("a list of %d", len(v))}
	}
	out := make([]any, len(v))
	for i, e := range v {
		fitted, err := c.fit(e, t.Elem(), fmt.Sprintf("%s[%d]", at, i))
		if err != nil {
			return nil, err
		}
		out[i] = fitted
	}
	return out, nil
}

// names are the keys of an object in an order, so that of several errors it is
// always the same that is told.
func names(object map[string]any) []string { return slices.Sorted(maps.Keys(object)) }

func join(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

// kindOf names a JSON value, "" for any other one. It never shows the value,
// which may be a secret.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	case json.Number:
		return "a number"
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	}
	return ""
}

func wanted(t reflect.Type) string {
	t = deref(t)
	what := ""
	switch k := t.Kind(); {
	case k == reflect.Struct, k == reflect.Map:
		what = "an object"
	case k == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		what = "a string in base64"
	case k == reflect.Slice, k == reflect.Array:
		what = "a list"
	case t == numberType:
		what = "a number"
	case k == reflect.String:
		what = "a string"
	case k == reflect.Bool:
		what = "a boolean"
	case k == reflect.Float32, k == reflect.Float64:
		what = "a number"
	case k >= reflect.Int && k <= reflect.Uintptr:
		what = "a whole number"
	default:
		return t.String()
	}
	return fmt.Sprintf("%s (%s)", what, t)
}
