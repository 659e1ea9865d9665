package engine_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/model"
	"github.com/flowtui/flowtui/stores"
)

// judged runs one question with a strategy and gives what it wrote.
func judged(t *testing.T, s engine.Strategy, answer any, before engine.State) engine.State {
	t.Helper()
	store := newStore()
	r := runner(t, store, nil)
	f := engine.NewFlow("f").Ask("q", engine.Interrupt{Key: "q", Prompt: engine.Text("?")}, s)
	if res, err := r.Execute(ctx, f, engine.Execution{Key: key("a"), State: before}); err != nil || res.Status != stores.StatusPaused {
		t.Fatalf("%+v, %v", res, err)
	}
	res, err := r.Execute(ctx, f, engine.Execution{Key: key("a"), Resume: map[string]any{"q": answer}})
	if err != nil || res.Status != stores.StatusDone {
		t.Fatalf("%+v, %v", res, err)
	}
	delete(res.State, "q")
	return res.State
}

func TestStrategies(t *testing.T) {
	code := engine.Strategy{Regex: `^([A-Z]{2})-[0-9]{4}$`}
	whole := engine.Strategy{Regex: `[0-9]+|(x)`}
	yes := engine.Strategy{Equals: "Да"}
	any2 := engine.Strategy{AnyOf: []string{"yes", "ok", "5"}}
	even := engine.Strategy{Check: func(_ engine.State, answer any) (any, bool, error) {
		n, err := answer.(json.Number).Int64()
		return n / 2, n%2 == 0, err
	}}
	for _, c := range []struct {
		name   string
		s      engine.Strategy
		answer any
		ok     bool
		value  any // of a pass
	}{
		{"equals", yes, " да\n", true, " да\n"},
		{"equals in other words", yes, "да.", false, nil},
		{"equals nothing", yes, nil, false, nil},
		{"equals an object that says ok", yes, map[string]any{"ok": true}, false, nil},
		{"any of, the empty text", engine.Strategy{AnyOf: []string{"", "no"}}, nil, false, nil},
		{"regex of all but a semicolon, nothing", engine.Strategy{Regex: `^[^;]*$`}, nil, false, nil},
		{"regex of anything, nothing", engine.Strategy{Regex: `.*`}, nil, false, nil},
		{"any of", any2, "OK", true, "OK"},
		{"any of, a number", any2, 5, true, json.Number("5")},
		{"none of", any2, "yes please", false, nil},
		{"any of, a list", any2, []any{"yes"}, false, nil},
		{"regex with a group", code, "XX-1234", true, "XX"},
		{"regex, lower case", code, "xx-1234", false, nil},
		{"regex, a line more", code, "XX-1234\n", false, nil},
		{"regex, anchored", code, "code XX-1234", false, nil},
		{"regex, a number", whole, 42, true, nil},
		{"regex, the group that took part", whole, "ax", true, "x"},
		{"check", even, 8, true, json.Number("4")},
		{"check fails", even, 7, false, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.s.Value = "v"
			want := engine.State{"q_decision": "no", "q_rounds": json.Number("1"), "v": ""}
			if c.ok {
				want["q_decision"], want["v"] = "yes", c.value
			}
			if d := cmp.Diff(want, judged(t, c.s, c.answer, nil)); d != "" {
				t.Error(d)
			}
		})
	}
}

// The keys and outcomes are the caller's; patience counts the answers.
func TestStrategyKeysAndRounds(t *testing.T) {
	s := engine.Strategy{Regex: "^x$", Decision: "code_ok", Value: "code", Rounds: "n", Pass: "да", Fail: "нет", MaxRounds: 3}
	for before, want := range map[string]engine.State{
		`{}`:      {"code_ok": "нет", "code": "", "n": json.Number("1")},
		`{"n":1}`: {"code_ok": "нет", "code": "", "n": json.Number("2")},
		`{"n":2}`: {"code_ok": "да", "code": nil, "n": json.Number("3")},
		`{"n":9}`: {"code_ok": "да", "code": nil, "n": json.Number("10")},

		`{"n":""}`:                {"code_ok": "нет", "code": "", "n": json.Number("1")},
		`{"n":2,"code_ok":"нет"}`: {"code_ok": "да", "code": nil, "n": json.Number("3")},
		`{"n":2,"code_ok":"да"}`:  {"code_ok": "нет", "code": "", "n": json.Number("1")},
	} {
		state, err := engine.DecodeState([]byte(before))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, judged(t, s, "y", state)); d != "" {
			t.Errorf("%s: %s", before, d)
		}
	}
}

