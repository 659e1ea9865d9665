package flowfile_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine/flowfile"
	"github.com/flowtui/flowtui/engine/tool"
)

// one is a valid flow to which a test adds.
const one = "steps: [{id: a, type: transform, config: {action: value, value: 1, output_key: o}}]\n"

func TestErrors(t *testing.T) {
	step := func(s string) string { return "tools: [{name: t, command: [x]}]\nsteps:\n  - " + s + "\n" }
	edge := func(s string) string {
		return "tools: [{name: t, command: [x]}]\nsteps: [{id: a, type: call, config: {tool: t}}, {id: b, type: call, config: {tool: t}}]\nedges:\n  - " + s + "\n"
	}
	for _, c := range []struct{ text, want string }{
		{"", "f.yaml: the flow has no steps"},
		{"steps: []", "f.yaml:1:8: the flow has no steps"},
		{"[1]", "f.yaml:1:1: a flow file must be a mapping, not a list"},
		{one + "stpes: []", `f.yaml:2:1: a flow file has no key "stpes"; known keys: name, description, state, steps, edges, tools`},
		{one + "include: x.yaml", `f.yaml:2:10: include needs the folder of the file`},
		{one + "name: 5", "f.yaml:2:7: name must be a string, not a number; quote it"},
		{one + `name: ""`, "f.yaml:2:7: name must not be empty"},
		{one + `name: "a\u202eb"`, "a character that cannot be shown"},
		{"steps: {id: a}", "f.yaml:1:8: steps must be a list, not a mapping"},
		{"steps: [a]", "f.yaml:1:9: a step must be a mapping, not a string"},
		{"steps: [{transform: {action: now}}]", `f.yaml:1:21: node "transform_1": config of a transform needs "output_key"`},
		{"steps: [{subflow: {}}]", "f.yaml:1:9: steps of the form {subflow: …} cannot stand here; write {id, type: subflow, config}"},

		{step("{type: call, config: {tool: t}}"), `f.yaml:3:5: a step needs "id"`},
		{step("{id: a, config: {tool: t}}"), `f.yaml:3:5: node "a": a step needs "type"`},
		{step("{id: a, type: call, confg: {tool: t}}"), `f.yaml:3:25: node "a": a step has no key "confg"; known keys: id, type, config`},
		{step("{id: a, type: call, config: {tool: t}, retry: {max_retries: 2}}"), `f.yaml:3:51: node "a": retry of a call of "t": it is not idempotent`},
		{step("{id: a, type: react_agent}"), `f.yaml:3:19: node "a": steps of type "react_agent" do not run here: its options are teff's own; a tool_loop does the same`},
		{step("{id: a, type: cal}"), `f.yaml:3:19: node "a": no step type is named "cal"; known types: call, transform, interrupt`},
		{step("{id: a, type: call}"), `f.yaml:3:5: node "a": config of a call needs "tool"`},
		{step("{id: a, type: call, config: {tool: u}}"), `f.yaml:3:40: node "a": no tool is named "u"; known tools: t`},
		{step("{id: a, type: call, config: {tool: t, ags: 1}}"), `node "a": config of a call has no key "ags"; known keys: tool, args, into`},
		{step("{id: a, type: call, config: {tool: t, into: ''}}"), `node "a": into must not be empty`},
		{step("{id: a, type: call, config: {tool: t, args: {x: [1, '{y']}}}"), `f.yaml:3:57: node "a": a '{' has no '}'`},
		{step("{id: a, type: interrupt}"), `f.yaml:3:5: node "a": config of an interrupt needs "key"`},
		{step("{id: a, type: interrupt, config: {key: k, prompt: '{}'}}"), `node "a": placeholder {} has no key of the state`},
		{step("{id: a, type: interrupt, config: {key: k, choices: [yes, true]}}"), `node "a": each of choices must be a string, not a boolean; quote it`},
		{step("{id: a, type: interrupt, config: {key: k, choices: [x, x]}}"), `node "a": the choice "x" stands twice`},
		{step("{id: a, type: transform, config: {output_key: o}}"), `node "a": config of a transform needs "action"`},
		{step("{id: a, type: transform, config: {action: upper, output_key: o}}"), `node "a": no transform action is named "upper"; known actions: append, coalesce`},
		{step("{id: a, type: transform, config: {action: now}}"), `node "a": config of a transform needs "output_key"`},
		{step("{id: a, type: transform, config: {action: render, output_key: o}}"), `node "a": render needs "template"`},
		{step("{id: a, type: transform, config: {action: pick, output_key: o}}"), `node "a": pick needs "field"`},
		{step("{id: a, type: transform, config: {action: compare, op: like, output_key: o}}"), `node "a": no comparison is named "like"`},
		{step("{id: a, type: transform, config: {action: split, sep: '', output_key: o}}"), `node "a": sep must not be empty`},
		{step("{id: a, type: transform, config: {action: uppercase, value: 5, output_key: o}}"), `node "a": value of uppercase must be a string, not a number`},
		{step("{id: a, type: transform, config: {action: now, output: o, output_key: o}}"), `node "a": config of a transform has no key "output"`},
		{"steps:\n- {id: a, type: interrupt, config: {key: k}}\n- {id: a, type: interrupt, config: {key: k}}", `f.yaml:3:8: node "a": a step with this id stands already at line 2`},

		{edge("{from: a, to: b, when: x}"), `f.yaml:4:22: an edge has no key "when"; known keys: from, to, condition`},
		{edge("{to: b}"), `f.yaml:4:5: an edge needs "from"`},
		{edge("{from: a}"), `f.yaml:4:5: an edge needs "to"`},
		{edge("{from: c, to: b}"), `f.yaml:4:12: an edge starts at "c", which is no step`},
		{edge("{from: a, to: c}"), `f.yaml:4:19: an edge leads to "c", which is no step`},
		{edge("{from: a, to: []}"), `f.yaml:4:19: to must name a step`},
		{edge("{from: a, to: [b, b]}"), `f.yaml:4:23: to names "b" twice`},
		{edge("{from: a, to: b, condition: x}"), `f.yaml:4:33: node "a": condition "x" has no operator`},
		{edge("{from: a, to: b, condition: }"), `node "a": condition must be a string, not null`},
		{edge("{from: a, to: a}"), `f.yaml:2:49: node "b": no edge leads to this step`},

		{one + "state: {initial: [1]}", "f.yaml:2:18: state.initial must be a mapping, not a list"},
		{one + "state: {initial: {n: x}, schema: {n: int}}", "f.yaml:2:22: initial value of n must be of type int, not a string"},
		{one + "state: {initial: {n: 1.0}, schema: {n: {type: integer}}}", "initial value of n must be of type integer, not a number 1.0"},
		{one + "state: {initial: {n: true}, schema: {n: {type: int, reducer: keep}}}", "initial value of n must be of type int, not a boolean"},
		{one + "state: {schema: {n: appnd}}", `f.yaml:2:21: schema of n: "appnd" is neither a reducer (override, keep, append) nor a type`},
		{one + "state: {schema: {n: {reducer: int}}}", `no reducer is named "int"`},
		{one + "state: {schema: {n: {type: append}}}", `no type is named "append"`},
		{one + "state: {schema: {n: {minimum: 1}}}", `schema of n: "minimum" is not supported by this version`},
		{one + "state: {intial: {}}", `state has no key "intial"; known keys: initial, schema`},

		{one + "tools: [{command: [x]}]", `f.yaml:2:9: a tool needs "name"`},
		{one + "tools: [{name: t}]", `a tool needs "command"`},
		{one + "tools: [{name: t, command: ls -l}]", `command must be a list, like [sh, -c, "ls -l"]: no shell is in between`},
		{one + "tools: [{name: t, command: []}]", "command must name a program"},
		{one + "tools: [{name: t, command: [sleep, 5]}]", "f.yaml:2:36: each of command must be a string, not a number; quote it"},
		{one + "tools: [{name: t, command: [x], idempotent: yes}]", "idempotent must be true or false"},
		{one + "tools: [{name: t, command: [x], approval: always}]", `approval must be "none" or "required", not "always"`},
		{one + "tools: [{name: t, command: [x], timeout: 30}]", "timeout needs a unit, like 30s"},
		{one + "tools: [{name: t, command: [x], timeout: soon}]", `timeout "soon" is not a duration`},
		{one + "tools: [{name: t, command: [x], timeout: -1s}]", `timeout "-1s" is not a duration`},
		{one + "tools: [{name: t, command: [x]}, {name: t, command: [y]}]", `f.yaml:2:34: tool "t" is registered twice`},
		{one + "tools: [{name: t, comand: [x]}]", `a tool has no key "comand"; known keys: name, command, idempotent, approval, timeout`},
		{one + "tools: [{type: calculator}]", `a tool: "type" is not supported by this version`},
	} {
		_, err := flowfile.Parse("dir/f.yaml", []byte(c.text), flowfile.Options{})
		var fe *flowfile.Error
		if !errors.As(err, &fe) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\ngot  %v\nwant %s", c.text, err, c.want)
		}
	}
}

