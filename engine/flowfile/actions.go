package flowfile

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/teff/py"
)

type action func(*transform, context.Context, engine.State) (any, error)

var actions = map[string]action{
	"uppercase":   onString(func(s string) any { return py.Upper(s) }),
	"lowercase":   onString(func(s string) any { return py.Lower(s) }),
	"count_lines": onString(func(s string) any { return fmt.Sprint(len(py.SplitLines(s))) }),
	"trim":        onSource(func(v any) (any, error) { return py.Strip(str(v)), nil }),
	"value":       onSource(func(v any) (any, error) { return str(v), nil }),
	"to_int":      onSource(toInt),
	"to_float":    onSource(toFloatText),
	"render":      (*transform).render,
	"json_get":    (*transform).get,
	"pick":        (*transform).get,
	"append":      (*transform).add,
	"contains":    (*transform).contains,
	"compare":     (*transform).compare,
	"split":       (*transform).split,
	"join":        (*transform).join,
	"replace":     (*transform).replace,
	"coalesce":    (*transform).coalesce,
	"now":         now,
}

func actionNames() []string { return slices.Sorted(maps.Keys(actions)) }

// source is the value if there is one, else the input; a missing key is "".
func (t *transform) source(s engine.State) any {
	if t.value != nil {
		return t.value
	}
	return t.in(s)
}

func (t *transform) in(s engine.State) any {
	if v, ok := s[t.input]; ok {
		return v
	}
	return ""
}

func onSource(f func(any) (any, error)) action {
	return func(t *transform, _ context.Context, s engine.State) (any, error) { return f(t.source(s)) }
}

func onString(f func(string) any) action {
	return func(t *transform, _ context.Context, s engine.State) (any, error) {
		text, ok := t.source(s).(string)
		if !ok {
			return nil, fmt.Errorf("%s needs a string, but %q is %s", t.action, t.input, describe(t.source(s)))
		}
		return f(text), nil
	}
}

// describe names a value's kind for an error.
func describe(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case []any:
		return "a list"
	case map[string]any:
		return "a mapping"
	}
	return "a number"
}

func (t *transform) render(_ context.Context, s engine.State) (any, error) {
	return t.template.render(s)
}

func (t *transform) get(_ context.Context, s engine.State) (any, error) {
	from := t.value
	if t.input != "" {
		from = s[t.input]
	}
	m, ok := from.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s needs a mapping, but %q is %s", t.action, t.input, describe(from))
	}
	v, ok := m[t.field]
	switch {
	case !ok:
		return nil, fmt.Errorf("%s: %q has no field %q", t.action, t.input, t.field)
	case t.raw:
		return v, nil
	}
	return str(v), nil
}

// add is the action append. When the output's reducer appends, the item alone
// is the update.
func (t *transform) add(_ context.Context, s engine.State) (any, error) {
	item, err := t.addition(s)
	if err != nil {
		return nil, err
	}
	old, ok := s[t.output]
	if _, isList := old.([]any); isList && t.appends || !ok {
		return []any{item}, nil
	}
	list, err := elements(old)
	if err != nil {
		return nil, fmt.Errorf("append to %q: %w", t.output, err)
	}
	return append(slices.Clone(list), item), nil
}

func (t *transform) addition(s engine.State) (any, error) {
	switch {
	case t.template != nil && len(t.template.parts) > 0:
		return t.template.render(s)
	case t.value != nil:
		return t.value, nil
	}
	return str(t.in(s)), nil
}

// elements are what Python iterates over: letters of a string, keys of a mapping.
func elements(v any) ([]any, error) {
	var out []any
	switch v := v.(type) {
	case []any:
		return v, nil
	case string:
		for _, r := range v {
			out = append(out, string(r))
		}
		return out, nil
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			out = append(out, k)
		}
		return out, nil
	}
	return nil, fmt.Errorf("%s is not a list", describe(v))
}

func (t *transform) contains(_ context.Context, s engine.State) (any, error) {
	what := t.value
	if what == nil {
		what = t.needle
	}
	if what == nil {
		what = ""
	}
	return truth(strings.Contains(str(t.in(s)), str(what))), nil
}

// truth is a boolean as conditions compare it.
func truth(b bool) string {
	if b {
		return "true"
	}
	return "false"
}

func (t *transform) split(_ context.Context, s engine.State) (any, error) {
	text := str(t.in(s))
	parts := py.Fields(text)
	if !t.spaces {
		var err error
		if parts, err = py.Split(text, t.sep); err != nil {
			return nil, err
		}
	}
	list := make([]any, len(parts))
	for i, p := range parts {
		list[i] = p
	}
	return list, nil
}

func (t *transform) join(_ context.Context, s engine.State) (any, error) {
	v := t.in(s)
	if !py.Truth(toPython(v)) {
		return "", nil
	}
	list, err := elements(v)
	if err != nil {
		return nil, fmt.Errorf("join of %q: %w", t.input, err)
	}
	texts := make([]string, len(list))
	for i, e := range list {
		texts[i] = str(e)
	}
	return strings.Join(texts, t.sep), nil
}

func (t *transform) replace(_ context.Context, s engine.State) (any, error) {
	return py.Replace(str(t.in(s)), t.old, t.new), nil
}

func (t *transform) coalesce(_ context.Context, s engine.State) (any, error) {
	for _, v := range []any{s[t.input], t.value} {
		if v != nil && v != "" {
			return str(v), nil
		}
	}
	return "", nil
}

var comparisons = []string{"eq", "ne", "gt", "ge", "lt", "le"}

// compare compares as numbers when both sides are, else as texts.
func (t *transform) compare(_ context.Context, s engine.State) (any, error) {
	a, b := str(s[t.input]), str(t.value)
	x, ok1 := parseFloat(a)
	y, ok2 := parseFloat(b)
	if ok1 && ok2 {
		return truth(holds(t.op, x, y)), nil
	}
	return truth(holds(t.op, a, b)), nil
}

func holds[T float64 | string](op string, a, b T) bool {
	switch op {
	case "eq":
		return a == b
	case "ne":
		return a != b
	case "gt":
		return a > b
	case "ge":
		return a >= b
	case "lt":
		return a < b
	}
	return a <= b
}

// toInt goes by way of a float, as the original does: above 2^53 digits are lost.
func toInt(v any) (any, error) {
	f, err := number64(v)
	switch {
	case err != nil:
		return nil, err
	case math.IsInf(f, 0) || math.IsNaN(f):
		return nil, fmt.Errorf("%s is not an integer", py.Str(f))
	}
	n, _ := big.NewFloat(f).Int(nil)
	return n.String(), nil
}

func toFloatText(v any) (any, error) {
	f, err := number64(v)
	if err != nil {
		return nil, err
	}
	return py.Str(f), nil
}

func number64(v any) (float64, error) {
	f, ok := parseFloat(str(v))
	if !ok {
		return 0, fmt.Errorf("%.40q is not a number", str(v))
	}
	return f, nil
}

// now differs when it runs again after a crash.
func now(_ *transform, ctx context.Context, _ engine.State) (any, error) {
	return engine.Now(ctx).UTC().Format("2006-01-02T15:04:05.000000+00:00"), nil
}
