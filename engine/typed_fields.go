package engine

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// jsonField is a field of a struct as encoding/json sees it.
type jsonField struct {
	name   string
	index  []int
	typ    reflect.Type
	tagged bool
	quoted bool // the option "string"
}

// codec reads and writes structs by the rules of encoding/json, with two
// exceptions: names are case-sensitive, and nothing is left out without a word.
// It remembers the fields of the types that it met.
type codec map[reflect.Type]structFields

type structFields struct {
	list []jsonField
	err  error
}

func (c codec) fields(t reflect.Type) ([]jsonField, error) {
	f, ok := c[t]
	if !ok {
		f.list, f.err = fieldsOf(t)
		c[t] = f
	}
	return f.list, f.err
}

// fieldsOf lists the fields of a struct, and those of embedded ones. As in Go,
// the one that is nested least hides the others, and a tag beats none; where
// encoding/json would drop fields that are still alike, it is an error.
func fieldsOf(t reflect.Type) ([]jsonField, error) {
	var fields []jsonField
	taken, visited := map[string]bool{}, map[reflect.Type]bool{}
	for level := []jsonField{{typ: t}}; len(level) > 0; {
		var names []string
		found := map[string][]jsonField{}
		var deeper []jsonField
		for _, s := range level {
			own, embedded := declared(s)
			for _, f := range own {
				if found[f.name] == nil {
					names = append(names, f.name)
				}
				found[f.name] = append(found[f.name], f)
			}
			deeper = append(deeper, embedded...)
		}
		for _, name := range names {
			if taken[name] {
				continue
			}
			taken[name] = true
			f, err := dominant(t, found[name])
			if err != nil {
				return nil, err
			}
			fields = append(fields, f)
		}
		for _, s := range level {
			visited[s.typ] = true
		}
		level = slices.DeleteFunc(deeper, func(f jsonField) bool { return visited[f.typ] })
	}
	return fields, nil
}

// declared parts the fields of one struct into its own and the structs that it
// embeds.
func declared(s jsonField) (own, embedded []jsonField) {
	for i := range s.typ.NumField() {
		sf := s.typ.Field(i)
		tag := sf.Tag.Get("json")
		base := sf.Type
		if base.Name() == "" && base.Kind() == reflect.Pointer {
			base = base.Elem()
		}
		if tag == "-" || !sf.IsExported() && !(sf.Anonymous && base.Kind() == reflect.Struct) {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if !validName(name) {
			name = ""
		}
		f := jsonField{name: name, index: append(slices.Clone(s.index), i), typ: sf.Type, tagged: name != ""}
		if name == "" && sf.Anonymous && base.Kind() == reflect.Struct {
			f.typ = base
			embedded = append(embedded, f)
			continue
		}
		if name == "" {
			f.name = sf.Name
		}
		f.quoted = slices.Contains(strings.Split(options, ","), "string") && scalar(base.Kind()) && !opaque(base)
		own = append(own, f)
	}
	return own, embedded
}

func dominant(t reflect.Type, same []jsonField) (jsonField, error) {
	if len(same) == 1 {
		return same[0], nil
	}
	if tagged := slices.DeleteFunc(slices.Clone(same), func(f jsonField) bool { return !f.tagged }); len(tagged) == 1 {
		return tagged[0], nil
	}
	return jsonField{}, fmt.Errorf("%s has %d fields that are %q in JSON", t, len(same), same[0].name)
}

// validName reports whether encoding/json takes the name from a tag.
func validName(name string) bool {
	for _, r := range name {
		if !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return false
		}
	}
	return name != ""
}

func scalar(k reflect.Kind) bool {
	return k >= reflect.Bool && k <= reflect.Float64 || k == reflect.String
}

var opaqueTypes = []reflect.Type{
	reflect.TypeFor[json.Marshaler](), reflect.TypeFor[json.Unmarshaler](),
	reflect.TypeFor[encoding.TextMarshaler](), reflect.TypeFor[encoding.TextUnmarshaler](),
}

// opaque reports a type that decides about its JSON itself.
func opaque(t reflect.Type) bool {
	return slices.ContainsFunc(opaqueTypes, reflect.PointerTo(t).Implements)
}

func deref(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// checkType refuses types of which encoding/json would lose something.
func (c codec) checkType(t reflect.Type, seen map[reflect.Type]bool) error {
	t = deref(t)
	if seen[t] || opaque(t) {
		return nil
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Slice, reflect.Array, reflect.Map:
		return c.checkType(t.Elem(), seen)
	case reflect.Struct:
		fields, err := c.fields(t)
		if err != nil {
			return err
		}
		for _, f := range fields {
			if err := settable(t, f); err != nil {
				return err
			}
			if err := c.checkType(f.typ, seen); err != nil {
				return err
			}
		}
	}
	return nil
}

// settable refuses a field that is only reached through something unexported.
func settable(t reflect.Type, f jsonField) error {
	for i := range f.index {
		sf := t.FieldByIndex(f.index[:i+1])
		last := i == len(f.index)-1
		if !sf.IsExported() && (last || sf.Type.Kind() == reflect.Pointer) {
			return fmt.Errorf("field %q of %s cannot be set through the unexported %s", f.name, t, sf.Name)
		}
	}
	return nil
}
