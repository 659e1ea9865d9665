package viewer

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/model"
	"github.com/flowtui/flowtui/stores"
)

// holding starts a run whose state is as given, of a flow without a tool loop.
func (b *bench) holding(run, state string) {
	b.t.Helper()
	st, err := engine.DecodeState([]byte(state))
	if err != nil {
		b.t.Fatal(err)
	}
	b.flow(engine.NewFlow("holds").Node("one", engine.NodeFunc(func(context.Context, engine.State) (engine.State, error) { return nil, nil })))
	if _, err := b.runner("w").Run(b.t.Context(), b.flows.flows["holds"], engine.Start{Key: stores.Key{Owner: "default", Run: run}, State: st}); err != nil {
		b.t.Fatal(err)
	}
}

// shapeless hides the stored topology.
type shapeless struct {
	stores.Store
	stores.Lister
	stores.Historian
}

// What counts as a conversation, and that no message hides another.
func TestConversationInAnyState(t *testing.T) {
	for name, c := range map[string]struct {
		state, key string
		others     []string
		want       []string
	}{
		"none":          {state: `{"note":"x","n":[1,2],"people":[{"role":"user","name":"bob"}],"deep":{"messages":[{"role":"user","content":"x"}]}}`},
		"empty":         {state: `{"messages":[]}`},
		"first by name": {state: `{"b":[{"role":"user","content":"B"}],"a":[{"role":"user","content":"A"}]}`, key: "a", others: []string{"b"}, want: []string{"1 user: A"}},
		"malformed among": {
			state: `{"log":["hi",{"role":"admin","content":"x"},{"role":"user","content":"hello","name":"bob","at":3},{"role":"user"},` +
				`{"role":"assistant","content":["a"]},{"role":"assistant","content":null,"tool_calls":[7]},{"role":"user","content":"","tool_calls":[{"id":"1","name":"x","args":1}]},7]}`,
			key: "log", want: []string{
				`1 ? it is no object: "hi"`, `2 ? its role is none of system, user, assistant and tool: {"content":"x","role":"admin"}`, "3 user: hello",
				`4 ? it has neither content nor tool_calls: {"role":"user"}`, `5 ? its content is no text: {"content":["a"],"role":"assistant"}`,
				`6 ? its tool_calls are not those of a reply: {"content":null,"role":"assistant","tool_calls":[7]}`,
				`7 ? its tool_calls are not those of a reply: {"content":"","role":"user","tool_calls":[{"args":1,"id":"1","name":"x"}]}`, "8 ? it is no object: 7",
			},
		},
		"without a log": {
			state: `{"messages":[{"role":"assistant","content":"","tool_calls":[{"id":"1","name":"a","args":{}},{"id":"1","name":"b","args":"x"},{"id":"2","name":"c"}]},` +
				`{"role":"tool","content":"one","tool_call_id":"1"},{"role":"tool","content":"again","tool_call_id":"1"},{"role":"user","content":"so?"},{"role":"tool","content":"late","tool_call_id":"2"}]}`,
			key: "messages", want: []string{
				"1 assistant: ", "  a{} unlogged because it has a result, and the call log has no call that it is of",
				`  b"x" unlogged because it has no result, and the call log has no call of it`, "  c unlogged because it has no result, and the call log has no call of it",
				"2 tool: one (under 1)", "3 tool: again", "4 user: so?", "5 tool: late",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.holding("x", c.state)
			all := map[string]*Service{"stored shape": b.service()}
			o := b.options()
			o.Formats = Registry{memoryFormat(map[string]stores.Store{"mem": shapeless{b.store, b.store, b.store}})}
			all["no shape"] = attach(t, o, "mem")
			for how, s := range all {
				v := get[Conversation](t)(s.Conversation(t.Context(), s.Find("x", ""), -1, false))
				if v.Key != c.key || !reflect.DeepEqual(v.Others, c.others) {
					t.Errorf("%s: key %q, others %q", how, v.Key, v.Others)
				}
				same(t, c.want, told(v))
				if d := get[Detail](t)(s.Show(t.Context(), s.Find("x", ""))); d.Talks != (c.key != "") {
					t.Errorf("%s: talks %v", how, d.Talks)
				}
			}
		})
	}
}