func TestEveryErrorIsReportedInOrder(t *testing.T) {
	_, err := flowfile.Parse("f.yaml", []byte(`name: 1
steps:
  - id: a
    type: call
    config: {tool: t, tool: u}
  - {id: b, typ: call}
edges:
  - {from: a, to: c}
  - {from: b, to: 12}
stat: {}
`), flowfile.Options{})
	want := []string{
		"f.yaml:1:7: name must be a string",
		`f.yaml:5:23: the key "tool" stands twice`,
		`f.yaml:5:20: node "a": no tool is named "t"; declare it under "tools"`,
		`f.yaml:6:13: node "b": a step has no key "typ"`,
		`f.yaml:8:19: an edge leads to "c"`,
		"f.yaml:9:19: to must be a string, not a number; quote it",
		`f.yaml:10:1: a flow file has no key "stat"`,
	}
	want[1], want[2] = want[2], want[1]
	got := strings.Split(err.Error(), "\n")
	if len(got) != len(want) {
		t.Fatalf("got %d errors, want %d:\n%v", len(got), len(want), err)
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("got  %s\nwant %s", got[i], want[i])
		}
	}
}

// What is wrong is told once, where it is: not again by what refers to it.
func TestOneMistakeIsOneError(t *testing.T) {
	const call = "name: x\nsteps:\n  - {id: a, type: call, config: {tool: t}}\n  - {id: b, type: call, config: {tool: t}}\nedges:\n  - {from: a, to: b}\n"
	for text, want := range map[string]string{
		call + "tools: [{name: t, command: [x], tiemout: 5s}]": `has no key "tiemout"`,
		call + "tools: [{name: t}]":                            `a tool needs "command"`,
		call + "tools: [{name: t, command: x}]":                "command must be a list",
		call + "tools: [{nam: t, command: [x]}]":               `has no key "nam"`,
		call + "tools: [{name: t, comand: [x]}]":               `has no key "comand"`,
		call + "tools: [t]":                                    "a tool must be a mapping",
		call + "tools: t":                                      "tools must be a list",
		"name: x\nsteps:\n  - {i: a, type: interrupt, config: {key: k}}\nedges:\n  - {from: a, to: a}\n": `has no key "i"`,
		"name: x\nsteps:\n  - {id: a, type: interrupt, config: {kay: k}}\n":                              `has no key "kay"`,
		"name: x\nsteps:\n  - {id: a, type: interrupt, config: {key: k, choices: [1]}}\n":                `each of choices must be a string, not a number; quote it: "1"`,
	} {
		_, err := flowfile.Parse("f.yaml", []byte(text), flowfile.Options{})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s\ngot  %v\nwant %s", text, err, want)
		}
	}
	_, err := flowfile.Parse("f.yaml", []byte("name: x\nsteps:\n  - {id: a, type: interrupt, config: {key: k, choices: [1, true]}}\n"), flowfile.Options{})
	if err == nil || strings.Count(err.Error(), "\n") != 1 || !strings.Contains(err.Error(), `not a boolean; quote it: "true"`) {
		t.Errorf("%v", err)
	}
}

