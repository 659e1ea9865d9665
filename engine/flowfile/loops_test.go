package flowfile

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/model"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/memory"
)

// recordedStrategy is an answer that another program judged.
type recordedStrategy struct {
	N        int
	Strategy json.RawMessage
	Answer   any
	State    engine.State
	Updates  engine.State
}

func TestRecordedStrategies(t *testing.T) {
	const object, falsy, unicode = "an object passes no strategy, whatever it says of itself", "a false or 0 is not an empty text", `\w is ASCII`
	differs := map[int]string{
		10: object, 11: object, 71: object, 140: object, 158: object, 160: object, 172: object, 185: object, 187: object,
		110: falsy, 135: falsy, 153: falsy, 195: falsy, 197: falsy, 203: unicode, 204: unicode,
	}
	data, err := os.ReadFile("testdata/recorded_strategies.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for in := bufio.NewScanner(bytes.NewReader(data)); in.Scan(); n++ {
		var c recordedStrategy
		dec := json.NewDecoder(bytes.NewReader(in.Bytes()))
		dec.UseNumber()
		if err := dec.Decode(&c); err != nil {
			t.Fatal(err)
		}
		got := judged(t, c)
		if d := cmp.Diff(c.Updates, got); (d != "") != (differs[c.N] != "") {
			t.Errorf("%d: %s on %v, listed: %q: %s", c.N, c.Strategy, c.Answer, differs[c.N], d)
		}
	}
	if n < 100 {
		t.Errorf("only %d cases", n)
	}
}

// judged runs an interrupt of a flow file with the strategy, and gives what it wrote.
func judged(t *testing.T, c recordedStrategy) engine.State {
	t.Helper()
	f := parsed(t, fmt.Sprintf("name: f\nsteps:\n  - {id: a, type: interrupt, config: {key: answer, strategy: %s}}\n", c.Strategy), Options{})
	chat := newChat(t, f)
	chat.start(c.State)
	res := chat.answer("answer", c.Answer)
	out := engine.State{}
	for k, v := range res.State {
		if old, ok := c.State[k]; k != "answer" && (!ok || !cmp.Equal(old, v)) {
			out[k] = v
		}
	}
	return out
}

func parsed(t *testing.T, text string, o Options) *File {
	t.Helper()
	f, err := Parse("f.yaml", []byte(text), o)
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	return f
}

// chat runs one flow.
type chat struct {
	t *testing.T
	r *engine.Runner
	f *engine.Flow
}

func newChat(t *testing.T, f *File) chat {
	t.Helper()
	r, err := engine.New(engine.Config{Store: memory.New(memory.Options{}), Tools: f.Tools})
	if err != nil {
		t.Fatal(err)
	}
	return chat{t, r, f.Flow}
}

var chatKey = stores.Key{Owner: stores.DefaultOwner, Run: "r"}

func (c chat) start(s engine.State) engine.Result {
	c.t.Helper()
	res, err := c.r.Execute(context.Background(), c.f, engine.Execution{Key: chatKey, State: s})
	if err != nil {
		c.t.Fatal(err)
	}
	return res
}

func (c chat) answer(key string, v any) engine.Result {
	c.t.Helper()
	res, err := c.r.Execute(context.Background(), c.f, engine.Execution{Key: chatKey, Resume: map[string]any{key: v}})
	if err != nil {
		c.t.Fatal(err)
	}
	return res
}

const promoFile = `
name: promo
models:
  - {name: hints, provider: scripted, replies: [{content: "Two letters, a dash, four digits."}]}
steps:
  - id: hello
    type: transform
    config: {action: value, value: hi, output_key: greeting}
  - id: code
    type: interrupt_loop
    config:
      key: code
      prompt: "{greeting}, a code like XX-1234?"
      strategy: {regex: "^[A-Z]{2}-[0-9]{4}$", decision_key: code_ok, value_key: discount_code, hint: a code like XX-1234}
      body: [{type: llm, config: {model: hints, prompt: "{code} is wrong", into: hint}}]
      done: [{type: transform, config: {action: render, template: "off with {discount_code}", output_key: final}}]
  - {id: thanks, type: transform, config: {action: value, value: bye, output_key: bye}}
edges:
  - {from: hello, to: code}
  - {from: code, to: thanks}
`

