package teff

import (
	"errors"
	"strings"

	"github.com/flowtui/flowtui/engine/teff/py"
)

// The operators, in the order in which they are looked for: the first that is
// found anywhere splits the condition (teff format, condition language).
var operators = []string{">=", "<=", "!=", ">", "<", "="}

// splitCondition gives the stripped key and value of "key OP value"; op is ""
// when there is no operator.
func splitCondition(condition string) (key, op, value string) {
	for _, op := range operators {
		if key, value, found := strings.Cut(condition, op); found {
			return py.Strip(key), op, py.Strip(value)
		}
	}
	return "", "", ""
}

// Holds evaluates a condition of an edge or a route on a state. It is an
// OverflowError when an int of the state is too large for a float; anything
// that cannot be compared is false.
func Holds(condition string, state *py.Dict) (bool, error) {
	key, op, want := splitCondition(condition)
	if op == "" {
		return false, nil
	}
	got := state.GetOr(key, nil)
	switch op {
	case "=":
		return matches(got, want), nil
	case "!=":
		return differs(got, want), nil
	}
	return compares(got, op, want)
}

func matches(got py.Value, want string) bool {
	if want == "" {
		return got == nil || got == ""
	}
	return got != nil && anyOf(got, want)
}

func differs(got py.Value, want string) bool {
	if want == "" {
		return got != nil && got != ""
	}
	return got == nil || !anyOf(got, want)
}

// anyOf compares with each part of a comma list; quotes and brackets are literal.
func anyOf(got py.Value, list string) bool {
	text := norm(py.Str(got))
	for part := range strings.SplitSeq(list, ",") {
		if norm(part) == text {
			return true
		}
	}
	return false
}

// norm is how both sides of an equality are read: no case, no white space
// around, no punctuation at the end (and what stands before it stays).
func norm(text string) string {
	return strings.TrimRight(py.Lower(py.Strip(text)), ".,!?;:")
}

func compares(got py.Value, op, want string) (bool, error) {
	if got == nil {
		return false, nil
	}
	a, err := py.Float(got)
	if err != nil {
		return false, unlessOverflow(err)
	}
	b, err := py.ParseFloat(want)
	if err != nil {
		return false, unlessOverflow(err)
	}
	switch op {
	case ">=":
		return a >= b, nil
	case "<=":
		return a <= b, nil
	case ">":
		return a > b, nil
	}
	return a < b, nil
}

// unlessOverflow forgives what float() raises for something that is no number.
func unlessOverflow(err error) error {
	var raised *py.Error
	if errors.As(err, &raised) && (raised.Type == "ValueError" || raised.Type == "TypeError") {
		return nil
	}
	return err
}
