package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/stores"
)

// stepped is the update of a Step on a state.
func stepped[T any](t testing.TB, state string, f func(*T)) engine.State {
	t.Helper()
	update, err := engine.Step(func(_ context.Context, v *T) error { f(v); return nil }).Run(ctx, decoded(t, state))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := engine.Seal(map[string]any(update))
	if err != nil {
		t.Fatal(err)
	}
	return decoded(t, string(raw))
}

func stepFails[T any](t testing.TB, state, want string, f func(*T)) {
	t.Helper()
	update, err := engine.Step(func(_ context.Context, v *T) error { f(v); return nil }).Run(ctx, decoded(t, state))
	if err == nil || update != nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, %v, want %s", update, err, want)
	}
}

type address struct {
	City string  `json:"city"`
	Zip  string  `json:"zip,omitempty"`
	Lat  float64 `json:"lat"`
}

type audit struct {
	By string `json:"by"`
}

type (
	one struct{ ID int }
	two struct{ ID int }
)

// wide has every sort of field.
type wide struct {
	audit
	*Embedded
	Show   string             `json:"show"`
	Seats  int                `json:"seats,omitempty"`
	Paid   bool               `json:"paid,omitzero"`
	Price  float64            `json:"price"`
	Any    any                `json:"any"`
	Exact  json.Number        `json:"exact"`
	Quoted int64              `json:"quoted,string"`
	Home   address            `json:"home"`
	Work   *address           `json:"work"`
	Stops  []address          `json:"stops"`
	Rooms  map[string]address `json:"rooms"`
	At     time.Time          `json:"at"`
	Big    *big.Int           `json:"big"`
	Raw    json.RawMessage    `json:"raw"`
	Local  string             `json:"-"`
	hidden string
}

type Embedded struct {
	Text string `json:"embedded,omitempty"`
}

func TestStepWritesWhatChangedAndNothingElse(t *testing.T) {
	for _, c := range []struct {
		name, state string
		change      func(*wide)
		want        string
	}{
		{"nothing", `{"show":"a","price":1.10,"x":1}`, func(*wide) {}, `{}`},
		{"the same value again", `{"show":"a","price":0.30000000000000004}`, func(w *wide) { w.Show = "a"; w.Price *= 1 }, `{}`},
		{"one field", `{"show":"a","price":1.10}`, func(w *wide) { w.Show = "b" }, `{"show":"b"}`},
		{"a field that was not there", `{}`, func(w *wide) { w.Show = "b" }, `{"show":"b"}`},
		{"zero with omitempty", `{"seats":2}`, func(w *wide) { w.Seats = 0 }, `{"seats":0}`},
		{"zero with omitzero", `{"paid":true}`, func(w *wide) { w.Paid = false }, `{"paid":false}`},
		{"zero again is no change", `{"seats":0}`, func(w *wide) { w.Seats = 0 }, `{}`},
		{"null that is left", `{"work":null,"any":null,"raw":null}`, func(*wide) {}, `{}`},
		{"null that is set", `{"any":1,"work":{"city":"x"},"raw":{"a":1}}`, func(w *wide) { w.Any, w.Work, w.Raw = nil, nil, nil }, `{"any":null,"work":null,"raw":null}`},
		{"an embedded field", `{"by":"ana"}`, func(w *wide) { w.By = "bo" }, `{"by":"bo"}`},
		{"behind an embedded pointer", `{"embedded":"a"}`, func(w *wide) { w.Text = "" }, `{"embedded":""}`},
		{"an embedded pointer that is taken away", `{"embedded":"a"}`, func(w *wide) { w.Embedded = nil }, `{"embedded":""}`},
		{"an embedded pointer that was nil", `{}`, func(w *wide) { w.Embedded = &Embedded{} }, `{}`},
		{"what has no JSON", `{"Local":"x","hidden":"y"}`, func(w *wide) { w.Local, w.hidden = "a", "b" }, `{}`},
		{"another case is another key", `{"Show":"x","show":"a"}`, func(w *wide) { w.Show += "!" }, `{"show":"a!"}`},
		{"a quoted number", `{"quoted":"9007199254740993"}`, func(w *wide) { w.Quoted++ }, `{"quoted":"9007199254740994"}`},
		{"digits of others", `{"any":[1.10],"exact":1.50,"price":1e2,"seats":1}`, func(w *wide) { w.Seats = 2 }, `{"seats":2}`},
		{"exact digits", `{"exact":1.50,"big":123456789012345678901234567890}`, func(w *wide) { w.Exact += "1"; w.Big.Add(w.Big, big.NewInt(1)) }, `{"exact":1.501,"big":123456789012345678901234567891}`},
		{"a custom type", `{"at":"2026-01-02T03:04:05Z"}`, func(w *wide) { w.At = w.At.AddDate(0, 0, 1) }, `{"at":"2026-01-03T03:04:05Z"}`},
		{"a value of its own in any", `{"any":{"a":1}}`, func(w *wide) { w.Any = []int{1, 2} }, `{"any":[1,2]}`},
	} {
		t.Run(c.name, func(t *testing.T) { equalState(t, stepped(t, c.state, c.change), c.want) })
	}
}

