package engine

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/flowtui/flowtui/stores"
)

type fataler interface{ Fatal(args ...any) }

// plainJSON is what encoding/json makes of a value.
func plainJSON(t fataler, v any) string {
	raw, err := marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// payloads are the types that have an encoder of their own.
var payloads = map[string]func(v any) (json.RawMessage, error){
	"Checkpoint": func(v any) (json.RawMessage, error) {
		b := v.(Checkpoint)
		visits, err := new(visitList).encode(b.Visits, nil)
		if err != nil {
			return nil, err
		}
		return b.payload(visits)
	},
	"HeadBody":   func(v any) (json.RawMessage, error) { return v.(HeadBody).payload() },
	"NodeRun":    func(v any) (json.RawMessage, error) { return appendNodeRun(nil, v.(NodeRun)) },
	"callBody":   func(v any) (json.RawMessage, error) { return v.(callBody).payload() },
	"savedEvent": func(v any) (json.RawMessage, error) { return v.(savedEvent).payload() },
}

// TestPayloadsMissNoField sets every field alone and then all together: one
// that is added to a type and forgotten by its encoder shows.
func TestPayloadsMissNoField(t *testing.T) {
	for _, zero := range []any{Checkpoint{State: json.RawMessage(`{}`), Visits: map[string]int64{}}, HeadBody{}, HeadBody{Worker: "w"}, NodeRun{}, callBody{}, savedEvent{}, savedEvent{Flow: "f"}} {
		typ := reflect.TypeOf(zero)
		check := func(what string, v reflect.Value) {
			t.Helper()
			got, err := payloads[typ.Name()](v.Interface())
			if want := plainJSON(t, v.Interface()); err != nil || string(got) != want {
				t.Errorf("%s with %s:\n%s\nwant\n%s (%v)", typ.Name(), what, got, want, err)
			}
		}
		check("nothing set", reflect.ValueOf(zero))
		all := reflect.New(typ).Elem()
		for i := range typ.NumField() {
			one := reflect.New(typ).Elem()
			one.Set(reflect.ValueOf(zero))
			for _, v := range []reflect.Value{one, all} {
				v.Field(i).Set(filled(t, typ.Field(i).Type))
			}
			check(typ.Field(i).Name, one)
		}
		check("everything set", all)
	}
}

// filled makes a value of a type with nothing in it empty.
func filled(t testing.TB, typ reflect.Type) reflect.Value {
	v := reflect.New(typ).Elem()
	switch v := v.Addr().Interface().(type) {
	case *json.RawMessage:
		*v = json.RawMessage(`{"a":[1.50,"é<>&"]}`)
		return reflect.ValueOf(*v)
	case *time.Time:
		*v = time.Date(2026, 3, 4, 5, 6, 7, 890_000, time.UTC)
		return reflect.ValueOf(*v)
	}
	switch typ.Kind() {
	case reflect.String:
		v.SetString("é \"quoted\" \\ <&> \u2028 \n")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(math.MaxInt32)
	case reflect.Pointer:
		v.Set(reflect.New(typ.Elem()))
		v.Elem().Set(filled(t, typ.Elem()))
	case reflect.Slice:
		v.Set(reflect.Append(v, filled(t, typ.Elem()), filled(t, typ.Elem())))
	case reflect.Map:
		v.Set(reflect.MakeMap(typ))
		v.SetMapIndex(filled(t, typ.Key()), filled(t, typ.Elem()))
	case reflect.Struct:
		for i := range typ.NumField() {
			v.Field(i).Set(filled(t, typ.Field(i).Type))
		}
	default:
		t.Fatalf("no value for a %s", typ)
	}
	return v
}

// A state is written as encoding/json writes it, whatever is in it.
func TestValuesAreWrittenAsByJSON(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.RuneFrom([]rune("ab \"\\<>&\u0001\u007f\u2028é😀\n\t\xff"))))
	number := rapid.Custom(func(t *rapid.T) any {
		return json.Number(rapid.SampledFrom([]string{"0", "-1", "1.50", "1e400", "123456789012345678901234567890"}).Draw(t, "number"))
	})
	leaf := rapid.OneOf(rapid.Map(text, func(s string) any { return s }), number, rapid.SampledFrom([]any{nil, true, false, 7, 1.5, json.Number(""), []any(nil), map[string]any(nil)}))
	value := leaf
	for range 3 {
		inner := value
		value = rapid.OneOf(leaf,
			rapid.Map(rapid.SliceOfN(inner, 0, 4), func(l []any) any { return l }),
			rapid.Map(rapid.MapOfN(text, inner, 0, 4), func(m map[string]any) any { return m }))
	}
	rapid.Check(t, func(rt *rapid.T) {
		v := value.Draw(rt, "value")
		got, err := appendValue(nil, v)
		if want := plainJSON(t, v); err != nil || string(got) != want {
			rt.Fatalf("%s, want %s (%v)", got, want, err)
		}
	})
	for _, bad := range []any{math.NaN(), json.Number("one"), func() {}} {
		for _, v := range []any{bad, []any{bad}, map[string]any{"a": map[string]any{"b": bad}}} {
			if got, err := appendValue(nil, v); err == nil {
				t.Errorf("%v was written as %s", v, got)
			}
		}
	}
}

// A year that JSON cannot hold is an error, as it is for encoding/json.
func TestPayloadErrors(t *testing.T) {
	late := NodeRun{Node: "n", Started: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}
	if _, err := marshal(late); err == nil {
		t.Fatal("encoding/json keeps it")
	}
	if got, err := (Checkpoint{State: json.RawMessage(`{}`), Nodes: []NodeRun{late}}).payload(json.RawMessage(`{}`)); err == nil {
		t.Errorf("it was written: %s", got)
	}
}

// Visits are written as encoding/json writes them, from save to save and by a
// worker that recovers the run.
func TestVisitsStayInStep(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		visits, list := map[string]int64{}, visitList{}
		for range rapid.IntRange(0, 30).Draw(rt, "steps") {
			var ran []NodeRun
			for _, id := range rapid.SliceOfNDistinct(rapid.StringOfN(rapid.RuneFrom([]rune("abé\"")), 1, 2, -1), 1, 3, rapid.ID).Draw(rt, "ran") {
				ran = append(ran, NodeRun{Node: id})
				if rapid.IntRange(0, 3).Draw(rt, "finished") > 0 { // a paused node ran, and is not counted
					visits[id]++
				}
			}
			if rapid.IntRange(0, 5).Draw(rt, "recovered") == 0 {
				list = visitList{}
			}
			if got, err := list.encode(visits, ran); err != nil || string(got) != plainJSON(rt, visits) {
				rt.Fatalf("%s, want %s (%v)", got, plainJSON(rt, visits), err)
			}
		}
	})
}

// An event's data is what the reference names.
func TestSavedEventFields(t *testing.T) {
	stage := "model"
	for want, e := range map[string]savedEvent{
		`{"flow":"tickets","kind":"flow","status":"done","step":3}`:                        {Flow: "tickets", Kind: "flow", Status: stores.StatusDone, Step: 3},
		`{"kind":"loop","stage":"model","status":"running","step":0,"unreplayed":["a.1"]}`: {Kind: "loop", Stage: &stage, Status: stores.StatusRunning, Unreplayed: []string{"a.1"}},
	} {
		if got, err := eventPayload(e); err != nil || string(got) != want {
			t.Errorf("%s, want %s (%v)", got, want, err)
		}
	}
}