func TestInterruptLoopOfAFile(t *testing.T) {
	c := newChat(t, parsed(t, promoFile, Options{Models: openScripted}))
	res := c.start(nil)
	if w := res.Waiting[0]; w.Prompt != "hi, a code like XX-1234?" || w.Want.String() != "a code like XX-1234" || w.ID != "code#1" {
		t.Errorf("%+v", w)
	}
	if res = c.answer("code", "nonsense"); res.Status != stores.StatusPaused || res.State["hint"] != "Two letters, a dash, four digits." || res.State["code_ok"] != "нет" {
		t.Fatalf("%+v", res)
	}
	res = c.answer("code", "AB-1234")
	if res.Status != stores.StatusDone || res.State["final"] != "off with AB-1234" || res.State["bye"] != "bye" || res.State["code_ok"] != "да" {
		t.Errorf("%+v", res)
	}
}

func openScripted(s model.Spec) (model.Model, error) { return model.NewScripted(s.Replies...), nil }

// A strategy on an interrupt goes on in any case: the edges read the outcome,
// and its error edges too leave from the validation.
func TestAskOfAFile(t *testing.T) {
	for answer, want := range map[string]string{"Ja ": "paid", "nein": "refused"} {
		c := newChat(t, parsed(t, `
name: f
steps:
  - {id: ask, type: interrupt, config: {key: ok, strategy: {any_of: [ja, jawohl], pass_value: p, fail_value: f, decision_key: d, rounds_key: n}}}
  - {id: pay, type: transform, config: {action: value, value: paid, output_key: end}}
  - {id: no, type: transform, config: {action: value, value: refused, output_key: end}}
edges:
  - {from: ask, to: pay, condition: d=p}
  - {from: ask, to: no}
`, Options{}))
		if w := c.start(nil).Waiting[0]; !cmp.Equal(w.Want.Options(), []string{"ja", "jawohl"}) {
			t.Errorf("%+v", w)
		}
		if res := c.answer("ok", answer); res.State["end"] != want {
			t.Errorf("%q: %+v", answer, res.State)
		}
	}
}

// A loop runs its body at least once, until the condition holds or the rounds
// are used up; when it is entered again it counts anew. An interrupt in it is
// resumed in it.
func TestLoopOfAFile(t *testing.T) {
	text := func(most int) string {
		return fmt.Sprintf(`
name: f
state: {schema: {log: append}, initial: {log: []}}
steps:
  - id: twice
    type: loop
    config:
      key: ok
      until: ja, yes
      max_rounds: %d
      body:
        - {type: call, config: {tool: note, into: log}}
        - {type: interrupt, config: {key: ok, prompt: "{log}?"}}
  - {id: more, type: transform, config: {action: append, value: out, output_key: log}}
edges:
  - {from: twice, to: more}
  - {from: more, to: twice, condition: ok=again}
`, most)
	}
	n := 0
	tools := tool.NewRegistry(tool.Tool{Name: "note", Run: func(context.Context, tool.Input) (any, error) { n++; return n, nil }})
	c := newChat(t, parsed(t, text(3), Options{Tools: tools}))
	c.start(nil)
	for _, a := range []string{"no", "Ja!"} {
		c.answer("ok", a)
	}
	if res := c.start(nil); res.Status != stores.StatusDone || fmt.Sprint(res.State["log"]) != "[1 2 out]" {
		t.Errorf("%s %v", res.Status, res.State["log"])
	} else if res.State["twice_rounds"] != json.Number("2") { // the body ran twice
		t.Errorf("%v rounds are counted", res.State["twice_rounds"])
	}
	n = 0
	c = newChat(t, parsed(t, text(2), Options{Tools: tools}))
	c.start(nil)
	for _, a := range []string{"again", "again", "yes"} {
		c.answer("ok", a)
	}
	if res := c.start(nil); res.Status != stores.StatusDone || fmt.Sprint(res.State["log"]) != "[1 2 out 3 out]" {
		t.Errorf("%s %v", res.Status, res.State["log"])
	}
}

// The count is in the state: the round under way while the body runs, and then
// how many there were, which tells a loop that used them up.
func TestRoundsOfALoop(t *testing.T) {
	for most, holds := range map[int]int{1: 9, 2: 9, 3: 2, 4: 1} {
		c := newChat(t, parsed(t, fmt.Sprintf(`
name: f
state: {schema: {log: append}, initial: {log: []}}
steps:
  - id: l
    type: loop
    config:
      key: l_rounds
      until: "%d"
      max_rounds: %d
      body: [{type: transform, config: {action: append, template: "{l_rounds}", output_key: log}}]
`, holds, most), Options{}))
		n := min(most, holds)
		var log []string
		for i := range n {
			log = append(log, fmt.Sprint(i+1))
		}
		res := c.start(nil)
		if fmt.Sprint(res.State["log"]) != fmt.Sprint(log) || res.State["l_rounds"] != json.Number(fmt.Sprint(n)) {
			t.Errorf("at most %d, until %d: %v", most, holds, res.State)
		}
	}
}

