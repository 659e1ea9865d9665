package flowfile

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine"
)

// A variable is text wherever it stands: whatever it holds, it makes no YAML, no
// placeholder and no escape.
func TestEnvironmentIsText(t *testing.T) {
	const text = `
state: {initial: {who: ann}}
steps:
  - {id: a, type: transform, config: {action: value, value: "${V}", output_key: value}}
  - {id: b, type: transform, config: {action: render, template: "{who} ${V} }}", output_key: text}}
  - {id: c, type: transform, config: {action: render, template: "${V}", output_key: only}}
  - {id: d, type: transform, config: {action: value, value: "$${V} ${V}", output_key: literal}}
  - {id: e, type: transform, config: {action: render, template: "{who} $${V}", output_key: both}}
edges: [{from: a, to: b}, {from: b, to: c}, {from: c, to: d}, {from: d, to: e}]
`
	for _, value := range []string{"plain", "", "{who}", "}} {{ {", "}", "a: [b, {c", "\n- x: y\n", "'\"", "${V}", "$${V}", "# no", "&a *a !!int 5"} {
		env := func(name string) (string, bool) {
			return value, name == "V"
		}
		f, err := Parse("f.yaml", []byte(text), Options{Env: env})
		if err != nil {
			t.Errorf("%q: %v", value, err)
			continue
		}
		res, err := runAlone(t, f, nil)
		want := engine.State{"who": "ann", "value": value, "text": "ann " + value + " }", "only": value, "literal": "${V} " + value, "both": "ann ${V}"}
		for key, w := range want {
			if err != nil || res.State[key] != w {
				t.Errorf("%q: %s is %q, want %q: %v %s", value, key, res.State[key], w, err, res.Error)
			}
		}
	}
}

func TestEnvironmentErrors(t *testing.T) {
	const step = "steps: [{id: a, type: transform, config: {action: now, output_key: o}}]\n"
	for text, want := range map[string]string{
		step + `description: "a ${NONE}"`:                                 `f.yaml:2:14: the variable ${NONE} is not set in the environment`,
		step + "state: {initial: {l: [x, '${NONE}']}}":                    "f.yaml:2:26: the variable ${NONE} is not set",
		step + "state: {initial: {l: &x [x, '${NONE}'], m: *x}}":          "f.yaml:2:29: the variable ${NONE} is not set",
		step + "tools: [{name: t, command: [sh, -c, 'echo ${NONE}']}]":    "",
		step + "state: {initial: {'${NONE}': x, y: '$${NONE}', z: '${'}}": "",
	} {
		_, err := Parse("f.yaml", []byte(text), Options{})
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s\ngot  %v\nwant %s", text, err, want)
		}
	}
}

// secretFlows branch by what variables hold, each in another form of a condition.
var secretFlows = map[string]string{
	"edge": `
steps: [{id: ask, type: interrupt, config: {key: code}}, {id: paid, type: transform, config: {action: value, value: 'yes', output_key: paid}}]
edges: [{from: ask, to: paid, condition: "code=${CODE}"}]
`,
	"route": `
steps:
  - {id: ask, type: interrupt, config: {key: code}}
  - {id: go, type: command, config: {goto: STOP, routes: [{when: "code=${CODE}", goto: paid}]}}
  - {id: paid, type: transform, config: {action: value, value: 'yes', output_key: paid}}
edges: [{from: ask, to: go}]
`,
	"branch": `
steps:
  - interrupt: {key: code}
  - branch: {key: code, cases: [{value: "${CODE}", steps: [transform: {action: value, value: 'yes', output_key: paid}]}], default: [transform: {action: now, output_key: o}]}
`,
	"loop": `
steps:
  - {id: ask, type: interrupt, config: {key: code}}
  - {id: round, type: loop, config: {key: code, until: "${CODE}", max_rounds: 2, body: [{type: transform, config: {action: append, value: x, output_key: o}}]}}
  - {id: paid, type: transform, config: {action: value, value: 'yes', output_key: paid}}
edges: [{from: ask, to: round}, {from: round, to: paid, condition: round_rounds<2}]
`,
	"route of the flow form": `
steps:
  - interrupt: {key: code}
  - route: {goto: STOP, routes: [{when: "code=${CODE}", goto: paid}]}
  - transform: {id: paid, action: value, value: 'yes', output_key: paid}
`,
	"loop of the flow form": `
steps:
  - interrupt: {id: ask, key: code}
  - loop: {key: code, until: "${CODE}", body: [transform: {action: now, output_key: o}], done: [transform: {action: value, value: 'yes', output_key: paid}]}
`,
	"part": `
include: {path: part.yaml, prefix: p_}
steps: [{id: paid, type: transform, config: {action: value, value: 'yes', output_key: paid}}]
edges: [{from: p_go, to: paid, condition: "code=${CODE}"}, {from: p_jump, to: paid}]
`,
}

