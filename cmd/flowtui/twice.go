package main

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// noKeyTwice refuses JSON in which a key of an object stands twice, as flow files
// do: which of its values is meant nobody can tell. Of what is no JSON nothing is
// said here.
func noKeyTwice(data []byte) error {
	type level struct {
		keys  map[string]bool // nil in a list
		value bool            // a key was read: its value comes
	}
	var open []level
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	for {
		t, err := dec.Token()
		if err != nil {
			return nil // the end, or no JSON
		}
		if n := len(open); n > 0 && open[n-1].keys != nil && t != json.Delim('}') {
			in := &open[n-1]
			if key, ok := t.(string); ok && !in.value {
				if in.keys[key] {
					return fmt.Errorf("the key %q stands twice in one object", key)
				}
				in.keys[key], in.value = true, true
				continue
			}
			in.value = false
		}
		switch t {
		case json.Delim('{'):
			open = append(open, level{keys: map[string]bool{}})
		case json.Delim('['):
			open = append(open, level{})
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
		}
	}
}
