package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
)

// State is a run's state, one JSON object. Numbers are json.Number, so they
// keep every digit; nested values are map[string]any, []any, string, bool or nil.
type State map[string]any

// DecodeState reads one JSON object. An empty input and null are an empty state.
func DecodeState(data []byte) (State, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return State{}, nil
	}
	v, err := DecodeValue(data)
	if err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	if v == nil {
		return State{}, nil
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("state: want a JSON object")
	}
	return m, nil
}

// DecodeValue reads exactly one JSON value with exact numbers.
func DecodeValue(data []byte) (any, error) {
	if err := checkText(data); err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("not JSON: something follows the value")
	}
	return v, nil
}

// Clone returns a deep copy.
func (s State) Clone() State {
	c, _ := cloneValue(map[string]any(s)).(map[string]any)
	return c
}

func cloneValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := make(map[string]any, len(v))
		for k, e := range v {
			m[k] = cloneValue(e)
		}
		return m
	case []any:
		l := make([]any, len(v))
		for i, e := range v {
			l[i] = cloneValue(e)
		}
		return l
	}
	return v
}

// Reducer says how an update of one key meets the value that is there.
type Reducer string

// The reducers.
const (
	Override Reducer = "override" // replace; the default
	Keep     Reducer = "keep"     // set only when the key is absent
	Append   Reducer = "append"   // a list grows by a list's items or by one item; anything else is replaced
)

// Merge applies the updates in order and returns a new state. The order is the
// flow's node order, so the result does not depend on who finished first.
func Merge(s State, reducers map[string]Reducer, updates ...State) State {
	own := make([]State, len(updates))
	for i, u := range updates {
		own[i] = u.Clone()
	}
	return merge(s.Clone(), reducers, own)
}

// merge is Merge for values that nobody changes any more: the new state shares
// them.
func merge(s State, reducers map[string]Reducer, updates []State) State {
	out := maps.Clone(s)
	if out == nil {
		out = State{}
	}
	for _, u := range updates {
		for k, v := range u {
			out[k] = reduce(out, k, v, reducers[k])
		}
	}
	return out
}

func reduce(s State, key string, v any, r Reducer) any {
	old, present := s[key]
	switch r {
	case Keep:
		if present {
			return old
		}
	case Append:
		if list, ok := old.([]any); ok {
			list = slices.Clip(list) // the old state keeps its own
			if more, ok := v.([]any); ok {
				return append(list, more...)
			}
			return append(list, v)
		}
	}
	return v
}
