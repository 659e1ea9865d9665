package flowfile

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

type kind string

const (
	broken    kind = "broken" // told already; whoever reads it stays silent
	isNull    kind = "null"
	isBool    kind = "a boolean"
	isNumber  kind = "a number"
	isText    kind = "a string"
	isList    kind = "a list"
	isMapping kind = "a mapping"
)

// item is one value of a document with its place.
type item struct {
	kind         kind
	file         string // that includes it is of; "": the main one
	line, column int
	text         string            // of a text or a number
	filled       string            // the text as a template, when it holds what was taken from the environment
	unfilled     string            // the text as it stands in the file then
	variables    map[string]string // what stands for each ${NAME} of it, and for each $${NAME}
	truth        bool              // of a boolean
	list         []*item
	fields       []field
	size, height int  // with aliases expanded
	typo         bool // it has a key that is not read
}

type field struct {
	key   *item
	value *item
}

// written is a scalar as it stands in the file.
func (it *item) written() string {
	switch {
	case it.kind == isBool:
		return strconv.FormatBool(it.truth)
	case it.variables != nil:
		return it.unfilled
	}
	return it.text
}

// value returns the JSON value.
func (it *item) value() any {
	switch it.kind {
	case isBool:
		return it.truth
	case isNumber:
		return json.Number(it.text)
	case isText:
		return it.text
	case isList:
		list := make([]any, len(it.list))
		for i, e := range it.list {
			list[i] = e.value()
		}
		return list
	case isMapping:
		m := make(map[string]any, len(it.fields))
		for _, f := range it.fields {
			m[f.key.text] = f.value.value()
		}
		return m
	}
	return nil
}

// get returns the value of a key, nil when it is absent.
func (it *item) get(key string) *item {
	if it == nil {
		return nil
	}
	for _, f := range it.fields {
		if f.key.text == key {
			return f.value
		}
	}
	return nil
}

// wrong tells that an item is of another kind than it must be.
func (r reader) wrong(it *item, what string, want kind) {
	switch {
	case it.kind == broken:
	case want == isBool:
		r.fail(it, "%s must be true or false", what)
	case want == isText && (it.kind == isNumber || it.kind == isBool):
		r.fail(it, "%s must be a string, not %s; quote it: %q", what, it.kind, it.written())
	default:
		r.fail(it, "%s must be %s, not %s", what, want, it.kind)
	}
}

// keys are the keys that a mapping may have: those that this version reads,
// and those that the dialect has but this version does not.
type keys struct {
	known []string
	later []string
}

// mapping checks that it is a mapping with nothing but the given keys: a typo
// must not be ignored. A null counts as an empty mapping.
func (r reader) mapping(it *item, what string, k keys) bool {
	if it == nil || it.kind == isNull {
		return true
	}
	if it.kind != isMapping {
		r.wrong(it, what, isMapping)
		return false
	}
	for _, f := range it.fields {
		switch key := f.key.text; {
		case slices.Contains(k.known, key):
		case slices.Contains(k.later, key):
			it.typo = true // what is missing may be meant by it
			r.fail(f.key, "%s: %q is not supported by this version", what, key)
		default:
			it.typo = true
			r.fail(f.key, "%s has no key %q; known keys: %s", what, key, strings.Join(k.known, ", "))
		}
	}
	return true
}

// items returns the elements of a list; null is an empty one.
func (r reader) items(it *item, what string) []*item {
	if it == nil || it.kind == isNull {
		return nil
	}
	if it.kind != isList {
		r.wrong(it, what, isList)
		return nil
	}
	return it.list
}

// text returns a string, "" when the key is absent.
func (r reader) text(it *item, what string) string {
	if it == nil {
		return ""
	}
	if it.kind != isText {
		r.wrong(it, what, isText)
		return ""
	}
	return it.text
}

// required is text that must be there.
func (r reader) required(parent *item, key, what string) string {
	it := parent.get(key)
	if it == nil {
		r.missing(parent, key, what)
		return ""
	}
	s := r.text(it, key)
	if it.kind == isText && s == "" {
		r.fail(it, "%s must not be empty", key)
	}
	return s
}

// missing tells of a key that must be there, unless one that is there is
// misspelt: it may be that one.
func (r reader) missing(parent *item, key, what string) {
	if !parent.typo {
		r.fail(parent, "%s needs %q", what, key)
	}
}

// truth returns a boolean, false when the key is absent.
func (r reader) truth(it *item, what string) bool {
	if it == nil {
		return false
	}
	if it.kind != isBool {
		r.wrong(it, what, isBool)
	}
	return it.truth
}

// texts returns a list of strings.
func (r reader) texts(it *item, what string) []string {
	var out []string
	for _, e := range r.items(it, what) {
		out = append(out, r.text(e, "each of "+what))
	}
	return out
}