// A condition looks at keys of the state, not into them.
func TestConditionsHaveNoPaths(t *testing.T) {
	for _, c := range []string{"user.age > 3", "list[0] = 1", " a.b="} {
		_, err := flowfile.Parse("f.yaml", []byte(fmt.Sprintf("name: x\nsteps:\n  - {id: a, type: interrupt, config: {key: k}}\nedges:\n  - {from: a, to: a, condition: %q}\n", c)), flowfile.Options{})
		if err == nil || !strings.Contains(err.Error(), "no nested keys") {
			t.Errorf("%s: %v", c, err)
		}
	}
	if _, err := flowfile.Parse("f.yaml", []byte("name: x\nsteps:\n  - {id: a, type: interrupt, config: {key: k}}\nedges:\n  - {from: a, to: a, condition: price > 1.5}\n"), flowfile.Options{}); err != nil {
		t.Error(err)
	}
}

func TestErrorsAreBounded(t *testing.T) {
	_, err := flowfile.Parse("f.yaml", []byte("steps:\n"+strings.Repeat("- x\n", 2000)), flowfile.Options{})
	if n := strings.Count(err.Error(), "\n") + 1; n != 101 || !strings.HasSuffix(err.Error(), "f.yaml: and 1900 more errors") {
		t.Errorf("%d errors, the last: %s", n, err.Error()[len(err.Error())-60:])
	}
}

