package flowfile

import (
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine"
)

// A variable is text wherever it stands: whatever it holds, it makes no YAML, no
// placeholder and no escape.
func TestEnvironmentIsText(t *testing.T) {
	const text = `
name: ${N}
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
			return map[string]string{"V": value, "N": "f"}[name], name == "V" || name == "N"
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