func TestClassifier(t *testing.T) {
	for reply, want := range map[string]engine.State{
		`{"ok": true, "clear": true, "value": "go ahead"}`: {"q_decision": "yes", "v": "go ahead"},
		`{"ok": true}`: {"q_decision": "yes", "v": "конечно"},
		"```json\n{\"ok\": false, \"clear\": true}\n```": {"q_decision": "no", "v": ""},
		`{"ok": true, "clear": false}`:                   {"q_decision": "unclear", "v": ""},
		`{"ok": true, "clear": "false"}`:                 {"q_decision": "unclear", "v": ""},
		`{"ok": true, "clear": null}`:                    {"q_decision": "unclear", "v": ""},
		`{"ok": true, "clear": 0}`:                       {"q_decision": "unclear", "v": ""},
		`{"ok": false, "ok": true}`:                      {"q_decision": "unclear", "v": ""},
		`{"ok": true, "clear": false, "clear": true}`:    {"q_decision": "unclear", "v": ""},
		`I think so`:     {"q_decision": "unclear", "v": ""},
		`{"ok": "true"}`: {"q_decision": "unclear", "v": ""},
		`} {`:            {"q_decision": "unclear", "v": ""},
	} {
		m := talks(model.Message{Content: reply})
		s := engine.Strategy{Classifier: &engine.Classifier{Model: m}, Value: "v"}
		want["q_rounds"] = json.Number("1")
		if d := cmp.Diff(want, judged(t, s, "конечно", nil)); d != "" {
			t.Errorf("%s: %s", reply, d)
		}
		asked := m.requests[0].Messages
		if len(asked) != 2 || asked[1].Content != `{"answer":"конечно","question":"?"}` || !strings.Contains(asked[0].Content, "It passes when it agrees.") {
			t.Errorf("the model was asked %+v", asked)
		}
	}
}

func FuzzWant(f *testing.F) {
	f.Add("да", "a|b", `"да"`, true)
	f.Add("", "(x", `{"ok":true}`, false)
	f.Fuzz(func(t *testing.T, equals, regex, answer string, several bool) {
		w := &engine.Want{Equals: equals, Regex: regex}
		if several {
			w.AnyOf = []string{equals, "b"}
		}
		if err := w.Refuses(json.RawMessage(answer)); err == nil && equals != "" && regex == "" && !several {
			var text any
			if json.Unmarshal([]byte(answer), &text) != nil {
				t.Errorf("%q passes and is not JSON", answer)
			}
		}
		_ = w.String()
	})
}

// What a person is shown of a strategy refuses exactly what would not pass.
func TestWantFollowsTheStrategy(t *testing.T) {
	for name, s := range map[string]engine.Strategy{
		"equals": {Equals: "да"}, "any of": {AnyOf: []string{"yes", "5"}}, "regex": {Regex: "^[A-Z]{2}-[0-9]{4}$", Hint: "a code like XX-1234"},
	} {
		for _, answer := range []any{"да", " ДА ", "yes", 5, "XX-1234", "xx-1234", "", nil, true, map[string]any{"ok": true}} {
			store := newStore()
			f := engine.NewFlow("f").Ask("q", engine.Interrupt{Key: "q"}, s)
			res, err := runner(t, store, nil).Execute(ctx, f, execution("a"))
			if err != nil {
				t.Fatal(err)
			}
			raw, _ := json.Marshal(answer)
			refused := res.Waiting[0].Want.Refuses(raw)
			passes := judged(t, s, answer, nil)["q_decision"] == "yes"
			if (refused == nil) != passes {
				t.Errorf("%s, %s: refused %v, passes %v", name, raw, refused, passes)
			}
			if refused != nil && name == "regex" && refused.Error() != "wanted is a code like XX-1234" {
				t.Errorf("%v", refused)
			}
		}
	}
	for want, w := range map[string]*engine.Want{
		"": nil, `"да"`: {Equals: "да"}, "one of a, b": {AnyOf: []string{"a", "b"}}, "a text that matches x+": {Regex: "x+"}, "a colour": {Regex: "x", Hint: "a colour"},
	} {
		if w.String() != want {
			t.Errorf("%q, want %q", w, want)
		}
	}
	if d := cmp.Diff([]string{"a", "b"}, (&engine.Want{AnyOf: []string{"a", "b"}}).Options()); d != "" {
		t.Error(d)
	}
}