func TestStepKeepsWhatTheTypeDoesNotHave(t *testing.T) {
	for _, c := range []struct {
		name, state string
		change      func(*wide)
		want        string
	}{
		{"in a struct", `{"home":{"city":"Ulm","zip":"89073","lat":1.10,"vip":1.10}}`, func(w *wide) { w.Home.City = "Bonn" },
			`{"home":{"city":"Bonn","zip":"89073","lat":1.10,"vip":1.10}}`},
		{"in a struct, a field left empty", `{"home":{"city":"Ulm","zip":"89073","vip":1}}`, func(w *wide) { w.Home.Zip = "" },
			`{"home":{"city":"Ulm","vip":1}}`},
		{"in a struct, of another case", `{"home":{"city":"Ulm","City":"x"}}`, func(w *wide) { w.Home.City = "Bonn" }, `{"home":{"city":"Bonn","City":"x"}}`},
		{"behind a pointer", `{"work":{"city":"Ulm","vip":1}}`, func(w *wide) { w.Work = &address{City: "Bonn", Lat: 2} }, `{"work":{"city":"Bonn","lat":2,"vip":1}}`},
		{"in a map", `{"rooms":{"a":{"city":"Ulm","vip":1},"b":{"city":"B","vip":2},"c":{"lat":1.10}}}`,
			func(w *wide) { delete(w.Rooms, "b"); w.Rooms["a"] = address{City: "Bonn"}; w.Rooms["d"] = address{} },
			`{"rooms":{"a":{"city":"Bonn","vip":1},"c":{"lat":1.10},"d":{"city":"","lat":0}}}`},
		{"in a list, changed in place", `{"stops":[{"city":"A","vip":1},{"city":"B","vip":2.0}]}`, func(w *wide) { w.Stops[1].City = "C" },
			`{"stops":[{"city":"A","vip":1},{"city":"C","vip":2.0}]}`},
		{"in a list, changed and added", `{"stops":[{"city":"A","vip":1},{"city":"B","vip":2}]}`,
			func(w *wide) { w.Stops[0].City = "C"; w.Stops = append(w.Stops, address{City: "D"}) },
			`{"stops":[{"city":"C","vip":1},{"city":"B","vip":2},{"city":"D","lat":0}]}`},
		{"in a list, moved", `{"stops":[{"city":"A","vip":1},{"city":"B","vip":2}]}`, func(w *wide) { w.Stops[0], w.Stops[1] = w.Stops[1], w.Stops[0] },
			`{"stops":[{"city":"B","vip":2},{"city":"A","vip":1}]}`},
		{"in a list, the first removed", `{"stops":[{"city":"A","vip":1},{"city":"B","vip":2}]}`, func(w *wide) { w.Stops = w.Stops[1:] }, `{"stops":[{"city":"B","vip":2}]}`},
		{"in a list, put in front", `{"stops":[{"city":"A","vip":1}]}`, func(w *wide) { w.Stops = []address{{City: "N"}, w.Stops[0]} },
			`{"stops":[{"city":"N","lat":0},{"city":"A","vip":1}]}`},
		{"in a list without any, moved and changed", `{"stops":[{"city":"A"},{"city":"B"}]}`, func(w *wide) { w.Stops = w.Stops[1:]; w.Stops[0].Lat = 2 }, `{"stops":[{"city":"B","lat":2}]}`},
	} {
		t.Run(c.name, func(t *testing.T) { equalState(t, stepped(t, c.state, c.change), c.want) })
	}
	stepFails(t, `{"stops":[{"city":"A","vip":1},{"city":"B","vip":2}]}`, "stops[0] has something that engine_test.address does not",
		func(w *wide) { w.Stops = w.Stops[1:]; w.Stops[0].City = "C" })
}