const secretPart = `
steps:
  - {id: ask, type: interrupt, config: {key: code}}
  - {id: go, type: transform, config: {action: now, output_key: o}}
  - {id: jump, type: command, config: {goto: STOP, routes: [{when: "code=${CODE}", goto: STOP}]}}
edges: [{from: ask, to: go, condition: "code=${CODE}"}, {from: ask, to: jump, condition: "code=${OTHER}"}]
`

// secretFlow reads a flow whose variable CODE holds a code.
func secretFlow(t *testing.T, text, code string) *File {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"f.yaml": text, "part.yaml": secretPart} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, err := Options{Env: func(name string) (string, bool) {
		return map[string]string{"CODE": code, "OTHER": "other"}[name], true
	}}.Load(filepath.Join(dir, "f.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// What a variable holds is one text, whatever operators and commas are in it, and
// stands neither in the graph nor in its digest.
func TestConditionsOnTheEnvironment(t *testing.T) {
	for name, text := range secretFlows {
		plain, _, err := secretFlow(t, text, "1234").Flow.Topologies()
		if err != nil {
			t.Fatal(name, err)
		}
		for _, code := range []string{"x>=1", "a,b", "a!=b", "${CODE}", "$${OTHER}", "{code}", "1234"} {
			f := secretFlow(t, text, code)
			graph, _, err := f.Flow.Topologies()
			if err != nil || !reflect.DeepEqual(graph, plain) {
				t.Errorf("%s: the graph depends on the environment: %+v, %+v, %v", name, graph, plain, err)
			}
			for answer, want := range map[string]any{code: "yes", "a": nil, "1": nil, "": nil, "other text": nil} {
				c := newChat(t, f)
				c.start(nil)
				res := c.answer("code", answer)
				if got := res.State["paid"]; got != want {
					t.Errorf("%s, %q: the answer %q gives %v, want %v: %+v", name, code, answer, got, want, res)
				}
			}
		}
	}
}

// What a strategy wants by a variable is judged, and kept with no question.
func TestStrategiesOfTheEnvironment(t *testing.T) {
	for _, strategy := range []string{`equals: "${CODE}"`, `any_of: ["${CODE}", no]`, `regex: "^${CODE}$"`} {
		for _, step := range []string{
			"{id: ask, type: interrupt, config: {key: pin, strategy: {S, decision_key: ok, pass_value: 'yes'}}}",
			"{id: ask, type: interrupt, config: {key: pin, strategy: {S, decision_key: ok, pass_value: 'yes', hint: the PIN}}}",
			"{id: ask, type: interrupt_loop, config: {key: pin, strategy: {S, decision_key: ok, pass_value: 'yes'}}}",
		} {
			text := "steps: [" + strings.Replace(step, "S,", strategy+",", 1) + "]\n"
			c := newChat(t, secretFlow(t, text, "1234"))
			asked := c.start(nil).Waiting[0]
			var want *engine.Want
			if strings.Contains(step, "hint") {
				want = &engine.Want{Hint: "the PIN"}
			}
			if !reflect.DeepEqual(asked.Want, want) {
				t.Errorf("%s: the question tells %+v", text, asked.Want)
			}
			if res := c.answer("pin", "12345"); res.State["ok"] == "yes" {
				t.Errorf("%s: a wrong answer passes: %+v", text, res)
			}
			c = newChat(t, secretFlow(t, text, "1234"))
			c.start(nil)
			if res := c.answer("pin", "1234"); res.State["ok"] != "yes" {
				t.Errorf("%s: the right answer does not pass: %+v", text, res)
			}
		}
	}
	// What is written in the file is told.
	if w := newChat(t, secretFlow(t, "steps: [{id: ask, type: interrupt, config: {key: pin, strategy: {equals: a}}}]\n", "")).start(nil).Waiting[0]; w.Want.Equals != "a" {
		t.Errorf("%+v", w)
	}
}