func TestBuilderErrors(t *testing.T) {
	q := engine.Interrupt{Key: "q"}
	for want, f := range map[string]*engine.Flow{
		"exactly one of equals, any of, regex, check and classifier, found 0": engine.NewFlow("f").Ask("q", q, engine.Strategy{}),
		"exactly one of equals, any of, regex, check and classifier, found 2": engine.NewFlow("f").Ask("q", q, engine.Strategy{Equals: "a", Regex: "b"}),
		"error parsing regexp":                     engine.NewFlow("f").Ask("q", q, engine.Strategy{Regex: "("}),
		"its classifier has no model":              engine.NewFlow("f").Ask("q", q, engine.Strategy{Classifier: &engine.Classifier{}}),
		"the number of rounds is negative":         engine.NewFlow("f").Ask("q", q, engine.Strategy{Equals: "a", MaxRounds: -1}),
		`its strategy writes "q" twice`:            engine.NewFlow("f").Ask("q", q, engine.Strategy{Equals: "a", Value: "q"}),
		"its outcomes do not differ":               engine.NewFlow("f").Ask("q", q, engine.Strategy{Equals: "a", Pass: "no"}),
		"an interrupt has no key":                  engine.NewFlow("f").Interrupt(engine.Interrupt{}),
		"a loop needs one step before it":          engine.NewFlow("f").Loop(engine.Loop{Until: engine.KeyIs("a", "b"), Body: []engine.Node{put("a", 1)}}),
		`the loop of "a" has an empty condition`:   engine.NewFlow("f").Step("a", put("a", 1)).Loop(engine.Loop{Body: []engine.Node{put("a", 1)}}),
		`the loop of "a" has no body`:              engine.NewFlow("f").Step("a", put("a", 1)).Loop(engine.Loop{Until: engine.KeyIs("a", "b")}),
		"MaxIterations is negative":                engine.NewFlow("f").Step("a", put("a", 1)).Loop(engine.Loop{Until: engine.KeyIs("a", "b"), Body: []engine.Node{put("a", 1)}, MaxIterations: -1}),
		"the messages of a conversation cannot be": engine.NewFlow("f").Step("a", put("a", 1)).Conversation(engine.Conversation{Transient: []string{"messages"}}),
		"it is made a conversation twice":          engine.NewFlow("f").Step("a", put("a", 1)).Conversation(engine.Conversation{}).Conversation(engine.Conversation{}),
		`interrupt "x": its strategy must be`:      engine.NewFlow("f").InterruptLoop(engine.InterruptLoop{ID: "x", Key: "q"}),
	} {
		if err := f.Check(); !errors.Is(err, engine.ErrFlow) || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// Patience is for one question: the answers of an earlier turn do not count, so
// the first one of a later turn does not pass for what it is not. A counter that
// is transient counts anew too.
// A message that is an answer is checked as a decision is, before it is stored.
func TestAMessageThatWouldNotPass(t *testing.T) {
	f := engine.NewFlow("talk").
		Ask("code", engine.Interrupt{Key: "code"}, engine.Strategy{Regex: "^[A-Z]{2}-[0-9]{4}$"}).
		Step("colour", engine.Interrupt{Key: "colour", Choices: []string{"red", "blue"}}).
		Conversation(engine.Conversation{})
	store := newStore()
	r := runner(t, store, nil)
	say := func(message string, strict, unchecked bool) (engine.TurnResult, error) {
		t.Helper()
		before, _ := store.Latest(ctx, key("c")) // none before the first
		res, err := r.Turn(ctx, f, engine.Turn{Key: key("c"), Message: message, Strict: strict, Unchecked: unchecked})
		if after, _ := mustLatest(t, store, "c"); err != nil && after.Step != before.Step {
			t.Errorf("%q was refused and is stored with step %d", message, after.Step)
		}
		return res, err
	}
	if res, err := say("hello", true, false); err != nil || res.Key != "code" { // starts it: no answer
		t.Fatalf("%+v, %v", res, err)
	}
	if _, err := say("nonsense", true, false); !errors.Is(err, engine.ErrUnwanted) || !strings.Contains(err.Error(), "a text that matches ^[A-Z]{2}-[0-9]{4}$") {
		t.Errorf("%v", err)
	}
	if res, err := say("nonsense", false, false); err != nil || res.Key != "colour" {
		t.Errorf("%+v, %v", res, err)
	}
	if _, err := say("green", true, false); !errors.Is(err, engine.ErrUnwanted) || !strings.Contains(err.Error(), "red, blue") {
		t.Errorf("%v", err)
	}
	if res, err := say("green", false, true); err != nil || res.Waiting || res.State["colour"] != "green" {
		t.Errorf("%+v, %v", res, err)
	}
	if res, err := say("nonsense", true, false); err != nil || res.Key != "code" { // the next turn's message is no answer either
		t.Errorf("%+v, %v", res, err)
	}
}

func TestRoundsOfEachTurn(t *testing.T) {
	for _, transient := range [][]string{nil, {"code_rounds"}, {"code_decision"}, {"code_decision", "code_rounds"}} {
		f := engine.NewFlow("talk").
			InterruptLoop(engine.InterruptLoop{Key: "code", Prompt: engine.Text("code?"), Accept: engine.Strategy{Equals: "AB-1234", MaxRounds: 2}}).
			Conversation(engine.Conversation{Transient: transient})
		r := runner(t, newStore(), nil)
		var res engine.TurnResult
		for _, message := range []string{"hello", "AB-1234", "again", "WRONG"} {
			var err error
			if res, err = r.Turn(ctx, f, engine.Turn{Key: key("c"), Message: message}); err != nil {
				t.Fatalf("%v, %q: %v", transient, message, err)
			}
		}
		if !res.Waiting || res.Key != "code" {
			t.Errorf("%v: a wrong code ended the turn with %v", transient, res.State)
		}
		res, err := r.Turn(ctx, f, engine.Turn{Key: key("c"), Message: "WRONG TOO"}) // answer number 2 of this turn
		if err != nil || res.Waiting || res.State["code_decision"] != "yes" || res.State["code_rounds"] != json.Number("2") {
			t.Errorf("%v: %+v, %v", transient, res, err)
		}
	}
}