// ownJSON writes its JSON itself, so nothing is known of its fields.
type ownJSON struct{ all map[string]any }

func (c *ownJSON) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &c.all) }
func (c ownJSON) MarshalJSON() ([]byte, error)  { return json.Marshal(c.all) }

func TestStepRefusesWhatCannotBeKept(t *testing.T) {
	stepFails(t, `{"show":"a"}`, `field "show"`, func(w *wide) { w.Show = "\xff" })
	stepFails(t, `{"any":1}`, `field "any"`, func(w *wide) { w.Any = make(chan int) })
	stepFails(t, `{"raw":1}`, `the key "a" twice`, func(w *wide) { w.Raw = json.RawMessage(`{"a":1,"a":2}`) })
	stepFails(t, `{"seats":"two"}`, "seats: want a whole number (int), found a string", func(*wide) { t.Error("it ran") })
	stepFails(t, `{"p":1}`, "panicked: planted", func(*struct {
		P panics `json:"p"`
	}) {
		t.Error("it ran")
	})
	stepFails(t, `{"ID":1}`, `2 fields that are "ID"`, func(*struct {
		one
		two
	}) {
		t.Error("it ran")
	})
	stepFails(t, `{"a":1,"b":2}`, `"a" was taken away`, func(m *map[string]any) { delete(*m, "a") })
	equalState(t, stepped(t, `{"a":1.10,"b":{"c":1}}`, func(m *map[string]any) { (*m)["b"], (*m)["n"] = 2, 3 }), `{"b":2,"n":3}`)
	stepFails(t, `{"a":1,"b":2}`, `"a" was taken away`, func(c *ownJSON) { delete(c.all, "a") })
	equalState(t, stepped(t, `{"a":1.10,"b":{"c":1,"d":2}}`, func(c *ownJSON) { c.all["b"] = map[string]any{"c": 3} }), `{"b":{"c":3}}`)
	no := errors.New("no")
	if u, err := engine.Step(func(_ context.Context, o *ticketOrder) error { o.Show = "b"; return no }).Run(ctx, engine.State{}); u != nil || !errors.Is(err, no) {
		t.Error(u, err)
	}
}

func TestStepsThatRunTogetherDoNotOverwriteEachOther(t *testing.T) {
	type cart struct {
		ticketOrder
		Log []string `json:"log"`
	}
	step := func(change func(*cart)) engine.Node {
		return engine.Step(func(_ context.Context, c *cart) error { change(c); return nil })
	}
	f := engine.NewFlow("f").State(cart{Log: []string{"start"}}).Reduce("log", engine.Append).
		Node("split", step(func(*cart) {})).
		Node("a", step(func(c *cart) { c.Show, c.Log = "A", append(c.Log, "a") })).
		Node("b", step(func(c *cart) { c.Seats, c.Log = 3, append(c.Log, "b1", "b2") })).
		Edge("split", "a", "b")
	res, err := runner(t, newStore(), nil).Run(ctx, f, engine.Start{State: decoded(t, `{"note":"n","x":1.10}`)})
	if err != nil || res.Status != stores.StatusDone {
		t.Fatal(res.Error, err)
	}
	equalState(t, res.State, `{"show":"A","seats":3,"note":"n","x":1.10,"log":["start","a","b1","b2"]}`)

	f = engine.NewFlow("f").State(cart{Log: []string{"start"}}).Reduce("log", engine.Append).Node("a", step(func(c *cart) { c.Log = []string{"other"} }))
	res, err = runner(t, newStore(), nil).Run(ctx, f, engine.Start{})
	if err != nil || res.Status != stores.StatusFailed || !strings.Contains(res.Error, `"log" has the reducer "append"`) {
		t.Error(res.Status, res.Error, err)
	}
}

