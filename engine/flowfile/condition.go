package flowfile

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/flowtui/flowtui/engine"
)

// operators in the order in which they are looked for, anywhere in the text.
var operators = []string{">=", "<=", "!=", ">", "<", "="}

// condition is `key OP value`: a plain key of the state, not a path.
type condition struct {
	key, op, value string
}

// parseCondition returns false for a text without an operator.
func parseCondition(text string) (condition, bool) {
	for _, op := range operators {
		if key, value, ok := strings.Cut(text, op); ok {
			return condition{strip(key), op, strip(value)}, true
		}
	}
	return condition{}, false
}

func (c condition) test(s engine.State) (bool, error) {
	v := s[c.key]
	empty := v == nil || v == ""
	switch {
	case c.op == "=" && c.value == "":
		return empty, nil
	case c.op == "!=" && c.value == "":
		return !empty, nil
	case c.op == "=":
		return v != nil && c.lists(v), nil
	case c.op == "!=":
		return v == nil || !c.lists(v), nil
	}
	return c.compare(v)
}

// lists tells whether the value is one of the condition's, which commas separate.
func (c condition) lists(v any) bool {
	n := norm(str(v))
	return slices.ContainsFunc(strings.Split(c.value, ","), func(w string) bool { return norm(w) == n })
}

// norm makes texts equal that people mean to be: "Yes!" and "yes".
func norm(s string) string {
	return strings.TrimRight(lower(strip(s)), ".,!?;:")
}

// compare is false when one side is not a number.
func (c condition) compare(v any) (bool, error) {
	x, ok, err := toFloat(v)
	if err != nil {
		return false, fmt.Errorf("condition on %q: %w", c.key, err)
	}
	y, ok2 := parseFloat(c.value)
	if !ok || !ok2 {
		return false, nil
	}
	switch c.op {
	case ">=":
		return x >= y, nil
	case "<=":
		return x <= y, nil
	case ">":
		return x > y, nil
	}
	return x < y, nil
}

// toFloat is Python's float() of a value; false when it is not a number.
func toFloat(v any) (float64, bool, error) {
	switch v := v.(type) {
	case bool:
		if v {
			return 1, true, nil
		}
		return 0, true, nil
	case float64:
		return v, true, nil
	case json.Number:
		f, _ := strconv.ParseFloat(string(v), 64)
		if isInteger(v) && math.IsInf(f, 0) {
			return 0, false, fmt.Errorf("the integer of %d digits is too large to compare", len(v))
		}
		return f, true, nil
	case string:
		f, ok := parseFloat(v)
		return f, ok, nil
	}
	return 0, false, nil
}
