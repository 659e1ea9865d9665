package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/flowtui/flowtui/stores"
)

// stateType is the type of a flow's state.
type stateType struct {
	typ      reflect.Type // a struct
	defaults State
}

func newStateType(defaults any) (*stateType, error) {
	v := reflect.ValueOf(defaults)
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	switch {
	case v.Kind() != reflect.Struct:
		return nil, fmt.Errorf("want a struct, got %T", defaults)
	case opaque(v.Type()):
		return nil, fmt.Errorf("%s writes its JSON itself, so its fields cannot be told", v.Type())
	}
	if err := (codec{}).checkType(v.Type(), map[reflect.Type]bool{}); err != nil {
		return nil, err
	}
	t := &stateType{typ: v.Type()}
	raw, err := encodeSafely(v)
	if err == nil {
		t.defaults, err = DecodeState(raw)
	}
	if err == nil {
		err = t.holds(t.defaults)
	}
	if err != nil {
		return nil, fmt.Errorf("the defaults of %s: %w", t.typ, err)
	}
	return t, nil
}

// holds reports why a state does not fit.
func (t *stateType) holds(s State) error {
	return decodeInto(map[string]any(s), reflect.New(t.typ))
}

// complete fills the defaults into a start state and checks it.
func (t *stateType) complete(s State) (State, error) {
	s = s.Clone()
	if err := (codec{}).fill(s, t.defaults, t.typ, ""); err != nil {
		return nil, err
	}
	return s, t.holds(s)
}

// fill sets the fields that a struct's object does not have to their defaults.
// A name that differs from one of those in case only is refused: whoever wrote
// it meant the field, and a default would take its place without a word.
func (c codec) fill(object, defaults map[string]any, t reflect.Type, at string) error {
	fields, err := c.fields(t)
	if err != nil {
		return err
	}
	known := func(name string) bool {
		return slices.ContainsFunc(fields, func(f jsonField) bool { return f.name == name })
	}
	for _, f := range fields {
		value, given := object[f.name]
		def, isDefault := defaults[f.name]
		if !given {
			for _, name := range names(object) {
				if strings.EqualFold(name, f.name) && !known(name) {
					return fmt.Errorf("%s: the field is %q, found %q: names are case-sensitive", join(at, f.name), f.name, name)
				}
			}
			if isDefault {
				object[f.name] = cloneValue(def)
			}
			continue
		}
		inner, ok := value.(map[string]any)
		if typ := deref(f.typ); ok && typ.Kind() == reflect.Struct && !opaque(typ) {
			under, _ := def.(map[string]any)
			if err := c.fill(inner, under, typ, join(at, f.name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// startState is the state that a run starts with.
func (g *graph) startState(k stores.Key, s State) (State, error) {
	if s == nil {
		s = g.initial
	}
	raw, err := Seal(map[string]any(s))
	if err != nil {
		return nil, &Error{Class: ErrInvalid, Key: k, Reason: "the initial state cannot be kept", Err: err}
	}
	if s, err = DecodeState(raw); err != nil || g.typed == nil {
		return s, err
	}
	if s, err = g.typed.complete(s); err != nil {
		return nil, &Error{
			Class: ErrInvalid, Key: k, Err: err, Hint: "mend the start state; nothing was run",
			Reason: fmt.Sprintf("the start state does not fit the state type %s of flow %q", g.typed.typ, g.name),
		}
	}
	return s, nil
}

// accepts reports why the update of a node does not fit the state's type.
func (f *Flow) accepts(s, update State) error {
	if f.typed == nil || len(update) == 0 {
		return nil
	}
	part := State{} // fields are independent, so the others need not be read
	for k := range update {
		if v, ok := s[k]; ok {
			part[k] = v
		}
	}
	if err := f.typed.holds(Merge(part, f.reducers, update)); err != nil {
		return fmt.Errorf("the update does not fit the flow's state type %s: %w", f.typed.typ, err)
	}
	return nil
}

// fitsState refuses a run whose stored state does not fit the flow's type.
func (g *graph) fitsState(k stores.Key, state json.RawMessage) error {
	if g == nil || g.Flow == nil || g.typed == nil {
		return nil
	}
	s, err := DecodeState(state)
	if err != nil {
		return &Error{Class: ErrCheckpointStoreCorrupt, Key: k, Err: err}
	}
	if err := g.typed.holds(s); err != nil {
		return &Error{
			Class: ErrFlow, Key: k, Err: err, Hint: "recover it with the version of the flow that it was started with",
			Reason: fmt.Sprintf("its state does not fit the state type %s of flow %q", g.typed.typ, g.name),
		}
	}
	return nil
}

// fitsAnswer refuses an answer that its node could not take into the state,
// while it can still be given differently.
func (g *graph) fitsAnswer(k stores.Key, state json.RawMessage, w Waiting, d Decide) error {
	own, node := g.at(w.Node)
	if _, ok := node.(Interrupt); !ok || d.Type != DecideAnswer || own.typed == nil {
		return nil
	}
	s := State{} // that within a container is not kept
	if own != g && own.reducers[w.Key] == Append {
		return nil // what it is added to is not known here
	}
	if own == g {
		var err error
		if s, err = DecodeState(state); err != nil {
			return &Error{Class: ErrCheckpointStoreCorrupt, Key: k, Err: err}
		}
	}
	v, err := DecodeValue(d.Value)
	if err == nil {
		err = own.accepts(s, State{w.Key: v})
	}
	if err != nil {
		return &Error{Class: ErrInvalid, Key: k, Reason: "the answer cannot be taken", Err: err, Hint: "answer with a value of that type; the run still waits"}
	}
	return nil
}

// blank is what empties a key: the given value, or the zero value of the key's
// type where that cannot hold it.
func (f *Flow) blank(key string, value any) any {
	if f.typed == nil || f.typed.holds(State{key: value}) == nil {
		return value
	}
	zero, err := codec{}.encodeFields(reflect.New(f.typed.typ).Elem())
	if v, ok := zero[key]; ok && err == nil {
		return v
	}
	return value
}

// checkState is what Check adds for a typed flow.
func (f *Flow) checkState() error {
	if f.typed == nil {
		return nil
	}
	if f.initial != nil {
		if _, err := (&graph{Flow: f}).startState(stores.Key{}, f.initial); err != nil {
			return err
		}
	}
	if err := f.typed.holds(State{errorKey: nil}); err != nil && f.talk != nil {
		return errors.Join(fmt.Errorf("flow %q: each turn of a conversation sets the state's error to null, which %s cannot hold", f.name, f.typed.typ), err)
	}
	failure := State{"error": map[string]any{"node": "", "message": ""}}
	if err := f.typed.holds(failure); err != nil && (f.talk != nil || slices.ContainsFunc(f.edges, func(e edge) bool { return e.onError })) {
		return errors.Join(fmt.Errorf("flow %q: an error edge puts what failed into the state's error, which %s cannot hold", f.name, f.typed.typ), err)
	}
	return nil
}
