package flowfile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/flowtui/flowtui/engine"
)

func FuzzParse(f *testing.F) {
	tickets, err := os.ReadFile("testdata/tickets.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(tickets))
	f.Add(promoFile)
	f.Add("steps:\n- {id: a, type: loop, config: {key: k, until: x, body: [{type: interrupt, config: {key: k}}]}}\n- {id: b, type: interrupt, config: {key: k, strategy: {llm: {model: ollama/x}}}}\nedges: [{from: a, to: b}]\nconversation: {transient: [k]}")
	for _, s := range []string{"a: &x [*x]", "? [a]\n: b", "- - - -", "<<: *a", "a: !!str", "\ufeffname: x", "{a: b", "a: |\n\tb", "...\n---", "%YAML 1.1\n---\na: 1"} {
		f.Add(s)
	}
	for _, c := range refusals {
		f.Add(c.text)
	}
	f.Add("steps:\n  - transform: {id: a, action: now, output_key: '${V}'}\n  - interrupt: {id: b, key: k, prompt: '{a} ${V}', strategy: {any_of: [yes]}}\n  - loop: {key: k, until: x, label: l, body: [map: {input_keys: [x], output_key: y, processor: [call: {tool: t}]}], done: [type: {type: gate}]}\n  - route: {routes: [{when: k=1, goto: l}], goto: STOP}\n  - parallel: {branches: [[llm: {model: ollama/x, prompt: p, into: o}]], converge: {transform: {action: value, value: 1.50, output_key: z}}}")
	f.Add("steps: [{id: a, type: tool_call, config: {tool: calculator, args: {expression: '1'}}, retry: {max_retries: 2, retry_on: [ValueError]}}, {id: b, type: supervisor, config: {fill_order: [[a, b]]}}]\nedges: [{from: a, to: b}]\ninclude: [{path: x, prefix: 1}]")
	env := func(name string) (string, bool) { return "{v}: [", name == "V" }
	f.Fuzz(func(t *testing.T, text string) {
		file, err := Parse("f.yaml", []byte(text), Options{AllowUnknownTools: true, Env: env})
		if (file == nil) == (err == nil) {
			t.Errorf("got %v and %v", file, err)
		}
		if err != nil {
			return
		}
		if err := file.Flow.Check(); err != nil {
			t.Error(err)
		}
	})
}

// Documents of teff: what loads is a flow that can run here.
func FuzzDocument(f *testing.F) {
	paths, err := filepath.Glob(teffData + "workflows/*.yaml")
	if err != nil || len(paths) == 0 {
		f.Fatal(paths, err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add("steps: [{id: l, type: loop, config: {key: k, until: x, body: [{type: map, input_keys: l, output_key: o, processor: {type: interrupt}}]}}]")
	file := filepath.Join(f.TempDir(), "x.graph.yaml")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "include") { // which reads whatever it names
			return
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Load(file)
		if (got == nil) == (err == nil) {
			t.Errorf("got %v and %v", got, err)
		}
		if err == nil {
			if err := got.Flow.Check(); err != nil {
				t.Error(err)
			}
		}
	})
}

func FuzzCondition(f *testing.F) {
	for _, s := range []string{"a=b", "a>=1", "a!=x,y", "a", "=", "a=\u0130", "a<1_0", "a>٣"} {
		f.Add(s, "b")
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		c, ok := parseCondition(text)
		if ok != strings.ContainsAny(text, "<>=") {
			t.Errorf("%q: parsed %v", text, ok)
		}
		if !ok {
			return
		}
		yes, err := c.test(engine.State{c.key: value})
		if err != nil {
			t.Error(err)
		}
		if c.op == "=" && c.value != "" {
			not, _ := newCondition(c.key, "!=", c.value).test(engine.State{c.key: value})
			if not == yes {
				t.Errorf("%q on %q: = and != are both %v", text, value, yes)
			}
		}
	})
}

// What a variable holds makes no operator and no alternative.
func FuzzConditionOfAVariable(f *testing.F) {
	for _, s := range []string{"b", "x>=1", "a,b", "", "!=", "${V}", " y "} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		it := &item{kind: isText, text: "a=${V}"}
		edge := &item{kind: isMapping, fields: []field{{&item{kind: isText, text: "condition"}, it}}}
		newReader("f.yaml").fill(edge, func(string) (string, bool) { return value, true })
		c, ok := conditionOf(it)
		if !ok || c.key != "a" || c.op != "=" || len(c.values) != 1 || c.value != value {
			t.Fatalf("%q: %+v, %v", value, c, ok)
		}
		if yes, err := c.test(engine.State{"a": value}); !yes || err != nil {
			t.Errorf("%q is not itself: %v", value, err)
		}
		if yes, err := c.test(engine.State{}); yes || err != nil {
			t.Errorf("%q is what is missing: %v", value, err)
		}
	})
}

func FuzzTemplate(f *testing.F) {
	for _, s := range []string{"{a}", "{{", "{a!r:>{b}}", "{a[0]}", "}{", "{a:*^9.2}", "{ü}", "{a!", "{a[", "{:{:{:"} {
		f.Add(s, "x")
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		tpl, err := parseTemplate(text)
		if err != nil {
			return
		}
		got, err := tpl.render(engine.State{"a": value, "b": "3", "ü": nil})
		if err != nil {
			return
		}
		if limit := (len(text) + 1) * (10*len(value) + 4*maxWidth); len(got) > limit {
			t.Errorf("%q: %d bytes", text, len(got))
		}
		if utf8.ValidString(text) && utf8.ValidString(value) && !utf8.ValidString(got) {
			t.Errorf("%q on %q: %q is not UTF-8", text, value, got)
		}
	})
}

// Whatever a flow file holds, nothing that a variable says is in its graph.
func FuzzVariables(f *testing.F) {
	for _, text := range []string{every, everyIdiom} {
		for n := range len(marks.FindAllString(text, -1)) {
			varied, _ := with(text, n)
			f.Add(varied)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, canary) {
			return
		}
		file, err := Parse("f.yaml", []byte(text), Options{Env: canaryEnv, AllowUnknownTools: true})
		if err != nil {
			return
		}
		outer, inner, err := file.Flow.Topologies()
		if err != nil {
			t.Fatal(err)
		}
		if all := fmt.Sprintf("%+v %+v", outer, inner); strings.Contains(all, canary) || strings.Contains(file.Name, canary) {
			t.Errorf("%s\nmakes %s", text, all)
		}
	})
}