// A message's other keys are named: nothing of it is passed over in silence.
func TestConversationNamesOtherKeys(t *testing.T) {
	b := newBench(t)
	b.holding("x", `{"m":[{"role":"user","content":"hello","name":"bob","at":3}]}`)
	if m := b.conversation("x", -1).Messages[0]; fmt.Sprint(m.Rest) != "[at name]" {
		t.Errorf("%q", m.Rest)
	}
}

// The conversation of the loop comes before one that merely sorts before it, and
// a run of a loop without a message yet has a conversation to come.
func TestConversationOfTheRunsLoop(t *testing.T) {
	b := newBench(t)
	loop := engine.ToolLoop{Model: model.NewScripted(says("Two.")), Messages: "talk", Prompt: func(engine.State) (string, error) { return "How many?", nil }}
	b.flow(engine.NewFlow("asks").Node("wait", engine.Interrupt{Key: "go"}).ToolLoop("ask", loop).Edge("wait", "ask"))
	start := engine.Start{Key: stores.Key{Owner: "default", Run: "x"}, State: engine.State{"archive": []any{map[string]any{"role": "user", "content": "old"}}}}
	if _, err := b.runner("w").Run(t.Context(), b.flows.flows["asks"], start); err != nil {
		t.Fatal(err)
	}
	if v := b.conversation("x", -1); v.Key != "archive" {
		t.Errorf("before the loop: %q", v.Key)
	}
	s := b.service()
	ref := s.Find("x", "")
	get[Outcome](t)(s.Act(t.Context(), Request{Ref: ref, Action: Answer, Value: json.RawMessage(`true`)}, nil))
	v := b.conversation("x", -1)
	same(t, []string{"1 user: How many?", "2 assistant: Two."}, told(v))
	if v.Key != "talk" || fmt.Sprint(v.Others) != "[archive]" {
		t.Errorf("%q, others %q", v.Key, v.Others)
	}
	b.flow(engine.NewFlow("later").Node("wait", engine.Interrupt{Key: "go"}).ToolLoop("ask", loop).Edge("wait", "ask"))
	b.start("later", "y")
	if d := get[Detail](t)(s.Show(t.Context(), s.Find("y", ""))); !d.Talks {
		t.Error("a flow with a loop has no conversation to show")
	}
	if v := b.conversation("y", -1); v.Key != "" || v.Messages == nil || len(v.Messages) > 0 {
		t.Errorf("%+v", v)
	}
}

// Scenario 36 and 44: a model's words neither steer the terminal nor show secrets,
// and keep their lines.
func TestConversationIsScrubbedAndMasked(t *testing.T) {
	b := newBench(t)
	say := "one\r\ntwo\n\x1b]52;c;CANARY\a\u202e\u009b2J\x1b[2J"
	reply := asks(say, `lookup {"password":"CANARY1","url":"https://u:CANARY2@h/","pin":1234}`)
	if err := b.tools.Add(toolOf("keys", func(context.Context) (any, error) {
		return map[string]any{"api_key": "CANARY3", "ok": true}, nil
	})); err != nil {
		t.Fatal(err)
	}
	err := b.chat(t.Context(), "x", reply, asks("use sk-CANARY0123456789abcdef", `keys {}`, `charge_card {"card":"4242424242424242"}`), says("bye"))
	if err != nil {
		t.Fatal(err)
	}
	b.holding("z", `{"secrets":[{"role":"user","content":"CANARY"},{"role":"assistant","content":"","tool_calls":[{"id":"1","name":"x","args":{"a":"CANARY"}}]},{"role":"user"}]}`)
	for _, raw := range []bool{false, true} {
		s := b.service(func(o *Options) { o.Raw = raw })
		v := get[Conversation](t)(s.Conversation(t.Context(), s.Find("x", ""), -1, false))
		text := strings.ReplaceAll(asText(t, v), "c;CANARY", "")
		if strings.Contains(text, "CANARY") || strings.Contains(text, "4242424242424242") {
			t.Errorf("a secret is shown: %s", text)
		}
		if v.Masked != 6 || v.Messages[1].Calls[0].Masked != 3 || v.Messages[3].Masked != 1 || v.Messages[3].Calls[0].Masked != 1 || v.Messages[3].Calls[1].Masked != 1 {
			t.Errorf("%d masked: %s", v.Masked, text)
		}
		want := say
		if !raw {
			want = "one\ntwo\n␛]52;c;CANARY␇\\u{202e}\\u{9b}2J␛[2J"
		}
		if got := v.Messages[1].Text; got != want {
			t.Errorf("raw %v: %q", raw, got)
		}
		hidden := get[Conversation](t)(s.Conversation(t.Context(), s.Find("z", ""), -1, false))
		if text := asText(t, hidden); strings.Contains(text, "CANARY") || hidden.Masked != 3 {
			t.Errorf("below a secret key, %d masked: %s", hidden.Masked, text)
		}
	}
	s := b.service()
	v := get[Conversation](t)(s.Conversation(t.Context(), s.Find("x", ""), -1, true))
	if text := asText(t, v); v.Masked != 0 || !strings.Contains(text, "CANARY1") || !strings.Contains(text, "CANARY3") || !strings.Contains(text, "4242424242424242") {
		t.Errorf("reveal: %s", text)
	}
}

