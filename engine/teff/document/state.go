package document

import (
	"fmt"

	"github.com/flowtui/flowtui/engine/teff"
	"github.com/flowtui/flowtui/engine/teff/py"
)

// state reads the state block: the initial state and the reducers. The initial
// state is checked against the schema.
func (l *loader) state(doc *py.Dict) (*py.Dict, teff.Reducers, error) {
	initial, reducers := new(py.Dict), teff.Reducers{}
	block, ok := get(doc, "state").(*py.Dict)
	if !ok {
		return initial, reducers, nil
	}
	if v, has := block.Get("initial"); has {
		if initial, ok = v.(*py.Dict); !ok {
			return nil, nil, fail(l.valueAt(block, "initial"), config, "state.initial must be a mapping")
		}
	}
	l.refuseShared(initial, "", "state.initial")
	l.refuseOdd(l.at(initial), initial, "", "state.initial")
	schema := new(py.Dict)
	if v, has := block.Get("schema"); has {
		if schema, ok = v.(*py.Dict); !ok {
			return nil, nil, fail(l.valueAt(block, "schema"), config, "state.schema must be a mapping")
		}
	}
	c := &schemaChecker{loader: l}
	for key, entry := range schema.All() {
		word := entry
		if d, ok := entry.(*py.Dict); ok {
			word = get(d, "reducer")
		}
		if word == string(teff.Append) || word == string(teff.Keep) {
			reducers[key] = teff.Reducer(word.(string))
		}
		v, has := initial.Get(key)
		if d, ok := entry.(*py.Dict); ok && !has && py.Truth(get(d, "required")) {
			c.problem(l.valueAt(schema, key), "$."+key, "missing required property")
		}
		if has {
			c.value(l.valueAt(initial, key), "$."+key, v, entry)
		}
	}
	if len(c.problems) > 0 {
		return nil, nil, &Error{Class: config, Problems: c.problems}
	}
	return initial, reducers, nil
}

// schemaTypes are the words of state.schema for JSON's types.
var schemaTypes = map[string]string{
	"str": "string", "string": "string", "text": "string", "int": "integer", "integer": "integer", "number": "number", "float": "number",
	"bool": "boolean", "boolean": "boolean", "list": "array", "array": "array", "dict": "object", "object": "object", "map": "object",
	"any": "any", "null": "null",
}

type schemaChecker struct {
	*loader
	problems []teff.Problem
}

func (c *schemaChecker) problem(at teff.Position, path, format string, args ...any) {
	c.problems = append(c.problems, teff.Problem{
		Position: at, Reason: "state.initial does not match state.schema: " + path + ": " + fmt.Sprintf(format, args...),
	})
}

func jsonType(v py.Value) string {
	if v == nil {
		return "null"
	}
	for _, kind := range []string{"string", "boolean", "integer", "number", "array", "object"} {
		if hasType(v, kind) {
			return kind
		}
	}
	return py.TypeName(v)
}

// value checks a value against a schema's entry: a word or a mapping.
func (c *schemaChecker) value(at teff.Position, path string, v, entry py.Value) {
	d, ok := entry.(*py.Dict)
	if !ok {
		d = dict("type", entry)
	}
	word, _ := get(d, "type").(string)
	kind, known := schemaTypes[word]
	if got := jsonType(v); known && kind != "any" && got != kind && (kind != "number" || got != "integer") {
		c.problem(at, path, "expected %s, got %s", kind, got)
		return
	}
	if list, ok := get(d, "enum").(*py.List); ok {
		found := false
		for _, item := range list.Items {
			found = found || py.Equal(item, v)
		}
		if !found {
			c.problem(at, path, "%s not in enum %s", py.Repr(v), py.Repr(list))
		}
	}
	if hasType(v, "number") {
		c.limits(at, path, v, d, "minimum", "maximum")
	}
	switch v := v.(type) {
	case string:
		c.limits(at, path, int64(py.Len(v)), d, "minLength", "maxLength")
		c.pattern(at, path, v, d)
	case *py.List:
		c.limits(at, path, int64(len(v.Items)), d, "minItems", "maxItems")
		if item, has := d.Get("items"); has {
			for i, e := range v.Items {
				c.value(at, fmt.Sprintf("%s[%d]", path, i), e, item)
			}
		}
	}
}

func (c *schemaChecker) limits(at teff.Position, path string, size py.Value, d *py.Dict, least, most string) {
	for _, limit := range []struct{ key, op string }{{least, "<"}, {most, ">"}} {
		bound, has := d.Get(limit.key)
		if !has {
			continue
		}
		beyond, err := py.Compare(limit.op, size, bound)
		if err != nil {
			c.problem(at, path, "%s must be a number, not %s", limit.key, py.Repr(bound))
		} else if beyond {
			c.problem(at, path, "%s is beyond its %s %s", py.Repr(size), limit.key, py.Repr(bound))
		}
	}
}

func (c *schemaChecker) pattern(at teff.Position, path, s string, d *py.Dict) {
	pattern, has := d.Get("pattern")
	if !has {
		return
	}
	text, ok := pattern.(string)
	if !ok {
		c.problem(at, path, "pattern must be a text, not %s", py.Repr(pattern))
		return
	}
	re, err := py.Compile(text)
	if err != nil {
		c.problem(at, path, "pattern: %v", err)
		return
	}
	if found, err := re.Search(s); err != nil || found == nil {
		c.problem(at, path, "%s does not match the pattern %s", py.Repr(s), py.Repr(text))
	}
}
