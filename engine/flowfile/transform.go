package flowfile

import (
	"context"
	"slices"
	"strings"

	"github.com/flowtui/flowtui/engine"
)

var transformKeys = keys{known: []string{
	"action", "input_key", "output_key", "value", "template", "field", "raw", "sep", "op", "old", "new", "needle",
}}

// transform computes one key of the state from others. It does not act on the
// world, so it simply runs again after a crash.
type transform struct {
	action   string
	input    string // key of the state
	output   string
	value    any
	template *template // nil: none
	field    string
	raw      bool
	sep      string
	spaces   bool // split at white space: "sep: null"
	op       string
	old, new string
	needle   any
	appends  bool // the output's reducer appends
}

// Type is "transform".
func (*transform) Type() string { return "transform" }

// Run returns the output as an update of the state.
func (t *transform) Run(ctx context.Context, s engine.State) (engine.State, error) {
	v, err := actions[t.action](t, ctx, s)
	if err != nil {
		return nil, err
	}
	return engine.State{t.output: v}, nil
}

// transform reads the config of a transform step.
func (r reader) transform(cfg *item, reducers map[string]engine.Reducer) *transform {
	if !r.mapping(cfg, "config of a transform", transformKeys) {
		return nil
	}
	t := &transform{
		action: r.required(cfg, "action", "config of a transform"),
		input:  r.text(cfg.get("input_key"), "input_key"),
		output: r.required(cfg, "output_key", "config of a transform"),
		field:  r.text(cfg.get("field"), "field"),
		raw:    r.truth(cfg.get("raw"), "raw"),
		old:    r.text(cfg.get("old"), "old"),
		new:    r.text(cfg.get("new"), "new"),
		op:     "eq",
	}
	t.appends = reducers[t.output] == engine.Append
	if it := cfg.get("op"); it != nil {
		t.op = r.text(it, "op")
	}
	if it := cfg.get("value"); it != nil {
		t.value = it.value()
	}
	if it := cfg.get("needle"); it != nil {
		t.needle = it.value()
	}
	if it := cfg.get("template"); it != nil {
		t.template = r.template(it, r.text(it, "template"))
	}
	r.separator(cfg, t)
	r.checkTransform(cfg, t)
	return t
}

func (r reader) separator(cfg *item, t *transform) {
	t.sep = ","
	it := cfg.get("sep")
	switch {
	case it == nil:
	case it.kind == isNull && t.action == "split":
		t.spaces = true
	default:
		t.sep = r.text(it, "sep")
		if t.sep == "" && it.kind == isText && t.action == "split" {
			r.fail(it, "sep must not be empty; null splits at white space")
		}
	}
}

// checkTransform finds what would fail in every run.
func (r reader) checkTransform(cfg *item, t *transform) {
	if _, ok := actions[t.action]; !ok {
		if t.action != "" {
			r.fail(cfg.get("action"), "no transform action is named %q; known actions: %s", t.action, strings.Join(actionNames(), ", "))
		}
		return
	}
	switch t.action {
	case "uppercase", "lowercase", "count_lines":
		if it := cfg.get("value"); it != nil && it.kind != isNull {
			r.text(it, "value of "+t.action)
		}
	case "render":
		if t.template == nil {
			r.fail(cfg, "render needs %q", "template")
		}
	case "json_get", "pick":
		if t.field == "" {
			r.fail(cfg, "%s needs %q", t.action, "field")
		}
	case "compare":
		if !slices.Contains(comparisons, t.op) {
			r.fail(cfg.get("op"), "no comparison is named %q; known: %s", t.op, strings.Join(comparisons, ", "))
		}
	}
}
