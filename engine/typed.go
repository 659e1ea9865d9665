package engine

import (
	"context"
	"fmt"
	"reflect"
)

// State sets the type of the flow's state, by a struct whose values are the
// defaults:
//
//	type Order struct {
//		Show  string `json:"show"`
//		Seats int    `json:"seats"`
//	}
//	flow := engine.NewFlow("tickets").State(Order{Seats: 1})
//
// The state itself stays a JSON object. Fields that the type does not have are
// kept as they are, so a run can go on under another version of the type.
//   - A start state gets the defaults of the fields that it does not have. One
//     that does not fit the type is [ErrInvalid], and nothing is run.
//   - A node whose update does not fit the type fails.
//   - A run whose stored state does not fit is not resumed or recovered with
//     this flow: [ErrFlow].
//
// Names are case-sensitive, and null fits only what can be nil in Go. Nodes see
// the type through [With], [If] and [Step].
func (f *Flow) State(defaults any) *Flow {
	// The type is no part of the graph digest: a field more must not strand the
	// runs under way. Whether a run fits is seen on its state.
	t, err := newStateType(defaults)
	if err != nil {
		f.fail("its state type: %v", err)
		return f
	}
	f.typed = t
	return f
}

// View reads a state as a T. A field that the state does not have is zero.
// Names are case-sensitive, and numbers in fields of type any are json.Number.
func View[T any](s State) (T, error) {
	var v T
	if err := decodeInto(map[string]any(s), reflect.ValueOf(&v)); err != nil {
		var none T
		return none, fmt.Errorf("the state does not fit %s: %w", reflect.TypeFor[T](), err)
	}
	return v, nil
}

// StateOf makes a state of a struct, for [Start].
func StateOf(v any) (State, error) {
	raw, err := encodeSafely(reflect.ValueOf(v))
	if err != nil {
		return nil, fmt.Errorf("%T cannot be a state: %w", v, err)
	}
	return DecodeState(raw)
}

// With lets a function of a T serve where one of a State is wanted: the
// arguments of a [Call], the prompt of an [Interrupt].
func With[T, R any](f func(T) (R, error)) func(State) (R, error) {
	return func(s State) (R, error) {
		v, err := View[T](s)
		if err != nil {
			var none R
			return none, err
		}
		return f(v)
	}
}

// If is a condition on a T. Text must change when the function does.
func If[T any](text string, f func(T) bool) Condition {
	if f == nil {
		return Condition{Text: text}
	}
	return Condition{Text: text, Test: With(func(v T) (bool, error) { return f(v), nil })}
}

// Step is a node of plain Go code on a T. Its update is exactly the fields that
// the function changed, so that nodes which run at the same time do not
// overwrite each other. A field that is set to its zero value is a change.
//
// What T does not have stays as it is, also in nested structs and maps: of a
// field that changed at depth, only that is written. Structs in a list keep
// what T does not have by their place as long as nothing moves and the list
// gets no shorter; one that moves keeps it when it is otherwise unchanged. When
// that cannot be told, the node fails. A key with the [Append] reducer can only
// be added to, and the update is what was added.
//
// Fields with the tag json:"-" do not outlive the node.
func Step[T any](f func(ctx context.Context, s *T) error) Node {
	return NodeFunc(func(ctx context.Context, s State) (State, error) {
		v, err := View[T](s)
		if err != nil {
			return nil, err
		}
		c := codec{}
		was, err := c.encodeFields(reflect.ValueOf(&v).Elem())
		if err != nil {
			return nil, err
		}
		if err := f(ctx, &v); err != nil {
			return nil, err
		}
		is, err := c.encodeFields(reflect.ValueOf(&v).Elem())
		if err != nil {
			return nil, err
		}
		return c.changes(s, was, is, reflect.TypeFor[T](), reducersOf(ctx))
	})
}

// reducersOf are those of the flow whose node runs, none outside of a flow.
func reducersOf(ctx context.Context) map[string]Reducer {
	if n, err := nodeRun(ctx); err == nil {
		return n.g.reducers
	}
	return nil
}
