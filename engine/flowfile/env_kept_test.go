package flowfile

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/model"
	"github.com/flowtui/flowtui/engine/seal"
	"github.com/flowtui/flowtui/stores/jsonfile"
)

const canary = "CANARY"

func canaryEnv(name string) (string, bool) { return canary, name == "V" }

// every is a flow file with a text in every kind of place: in 'quotes' those in
// which no variable may stand, in <angles> those in which one may and that are not
// kept, in [[brackets]] the data of a run.
const every = `
name: 'every'
description: <all of it>
state:
  initial: {who: [[ann]], deep: {list: [[[x]], 1]}}
  schema: {log: 'append'}
tools:
  - {name: 'echo', command: [sh, -c, cat >/dev/null; echo 1], description: <says it>, approval: 'none', timeout: 5s, parameters: {type: <object>}}
models:
  - {name: 'canned', provider: scripted, replies: [{content: 'yes'}]}
conversation: {messages: 'messages', transient: ['code']}
steps:
  - {id: 'ask', type: 'interrupt', config: {key: 'code', prompt: 'Your code, {who}?'}}
  - {id: 'check', type: 'validate', config: {input_key: 'code', equals: <1234>, output_key: 'ok', pass_value: 'yes', fail_value: 'no', hint: 'four digits', rounds_key: 'tries'}}
  - {id: 'pick', type: 'interrupt', config: {key: 'colour', prompt: 'Which?', choices: ['red', 'blue']}}
  - {id: 'pin', type: 'interrupt', config: {key: 'pin', strategy: {any_of: [<1>, <2>], decision_key: 'pinned', pass_value: 'p', fail_value: 'f', clarify_value: 'c', value_key: 'got', rounds_key: 'n', hint: 'one or two'}}}
  - {id: 'call', type: 'call', config: {tool: 'echo', args: {text: [[{who}]]}, into: 'said'}}
  - {id: 'called', type: 'tool_call', config: {tool: 'echo', args: {text: [[{who}]]}, output_key: 'called', on_error: 'raise'}}
  - {id: 'think', type: 'llm', config: {model: canned, system: 'be brief', prompt: 'hello {who}', messages: 'messages', into: 'answer'}}
  - {id: 'note', type: 'transform', config: {action: 'render', template: [[{who}!]], output_key: 'note', input_key: 'who', value: [[v]]}}
  - {id: 'swap', type: 'transform', config: {action: 'replace', old: [[a]], new: [[b]], output_key: 'swapped', input_key: 'who'}}
  - {id: 'around', type: 'loop', config: {key: 'note', until: <never>, max_rounds: 2, body: [{type: 'transform', config: {action: 'split', sep: [[,]], input_key: 'note', output_key: 'log'}}]}}
  - {id: 'sub', type: 'subflow', config: {input_map: {who: 'value'}, output_map: {inner: 'inner'}, graph: {steps: [{id: 'in', type: 'transform', config: {action: 'value', value: [[i]], output_key: 'inner'}}]}}}
  - {id: 'fan', type: 'parallel', config: {branches: [{id: 'b1', type: 'transform', config: {action: 'value', value: [[f]], output_key: 'fanned'}}]}}
  - {id: 'all', type: 'map', config: {input_keys: 'log', output_key: 'mapped', result_key: 'one', processor: [{type: 'transform', config: {action: 'value', value: [[m]], output_key: 'one'}}]}}
  - {id: 'tell', type: 'context_builder', config: {sections: {who: [[Who]]}, output_key: 'context', messages_key: 'messages'}}
  - {id: 'go', type: 'command', config: {update: {done: [[true]]}, routes: [{when: <who=nobody>, goto: 'end'}], goto: 'end'}}
  - {id: 'end', type: 'transform', config: {action: 'compare', input_key: 'who', op: 'eq', value: [[ann]], output_key: 'same'}}
edges:
  - {from: 'ask', to: 'check'}
  - {from: 'check', to: 'pick', condition: <ok!=never>}
  - {from: 'pick', to: 'pin'}
  - {from: 'pin', to: 'call'}
  - {from: 'call', to: ['called']}
  - {from: 'called', to: 'think'}
  - {from: 'think', to: 'note'}
  - {from: 'note', to: 'swap'}
  - {from: 'swap', to: 'around'}
  - {from: 'around', to: 'sub'}
  - {from: 'sub', to: 'fan'}
  - {from: 'fan', to: 'all'}
  - {from: 'all', to: 'tell'}
  - {from: 'tell', to: 'go'}
`