// What an error quotes from a file can be anything.
func TestErrorsAreShortAndPlain(t *testing.T) {
	for _, text := range []string{
		one + `state: {schema: {"\e[2J\u202e\n": x}}`,
		one + "edges: [{from: a, to: a, condition: " + strings.Repeat("x", 100_000) + "}]",
		one + "x: &" + strings.Repeat("y", 100_000) + " [*" + strings.Repeat("y", 100_000) + "]",
	} {
		_, err := flowfile.Parse("f.yaml", []byte(text), flowfile.Options{})
		for line := range strings.SplitSeq(err.Error(), "\n") {
			if len(line) > 600 || strings.ContainsAny(line, "\x1b\u202e") || !strings.HasPrefix(line, "f.yaml") {
				t.Errorf("%.700q", line)
			}
		}
	}
}

func TestDefaults(t *testing.T) {
	f, err := flowfile.Parse("dir/my.flow.yaml", []byte("state:\nedges:\ntools:\n"+one), flowfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if f.Name != "my.flow" || f.Flow.Name() != "my.flow" || f.Path != "dir/my.flow.yaml" || !strings.HasPrefix(string(f.Source), "state:") {
		t.Errorf("got %+v", f)
	}
	if err := f.Flow.Check(); err != nil {
		t.Error(err)
	}
}

func TestToolsOfTheProgram(t *testing.T) {
	text := []byte("steps: [{id: a, type: call, config: {tool: go_tool}}]\n")
	if _, err := flowfile.Parse("f.yaml", text, flowfile.Options{}); err == nil {
		t.Error("an unknown tool is accepted")
	}
	if _, err := flowfile.Parse("f.yaml", text, flowfile.Options{AllowUnknownTools: true}); err != nil {
		t.Error(err)
	}
	run := func(context.Context, tool.Input) (any, error) { return 1, nil }
	opts := flowfile.Options{Tools: tool.NewRegistry(tool.Tool{Name: "go_tool", Run: run})}
	f, err := flowfile.Parse("f.yaml", text, opts)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := f.Tools.Get("go_tool"); !ok {
		t.Error("the file's tools lack the program's")
	}
	_, err = flowfile.Parse("f.yaml", append(text, "tools: [{name: go_tool, command: [x]}]\n"...), opts)
	if err == nil || !strings.Contains(err.Error(), `f.yaml:2:9: tool "go_tool" is registered twice`) {
		t.Errorf("a declared tool that hides one of the program's: %v", err)
	}
}

func TestCommandsRunInTheFilesFolder(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "where.sh", "#!/bin/sh\ncat >/dev/null\nprintf '\"%s\"' \"$PWD\"\n")
	write(t, dir, "f.yaml", "tools: [{name: t, command: [./where.sh]}]\nsteps: [{id: a, type: call, config: {tool: t}}]\n")
	f, err := flowfile.Load(filepath.Join(dir, "f.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	tl, _ := f.Tools.Get("t")
	got, err := tl.Run(t.Context(), tool.Input{})
	if err != nil {
		if _, statErr := os.Stat("/bin/sh"); statErr != nil {
			t.Skip("no /bin/sh")
		}
		t.Fatal(err)
	}
	if want, _ := filepath.EvalSymlinks(dir); !strings.Contains(string(got.(json.RawMessage)), want) {
		t.Errorf("ran in %s, want %s", got, want)
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

// The digest of a flow file depends on what the file says alone.
func TestDigestIsStable(t *testing.T) {
	load := func() string {
		f, err := flowfile.Load("testdata/tickets.yaml")
		if err != nil {
			t.Fatal(err)
		}
		d, err := f.Flow.Digest()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if a, b := load(), load(); a != b {
		t.Errorf("%s and %s", a, b)
	}
}

func TestLoadFails(t *testing.T) {
	for _, path := range []string{"testdata/none.yaml", "testdata"} {
		if f, err := flowfile.Load(path); err == nil || f != nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %v, %v", path, f, err)
		}
	}
}
