package flowfile

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/teff/py"
)

// operators in the order in which they are looked for, anywhere in the text.
var operators = []string{">=", "<=", "!=", ">", "<", "="}

// condition is `key OP value`: a plain key of the state, not a path.
type condition struct {
	key, op, value string
	values         []string // those that commas separate; none of an empty value
}

// parseCondition returns false for a text without an operator.
func parseCondition(text string) (condition, bool) {
	for _, op := range operators {
		if key, value, ok := strings.Cut(text, op); ok {
			return newCondition(py.Strip(key), op, py.Strip(value)), true
		}
	}
	return condition{}, false
}

func newCondition(key, op, value string) condition {
	c := condition{key: key, op: op, value: value}
	if value != "" {
		c.values = strings.Split(value, ",")
	}
	return c
}

// conditionOf is the condition that an item holds. It is read as it is written:
// what its variables hold is text, whether there is an operator in it or a comma.
func conditionOf(it *item) (condition, bool) {
	c, ok := parseCondition(it.written())
	return c.fill(it), ok
}

// fill fills in the variables of the item that a condition is of.
func (c condition) fill(it *item) condition {
	c.key, c.value = it.fillIn(c.key), it.fillIn(c.value)
	for i, v := range c.values {
		c.values[i] = it.fillIn(v)
	}
	return c
}

func (c condition) test(s engine.State) (bool, error) {
	v := s[c.key]
	empty := v == nil || v == ""
	switch {
	case c.op == "=" && len(c.values) == 0:
		return empty, nil
	case c.op == "!=" && len(c.values) == 0:
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
	return slices.ContainsFunc(c.values, func(w string) bool { return norm(w) == n })
}

// norm makes texts equal that people mean to be: "Yes!" and "yes".
func norm(s string) string {
	return strings.TrimRight(py.Lower(py.Strip(s)), ".,!?;:")
}

// compare is false when one side is not a number.
func (c condition) compare(v any) (bool, error) {
	x, err := py.Float(toPython(v))
	if e := (*py.Error)(nil); errors.As(err, &e) && e.Type == "OverflowError" {
		return false, fmt.Errorf("condition on %q: the integer is too large to compare", c.key)
	}
	y, ok := parseFloat(c.value)
	if err != nil || !ok {
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