// The whole of 10,000 messages, of which one has 5 MB, with every call found.
func TestConversationThatIsHuge(t *testing.T) {
	b := newBench(t)
	big := strings.Repeat("x", 5<<20)
	var list []any
	for i := range 10_000 {
		list = append(list, map[string]any{"role": "user", "content": fmt.Sprint(i)})
	}
	list[5000] = map[string]any{"role": "user", "content": big}
	b.chatFrom("x", list, asks("", "lookup {}"), says("Done."))
	v := b.conversation("x", -1)
	if n := len(v.Messages); n != 10_003 || v.Messages[5000].Text != big || v.Messages[n-3].Calls[0].Status != CallDone || v.Messages[n-1].Text != "Done." {
		t.Errorf("%d messages, the end is %q", n, told(Conversation{Messages: v.Messages[n-3:]}))
	}
}

// chatFrom starts a loop whose conversation is there already.
func (b *bench) chatFrom(run string, list []any, replies ...model.Message) {
	b.t.Helper()
	l := engine.ToolLoop{Name: "chat", Model: model.NewScripted(replies...)}
	b.flow(l.Flow())
	if _, err := b.runner("w").Run(b.t.Context(), l.Flow(), engine.Start{Key: stores.Key{Owner: "default", Run: run}, State: engine.State{"messages": list}}); err != nil {
		b.t.Fatal(err)
	}
}

// The log's word counts only where it is what the model was told: somebody may
// have recorded another outcome later.
func TestConversationTakesNoCallThatTellsOtherwise(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		call engine.CallInfo
		told string
		want bool
	}{
		{engine.CallInfo{Status: stores.CallDone, Result: json.RawMessage(`"A4"`)}, "A4", true},
		{engine.CallInfo{Status: stores.CallDone, Result: json.RawMessage(`"A4"`)}, "A5", false},
		{engine.CallInfo{Status: stores.CallDone, Result: json.RawMessage(`{"a":1.0}`)}, `{"a":1.0}`, true},
		{engine.CallInfo{Status: stores.CallDone, Failed: true, Error: "no"}, "error: no", true},
		{engine.CallInfo{Status: stores.CallDone, Failed: true, Error: "no"}, "no", false},
		{engine.CallInfo{Status: stores.CallResolved, Result: json.RawMessage(`"A4"`)}, "A4", true},
		{engine.CallInfo{Status: stores.CallPending}, "error: x was denied by ben", true},
		{engine.CallInfo{Status: stores.CallPending}, "A4", false},
		{engine.CallInfo{Status: stores.CallStarted}, "A4", false},
	} {
		if tells(c.call, c.told) != c.want {
			t.Errorf("%+v and %q", c.call, c.told)
		}
	}
}

// A result that the user brought along is not mistaken for one of this run.
func TestConversationDoesNotTakeACallForAnother(t *testing.T) {
	b := newBench(t)
	brought := []any{
		map[string]any{"role": "assistant", "content": "", "tool_calls": []any{map[string]any{"id": "c1", "name": "lookup", "args": map[string]any{}}}},
		map[string]any{"role": "tool", "content": "1", "tool_call_id": "c1"}, map[string]any{"role": "user", "content": "again"},
	}
	// The script counts the assistant's messages, so its first reply is not said.
	b.chatFrom("x", brought, says("not said"), asks("", "lookup {}"), says("Done."))
	got := told(b.conversation("x", -1))
	same(t, []string{
		"1 assistant: ", "  lookup{} unlogged because it has a result, and the call log has no call that it is of", "2 tool: 1 (under 1)", "3 user: again",
		"4 assistant: ", "  lookup{} done tools.1@1 = 1", "5 tool: 1 (under 4)", "6 assistant: Done.",
	}, got)
}
