package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine"
)

func TestViewIsExact(t *testing.T) {
	type inner struct {
		A any `json:"a"`
	}
	type all struct {
		Show   string            `json:"show"`
		Any    any               `json:"any"`
		Number json.Number       `json:"number"`
		Int    int64             `json:"int"`
		Float  *big.Float        `json:"float"`
		Big    big.Int           `json:"big"`
		Quoted int64             `json:"quoted,string"`
		Many   map[string]*inner `json:"many"`
		Bytes  []byte            `json:"bytes"`
		Skip   string            `json:"-"`
		Plain  string
	}
	v, err := engine.View[all](decoded(t, `{"show":"a","Show":"b","any":[12345678901234567890.10,{"x":1}],"number":1.50,"int":9007199254740993,
		"float":"0.1","big":123456789012345678901234567890,"quoted":"9007199254740993","many":{"k":{"a":1.0,"A":2}},"bytes":"aGk=",
		"Skip":"s","Plain":"p","plain":"q","unknown":1}`))
	if err != nil {
		t.Fatal(err)
	}
	want := all{
		Show: "a", Any: []any{json.Number("12345678901234567890.10"), map[string]any{"x": json.Number("1")}}, Number: "1.50", Int: 9007199254740993,
		Quoted: 9007199254740993, Many: map[string]*inner{"k": {A: json.Number("1.0")}}, Bytes: []byte("hi"), Plain: "p",
	}
	want.Float, want.Big = v.Float, v.Big
	if !reflect.DeepEqual(v, want) || v.Float.String() != "0.1" || v.Big.String() != "123456789012345678901234567890" {
		t.Errorf("got  %+v\nwant %+v", v, want)
	}
	// Values of Go that are not JSON yet, as in a literal of a test.
	if o, err := engine.View[ticketOrder](engine.State{"show": "a", "seats": 2}); err != nil || o.Seats != 2 {
		t.Error(o, err)
	}
	if o, err := engine.View[ticketOrder](nil); err != nil || o != (ticketOrder{}) {
		t.Error(o, err)
	}
	if o, err := engine.View[ticketOrder](engine.State{"show": "a", "seats": true}); err == nil || o != (ticketOrder{}) {
		t.Error("half a value came with the error:", o, err)
	}
}

// TestNamesAreThoseOfEncodingJSON has the tags that checkers would not let stand.
func TestNamesAreThoseOfEncodingJSON(t *testing.T) {
	text := reflect.TypeFor[string]()
	odd := reflect.New(reflect.StructOf([]reflect.StructField{
		{Name: "A", Type: text, Tag: `json:"-,"`}, {Name: "B", Type: text, Tag: `json:"bad\"tag"`}, {Name: "C", Type: text, Tag: `json:",omitempty"`},
		{Name: "D", Type: text, Tag: `json:"-"`}, {Name: "E", Type: text, Tag: `json:"a b.c/ü"`}, {Name: "F", Type: text},
	}))
	for i := range odd.Elem().NumField() {
		odd.Elem().Field(i).SetString("x")
	}
	raw, err := json.Marshal(odd.Interface())
	if err != nil {
		t.Fatal(err)
	}
	f := oneNode("f").State(odd.Interface())
	s := decoded(t, string(raw))
	if len(s) != 5 {
		t.Fatalf("encoding/json wrote %s", raw)
	}
	for name := range s {
		if _, err := runner(t, newStore(), nil).Run(ctx, f, engine.Start{State: engine.State{name: 1}}); !errors.Is(err, engine.ErrInvalid) || !strings.Contains(err.Error(), name+": want a string") {
			t.Errorf("field %q: %v", name, err)
		}
	}
	res, err := runner(t, newStore(), nil).Run(ctx, f, engine.Start{State: engine.State{"D": 1}})
	if err != nil {
		t.Fatal(err)
	}
	s["D"] = json.Number("1")
	if !reflect.DeepEqual(res.State, s) {
		t.Errorf("%v, want %v", res.State, s)
	}
}

func TestStateOf(t *testing.T) {
	s, err := engine.StateOf(ticketOrder{Show: "a<b", Seats: 2})
	if err != nil {
		t.Fatal(err)
	}
	equalState(t, s, `{"show":"a<b","seats":2,"note":""}`)
	for _, bad := range []any{5, []int{1}, ticketOrder{Show: "\xff"}, struct{ C chan int }{}} {
		if s, err := engine.StateOf(bad); err == nil {
			t.Errorf("%v became %v", bad, s)
		}
	}
}

func TestTypedConditions(t *testing.T) {
	set := func(note string) engine.Node {
		return engine.Step(func(_ context.Context, o *ticketOrder) error { o.Note = note; return nil })
	}
	f := engine.NewFlow("f").State(ticketOrder{}).Node("start", set("")).Node("many", set("many")).Node("few", set("few")).
		When("start", engine.If("seats > 4", func(o ticketOrder) bool { return o.Seats > 4 }), "many").
		When("start", engine.If("seats <= 4", func(o ticketOrder) bool { return o.Seats <= 4 }), "few")
	for seats, want := range map[int]string{4: "few", 5: "many"} {
		res, err := runner(t, newStore(), nil).Run(ctx, f, engine.Start{State: engine.State{"seats": seats}})
		if err != nil || res.State["note"] != want {
			t.Errorf("%d seats: %v, %v", seats, res.State, err)
		}
	}
	if err := engine.NewFlow("f").Node("a", set("")).When("a", engine.If[ticketOrder]("x", nil), "a").Check(); !errors.Is(err, engine.ErrFlow) {
		t.Error("a condition without code:", err)
	}
	_, err := engine.If("x", func(ticketOrder) bool { return true }).Test(engine.State{"seats": "two"})
	if err == nil || !strings.Contains(err.Error(), "seats") {
		t.Error(err)
	}
}
