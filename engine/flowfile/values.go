package flowfile

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/teff/py"
)

// Conditions and templates compare and print values as Python's str() does:
// the dialect was defined by a Python program.

// toPython is a value of a state as Python has it. A mapping's keys come sorted,
// since a state does not keep their order. Of a number's digits a float keeps
// what a double can.
func toPython(v any) py.Value {
	switch v := v.(type) {
	case nil, bool, string, float64:
		return v
	case json.Number:
		if isInteger(v) {
			if n, ok := new(big.Int).SetString(string(v), 10); ok {
				return py.NewInt(n)
			}
		}
		f, _ := strconv.ParseFloat(string(v), 64) // out of range is an infinity, as in Python
		return f
	case []any:
		list := py.NewList()
		for _, e := range v {
			list.Items = append(list.Items, toPython(e))
		}
		return list
	case map[string]any:
		return toDict(v)
	case engine.State:
		return toDict(v)
	}
	return py.Opaque{Type: fmt.Sprintf("%T", v), Text: fmt.Sprint(v), Code: fmt.Sprint(v)} // a Go node's own type
}

func toDict(m map[string]any) *py.Dict {
	d := py.NewDict()
	for _, key := range slices.Sorted(maps.Keys(m)) {
		d.Set(key, toPython(m[key]))
	}
	return d
}

func isInteger(n json.Number) bool { return !strings.ContainsAny(string(n), ".eE") }

// str is Python's str() of a value.
func str(v any) string { return py.Str(toPython(v)) }

// parseFloat is Python's float() of a text.
func parseFloat(s string) (float64, bool) {
	f, err := py.ParseFloat(s)
	return f, err == nil
}

// ascii is Python's ascii() of a text.
func ascii(s string) string {
	text, err := py.FormatMap("{s!a}", py.NewDict(py.Entry{Key: "s", Value: s}))
	if err != nil { // there is nothing to go wrong
		panic(err)
	}
	return text
}
