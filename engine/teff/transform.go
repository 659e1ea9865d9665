package teff

import (
	"strconv"
	"strings"

	"github.com/flowtui/flowtui/engine/teff/py"
)

// transform writes its result into the state itself and returns it as well, so
// that the reducers meet a state that has the result already.
func (x *executor) transform(n *Node, state *py.Dict) (result, error) {
	v, err := bounded(x.transformed(n.Config, state))
	if err != nil {
		return result{}, err
	}
	key := text(n.Config, "output_key", "")
	state.Set(key, v)
	return result{update: py.NewDict(py.Entry{Key: key, Value: v})}, nil
}

func (x *executor) transformed(c, state *py.Dict) (py.Value, error) {
	switch action := text(c, "action", ""); action {
	case "uppercase", "lowercase", "trim", "count_lines", "value":
		return rewrite(action, source(c, state))
	case "render":
		return render(c.GetOr("template", nil), state)
	case "json_get", "pick":
		return field(c, state)
	case "append":
		return appended(c, state)
	case "contains":
		return contains(c, state), nil
	case "compare":
		return compare(c, state)
	case "split":
		return split(c, input(c, state))
	case "join":
		return join(c, input(c, state))
	case "replace":
		return replace(c, input(c, state))
	case "coalesce":
		return coalesce(c, state), nil
	case "to_int", "to_float":
		return number(action, source(c, state))
	case "now":
		return x.now().UTC().Format("2006-01-02T15:04:05.000000+00:00"), nil
	default:
		return nil, py.Errorf("ValueError", "unknown transform action: %s", action)
	}
}

// input is the state's value under input_key, "" when it is missing.
func input(c, state *py.Dict) py.Value {
	key, ok := c.GetOr("input_key", "").(string)
	if !ok {
		return ""
	}
	return state.GetOr(key, "")
}

// source is value unless that is None, else the input.
func source(c, state *py.Dict) py.Value {
	if v := c.GetOr("value", nil); v != nil {
		return v
	}
	return input(c, state)
}

func rewrite(action string, v py.Value) (py.Value, error) {
	s, isText := v.(string)
	switch action {
	case "trim":
		return py.Strip(py.Str(v)), nil
	case "value":
		return py.Str(v), nil
	}
	method := map[string]string{"uppercase": "upper", "lowercase": "lower", "count_lines": "splitlines"}[action]
	if !isText {
		return nil, noAttribute(v, method)
	}
	switch action {
	case "uppercase":
		return py.Upper(s), nil
	case "lowercase":
		return py.Lower(s), nil
	}
	return strconv.Itoa(len(py.SplitLines(s))), nil
}

func noAttribute(v py.Value, name string) error {
	return py.Errorf("AttributeError", "'%s' object has no attribute '%s'", py.TypeName(v), name)
}

// render is a template on the state; without a brace it stays as it is.
func render(template py.Value, state *py.Dict) (py.Value, error) {
	s, ok := template.(string)
	if !ok {
		return nil, py.Errorf("TypeError", "argument of type '%s' is not iterable", py.TypeName(template))
	}
	rendered, err := py.Render(s, state)
	return bounded(rendered, err)
}

// field is one field of a dict; one level, no paths.
func field(c, state *py.Dict) (py.Value, error) {
	var v py.Value
	if key := text(c, "input_key", ""); key != "" {
		v = state.GetOr(key, nil)
	} else {
		v = c.GetOr("value", nil)
	}
	d, ok := v.(*py.Dict)
	if !ok {
		return nil, py.Errorf("ValueError", "json_get requires a dict in state key, got %s", py.TypeName(v))
	}
	name := text(c, "field", "")
	if name == "" {
		return nil, py.Errorf("ValueError", "json_get requires 'field'")
	}
	got, ok := d.Get(name)
	if !ok {
		return nil, py.NewKeyError("json_get: no field '" + name + "' in object")
	}
	if py.Truth(c.GetOr("raw", false)) {
		return got, nil
	}
	return py.Str(got), nil
}

func appended(c, state *py.Dict) (py.Value, error) {
	old, err := items(state.GetOr(text(c, "output_key", ""), py.NewList()))
	if err != nil {
		return nil, err
	}
	var item py.Value
	if template := text(c, "template", ""); template != "" {
		if item, err = render(template, state); err != nil {
			return nil, err
		}
	} else if item = c.GetOr("value", nil); item == nil {
		item = py.Str(orElse(input(c, state), ""))
	}
	return py.NewList(append(old, item)...), nil
}

// items is list(v): a new slice.
func items(v py.Value) ([]py.Value, error) {
	var all []py.Value
	switch v := v.(type) {
	case *py.List:
		return append(all, v.Items...), nil
	case *py.Dict:
		for _, key := range v.Keys() {
			all = append(all, key)
		}
	case string:
		for _, character := range py.Characters(v) {
			all = append(all, character)
		}
	default:
		return nil, py.Errorf("TypeError", "'%s' object is not iterable", py.TypeName(v))
	}
	return all, nil
}

// orElse is "v or other".
func orElse(v, other py.Value) py.Value {
	if py.Truth(v) {
		return v
	}
	return other
}

func yesNo(b bool) py.Value { return strconv.FormatBool(b) }

func contains(c, state *py.Dict) py.Value {
	needle := c.GetOr("value", nil)
	if needle == nil {
		needle = c.GetOr("needle", "")
	}
	return yesNo(strings.Contains(py.Str(input(c, state)), py.Str(needle)))
}
