package flowfile

import (
	"fmt"

	"github.com/flowtui/flowtui/engine"
)

// argument makes one value from the state.
type argument func(engine.State) (any, error)

// arguments compiles a value in which every string, at any depth, is a
// template. A string that is one placeholder keeps the value's type. Problems
// of all templates are told.
func (r reader) arguments(it *item) argument {
	switch it.kind {
	case isText:
		return r.textArgument(it)
	case isList:
		list := make([]argument, len(it.list))
		for i, e := range it.list {
			list[i] = r.arguments(e)
		}
		return listArgument(list)
	case isMapping:
		m := make([]namedArgument, len(it.fields))
		for i, f := range it.fields {
			m[i] = namedArgument{f.key.text, r.arguments(f.value)}
		}
		return mappingArgument(m)
	}
	v := it.value()
	return func(engine.State) (any, error) { return v, nil }
}

func (r reader) textArgument(it *item) argument {
	t := r.template(it, it.text)
	if key, ok := t.whole(); ok {
		return func(s engine.State) (any, error) { return lookup(s, key) }
	}
	return func(s engine.State) (any, error) { return t.render(s) }
}

// template compiles a text; what is wrong with it is told.
func (r reader) template(it *item, text string) *template {
	t, err := parseTemplate(it.asTemplate(text))
	if err != nil {
		r.fail(it, "%s", err)
		return &template{}
	}
	return t
}

func listArgument(list []argument) argument {
	return func(s engine.State) (any, error) {
		out := make([]any, len(list))
		for i, a := range list {
			v, err := a(s)
			if err != nil {
				return nil, fmt.Errorf("[%d]: %w", i, err)
			}
			out[i] = v
		}
		return out, nil
	}
}

type namedArgument struct {
	key string
	argument
}

func mappingArgument(m []namedArgument) argument {
	return func(s engine.State) (any, error) {
		out := make(map[string]any, len(m))
		for _, a := range m {
			v, err := a.argument(s)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", a.key, err)
			}
			out[a.key] = v
		}
		return out, nil
	}
}