// everyIdiom is the same of the flow form.
const everyIdiom = `
name: 'idioms'
state: {initial: {n: [[1]]}}
steps:
  - transform: {id: 'a', action: 'value', value: [[v]], output_key: 'o'}
  - interrupt: {id: 'ask', key: 'code', prompt: 'Which?', strategy: {regex: <^1(?=2)>, decision_key: 'ok', pass_value: 'yes', fail_value: 'no'}}
  - branch: {key: 'ok', cases: [{value: <never>, steps: [{transform: {action: 'now', output_key: 't'}}]}], default: [{transform: {action: 'value', value: [[d]], output_key: 'e'}}], converge: {transform: {action: 'render', template: [[{o}]], output_key: 'f'}}}
  - loop: {key: 'o', until: <never>, max_rounds: 1, body: [{transform: {action: 'value', value: [[b]], output_key: 'g'}}], done: [{transform: {action: 'now', output_key: 'i'}}]}
  - route: {id: 'jump', routes: [{when: <o=never>, goto: 'last'}], update: {u: [[u]]}}
  - transform: {id: 'last', action: 'coalesce', input_key: 'u', output_key: 'h'}
`

// marks finds the texts of such a file.
var marks = regexp.MustCompile(`'([^'\n]*)'|<([^<>\n]+)>|\[\[([^\[\]\n]+)\]\]`)

// with gives the file with a variable behind its n-th text, and what the text is;
// -1: with none.
func with(text string, n int) (out, marked string) {
	i := -1
	out = marks.ReplaceAllStringFunc(text, func(m string) string {
		i++
		inner := strings.Trim(m, "'<>[]")
		if i == n {
			marked = m
			return fmt.Sprintf("%q", inner+"${V}")
		}
		return fmt.Sprintf("%q", inner)
	})
	return out, marked
}

// Every text of a flow file in turn holds a variable. In one that is kept it is
// refused with its place; in others the run keeps nothing of it, but of its data.
func TestWhereVariablesMayStand(t *testing.T) {
	for name, text := range map[string]string{"every": every, "idioms": everyIdiom} {
		t.Run(name, func(t *testing.T) {
			plain, _ := with(text, -1)
			if kept, res := keptOf(t, plain, nil); kept != "" || len(res.State) < 6 {
				t.Fatalf("without variables it ends with %+v", res)
			}
			data := 0
			for n := range len(marks.FindAllString(text, -1)) {
				varied, marked := with(text, n)
				_, err := Parse("f.yaml", []byte(varied), Options{Env: canaryEnv, Models: scripted})
				if marked[0] == '\'' {
					line := 1 + strings.Count(varied[:strings.Index(varied, "${V}")], "\n")
					if want := fmt.Sprintf("f.yaml:%d:", line); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "the variable ${V} cannot stand in ") || strings.Contains(err.Error(), canary) {
						t.Errorf("%s is no refusal: %v", marked, err)
					}
					continue
				}
				if err != nil {
					t.Errorf("%s: %v", marked, err)
					continue
				}
				switch kept, _ := keptOf(t, varied, canaryEnv); {
				case kept != "" && marked[0] == '[':
					data++
				case kept != "":
					t.Errorf("%s: the store keeps %q", marked, kept)
				}
			}
			if data < 4 { // which shows that the canary would be seen
				t.Errorf("only %d texts of data are kept", data)
			}
		})
	}
}

func scripted(s model.Spec) (model.Model, error) { return model.NewScripted(s.Replies...), nil }

// keptOf runs a file to its end, with whatever answers it wants, and gives the
// first row of the store that holds the canary.
func keptOf(t *testing.T, text string, env func(string) (string, bool)) (string, engine.Result) {
	t.Helper()
	f, err := Parse("f.yaml", []byte(text), Options{Env: env, Models: scripted})
	if err != nil {
		t.Fatal(err)
	}
	return kept(t, f)
}

