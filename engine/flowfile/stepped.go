package flowfile

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/teff"
	"github.com/flowtui/flowtui/engine/teff/py"
)

// stepped is a node that is run by the rules of the teff format.
type stepped struct {
	n     *teff.Node
	tools []string
	// reducers of the document, by which the node itself merges what it returns,
	// as teff does; nil: the engine merges it by those of the flow.
	reducers teff.Reducers
}

// Type is the step's type.
func (s stepped) Type() string { return s.n.Type }

// Run returns what the node returns, or with reducers of its own the keys that
// it changed, also in place.
func (s stepped) Run(ctx context.Context, state engine.State) (engine.State, error) {
	d := toDict(state)
	var clock error
	stepper := teff.Stepper{Reducers: s.reducers, Tools: s.tools, Now: func() time.Time {
		now, err := engine.NowOnce(ctx)
		if err != nil {
			clock = err
		}
		return now
	}}
	step, err := stepper.Run(ctx, s.n, d)
	switch {
	case clock != nil:
		return nil, clock
	case err != nil:
		return nil, err
	case s.reducers == nil:
		return toState(step.Update)
	}
	update, err := merged(state, s.reducers, d, step.Update)
	return engine.Growth(ctx, state, update), err
}

// merged is the update that makes a state what it is as teff's: d, which a node
// has changed in place, with what it returned.
func merged(saw engine.State, reducers teff.Reducers, d, returned *py.Dict) (engine.State, error) {
	if returned != nil {
		if err := reducers.Merge(d, returned); err != nil {
			return nil, err
		}
	}
	return changed(saw, d)
}

// changed are the keys of a state that have another value in d.
func changed(saw engine.State, d *py.Dict) (engine.State, error) {
	update := engine.State{}
	for key, v := range d.All() {
		is, err := fromPython(v)
		if err != nil {
			return nil, fmt.Errorf("%q cannot be kept: %w", key, err)
		}
		if old, known := saw[key]; known {
			if was, err := fromPython(toPython(old)); err == nil && reflect.DeepEqual(was, is) {
				continue // also a float with more digits than a double has: it stays as it is
			}
		}
		update[key] = is
	}
	return update, nil
}

// toState is a dict as a state or an update of one; none is an empty one.
func toState(d *py.Dict) (engine.State, error) {
	s := engine.State{}
	if d == nil {
		return s, nil
	}
	for key, v := range d.All() {
		var err error
		if s[key], err = fromPython(v); err != nil {
			return nil, fmt.Errorf("%q cannot be kept: %w", key, err)
		}
	}
	return s, nil
}

// fromPython is a value as a state has it, in which an int and a float stay
// apart. What is no JSON is an error: nan, infinities, dates and sets.
func fromPython(v py.Value) (any, error) {
	switch v := v.(type) {
	case nil, bool, string:
		return v, nil
	case int64, *big.Int:
		return json.Number(py.Str(v)), nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%s has no JSON form", py.Str(v))
		}
		return json.Number(py.Str(v)), nil
	case *py.List:
		list := make([]any, len(v.Items))
		for i, item := range v.Items {
			var err error
			if list[i], err = fromPython(item); err != nil {
				return nil, err
			}
		}
		return list, nil
	case *py.Dict:
		s, err := toState(v)
		return map[string]any(s), err
	}
	return nil, fmt.Errorf("a %s has no JSON form: quote it to keep it as a text", py.TypeName(v))
}
