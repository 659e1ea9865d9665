package teff

import (
	"strings"

	"github.com/flowtui/flowtui/engine/teff/py"
)

// compare takes both sides as numbers when both are, else as text.
func compare(c, state *py.Dict) (py.Value, error) {
	a := py.Str(state.GetOr(text(c, "input_key", ""), nil))
	b := py.Str(c.GetOr("value", nil))
	op, ok := c.GetOr("op", "eq").(string)
	if !ok {
		op = "None"
	}
	x, notX := py.ParseFloat(a)
	y, notY := py.ParseFloat(b)
	if notX == nil && notY == nil {
		return compared(op, x < y, x == y, x > y)
	}
	v, err := compared(op, a < b, a == b, a > b)
	if a, b := py.Strip(a), py.Strip(b); err == nil {
		if stripped, _ := compared(op, a < b, a == b, a > b); stripped != v {
			return nil, inexact("compare: white space around a text decides, and the format does not say whether it counts")
		}
	}
	return v, err
}

// compared applies an operator; nothing holds for nan but "ne".
func compared(op string, less, equal, greater bool) (py.Value, error) {
	switch op {
	case "eq":
		return yesNo(equal), nil
	case "ne":
		return yesNo(!equal), nil
	case "gt":
		return yesNo(greater), nil
	case "ge":
		return yesNo(greater || equal), nil
	case "lt":
		return yesNo(less), nil
	case "le":
		return yesNo(less || equal), nil
	}
	return nil, py.Errorf("ValueError", "unknown compare op: %s", op)
}

func split(c *py.Dict, v py.Value) (py.Value, error) {
	s := py.Str(v)
	sep, ok := c.GetOr("sep", ",").(string)
	if !ok {
		return textList(py.Fields(s)), nil
	}
	parts, err := py.Split(s, sep)
	if err != nil {
		return nil, err
	}
	return textList(parts), nil
}

func textList(parts []string) *py.List {
	l := py.NewList()
	for _, part := range parts {
		l.Items = append(l.Items, part)
	}
	return l
}

func join(c *py.Dict, v py.Value) (py.Value, error) {
	if !py.Truth(v) {
		return "", nil
	}
	sep, ok := c.GetOr("sep", ",").(string)
	if !ok {
		return nil, noAttribute(nil, "join")
	}
	all, err := items(v)
	if err != nil {
		return nil, err
	}
	parts := make([]string, len(all))
	for i, item := range all {
		parts[i] = py.Str(item)
	}
	return strings.Join(parts, sep), nil
}

func replace(c *py.Dict, v py.Value) (py.Value, error) {
	var pair [2]string
	for i, option := range []string{"old", "new"} {
		given := c.GetOr(option, "")
		s, ok := given.(string)
		if !ok {
			return nil, py.Errorf("TypeError", "replace() argument %d must be str, not %s", i+1, py.TypeName(given))
		}
		pair[i] = s
	}
	return py.Replace(py.Str(v), pair[0], pair[1]), nil
}

func coalesce(c, state *py.Dict) py.Value {
	for _, v := range []py.Value{input(c, state), c.GetOr("value", nil)} {
		if v != nil && v != "" {
			return py.Str(v)
		}
	}
	return ""
}

// number goes through a float also for ints, and so loses digits above 2^53.
func number(action string, v py.Value) (py.Value, error) {
	f, err := py.ParseFloat(py.Str(v))
	if err != nil {
		return nil, err
	}
	if action == "to_float" {
		return py.Str(f), nil
	}
	n, err := py.Int(f)
	if err != nil {
		return nil, err
	}
	return py.Str(n), nil
}