func TestConversationOfAFile(t *testing.T) {
	f := parsed(t, `
name: f
state: {initial: {topic: baths}}
models: [{name: m, provider: scripted, replies: [{content: one}, {content: two}]}]
steps:
  - {id: reply, type: llm, config: {model: m, messages: messages, into: answer}}
conversation: {transient: [answer]}
`, Options{Models: openScripted})
	c := newChat(t, f)
	for _, want := range []string{"one", "two"} {
		res, err := c.r.Turn(context.Background(), f.Flow, engine.Turn{Key: chatKey, Message: "go on"})
		if err != nil || res.Reply != want || res.State["topic"] != "baths" || res.State["answer"] != want {
			t.Errorf("%+v, %v", res, err)
		}
	}
}

func TestLoopErrors(t *testing.T) {
	step := func(s string) string { return "name: f\nsteps:\n  - " + s + "\n" }
	ask := func(s string) string { return step("{id: a, type: interrupt, config: {key: k, strategy: " + s + "}}") }
	const one = "{id: a, type: transform, config: {action: now, output_key: o}}"
	for _, c := range []struct{ text, want string }{
		{ask(""), "strategy needs one of equals, any_of, regex and llm"},
		{ask("x"), "strategy must be a mapping"},
		{ask("{}"), "strategy needs exactly one of equals, any_of, regex and llm, found 0"},
		{ask("{equals: a, regex: b}"), "found 2"},
		{ask("{equals: ''}"), "equals must not be empty"},
		{ask("{equals: true}"), `equals must be a string, not a boolean; quote it: "true"`},
		{ask("{any_of: []}"), "any_of must not be empty"},
		{ask("{any_of: [5]}"), "each of any_of must be a string"},
		{ask("{regex: '('}"), `f.yaml:3:57: node "a": error parsing regexp`},
		{ask("{equals: a, decision_key: k}"), `its strategy writes "k" twice`},
		{ask("{equals: a, pass_value: нет}"), "its outcomes do not differ"},
		{ask("{equals: a, max_rounds: 0}"), "max_rounds must be a whole number from 1 on"},
		{ask("{equals: a, value_field: x}"), `strategy: "value_field" is not supported by this version`},
		{ask("{equal: a}"), `strategy has no key "equal"`},
		{ask("{llm: {model: m}}"), `no model is named "m"`},
		{ask("{llm: {}}"), `llm needs "model"`},
		{step("{id: a, type: interrupt_loop, config: {key: k}}"), `config of an interrupt_loop needs "strategy"`},
		{step("{id: a, type: interrupt_loop, config: {strategy: {equals: x}}}"), `config of an interrupt_loop needs "key"`},
		{step("{id: a, type: interrupt_loop, config: {key: k, strategy: {equals: x}, body: [x]}}"), "each of body must be a mapping"},
		{step("{id: a, type: interrupt_loop, config: {key: k, strategy: {equals: x}, body: [{id: b, type: llm, config: {model: ollama/x, prompt: y, into: z}}]}}"), `f.yaml:3:87: node "a:body": a step of body has no id of its own`},
		{step("{id: a, type: interrupt_loop, config: {key: k, strategy: {equals: x}, done: [{type: tool_loop}]}}"), `node "a:done/tool_loop": config of a tool_loop needs "model"`},
		{step("{id: a, type: loop, config: {until: x, body: []}}"), `config of a loop needs "key"`},
		{step("{id: a, type: loop, config: {key: k, body: []}}"), `config of a loop needs "until"`},
		{step("{id: a, type: loop, config: {key: k, until: x}}"), `needs a "body" of at least one step`},
		{step("{id: a, type: llm, config: {model: ollama/x, into: y}}"), `config of an llm needs "prompt"`},
		{step("{id: a, type: llm, config: {model: ollama/x, prompt: y}}"), `config of an llm needs "into"`},
		{step(one) + "conversation: {message: x}", `conversation has no key "message"`},
		{step(one) + "conversation: {transient: [messages]}", "cannot be transient"},
		{step(strings.Replace(one, "id: a", "id: turn", 1)) + "conversation:", "waits for the next message of a conversation has this id"},
	} {
		_, err := Parse("f.yaml", []byte(c.text), Options{})
		var fe *Error
		if !errors.As(err, &fe) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s\ngot  %v\nwant %s", c.text, err, c.want)
		}
	}
}
