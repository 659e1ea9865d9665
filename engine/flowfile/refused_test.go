package flowfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A refusal is a file with the place that is to be told: the last line that
// holds the mark, at the mark.
type refusal struct{ text, mark, node, reason string }

const refusedStep = "steps:\n  - {id: a, type: transform, config: {action: now, output_key: o}}\n"

// flowForm begins a file of idioms.
const flowForm = "steps:\n  - transform: {action: now, output_key: at}\n"

// What flow files of our own do not run, each told with its place, its step and
// the reason.
var refusals = []refusal{
	{refusedStep + "plugins: [x]\n", "plugins", "", `"plugins" is not supported`},
	{refusedStep + "plugins_folder: x\n", "plugins_folder", "", "is not supported"},
	{refusedStep + "checkpoint: {}\n", "checkpoint", "", "is not supported"},
	{refusedStep + "hooks: {}\n", "hooks", "", "is not supported"},
	{refusedStep + "observability: {}\n", "observability", "", "is not supported"},
	{refusedStep + "providers: []\n", "providers", "", "is not supported"},
	{refusedStep + "default_provider: x\n", "default_provider", "", "is not supported"},
	{refusedStep + "default_model: x\n", "default_model", "", "is not supported"},
	{refusedStep + "channels: {}\n", "channels", "", "is not supported"},
	{refusedStep + "tools: [{type: calculator}]\n", "type", "", `"type" is not supported`},
	{refusedStep + "state: {schema: {k: {minimum: 1}}}\n", "minimum", "", "is not supported"},
	{refusedStep + "state: {initial: {d: .nan}}\n", ".nan", "", "cannot be kept in a run's state"},
	{refusedStep + "dialect: python\n", "python", "", `dialect is flowtui or teff, not "python"`},

	{"steps:\n  - {id: a, type: react_agent}\n", "react_agent", "a", "do not run here: its options are teff's own"},
	{"steps:\n  - {id: a, type: tool_exec}\n", "tool_exec", "a", "do not run here: a tool_loop runs the tools"},
	{"steps:\n  - {id: a, type: fallback}\n", "fallback", "a", "do not run here: it does nothing without a Python function"},
	{"steps:\n  - {id: a, type: agent}\n", "agent}", "a", "do not run here: it is an idiom"},
	{"steps:\n  - {id: a, type: agent_step}\n", "agent_step", "a", "do not run here: it is an idiom"},
	{"steps:\n  - {id: a, type: team}\n", "team", "a", "do not run here: it is an idiom"},
	{"steps:\n  - {id: a, type: supervise}\n", "supervise", "a", "do not run here: it is an idiom"},
	{"steps:\n  - {id: a, type: branch}\n", "branch", "a", "do not run here: it is an idiom"},
	{"steps:\n  - {id: a, type: route}\n", "route", "a", "do not run here: it is an idiom"},
	{"steps:\n  - {id: a, type: calculator}\n", "calculator", "a", `no step type is named "calculator"`},

	{"steps:\n  - {id: a, type: subflow, config: {build: {}}}\n", "build", "a", `"build" is not supported`},
	{"steps:\n  - {id: a, type: subflow, config: {id_prefix: p, graph: {}}}\n", "id_prefix", "a", `"id_prefix" is not supported`},
	{"steps:\n  - {id: a, type: subflow, config: {}}\n", "{}", "a", `config of a subflow needs "graph"`},
	{"steps:\n  - {id: a, type: subflow, config: {graph: {steps: []}}}\n", "[]", "a", "the flow has no steps"},
	{"steps:\n  - {id: a, type: subflow, config: {max_iterations: 0, graph: {steps: [{id: b, type: command}]}}}\n", "0,", "a", "max_iterations must be a whole number"},
	{"steps:\n  - {id: a, type: subflow, config: {input_map: {x: k, y: k}, graph: {steps: [{id: b, type: command}]}}}\n", "k}", "a", `the name "k"`},
	{"steps:\n  - {id: a, type: subflow, config: {graph: {steps: [{id: b, type: nothing}]}}}\n", "nothing", "a/b", "no step type"},
	{"steps:\n  - {id: a, type: parallel, config: {converge: {}, branches: [{type: command}]}}\n", "converge", "a", `"converge" is not supported`},
	{"steps:\n  - {id: a, type: parallel, config: {branches: []}}\n", "{branches", "a", `config of a parallel needs "branches"`},
	{"steps:\n  - {id: a, type: parallel, config: {branches: [[], {type: command}]}}\n", "[], ", "a", "a branch has no steps"},
	{"steps:\n  - {id: a, type: parallel, config: {branches: [[{type: nothing}]]}}\n", "nothing", "a/branch1", "no step type"},
	{"steps:\n  - {id: a, type: parallel, config: {branches: [{type: command, goto: b}]}}\n", "b}]", "a/branch1", "a command in a list of steps cannot jump"},
	{"steps:\n  - {id: a, type: map, config: {input_keys: [l], output_key: o}}\n", "{input", "a", `config of a map needs "processor"`},
	{"steps:\n  - {id: a, type: map, config: {input_keys: [], output_key: o, processor: {type: command}}}\n", "{input", "a", `config of a map needs "input_keys"`},
	{"steps:\n  - {id: a, type: map, config: {input_keys: l, processor: {type: command}}}\n", "{input", "a", `config of a map needs "output_key"`},
	{"steps:\n  - {id: a, type: map, config: {input_keys: l, output_key: o, chunk_size: x, processor: {type: command}}}\n", "x,", "a", "chunk_size must be a whole number"},
	{"steps:\n  - {id: a, type: loop, config: {key: k, until: x, body: [{type: command, config: {goto: a}}]}}\n", "a}}]", "a:body", "cannot jump"},

	{"steps:\n  - {id: a, type: loop, config: {key: k, until: x, body: [{type: command, retry: {max_retries: 2}}]}}\n", "{max_retries", "a:body", `retry of a step of type "command"`},
	{"steps:\n  - {id: a, type: interrupt_loop, config: {key: k, strategy: {equals: x}, done: [{type: command, retry: {tries: 2}}]}}\n", "{tries", "a:done", `retry of a step of type "command"`},
	{"steps:\n  - {id: a, type: loop, config: {key: k, until: x, body: [{type: loop, retry: {max_retries: 2}, key: l, until: y, body: [{type: command}]}]}}\n", "{max_retries", "a:body/loop", `retry of a step of type "loop"`},
	{"steps:\n  - {id: a, type: parallel, config: {branches: [{type: command, update: {x: 1}, config: {update: {x: 2}}}]}}\n", "update: {x: 1", "a/branch1", `"update" stands both beside the type and in the config`},
	{"steps:\n  - {id: a, type: map, config: {input_keys: l, output_key: o, processor: {type: transform, action: now, config: {action: now, output_key: o}}}}\n", "action: now, config", "a/item", `"action" stands both`},
	{"steps:\n  - {id: a, type: loop, config: {key: k, until: x, body: [{type: transform, action: now, config: {action: now, output_key: o}}]}}\n", "action: now, config", "a:body", `"action" stands both`},
	{"steps:\n  - {id: a, type: loop, config: {key: k, until: x, body: [{type: loop, key: l, config: {key: l, until: y, body: [{type: command}]}}]}}\n", "key: l, config", "a:body/loop", `"key" stands both`},

	{flowForm + "  - frobnicate: {x: 1}\n", "frob", "", "supported: append_assistant, branch, call, context_builder, interrupt, llm, loop, map, parallel, route, tool_loop, transform, type"},
	{flowForm + "  - branch: {key: k, cases: [{value: a, steps: [interrupt: {id: why, key: w}]}]}\n", "why", "", "interrupt stands in a list, where a step is named after its type and place: leave its id out"},
	{flowForm + "  - branch: {key: k, cases: [{value: a, steps: [branch: {}]}]}\n", "branch: {}", "", "supported there: call, interrupt, llm, map, tool_loop, transform, type"},
	{flowForm + "  - branch: {key: k, cases: [{value: a, steps: [call: {tool: t}]}], converge: {transform: {id: end, action: now, output_key: o}}}\n", "end", "", "transform stands in a list"},
	{flowForm + "  - branch: {key: k, default: [{call: {id: c, tool: t}}, {transform: {action: now, output_key: o}}]}\n", "c,", "", "call stands in a list"},
	{flowForm + "  - parallel: {branches: [[type: {id: g, type: gate}]]}\n", "g,", "", "type stands in a list"},
	{flowForm + "  - parallel: {branches: [[transform: {action: now, output_key: p}]], converge: {transform: {id: end, action: now, output_key: q}}}\n", "end", "", "transform stands in a list"},
	{flowForm + "  - map: {input_keys: [l], output_key: m, processor: [transform: {id: each, action: now, output_key: r}]}\n", "each", "", "transform stands in a list"},
	{flowForm + "  - loop: {key: k, until: x, max_rounds: 2, body: [transform: {id: again, action: now, output_key: o}], done: [transform: {action: now, output_key: o}]}\n", "again", "", "transform stands in a list"},

	{"steps:\n  - {id: a, type: command, config: {goto: b}}\n", "b}", "a", `goto "b" is no step of its graph`},
	{"steps:\n  - {id: a, type: command, config: {routes: [{when: x, goto: a}]}}\n", "x,", "a", `condition "x" has no operator`},
	{"steps:\n  - {id: a, type: command, config: {update: [x]}}\n", "[x]", "a", "update must be a mapping"},
	{"steps:\n  - {id: a, type: tool_call, config: {tool: none}}\n", "none", "a", `no tool is named "none"`},
	{"steps:\n  - {id: a, type: tool_call, config: {tool: calculator, max_chars: x}}\n", "x}", "a", "max_chars must be"},
	{"steps:\n  - {id: a, type: gate, config: {max_rounds: x}}\n", "x}", "a", "max_rounds must be an int"},
	{"steps:\n  - {id: a, type: gate, config: {check: x}}\n", "check", "a", `has no key "check"`},
	{"steps:\n  - {id: a, type: validate, config: {check: x}}\n", "check", "a", `"check" is not supported`},
	{"steps:\n  - {id: a, type: validate, config: {llm: {}}}\n", "llm", "a", `"llm" is not supported`},
	{"steps:\n  - {id: a, type: validate, config: {regex: '('}}\n", "'('", "a", "regex:"},
	{"steps:\n  - {id: a, type: supervisor, config: {model: x}}\n", "model", "a", `"model" is not supported`},
	{"steps:\n  - {id: a, type: context_builder, config: {sections: x}}\n", "x}", "a", "sections must be null or a mapping"},
	{"steps:\n  - {id: a, type: append_assistant, config: {output_key: [x]}}\n", "[x]", "a", "output_key must be a text"},
	{"steps:\n  - {id: a, type: llm_chat, config: {model: none, prompt: x, output_key: o}}\n", "none", "a", `no model is named "none"`},
	{"steps:\n  - {id: a, type: llm_chat, config: {provider: x, model: ollama/x, prompt: x, output_key: o}}\n", "provider", "a", `has no key "provider"`},

	{"steps:\n  - branch: {key: k, cases: [{value: v, steps: [transform: {action: now, output_key: o}]}]}\n", "{key", "", "branch requires a step before it"},
	{"steps:\n  - transform: {action: now, output_key: o}\n  - branch: {key: k, case: []}\n", "case", "", `the idiom branch has no key "case"`},
	{"steps:\n  - transform: {action: now, output_key: o}\n  - loop: {key: k, until: x, body: [interrupt: {key: k, prompts: x}], done: [type: {type: command}]}\n", "prompts", "", `the idiom interrupt has no key "prompts"`},
	{"steps:\n  - transform: {action: now, output_key: o}\n  - agent: {model: x}\n", "{model", "", "agent is an idiom of teff for models with tools"},
	{"steps:\n  - transform: {action: now, output_key: o}\n  - {id: a, type: transform}\n", "{id", "", "must be a single-key mapping"},
	{"steps:\n  - transform: {action: now, output_key: o}\n  - parallel: {branches: [parallel: {branches: []}]}\n", "parallel: {branches: []", "", "parallel cannot stand inside a list of steps"},
	{"steps:\n  - transform: {action: now, output_key: o}\nedges: [{from: a, to: b}]\n", "[{from", "", "edges beside steps of the form"},
	{"steps:\n  - transform: {action: nothing, output_key: o}\n", "nothing", "transform_1", "no transform action"},
	{"steps:\n  - type: {id: b, type: call, config: {tool: none}}\n", "none", "b", `no tool is named "none"`},
}