func kept(t *testing.T, f *File) (string, engine.Result) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "store")
	s, err := jsonfile.Open(t.Context(), dir, jsonfile.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	key, err := seal.NewKey([]byte("use-a-secret-from-your-vault-32b"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := engine.New(engine.Config{Store: s, Keys: seal.NewKeyring(key), Tools: f.Tools})
	if err != nil {
		t.Fatal(err)
	}
	c := chat{t, r, f.Flow}
	res := c.start(nil)
	for n := 0; len(res.Waiting) > 0 && n < 5; n++ {
		answer := "1"
		if choices := res.Waiting[0].Choices; len(choices) > 0 {
			answer = choices[0]
		}
		if res.Waiting[0].Node == "turn" {
			break
		}
		res = c.answer(res.Waiting[0].Key, answer)
	}
	found := ""
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		for _, row := range strings.Split(string(data), "\n") {
			if found == "" && strings.Contains(row, canary) {
				found = row
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found, res
}

// By an alias one text stands in several places; parts have places too.
func TestVariablesThatMayNotStand(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"part.yaml": "steps: [{id: a, type: interrupt, config: {key: k, prompt: 'is it ${V}?'}}]\n",
		"good.yaml": "steps: [{id: a, type: transform, config: {action: value, value: '${V}', output_key: o}}]\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for text, want := range map[string]string{
		"steps: [{id: a, type: transform, config: {action: value, value: &v 'x${V}', output_key: *v}}]":                                                                "f.yaml:1:68: the variable ${V} cannot stand in output_key,",
		"state: {initial: {a: &v '${V}'}}\nsteps: [{id: *v, type: transform, config: {action: now, output_key: o}}]":                                                   "f.yaml:1:25: the variable ${V} cannot stand in id,",
		"steps: [{id: a, type: transform, config: {action: now, output_key: o}}, {id: b, type: gate}]\nedges: [{from: a, to: b, condition: '${V}=1'}]":                 "f.yaml:2:37: the variable ${V} cannot stand in the key of a condition,",
		"steps: [{id: a, type: transform, config: {action: value, value: &v '${V}=1', output_key: o}}, {id: b, type: gate}]\nedges: [{from: a, to: b, condition: *v}]": "f.yaml:1:68: the variable ${V} cannot stand in the key of a condition,",
		"steps: [{id: a, type: transform, config: {action: value, value: '$${V}', output_key: '$${V}'}}]":                                                              "",
		"include: part.yaml\nsteps: []":                         "part.yaml:1:59: the variable ${V} cannot stand in prompt,",
		"include: {path: good.yaml, prefix: '${V}'}\nsteps: []": "f.yaml:1:36: the variable ${V} cannot stand in prefix,",
		"include: {path: '${DIR}/good.yaml'}\nsteps: []":        "",
		"models: [{name: m, provider: openai, model: x, key_env: '${V}'}]\nsteps: [{id: a, type: llm, config: {model: m, prompt: p, into: o}}]": "f.yaml:1:57: the variable ${V} cannot stand in key_env,",
	} {
		main := filepath.Join(dir, "f.yaml")
		if err := os.WriteFile(main, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Options{Env: func(name string) (string, bool) {
			return map[string]string{"V": canary, "DIR": "."}[name], true
		}}.Load(main)
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngot  %v\nwant %s", text, err, want)
		}
	}
}

const everyOfTeff = `
dialect: teff
name: "NAME"
state: {initial: {n: one}}
steps:
  - {id: ask, type: interrupt, config: {key: code, prompt: "Your code?"}}
  - {id: check, type: validate, config: {input_key: code, PASSES, output_key: ok, pass_value: "yes"}}
  - {id: go, type: command, config: {routes: [{when: "code=${V}", goto: around}], goto: around}}
  - {id: around, type: loop, config: {key: n, until: "${V}", max_rounds: 2, body: [{type: interrupt, config: {key: again, prompt: "Again?"}}]}}
  - {id: "LAST", type: transform, config: {action: value, value: "DATA", output_key: o}}
  - {id: lost, type: transform, config: {action: now, output_key: t}}
  MORE
edges:
  - {from: ask, to: check}
  - {from: check, to: go}
  - {from: around, to: "LAST", condition: "n!=${V}"}
  - {from: around, to: lost}
`

// Of a document of teff the conditions, and what passes, are kept as written.
func TestVariablesOfTeff(t *testing.T) {
	load := func(name, passes, last, data, more string) (*File, error) {
		path := filepath.Join(t.TempDir(), "f.graph.yaml")
		text := strings.NewReplacer("NAME", name, "PASSES", passes, "LAST", last, "DATA", data, "MORE", more).Replace(everyOfTeff)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return Options{Env: func(name string) (string, bool) {
			return map[string]string{"V": canary, "ACT": "transform"}[name], name == "V" || name == "ACT"
		}}.Load(path)
	}
	digests := map[string]bool{}
	for _, passes := range []string{`equals: "${V}"`, `any_of: ["${V}", other]`, `regex: "^${V}$"`} {
		for _, data := range []string{"d", "${V}"} {
			f, err := load("every", passes, "last", data, "")
			if err != nil {
				t.Fatal(err)
			}
			row, res := kept(t, f)
			if res.State["ok"] == "yes" || res.State["o"] == nil {
				t.Errorf("%s: %+v", passes, res)
			}
			if (row != "") != (data == "${V}") {
				t.Errorf("%s: the store keeps %q", passes, row)
			}
			digest, err := f.Flow.Digest()
			if digests[digest] = true; err != nil {
				t.Error(err)
			}
			c := newChat(t, f)
			if w := c.start(nil).Waiting[0]; w.Want != nil {
				t.Errorf("%s: the question tells %+v", passes, w.Want)
			}
			if res := c.answer("code", canary); res.State["ok"] != "yes" {
				t.Errorf("%s: the right answer does not pass: %+v", passes, res)
			}
		}
	}
	if len(digests) != 1 {
		t.Errorf("the graph depends on the environment: %v", digests)
	}
	for want, args := range map[string][4]string{
		`the name "${V}" of the flow is kept in the store`:                             {"${V}", "equals: a", "last", ""},
		`f.graph.yaml:10:5: node "x${V}": the id of a step is kept`:                    {"every", "equals: a", "x${V}", ""},
		"f.graph.yaml: a variable stands where the document cannot be read without it": {"every", "equals: a", "last", `- {id: more, type: "${ACT}", config: {action: now, output_key: p}}`},
		`node "around": where a step leads is kept in the store`:                       {"every", "equals: a", "x${V}", ""},
	} {
		if _, err := load(args[0], args[1], args[2], "d", args[3]); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", args, err, want)
		}
	}
}
