package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestNoKeyTwice(t *testing.T) {
	for text, key := range map[string]string{
		`{"w":0,"w":1}`:                       "w",
		`{"a":{"x":1},"b":[{"x":1,"x":2}]}`:   "x",
		`{"a":"b","b":"a","c":["a","a"]}`:     "",
		`[{"x":1},{"x":1}]`:                   "",
		`{"x":{"x":{"x":"x"}}}`:               "",
		`{"a":[],"b":{},"a":null}`:            "a",
		`{"\u0061":1,"a":2}`:                  "a",
		`"a"`:                                 "",
		`{"a":1,"a"`:                          "a",
		`{"a":1`:                              "",
		`nonsense`:                            "",
		`{"a":{"b":1,"b":2},"c":1,"d":{}}`:    "b",
		`{"a":{"b":1},"b":{"a":1},"ab":true}`: "",
	} {
		err := noKeyTwice([]byte(text))
		if (err != nil) != (key != "") || err != nil && !strings.Contains(err.Error(), `"`+key+`"`) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Members are lost when a text is read exactly where a key stood twice.
func FuzzNoKeyTwice(f *testing.F) {
	for _, text := range []string{`{"a":1,"a":2}`, `{"a":[{"b":{}}],"b":"a"}`, `[1,":\"",null]`, `{"a":1}{"a":2}`, "{\"\xff\":1,\"\xfe\":2}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		err := noKeyTwice([]byte(text))
		var v any
		if json.Unmarshal([]byte(text), &v) != nil {
			return
		}
		if lost := colons(text) != members(v); lost != (err != nil) {
			t.Errorf("%q: %v", text, err)
		}
	})
}

// colons are those outside of the strings of JSON.
func colons(text string) (n int) {
	inside := false
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			inside = !inside
		case '\\':
			i++ // only strings have them
		case ':':
			if !inside {
				n++
			}
		}
	}
	return n
}

func members(v any) (n int) {
	switch v := v.(type) {
	case map[string]any:
		n = len(v)
		for _, e := range v {
			n += members(e)
		}
	case []any:
		for _, e := range v {
			n += members(e)
		}
	}
	return n
}