// place is the line and the column of the last line's mark.
func (c refusal) place(t *testing.T) (line, column int) {
	t.Helper()
	lines := strings.Split(c.text, "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if at := strings.Index(lines[i], c.mark); at >= 0 {
			return i + 1, at + 1
		}
	}
	t.Fatalf("%s\nhas no %s", c.text, c.mark)
	return 0, 0
}

func (c refusal) check(t *testing.T, file string, err error) {
	t.Helper()
	line, column := c.place(t)
	var first *Error
	if !errors.As(err, &first) {
		t.Errorf("%s\nis taken: %v", c.text, err)
		return
	}
	if first.File != file || first.Line != line || first.Column != column || first.Node != c.node || !strings.Contains(first.Message, c.reason) {
		t.Errorf("%s\ngot  %v\nwant %s:%d:%d: node %q: %s", c.text, err, file, line, column, c.node, c.reason)
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range refusals {
		_, err := Parse("f.yaml", []byte(c.text), Options{})
		c.check(t, "f.yaml", err)
	}
}

// What of documents of teff does not run on a store of ours.
func TestRefusedDocuments(t *testing.T) {
	const ask = "{id: a, type: interrupt, config: {key: k}}"
	for _, c := range []refusal{
		{"steps:\n  - {id: a, type: command, config: {goto: b}}\n", "{id", "a", `goto "b" is no step of its graph`},
		{"steps:\n  - {id: a, type: subflow, config: {graph: {steps: [" + ask + "], edges: [{from: a, to: b}]}}}\n", "{id: a, type: interrupt", "a/a", `an edge leads to "b", which is no step`},
		{"steps:\n  - {id: s, type: parallel, config: {branches: [" + ask + "]}, retry: {max_retries: 2}}\n", "{id", "s", "retry of a step in which a person is asked"},
		{"steps:\n  - {id: s, type: loop, config: {until: x, body: [" + ask + "]}}\n", "{id: s", "s", "loop requires config.key"},
		{"steps:\n  - {id: a, type: llm_chat}\n", "{id", "a", `its type "llm_chat" asks a model`},
		{"hooks: {on_node_start: x}\nsteps: []\n", "{on", "", "hooks are Python code"},
		{"steps:\n  - {id: a, type: nothing}\n", "nothing", "a", "unknown node type"},
	} {
		file := filepath.Join(t.TempDir(), "x.graph.yaml")
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Load(file)
		c.check(t, "x.graph.yaml", err)
	}
	for text, want := range map[string]string{
		"state: {initial: {d: 2030-01-01}}\nsteps: [{id: a, type: command}]\n": "state.initial: \"d\" cannot be kept: a date has no JSON form",
		"steps: []\n":    "it has no nodes",
		"steps: [{id: a": "x.graph.yaml:1:15: invalid YAML",
	} {
		file := filepath.Join(t.TempDir(), "x.graph.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngot  %v\nwant %s", text, err, want)
		}
	}
}
