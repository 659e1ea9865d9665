package document_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowtui/flowtui/engine/teff"
	"github.com/flowtui/flowtui/engine/teff/document"
	"github.com/flowtui/flowtui/engine/teff/py"
)

func none(string) (string, bool) { return "", false }

// load reads a document from files that are given by name and text in turn;
// the first is the document itself.
func load(t *testing.T, files ...string) (*teff.Workflow, string, error) {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		name := filepath.Join(dir, files[i])
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(files[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w, err := document.Load(filepath.Join(dir, files[0]), none)
	said := ""
	if err != nil {
		said = strings.ReplaceAll(err.Error(), dir+"/", "")
	}
	return w, said, err
}

func mustLoad(t *testing.T, files ...string) *teff.Workflow {
	t.Helper()
	w, _, err := load(t, files...)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// routes are the edges of a graph as text.
func routes(g *teff.Graph) string {
	var all []string
	for _, e := range g.Edges {
		s := e.From + ">" + e.To
		if e.Condition != nil {
			s += "[" + *e.Condition + "]"
		}
		all = append(all, s)
	}
	return strings.Join(all, " ")
}

func ids(nodes []*teff.Node) string {
	var all []string
	for _, n := range nodes {
		all = append(all, n.ID+":"+n.Type)
	}
	return strings.Join(all, " ")
}

func TestAStrategyBecomesTheConfigOfAValidateNode(t *testing.T) {
	w := mustLoad(t, "wf.yaml", `
steps:
  - id: ask
    type: interrupt
    config:
      key: code
      strategy: {regex: 'x', equals: yes, decision_key: d, pass_value: P, value_key: v, max_rounds: 3, clarify_value: C}
      decision_key: beside_is_ignored
`)
	want := py.NewDict(
		py.Entry{Key: "input_key", Value: "code"}, py.Entry{Key: "strategy", Value: "equals"}, py.Entry{Key: "regex", Value: "x"},
		py.Entry{Key: "equals", Value: true}, py.Entry{Key: "output_key", Value: "d"}, py.Entry{Key: "pass_value", Value: "P"},
		py.Entry{Key: "value_key", Value: "v"}, py.Entry{Key: "max_rounds", Value: int64(3)}, py.Entry{Key: "clarify_value", Value: "C"},
	)
	if got := w.Graph.Node("ask-validate").Config; !py.Equal(got, want) {
		t.Error(py.Repr(got))
	}
}

func TestAStrategyInsideASubflowIsIgnored(t *testing.T) {
	w := mustLoad(t, "wf.yaml", `
steps:
  - id: s
    type: subflow
    config:
      id_prefix: p
      graph:
        steps: [{id: ask, type: interrupt, config: {key: k, strategy: {equals: y}}}, {id: z, type: gate}, {id: ask, type: gate}]
        edges: [{from: ask, to: z, condition: 'k=1'}, {from: z, to: nowhere}]
`)
	g := w.Graph.Node("s").Graph
	if got := ids(g.Nodes) + " | " + routes(g) + " | " + g.Entry; got != "p/ask:gate p/z:gate | p/ask>p/z[k=1] p/z>p/nowhere | p/ask" {
		t.Error(got)
	}
}

func TestABoundedLoopIsOneNode(t *testing.T) {
	w := mustLoad(t, "wf.yaml", `
steps:
  - transform: {id: first, action: value, value: x, output_key: k}
  - loop:
      key: k
      until: 3
      max_rounds: 2
      body:
        - transform: {id: lost, action: value, output_key: k}
        - interrupt: {key: q, strategy: {equals: y}}
      done: {transform: {id: lost_too, action: trim, input_key: k, output_key: k}}
  - transform: {action: value, output_key: z}
`)
	if got := ids(w.Graph.Nodes) + " | " + routes(w.Graph); got !=
		"first:transform loop_2:loop transform_3:transform transform_4:transform | first>loop_2 loop_2>transform_3 transform_3>transform_4" {
		t.Error(got)
	}
	loop := w.Graph.Node("loop_2")
	if got := ids(loop.Body); got != ":transform :interrupt :validate" {
		t.Error(got)
	}
	if got := py.Repr(loop.Config.GetOr("until", nil)); got != "3" {
		t.Error(got)
	}
}

func TestALabelNamesTheDeciderOfALoop(t *testing.T) {
	w := mustLoad(t, "wf.yaml", `
steps:
  - interrupt: {key: k}
  - loop: {key: k, until: yes, label: again, body: {transform: {action: value, output_key: a}}, done: [transform: {action: value, output_key: b}]}
  - route: {routes: [{when: 'k=1', goto: again}, {when: 'k=2', goto: later}], goto: again, key: unused}
  - type: {id: later, type: gate, config: {input_key: k}}
`)
	if got := routes(w.Graph); got != "interrupt_1>transform_2[k=True] interrupt_1>transform_3[k!=True] transform_3>interrupt_1 transform_2>command_4 command_4>later" {
		t.Error(got)
	}
	want := "{'routes': [{'when': 'k=1', 'goto': 'interrupt_1'}, {'when': 'k=2', 'goto': 'later'}], 'goto': 'interrupt_1'}"
	if got := py.Repr(w.Graph.Node("command_4").Config); got != want {
		t.Error(got)
	}
}

func TestSpecsOfLoopsAndMapsMergeTheirConfig(t *testing.T) {
	w := mustLoad(t, "wf.yaml", `
steps:
  - id: l
    type: loop
    config: {key: k, until: x, body: [{type: transform, action: trim, output_key: a, config: {output_key: b}, retry: {max_retries: 9}}]}
  - id: m
    type: map
    config: {input_keys: [k], output_key: o, processor: {type: transform, action: upper, input_key: k, output_key: r}}
`)
	inner := w.Graph.Node("l").Body[0]
	if got := py.Repr(inner.Config); got != "{'action': 'trim', 'output_key': 'b'}" || inner.Retry != nil {
		t.Error(got, inner.Retry)
	}
	if got := py.Repr(w.Graph.Node("m").Body[0].Config); got != "{'action': 'upper', 'input_key': 'k', 'output_key': 'r'}" {
		t.Error(got)
	}
}

func TestRetryIsReadInSeconds(t *testing.T) {
	w := mustLoad(t, "wf.yaml", `
steps:
  - {id: a, type: gate, retry: {max_retries: 4, delay: 0.25, backoff: 2, timeout: 1.5, retry_on: [ValueError, 429]}}
  - {id: b, type: gate, retry: {enabled: true}}
`)
	want := &teff.Retry{Enabled: true, Attempts: 4, Delay: 250 * time.Millisecond, Backoff: 2, Timeout: 1500 * time.Millisecond, On: []string{"ValueError", "429"}}
	if diff := cmp.Diff(want, w.Graph.Node("a").Retry); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(&teff.Retry{Enabled: true, Attempts: 3, Backoff: 1}, w.Graph.Node("b").Retry); diff != "" {
		t.Error(diff)
	}
}

func TestPrefixesStackAndReachCommands(t *testing.T) {
	w := mustLoad(t, "wf.yaml", "include: {path: in/a.yaml, prefix: x_}\nsteps: []\n",
		"in/a.yaml", "include: [{path: b.yaml, prefix: y_}]\nsteps: [{id: c, type: command, config: {goto: y_g, routes: [{when: a=b, goto: STOP}, {when: a=c, goto: c}]}}]\n",
		"in/b.yaml", "steps: [{id: g, type: gate}]\nedges: [{from: g, to: g}]\n")
	if got := ids(w.Graph.Nodes) + " | " + routes(w.Graph); got != "x_y_g:gate x_c:command | x_y_g>x_y_g" {
		t.Error(got)
	}
	if got := py.Repr(w.Graph.Node("x_c").Config); got != "{'goto': 'x_y_g', 'routes': [{'when': 'a=b', 'goto': 'STOP'}, {'when': 'a=c', 'goto': 'x_c'}]}" {
		t.Error(got)
	}
	if at := w.Graph.Node("x_y_g").Position; !strings.HasSuffix(at.File, "in/b.yaml") || at.Line != 1 || at.Column != 9 {
		t.Error(at)
	}
}

func TestEverythingUnsupportedIsListedAtOnce(t *testing.T) {
	w, said, err := load(t, "wf.yaml", `hooks: {on_node_start: log}
plugins: [mine]
tools: [{type: json_parse}]
state:
  initial: {a: &l [], b: *l}
steps:
  - {id: model, type: llm_chat}
  - {id: call, type: tool_call, config: {tool: json_parse}}
  - {id: ok, type: gate}
edges: [{from: model, to: call}]
`, "plugins/more.py", "x = 1\n")
	var e *teff.UnsupportedError
	if !errors.As(err, &e) || w == nil || len(w.Graph.Nodes) != 3 {
		t.Fatalf("%v %v", w, err)
	}
	for _, want := range []string{
		"wf.yaml:1: hooks are Python code", "wf.yaml:2: plugins are Python code", "the plugin plugins/more.py is Python code",
		"wf.yaml:5: state.initial holds a list that an alias repeats", "wf.yaml:7: model: its type \"llm_chat\"", "wf.yaml:8: call: the bundled engine does not have the tool",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("%s\nis not told in\n%s", want, said)
		}
	}
}

func TestWhatARunCannotKeepIsRefused(t *testing.T) {
	_, said, err := load(t, "wf.yaml", `x: {1: a}
state: {initial: {m: {yes: 1}}}
steps:
  - {id: c, type: command, config: {update: {l: [{2: b}]}}}
  - {id: t, type: transform, config: {action: value, value: !!set {a, b}, output_key: k}}
  - id: s
    type: subflow
    config: {input_map: {on: x}, graph: {steps: [{id: i, type: gate, config: {"1": fine}}]}}
`)
	var e *teff.UnsupportedError
	if !errors.As(err, &e) || len(e.Problems) != 4 {
		t.Fatal(err)
	}
	for _, want := range []string{"wf.yaml:2: state.initial has a key", "wf.yaml:4: c: update has a key", "wf.yaml:5: t: value holds a set", "wf.yaml:8: s: input_map has a key"} {
		if !strings.Contains(said, want) {
			t.Errorf("%s\nis not told in\n%s", want, said)
		}
	}
}

// teff takes any answer whatever choices say: a run that relied on them would go
// on with one that is none of them.
func TestChoicesAreRefused(t *testing.T) {
	for _, text := range []string{
		"steps:\n - {id: a, type: interrupt, config: {key: k, choices: [x]}}\n",
		"steps:\n - {id: a, type: interrupt, choices: [x], config: {key: k}}\n",
		"steps:\n - interrupt: {key: k, choices: [x]}\n",
		"steps:\n - type: {type: interrupt, config: {key: k, choices: [x]}}\n",
		"steps:\n - {id: p, type: parallel, config: {branches: [{type: interrupt, config: {key: k, choices: [x]}}]}}\n",
		"steps:\n - {id: m, type: map, config: {input_keys: [l], output_key: o, processor: {type: interrupt, key: k, choices: [x]}}}\n",
	} {
		_, said, err := load(t, "wf.yaml", text)
		var e *teff.UnsupportedError
		if !errors.As(err, &e) || !strings.Contains(said, "wf.yaml:2") || !strings.Contains(said, "an interrupt of teff has no choices") {
			t.Errorf("%s\n%v", text, err)
		}
	}
}

func TestDocumentsThatAreRefused(t *testing.T) {
	for _, c := range []struct{ class, said, text string }{
		{"ConfigError", "wf.yaml:3: edges[0].to: unknown step 'gone'", "steps: [{id: a, type: gate}]\nedges:\n - {from: a, to: gone}\n"},
		{"ConfigError", "wf.yaml:1: description: [] is not of type 'string'\nwf.yaml:1: a: steps[0]: 'type' is a required property\nwf.yaml:1: steps[1]: 5 is not of type 'object'",
			"{description: [], steps: [{id: a}, 5]}"},
		{"KeyError", "'id'", "steps: [{id: s, type: subflow, config: {graph: {steps: [{type: gate}]}}}]\n"},
		{"TypeError", "graph.steps must be a list", "steps: [{id: s, type: subflow, config: {graph: {steps: }}}]\n"},
		{"ConfigError", "parallel branches must be a step mapping", "steps: [{id: p, type: parallel, config: {branches: [x]}}]\n"},
		{"ConfigError", "branch cannot stand inside a list of steps", "steps:\n - transform: {action: value, output_key: x}\n - loop: {key: k, until: x, body: [branch: {}], done: [transform: {}]}\n"},
		{"ConfigError", "team, transform, type; here only those without a model: not agent, agent_step, llm, supervise, supervisor, team", "steps:\n - transform: {action: value, output_key: x}\n - foo: {}\n"},
		{"ValueError", "max_rounds must be at least 1", "steps:\n - transform: {action: value, output_key: x}\n - loop: {key: k, until: x, max_rounds: 0, body: [transform: {}], done: [transform: {}]}\n"},
		{"ConfigError", "the document holds more than", "a: &a [1,1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\n"},
		{"RecursionError", "the document includes itself", "include: wf.yaml\n"},
		{"ConfigError", "include: expected a path", "include: [5]\n"},
		{"UnicodeDecodeError", "not UTF-8", "a: \xff\n"},
		{"ConfigError", "$.n: 5 is beyond its maximum 4\nwf.yaml:2: state.initial does not match state.schema: $.s: 'ab' does not match the pattern '^b'",
			"state:\n  initial: {n: 5, s: ab}\n  schema: {n: {type: int, maximum: 4}, s: {pattern: ^b, minLength: 2}}\n"},
	} {
		w, said, err := load(t, "wf.yaml", c.text)
		var e *document.Error
		if !errors.As(err, &e) || e.Class != c.class || !strings.Contains(said, c.said) || w != nil {
			t.Errorf("%s\n%v\nwant %s: %s", c.text, said, c.class, c.said)
		}
	}
	if _, err := document.Load(filepath.Join(t.TempDir(), "gone.yaml"), none); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestIdiomsThatNeedAModelAreListed(t *testing.T) {
	w, said, err := load(t, "wf.yaml", `default_model: m
steps:
 - llm: {id: a}
 - agent: {id: b}
 - interrupt: {key: k, strategy: {llm: {model: x}}}
 - llm: {system: s}
`)
	var e *teff.UnsupportedError
	if !errors.As(err, &e) || w != nil || len(e.Problems) != 4 {
		t.Fatalf("%v %v", w, err)
	}
	for _, want := range []string{
		`wf.yaml:3: a: its type "llm_chat" asks a model`, "wf.yaml:4: b: agent needs a model", "wf.yaml:5: the strategy llm needs a model",
		"wf.yaml:6: llm needs a model",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("%s\nis not told in\n%s", want, said)
		}
	}
}

// A document whose nodes are known is given although a model is not: its runs
// can be shown, and their answers stored. Nodes and edges are those of the teff
// format's expansion of strategies.
func TestNodesThatNeedAModelAreKnown(t *testing.T) {
	w, said, err := load(t, "wf.yaml", `steps:
 - {id: ask, type: interrupt, config: {key: k, model: m, strategy: {llm: {system: s, user: u, schema: {}}, clarify_value: hm}}}
 - {id: pay, type: gate}
edges:
 - {from: ask, to: pay, condition: decision=да}
 - {from: pay, to: ask}
 - {from: ask, to: pay, condition: __error__}
`)
	var e *teff.UnsupportedError
	if !errors.As(err, &e) || w == nil || !strings.Contains(said, `wf.yaml:2: ask-classifier: its type "llm_chat" asks a model`) {
		t.Fatalf("%v %v", w, err)
	}
	var nodes, edges []string
	for _, n := range w.Graph.Nodes {
		nodes = append(nodes, n.ID+" "+n.Type)
	}
	for _, edge := range w.Graph.Edges {
		text := edge.From + " " + edge.To
		if edge.Condition != nil {
			text += " " + *edge.Condition
		}
		edges = append(edges, text)
	}
	if got, want := strings.Join(nodes, "; "), "ask interrupt; ask-classifier llm_chat; ask-validate validate; pay gate"; got != want {
		t.Errorf("nodes %s, want %s", got, want)
	}
	want := "ask ask-classifier; ask-classifier ask-validate; ask-validate pay decision=да; pay ask; ask-validate pay __error__"
	if got := strings.Join(edges, "; "); got != want {
		t.Errorf("edges %s, want %s", got, want)
	}

	w, said, err = load(t, "wf.yaml", "default_model: m\nsteps:\n - interrupt: {id: q, key: k}\n - llm: {id: a, system: s}\n - transform: {action: value, value: v, output_key: o}\n")
	if !errors.As(err, &e) || w == nil || len(e.Problems) != 1 || w.Graph.Nodes[1].ID != "a" || w.Graph.Nodes[2].ID != "transform_3" {
		t.Errorf("%+v, %s", w, said)
	}

	// An included one is expanded again by the document that includes it.
	w, said, err = load(t, "wf.yaml", "include: part.yaml\n", "part.yaml", "steps:\n - {id: ask, type: interrupt, config: {key: k, strategy: {llm: {model: m}}}}\n")
	if !errors.As(err, &e) || w != nil || !strings.Contains(said, "part.yaml:2: the strategy llm needs a model, and in an included document it is expanded twice") {
		t.Errorf("%v, %s", w, said)
	}
}

func FuzzLoad(f *testing.F) {
	for _, pattern := range []string{"*.yaml", "composed/*.yaml", "composed/parts/*.yaml"} {
		files, err := filepath.Glob(filepath.Join(fixtures, "workflows", pattern))
		if err != nil || len(files) == 0 {
			f.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
		}
	}
	f.Add([]byte("steps:\n - parallel: {branches: [transform: {}], converge: {transform: {}}}\n - branch: {key: k, cases: [{value: 1, steps: [map: {input_keys: a, processor: {type: {type: gate}}}]}], default: []}\n"))
	f.Add([]byte("steps: &s [&a {id: a, type: map, config: {processor: *a, branches: *s}}]\ndialect: teff\n"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte) {
		file := filepath.Join(dir, "wf.yaml")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		document.Marked(file) // also of aliases that go in circles
		w, err := document.Load(file, none)
		var wrong *document.Error
		var unsupported *teff.UnsupportedError
		switch {
		case err == nil && w == nil:
			t.Fatal("neither a workflow nor an error")
		case err != nil && !errors.As(err, &wrong) && !errors.As(err, &unsupported):
			t.Fatalf("%T: %v", err, err)
		}
	})
}
