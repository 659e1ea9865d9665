package flowfile

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine"
)

// The recorded workflows in the flow form, read as flow files of our own: they
// ask and end as teff's do.
func TestRecordedFlowFormRunsAsOurOwn(t *testing.T) {
	load := func(path string) (*File, error) {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		own := strings.Replace(string(text), "tools: [{type: calculator}]\n", "", 1)       // it needs no declaration here
		own = strings.NewReplacer("id: ignored_id, ", "", "id: joined, ", "").Replace(own) // which teff drops, in lists
		return Parse(filepath.Base(path), []byte(own), Options{})
	}
	n := 0
	for _, r := range recordedRuns(t) {
		if !strings.HasSuffix(textOf(r, "workflow"), ".flow.yaml") || textOf(r, "store") != "sqlite" {
			continue
		}
		for _, way := range dictsOf(r, "resumes") {
			n++
			t.Run(textOf(r, "case")+"/"+textOf(way, "name"), func(t *testing.T) {
				if diff := replay(t, r, way, load); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
	if n < 8 {
		t.Errorf("only %d ways", n)
	}
}

// A flow file in the flow form with steps of our own.
func TestFlowFormOfOurOwn(t *testing.T) {
	const text = `
name: f
state: {initial: {kind: big, items: [a, b], x: 1.50}}
steps:
  - transform: {action: value, value: "${NAME}", output_key: name}
  - parallel:
      id: fan
      branches:
        - {transform: {action: uppercase, input_key: name, output_key: upper}}
        - [transform: {action: lowercase, input_key: name, output_key: lower}]
      converge: {transform: {action: render, template: "{upper}{lower}", output_key: both}}
  - map: {id: each, input_keys: [items], output_key: out, result_key: r, processor: [transform: {action: render, template: "{items}!", output_key: q}, transform: {action: render, template: "{q}?", output_key: r}]}
  - branch:
      key: kind
      cases:
        - {value: small, steps: [transform: {action: value, value: s, output_key: size}]}
      default:
        - transform: {action: value, value: b, output_key: size}
        - type: {type: command, config: {update: {price: 2.50}}}
      converge: {transform: {action: render, template: "{size} {price} {x}", output_key: said}}
  - loop: {key: n, until: "3", max_rounds: 5, body: [type: {type: tool_call, config: {tool: calculator, args: {expression: "{n}+1"}, output_key: n}}], done: [transform: {action: value, value: "yes", output_key: done}]}
`
	f, err := Parse("f.yaml", []byte(text), Options{Env: func(name string) (string, bool) { return "A{b", name == "NAME" }})
	if err != nil {
		t.Fatal(err)
	}
	res, err := runAlone(t, f, engine.Merge(f.Flow.InitialState(), nil, engine.State{"n": "0"}))
	if err != nil || res.Error != "" {
		t.Fatalf("%+v, %v", res, err)
	}
	for key, want := range map[string]any{"both": "A{Ba{b", "out": []any{"a!?", "b!?"}, "said": "b 2.5 1.5", "n": "3", "done": "yes"} {
		if !reflect.DeepEqual(res.State[key], want) {
			t.Errorf("%s is %v, want %v", key, res.State[key], want)
		}
	}
	for _, key := range []string{"x", "price"} { // digits are kept, also through the expansion
		if v := res.State[key]; !slices.Contains([]any{"1.50", "2.50"}, any(v.(interface{ String() string }).String())) {
			t.Errorf("%s is %v", key, v)
		}
	}
}

// Files that include others, in folders of their own.
func TestIncludes(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("parts/greet.yaml", `
include: deeper/more.yaml
state: {initial: {who: part, greeting: none}}
tools: [{name: say, command: [./say.sh]}]
steps:
  - {id: go, type: command, config: {goto: hi, update: {greeting: "${WORD}"}}}
  - {id: hi, type: transform, config: {action: render, template: "{greeting} {who}", output_key: said}}
edges: [{from: start, to: go}]
`)
	write("parts/deeper/more.yaml", "steps: [{id: start, type: transform, config: {action: value, value: x, output_key: x}}]\n")
	write("main.yaml", `
include: {path: parts/greet.yaml, prefix: a_}
steps:
  - {id: last, type: transform, config: {action: append, template: "{said}!", output_key: log}}
  - {id: call, type: call, config: {tool: say}}
edges: [{from: a_hi, to: last}, {from: last, to: call, condition: x=never}]
`)
	env := func(name string) (string, bool) { return "Hello", name == "WORD" }
	f, err := Options{Env: env}.Load(filepath.Join(dir, "main.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	res, err := runAlone(t, f, nil)
	if err != nil || !reflect.DeepEqual(res.State["log"], []any{"Hello part!"}) {
		t.Errorf("%+v, %v", res, err)
	}
	for name, c := range map[string]struct{ text, want string }{
		"unset":  {"include: parts/greet.yaml\nsteps: []\n", "parts/greet.yaml:6:67: the variable ${WORD} is not set"},
		"gone":   {"steps: []\ninclude: [parts/none.yaml]\n", "main.yaml:2:10: include: file not found"},
		"itself": {"include: main.yaml\n", "the document includes itself"},
		"models": {"include: parts/models.yaml\nsteps: []\n", "parts/models.yaml:2:9: an included file has models: give it in the file that includes it"},
		"typo":   {"include: parts/typo.yaml\n", `parts/typo.yaml:3:7: node "b": config of a transform has no key "acton"`},
		"folder": {"include: parts\n", "include:"},
		"teff":   {"include: parts/teff.yaml\n", `parts/teff.yaml:1:10: a flow file cannot include one of the dialect "teff"`},
		"broken": {"include: parts/broken.yaml\n", "parts/broken.yaml:1:"},
		"number": {"include: 5\n", "include: expected a path or {path, prefix}"},
	} {
		write("parts/models.yaml", "steps: [{id: b, type: transform, config: {action: now, output_key: o}}]\nmodels: [{name: m, provider: ollama, model: x}]\n")
		write("parts/teff.yaml", "dialect: teff\nsteps: []\n")
		write("parts/typo.yaml", "steps:\n  - {id: b, type: transform, config: {\n      acton: now, action: now, output_key: o}}\n")
		write("parts/broken.yaml", "steps: [}\n")
		write("main.yaml", c.text)
		_, err := Load(filepath.Join(dir, "main.yaml"))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\ngot  %v\nwant %s", name, err, c.want)
		}
	}
}
