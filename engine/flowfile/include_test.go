package flowfile

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// including loads the first of files that are given by name and text in turn.
func including(t *testing.T, files ...string) (*File, error) {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		if err := os.WriteFile(filepath.Join(dir, files[i]), []byte(files[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Load(filepath.Join(dir, files[0]))
}

// What a part names is its own, also where the file that includes it has a step
// of that name: in edges to several steps, and where a route jumps.
func TestAPrefixReachesAllThatAPartNames(t *testing.T) {
	const log = `action: append, output_key: log, value: `
	for name, c := range map[string]struct {
		files []string
		want  []any
	}{
		"edges to several": {[]string{"main.yaml", `
include: {path: part.yaml, prefix: p_}
steps: [{id: x, type: transform, config: {` + log + `wrong}}, {id: y, type: transform, config: {` + log + `wrong}}]
edges: [{from: p_x, to: x, condition: never=1}, {from: p_y, to: y, condition: never=1}]
`, "part.yaml", `
state: {schema: {log: append}}
steps:
  - {id: begin, type: transform, config: {action: now, output_key: o}}
  - {id: x, type: transform, config: {` + log + `x}}
  - {id: y, type: transform, config: {` + log + `y}}
edges: [{from: begin, to: [x, y]}]
`}, []any{"x", "y"}},
		"goto of a route": {[]string{"main.yaml", `
include: {path: part.yaml, prefix: p_}
steps: [transform: {id: end, ` + log + `main}]
`, "part.yaml", `
steps:
  - route: {goto: end, routes: [{when: never=1, goto: other}]}
  - transform: {id: other, ` + log + `other}
  - transform: {id: end, ` + log + `part}
`}, []any{"part", "main"}},
		"goto of one of the routes": {[]string{"main.yaml", `
include: {path: part.yaml, prefix: p_}
steps: [transform: {id: end, ` + log + `main}]
`, "part.yaml", `
steps:
  - route: {goto: STOP, routes: [{when: never!=1, goto: end}]}
  - type: {id: skipped, type: command, config: {goto: end}}
  - transform: {id: end, ` + log + `part}
`}, []any{"part", "main"}},
		"command in the form of a type": {[]string{"main.yaml", `
include: {path: part.yaml, prefix: p_}
steps: [transform: {id: end, ` + log + `main}]
`, "part.yaml", `
steps:
  - type: {id: go, type: command, config: {goto: end}}
  - transform: {id: end, ` + log + `part}
`}, []any{"part", "main"}},
		"label of a loop": {[]string{"main.yaml", `
include: [{path: part.yaml, prefix: p_}]
steps: [transform: {id: last, ` + log + `main}]
`, "part.yaml", `
state: {initial: {seen: "no"}}
steps:
  - transform: {id: decide, action: append, output_key: log, template: "{seen}"}
  - loop: {key: seen, until: "no", label: again, body: [transform: {` + log + `body}], done: [transform: {action: value, value: "yes", output_key: next}]}
  - transform: {id: twice, action: append, output_key: rounds, value: r}
  - route: {routes: [{when: "rounds=['r']", goto: again}]}
`}, []any{"no", "no", "main"}},
	} {
		f, err := including(t, c.files...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		res, err := runAlone(t, f, nil)
		if err != nil || !reflect.DeepEqual(res.State["log"], c.want) {
			t.Errorf("%s: %v, want %v: %v %s", name, res.State["log"], c.want, err, res.Error)
		}
	}
}

// Parts that include each next one twice are as many as a power of two.
func TestIncludesAreBounded(t *testing.T) {
	for _, dialect := range []string{"flowtui", "teff"} {
		var files []string
		for i := range 20 {
			files = append(files, fmt.Sprintf("f%d.yaml", i), fmt.Sprintf("dialect: %s\ninclude: [f%d.yaml, f%d.yaml]\n", dialect, i+1, i+1))
		}
		files = append(files, "f20.yaml", "dialect: "+dialect+"\nsteps: []\n")
		if _, err := including(t, files...); err == nil || !strings.Contains(err.Error(), "the document includes more than 999 files") {
			t.Errorf("%s: %v", dialect, err)
		}
		values := "dialect: " + dialect + "\nstate:\n initial:\n  a: &a [" + strings.Repeat("1,", 10) + "]\n"
		for _, name := range []string{"ba", "cb", "dc", "ed"} { // each holds ten times the one before it
			values += fmt.Sprintf("  %c: &%c [%s]\n", name[0], name[0], strings.Repeat("*"+name[1:]+", ", 10))
		}
		main := "dialect: " + dialect + "\ninclude: [" + strings.Repeat("part.yaml,", 10) + "]\nsteps: []\n"
		if _, err := including(t, "main.yaml", main, "part.yaml", values); err == nil || !strings.Contains(err.Error(), "the document holds more than 1048576 values") {
			t.Errorf("%s: %v", dialect, err)
		}
	}
}

// A file that includes itself by ever other paths is told as such.
func TestIncludesAreComparedByTheFilesThemselves(t *testing.T) {
	for _, dialect := range []string{"flowtui", "teff"} {
		dir := t.TempDir()
		main := filepath.Join(dir, "main.yaml")
		if err := os.WriteFile(main, []byte("dialect: "+dialect+"\ninclude: again/main.yaml\nsteps: []\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(dir, filepath.Join(dir, "again")); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(main); err == nil || !strings.Contains(err.Error(), "the document includes itself") {
			t.Errorf("%s: %v", dialect, err)
		}
	}
}

// A key without a value is as one that is not there: what the parts say counts.
func TestEmptyKeysDropNothingOfAPart(t *testing.T) {
	const part = `
state: {initial: {limit: 5, log: [b]}, schema: {log: append}}
tools: [{name: t, command: [x]}]
steps: [{id: a, type: transform, config: {action: render, template: "{limit}", output_key: log}}, {id: b, type: call, config: {tool: t}}]
edges: [{from: a, to: b, condition: limit=6}]
`
	for _, empty := range []string{"", "state:\n", "state: {initial: }\n", "state: {schema: , initial: }\n", "steps:\n", "edges:\n", "tools:\n", "state:\nsteps:\nedges:\ntools:\n"} {
		f, err := including(t, "main.yaml", "include: part.yaml\n"+empty, "part.yaml", part)
		if err != nil {
			t.Errorf("%q: %v", empty, err)
			continue
		}
		res, err := runAlone(t, f, nil)
		if want := []any{"b", "5"}; err != nil || !reflect.DeepEqual(res.State["log"], want) {
			t.Errorf("%q: %v, want %v: %v %s", empty, res.State["log"], want, err, res.Error)
		}
	}
}

// What is of a kind that cannot be merged is told, not dropped.
func TestPartsOfTheWrongKind(t *testing.T) {
	for part, want := range map[string]string{
		"steps: {id: a}":          "part.yaml:1:8: steps of an included file must be a list",
		"edges: 5":                "part.yaml:1:8: edges of an included file must be a list",
		"tools: {name: t}":        "part.yaml:1:8: tools of an included file must be a list",
		"state: 5":                "part.yaml:1:8: state of an included file must be a mapping",
		"state: {intial: {a: 1}}": "part.yaml:1:17: state of an included file has no key 'intial'",
		"state: {initial: [a]}":   "part.yaml:1:18: state.initial of an included file must be a mapping",
	} {
		_, err := including(t, "main.yaml", "include: part.yaml\n"+refusedStep, "part.yaml", part+"\n")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngot  %v\nwant %s", part, err, want)
		}
	}
}
