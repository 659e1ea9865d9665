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

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/stores"
)

// ticketOrder is the state of the tickets flow.
type ticketOrder struct {
	Show  string `json:"show"`
	Seats int    `json:"seats"`
	Note  string `json:"note"`
}

func decoded(t testing.TB, text string) engine.State {
	t.Helper()
	s, err := engine.DecodeState([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func equalState(t testing.TB, got engine.State, want string) {
	t.Helper()
	if !reflect.DeepEqual(got, decoded(t, want)) {
		t.Errorf("got %v, want %s", got, want)
	}
}

func oneNode(name string) *engine.Flow {
	return engine.NewFlow(name).Node("one", engine.NodeFunc(func(context.Context, engine.State) (engine.State, error) { return nil, nil }))
}

func TestStartStateGetsDefaultsAndKeepsTheRest(t *testing.T) {
	type person struct {
		Name    string `json:"name"`
		Country string `json:"country"`
	}
	type booking struct {
		ticketOrder
		Buyer person           `json:"buyer"`
		Guest *person          `json:"guest"`
		Tags  map[string]int   `json:"tags"`
		Rest  string           `json:"rest,omitempty"`
		Big   *big.Int         `json:"big"`
		Extra json.RawMessage  `json:"extra"`
		When  map[string][]any `json:"when"`
		local int
	}
	f := oneNode("booking").State(booking{
		ticketOrder: ticketOrder{Seats: 1}, Buyer: person{Country: "DE"}, Tags: map[string]int{"web": 1}, Big: big.NewInt(7), local: 3,
	})
	for _, c := range []struct{ name, start, want string }{
		{"nothing given", `{}`,
			`{"show":"","seats":1,"note":"","buyer":{"name":"","country":"DE"},"guest":null,"tags":{"web":1},"big":7,"extra":null,"when":null}`},
		{"unknown fields, also nested, keep every digit",
			`{"show":"Hamlet","x":1.10,"buyer":{"name":"Ana","vip":12345678901234567890.5},"guest":{"name":"Bo"},"tags":{"a":2},"extra":{"n":1e400}}`,
			`{"show":"Hamlet","x":1.10,"seats":1,"note":"","buyer":{"name":"Ana","vip":12345678901234567890.5,"country":"DE"},"guest":{"name":"Bo"},"tags":{"a":2},"big":7,"extra":{"n":1e400},"when":null}`},
		{"what is given wins, also when it is empty", `{"seats":0,"note":"","tags":{},"big":9007199254740993,"rest":""}`,
			`{"show":"","seats":0,"note":"","buyer":{"name":"","country":"DE"},"guest":null,"tags":{},"big":9007199254740993,"extra":null,"when":null,"rest":""}`},
		{"another case beside the field is unknown", `{"show":"a","Show":"b"}`,
			`{"show":"a","Show":"b","seats":1,"note":"","buyer":{"name":"","country":"DE"},"guest":null,"tags":{"web":1},"big":7,"extra":null,"when":null}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, err := runner(t, newStore(), nil).Run(ctx, f, engine.Start{Key: key("r"), State: decoded(t, c.start)})
			if err != nil || res.Status != stores.StatusDone {
				t.Fatal(res.Status, err)
			}
			equalState(t, res.State, c.want)
		})
	}
	if res, err := runner(t, newStore(), nil).Run(ctx, oneNode("tickets").State(&ticketOrder{Seats: 2}), engine.Start{}); err != nil {
		t.Fatal(err)
	} else {
		equalState(t, res.State, `{"show":"","seats":2,"note":""}`)
	}
}

func TestStartStateThatDoesNotFitIsRefusedBeforeAnythingIsWritten(t *testing.T) {
	type line struct {
		Price int8 `json:"price"`
	}
	type bill struct {
		Seats int               `json:"seats"`
		Paid  bool              `json:"paid"`
		Lines []line            `json:"lines"`
		By    map[string]line   `json:"by"`
		Pair  [2]string         `json:"pair"`
		Boss  *ticketOrder      `json:"boss"`
		Digit json.Number       `json:"digit"`
		Text  int64             `json:"text,string"`
		Raw   []byte            `json:"raw"`
		At    time.Time         `json:"at"`
		Names map[string]string `json:"names"`
	}
	for _, c := range []struct{ start, want string }{
		{`{"seats":"two"}`, `seats: want a whole number (int), found a string`},
		{`{"seats":null}`, `seats: want a whole number (int), found null`},
		{`{"seats":2.5}`, `seats: want a whole number (int), found number 2.5`},
		{`{"seats":9223372036854775808}`, `seats: want a whole number (int), found number 9223372036854775808`},
		{`{"paid":0}`, `paid: want a boolean (bool), found a number`},
		{`{"lines":{}}`, `lines: want a list ([]engine_test.line), found an object`},
		{`{"lines":[{"price":1},{"price":true}]}`, `lines[1].price: want a whole number (int8), found a boolean`},
		{`{"lines":[{"price":300}]}`, `lines.price: want a whole number (int8), found number 300`},
		{`{"lines":[null]}`, `lines[0]: want an object (engine_test.line), found null`},
		{`{"by":{"a b":{"price":[]}}}`, `by.a b.price: want a whole number (int8), found a list`},
		{`{"pair":["a"]}`, `pair: want a list of 2, found a list of 1`},
		{`{"boss":{"show":1}}`, `boss.show: want a string (string), found a number`},
		{`{"boss":[]}`, `boss: want an object (engine_test.ticketOrder), found a list`},
		{`{"digit":"1"}`, `digit: want a number (json.Number), found a string`},
		{`{"text":null}`, `text: want a whole number (int64), found null`},
		{`{"text":5}`, `text: want a string with a whole number (int64), found a number`},
		{`{"text":"hunter2"}`, `text: want a string with a whole number (int64), found another string`},
		{`{"raw":5}`, `raw: want a string in base64 ([]uint8), found a number`},
		{`{"at":"yesterday"}`, `parsing time`},
		{`{"names":{"a":null}}`, `names.a: want a string (string), found null`},
		{`{"Seats":2}`, `seats: the field is "seats", found "Seats": names are case-sensitive`},
		{`{"boss":{"SHOW":"x"}}`, `boss.show: the field is "show", found "SHOW"`},
	} {
		t.Run(c.start, func(t *testing.T) {
			s := newStore()
			_, err := runner(t, s, nil).Run(ctx, oneNode("bill").State(bill{}), engine.Start{Key: key("r"), State: decoded(t, c.start)})
			if !errors.Is(err, engine.ErrInvalid) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), `run "r"`) {
				t.Fatalf("got %v, want %s", err, c.want)
			}
			if e, ok := errors.AsType[*engine.Error](err); !ok || e.Hint == "" {
				t.Error("it does not say what to do next")
			}
			if _, err := s.Latest(ctx, key("r")); !errors.Is(err, stores.ErrNotFound) {
				t.Error("something was written:", err)
			}
		})
	}
}

type panics struct{}

func (*panics) UnmarshalJSON([]byte) error { panic("planted") }

func (panics) MarshalJSON() ([]byte, error) { return []byte(`1`), nil }

func TestStateTypesThatCannotWorkAreRefused(t *testing.T) {
	type a struct{ ID int }
	type b struct{ ID int }
	type hidden struct{ X int }
	// Vet finds two such tags in a struct that is written out.
	twice := reflect.New(reflect.StructOf([]reflect.StructField{
		{Name: "A", Type: reflect.TypeFor[int](), Tag: `json:"x"`}, {Name: "B", Type: reflect.TypeFor[int](), Tag: `json:"x"`},
	})).Interface()
	for _, c := range []struct {
		name  string
		value any
		want  string
	}{
		{"nil", nil, "want a struct"},
		{"nil pointer", (*ticketOrder)(nil), "want a struct"},
		{"a map", map[string]any{}, "want a struct"},
		{"its own JSON", time.Time{}, "writes its JSON itself"},
		{"two fields of one name", twice, `2 fields that are "x"`},
		{"two embedded fields of one name", struct {
			a
			b
		}{}, `2 fields that are "ID"`},
		{"two fields of one name, nested", struct {
			L []map[string]*struct {
				a
				b
			}
		}{}, `2 fields that are "ID"`},
		{"behind an unexported pointer", struct{ *hidden }{}, "cannot be set through the unexported hidden"},
		{"a channel", struct{ C chan int }{}, "unsupported type"},
		{"keys that are no text", struct{ M map[int]string }{}, "int keys"},
		{"a text that is not UTF-8", ticketOrder{Show: "\xff"}, "not UTF-8"},
		{"a panic", struct{ P panics }{}, "planted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := oneNode("f").State(c.value).Check()
			if !errors.Is(err, engine.ErrFlow) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
	// A field of the struct itself hides those that it embeds, and a tag beats none.
	if err := oneNode("f").State(struct {
		a
		b
		ID int
	}{}).Check(); err != nil {
		t.Error(err)
	}
	if err := oneNode("f").State(struct {
		ID    int
		Other int `json:"ID"`
	}{}).Check(); err != nil {
		t.Error(err)
	}
	if err := oneNode("f").State(ticketOrder{}).Initial(engine.State{"seats": "two"}).Check(); !errors.Is(err, engine.ErrFlow) {
		t.Error("an initial state that does not fit:", err)
	}
	typed := oneNode("f").State(struct {
		Error string `json:"error"`
	}{})
	if err := typed.Check(); err != nil {
		t.Error(err)
	}
	if err := typed.Node("two", engine.Call{Tool: "x"}).OnError("one", "two").Check(); !errors.Is(err, engine.ErrFlow) || !strings.Contains(err.Error(), "error edge") {
		t.Error("an error edge whose error does not fit:", err)
	}
}

func TestStateTypeIsNoPartOfTheDigest(t *testing.T) {
	plain, err := oneNode("f").Digest()
	if err != nil {
		t.Fatal(err)
	}
	typed, err := oneNode("f").State(ticketOrder{}).Digest()
	if err != nil || plain != typed {
		t.Errorf("%s, then %s, %v", plain, typed, err)
	}
}

func TestUpdateThatDoesNotFitFailsTheNode(t *testing.T) {
	bad := engine.NodeFunc(func(context.Context, engine.State) (engine.State, error) { return engine.State{"seats": "two"}, nil })
	f := engine.NewFlow("f").State(ticketOrder{}).Node("one", bad)
	res, err := runner(t, newStore(), nil).Run(ctx, f, engine.Start{Key: key("r")})
	want := "the update does not fit the flow's state type engine_test.ticketOrder: seats: want a whole number (int), found a string"
	if err != nil || res.Status != stores.StatusFailed || res.Error != want {
		t.Errorf("%s %q, %v", res.Status, res.Error, err)
	}
	if res.State["seats"] != json.Number("0") {
		t.Error("the update got into the state:", res.State)
	}

	mend := engine.Step(func(_ context.Context, o *ticketOrder) error { o.Note = "mended"; return nil })
	f = engine.NewFlow("f").State(ticketOrder{}).Node("one", bad).Node("mend", mend).OnError("one", "mend")
	res, err = runner(t, newStore(), nil).Run(ctx, f, engine.Start{Key: key("r")})
	if err != nil || res.Status != stores.StatusDone || res.State["note"] != "mended" {
		t.Errorf("%s %v, %v", res.Status, res.State, err)
	}

	// What fits alone must also fit where the reducer puts it.
	type list struct {
		L [2]string `json:"l"`
	}
	more := engine.NodeFunc(func(context.Context, engine.State) (engine.State, error) { return engine.State{"l": "c"}, nil })
	f = engine.NewFlow("f").State(list{}).Reduce("l", engine.Append).Node("one", more)
	res, err = runner(t, newStore(), nil).Run(ctx, f, engine.Start{Key: key("r"), State: decoded(t, `{"l":["a","b"]}`)})
	if err != nil || res.Status != stores.StatusFailed || !strings.Contains(res.Error, "l: want a list of 2, found a list of 3") {
		t.Errorf("%s %q, %v", res.Status, res.Error, err)
	}

	f = engine.NewFlow("f").State(struct {
		P *panics `json:"p"`
	}{}).Node("one", engine.NodeFunc(func(context.Context, engine.State) (engine.State, error) { return engine.State{"p": 1}, nil }))
	res, err = runner(t, newStore(), nil).Run(ctx, f, engine.Start{Key: key("r")})
	if err != nil || res.Status != stores.StatusFailed || !strings.Contains(res.Error, "panicked: planted") {
		t.Errorf("%s %q, %v", res.Status, res.Error, err)
	}
}

func TestToolResultThatDoesNotFitFailsTheNodeOnce(t *testing.T) {
	w := newWorld()
	f := engine.NewFlow("f").State(ticketOrder{}).Node("hold", engine.Call{Tool: "hold_seats", Into: "seats"})
	res, err := runner(t, newStore(), w.ticketTools()).Run(ctx, f, start("r"))
	if err != nil || res.Status != stores.StatusFailed || !strings.Contains(res.Error, "seats: want a whole number (int), found a string") || w.count("hold_seats") != 1 {
		t.Errorf("%s %q, %v, %d calls", res.Status, res.Error, err, w.count("hold_seats"))
	}
}

func TestAnswerThatDoesNotFit(t *testing.T) {
	f := engine.NewFlow("f").State(ticketOrder{Show: "Hamlet"}).Node("ask", engine.Interrupt{
		Key: "seats", Prompt: engine.With(func(o ticketOrder) (string, error) { return "seats for " + o.Show + "?", nil }),
	})
	s := newStore()
	r := runner(t, s, nil)
	res, err := r.Run(ctx, f, engine.Start{Key: key("r")})
	if err != nil || res.Waiting[0].Prompt != "seats for Hamlet?" {
		t.Fatal(res, err)
	}
	answer := engine.Decide{Type: engine.DecideAnswer, Value: json.RawMessage(`"two"`), By: "ana"}
	if _, err = r.Resume(ctx, f, key("r"), answer); !errors.Is(err, engine.ErrInvalid) || !strings.Contains(err.Error(), "seats: want a whole number (int), found a string") {
		t.Fatal(err)
	}
	if c, _ := mustLatest(t, s, "r"); c.Status != stores.StatusPaused || c.Step != res.Step {
		t.Fatalf("a refused answer left the run %s at step %d", c.Status, c.Step)
	}
	// Whoever records it has no flow to check it with: then the node fails.
	if _, err := r.Record(ctx, key("r"), answer); err != nil {
		t.Fatal(err)
	}
	res, err = r.Recover(ctx, f, key("r"), engine.RecoverOptions{})
	if err != nil || res.Status != stores.StatusFailed || !strings.Contains(res.Error, "seats: want a whole number (int), found a string") {
		t.Errorf("%s %q, %v", res.Status, res.Error, err)
	}
}

func TestRunWhoseStateDoesNotFitIsLeftAlone(t *testing.T) {
	w := newWorld()
	s := &crashing{full: newStore(), at: 6}
	if _, err := runner(t, s, w.ticketTools()).Run(ctx, tickets(), start("r")); !errors.Is(err, errCrash) {
		t.Fatal(err)
	}
	before, _ := mustLatest(t, s.full, "r")
	type other struct {
		Show int `json:"show"`
	}
	type more struct {
		ticketOrder
		Currency string `json:"currency"`
	}
	o := engine.RecoverOptions{RerunInDoubt: true, Takeover: true}
	r := runner(t, s.full, w.ticketTools())
	_, err := r.Recover(ctx, tickets().State(other{}), key("r"), o)
	if !errors.Is(err, engine.ErrFlow) || !strings.Contains(err.Error(), "show: want a whole number (int), found a string") {
		t.Fatal(err)
	}
	if after, _ := mustLatest(t, s.full, "r"); after.Step != before.Step {
		t.Fatal("a refused recovery wrote something")
	}
	p, err := engine.MakePlan(ctx, s.full, testKeys(t), key("r"))
	if err != nil || !errors.Is(p.Fits(tickets().State(other{})), engine.ErrFlow) || p.Fits(tickets().State(ticketOrder{})) != nil {
		t.Error("the plan does not say so:", err)
	}
	res, err := r.Recover(ctx, tickets().State(more{Currency: "EUR"}), key("r"), o)
	if err != nil || res.Status != stores.StatusDone {
		t.Fatal(res.Status, err)
	}
	if _, there := res.State["currency"]; there {
		t.Error("a recovery changed the state: arguments made of it would not replay")
	}
}
