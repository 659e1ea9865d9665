package flowfile

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/seal"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/memory"
)

// Documents of teff in which a person is asked inside of a step, where teff goes
// on behind it and loses the rounds, the results and the branches (teff format,
// defect 1). Here each is answered inside.
func TestDocumentsOfTeffPauseInside(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		asked [][2]string // question and answer, in this order
		state engine.State
	}{
		"loop": {`
state: {initial: {n: "0"}}
steps:
  - id: l
    type: loop
    config:
      key: ok
      until: yes please
      max_rounds: 5
      body:
        - {type: tool_call, tool: calculator, args: {expression: "{n}+1"}, output_key: n}
        - {type: interrupt, config: {key: ok, prompt: "round {n}?"}}
        - {type: transform, config: {action: append, template: "{n} {ok}", output_key: log}}
tools: [{type: calculator}]
`, [][2]string{{"l/body:2#1", "no"}, {"l/body:2@2#1", "Yes please!"}}, engine.State{"n": "2", "ok": "Yes please!", "log": []any{"1 no", "2 Yes please!"}}},
		"loop in a loop": {`
steps:
  - id: l
    type: loop
    config:
      key: ok
      until: "y"
      max_rounds: 2
      body:
        - {type: loop, key: in, until: "y", max_rounds: 2, body: [{type: interrupt, config: {key: in}}, {type: transform, config: {action: append, template: "{in}", output_key: log}}]}
`, [][2]string{{"l/body/body#1", "a"}, {"l/body/body@2#1", "b"}, {"l/body@2/body#1", "c"}, {"l/body@2/body@2#1", "d"}},
			engine.State{"in": "d", "log": []any{"a", "b", "c", "d"}}},
		"map": {`
state: {initial: {l: [a, b], out: [z]}, schema: {out: append}}
steps:
  - id: m
    type: map
    config:
      input_keys: [l]
      output_key: out
      result_key: r
      processor: [{type: interrupt, config: {key: k, prompt: "{l}?"}}, {type: transform, config: {action: render, template: "{l}={k}", output_key: r}}]
`, [][2]string{{"m/1/item#1", "2"}, {"m/0/item#1", "1"}}, engine.State{"l": []any{"a", "b"}, "out": []any{"z", "a=1", "b=2"}}},
		"parallel": {`
state: {initial: {log: [z], keep: old}, schema: {log: append, keep: keep}}
steps:
  - id: p
    type: parallel
    config:
      branches:
        - {type: command, config: {update: {log: [left], keep: new}}}
        - [{type: interrupt, config: {key: k}}, {type: command, config: {update: {log: [right]}}}]
`, [][2]string{{"p/branch2#1", "x"}}, engine.State{"log": []any{"z", "left", "right"}, "keep": "old", "k": "x"}},
		"subflow in a map": {`
state: {initial: {l: [a]}}
steps:
  - id: m
    type: map
    config:
      input_keys: [l]
      output_key: out
      result_key: k
      processor: {type: subflow, config: {graph: {steps: [{id: ask, type: interrupt, config: {key: k, prompt: "{l}"}}, {id: stop, type: command, config: {goto: STOP, update: {k: kept}}}, {id: never, type: transform, config: {action: value, value: x, output_key: k}}], edges: [{from: ask, to: stop}, {from: stop, to: never}]}}}
`, [][2]string{{"m/0/item/ask#1", "1"}}, engine.State{"l": []any{"a"}, "out": []any{"kept"}}},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "x.graph.yaml")
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			key, err := seal.NewKey([]byte("use-a-secret-from-your-vault-32b"))
			if err != nil {
				t.Fatal(err)
			}
			store, k := memory.New(memory.Options{}), stores.Key{Owner: stores.DefaultOwner, Run: "r"}
			open := func() (*engine.Runner, *engine.Flow) { // each action by another worker
				f, err := Load(file)
				if err != nil {
					t.Fatal(err)
				}
				r, err := engine.New(engine.Config{Store: store, Keys: seal.NewKeyring(key), Tools: f.Tools})
				if err != nil {
					t.Fatal(err)
				}
				return r, f.Flow
			}
			r, f := open()
			res, err := r.Run(t.Context(), f, engine.Start{Key: k})
			for _, a := range c.asked {
				asks := func(w engine.Waiting) bool { return w.ID == a[0] }
				if err != nil || !slices.ContainsFunc(res.Waiting, asks) {
					t.Fatalf("%s is not asked: %+v, %v", a[0], res, err)
				}
				answer, err2 := json.Marshal(a[1])
				if err2 != nil {
					t.Fatal(err2)
				}
				r, f = open()
				res, err = r.Resume(t.Context(), f, k, engine.Decide{Type: engine.DecideAnswer, ID: a[0], Value: answer, By: "ann"})
			}
			if err != nil || res.Status != stores.StatusDone {
				t.Fatalf("%+v, %v", res, err)
			}
			if diff := cmp.Diff(c.state, res.State); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A document of teff that says that it is a conversation is run by messages.
func TestDocumentOfTeffAsAConversation(t *testing.T) {
	recorded, err := os.ReadFile(teffData + "workflows/helpdesk.graph.yaml")
	if err != nil {
		t.Fatal(err)
	}
	load := func(more string) (*File, error) {
		file := filepath.Join(t.TempDir(), "helpdesk.graph.yaml")
		if err := os.WriteFile(file, append(slices.Clone(recorded), more...), 0o600); err != nil {
			t.Fatal(err)
		}
		return Load(file)
	}
	f, err := load("conversation: {transient: [draft]}\n")
	if err != nil {
		t.Fatal(err)
	}
	key, err := seal.NewKey([]byte("use-a-secret-from-your-vault-32b"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := engine.New(engine.Config{Store: memory.New(memory.Options{}), Keys: seal.NewKeyring(key), Tools: f.Tools})
	if err != nil {
		t.Fatal(err)
	}
	k := stores.Key{Owner: stores.DefaultOwner, Run: "s"}
	for _, c := range []struct{ say, reply, prompt string }{
		{"hello", "You said <User: hello>", ""},
		{"a refund", "You said <User: hello>", "Refund 30? (yes/no)"},
		{"yes", "Refunded 30.", ""},
	} {
		turn, err := r.Turn(t.Context(), f.Flow, engine.Turn{Key: k, Message: c.say})
		if err != nil || turn.Reply != c.reply || turn.Waiting != (c.prompt != "") || turn.Waiting && turn.Prompt != c.prompt {
			t.Errorf("%q: %+v, %v", c.say, turn, err)
		}
	}
	for _, more := range []string{"conversation: yes\n", "conversation: {transient: [1]}\n", "conversation: {message: m}\n"} {
		if _, err := load(more); err == nil {
			t.Errorf("%s is taken", more)
		}
	}
}