// jsonValue is any JSON value, with numbers of every form.
func jsonValue() *rapid.Generator[any] {
	number := rapid.Map(rapid.StringMatching(`-?(0|[1-9][0-9]{0,24})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,2})?`), func(s string) any { return json.Number(s) })
	leaf := rapid.OneOf(rapid.Just[any](nil), number, rapid.Map(rapid.String(), func(s string) any { return s }), rapid.Map(rapid.Bool(), func(b bool) any { return b }))
	return rapid.OneOf(leaf, rapid.Map(rapid.SliceOfN(leaf, 0, 3), func(l []any) any { return l }),
		rapid.Map(rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "City", "vip"}), leaf, 0, 3), func(m map[string]any) any { return m }))
}

// state is a random state that fits wide, with more in it at every level.
func randomState(t *rapid.T) engine.State {
	s := engine.State{}
	some := func(m map[string]any, name string, g *rapid.Generator[any]) {
		if rapid.Bool().Draw(t, "has "+name) {
			m[name] = g.Draw(t, name)
		}
	}
	whole := rapid.Map(rapid.Int64(), func(n int64) any { return json.Number(big.NewInt(n).String()) })
	text := rapid.Map(rapid.String(), func(s string) any { return s })
	float := rapid.Map(rapid.StringMatching(`-?[1-9][0-9]{0,20}(\.[0-9]{1,20})?`), func(s string) any { return json.Number(s) })
	place := rapid.Custom(func(t *rapid.T) any {
		m := map[string]any{}
		some(m, "city", text)
		some(m, "zip", text)
		some(m, "lat", float)
		some(m, "vip", jsonValue())
		return m
	})
	for _, name := range []string{"by", "embedded", "show"} {
		some(s, name, text)
	}
	some(s, "seats", whole)
	some(s, "price", float)
	some(s, "exact", float)
	for _, name := range []string{"any", "raw", "Show", "unknown", "hidden", "Local"} {
		some(s, name, jsonValue())
	}
	some(s, "home", place)
	some(s, "work", rapid.OneOf(place, rapid.Just[any](nil)))
	some(s, "stops", rapid.Map(rapid.SliceOfN(place, 0, 3), func(l []any) any { return l }))
	some(s, "rooms", rapid.Map(rapid.MapOfN(rapid.String(), place, 0, 3), func(m map[string]any) any { return m }))
	return s
}

func TestStepOnRandomStates(t *testing.T) {
	t.Parallel()
	changes := map[string]func(*wide){
		"by": func(w *wide) { w.By += "!" }, "show": func(w *wide) { w.Show += "!" }, "seats": func(w *wide) { w.Seats ^= 1 }, "paid": func(w *wide) { w.Paid = true },
		"price": func(w *wide) { w.Price = -w.Price - 1 }, "any": func(w *wide) { w.Any = []any{w.Any} }, "home": func(w *wide) { w.Home.City += "!" },
		"stops": func(w *wide) { w.Stops = append(w.Stops, address{City: "new"}) }, "rooms": func(w *wide) { w.Rooms = map[string]address{"new room": {}} },
	}
	names := []string{"by", "show", "seats", "paid", "price", "any", "home", "stops", "rooms"}
	rapid.Check(t, func(t *rapid.T) {
		s := randomState(t)
		update, err := engine.Step(func(context.Context, *wide) error { return nil }).Run(ctx, s.Clone())
		if err != nil || len(update) > 0 {
			t.Fatalf("no change gave %v, %v", update, err)
		}
		name := rapid.SampledFrom(names).Draw(t, "changed")
		update, err = engine.Step(func(_ context.Context, w *wide) error { changes[name](w); return nil }).Run(ctx, s.Clone())
		if err != nil || len(update) != 1 || update[name] == nil {
			t.Fatalf("a change of %q gave %v, %v", name, update, err)
		}
		after, err := engine.View[wide](engine.Merge(s, nil, update))
		if err != nil {
			t.Fatal(err)
		}
		want, err := engine.View[wide](s)
		if err != nil {
			t.Fatal(err)
		}
		changes[name](&want)
		if !reflect.DeepEqual(after, want) {
			t.Fatalf("the state now reads %+v, want %+v", after, want)
		}
		if old, ok := s["home"].(map[string]any); ok && name == "home" {
			merged := update[name].(map[string]any)
			for k, v := range old {
				if k != "city" && !reflect.DeepEqual(merged[k], v) {
					t.Fatalf("home.%s was %v, is %v", k, v, merged[k])
				}
			}
		}
	})
}
