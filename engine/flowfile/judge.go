package flowfile

import (
	"fmt"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/teff"
	"github.com/flowtui/flowtui/engine/teff/py"
)

// judges reports whether a node behind an interrupt judges its answer.
func judges(v, interrupt *teff.Node) bool {
	return v != nil && v.Type == "validate" && v.Config.GetOr("input_key", "answer") == interrupt.Config.GetOr("key", "")
}

// judgedBy is an interrupt that refuses, for who answers strictly, what the
// validate node behind it would not let pass; v is nil when there is none. What
// is hidden, as a variable holds it, only the run itself judges.
func judgedBy(i engine.Interrupt, v *teff.Node, hidden bool) engine.Interrupt {
	if v == nil || hidden || !v.Judges() {
		return i
	}
	i.Want = wanted(v)
	i.Refuses = func(answer any) error {
		ok, err := v.Passes(toPython(answer))
		switch {
		case err != nil:
			return err
		case ok:
			return nil
		}
		return fmt.Errorf("wanted is %s", i.Want)
	}
	return i
}

// wanted is what a validate node lets pass, for who answers: in words alone
// where only the node can tell, as a pattern is Python's.
func wanted(v *teff.Node) *engine.Want {
	if pattern, ok := v.Config.GetOr("regex", nil).(string); ok && pattern != "" {
		return &engine.Want{Hint: "a text that matches " + pattern, ByFlow: true}
	}
	if list, ok := v.Config.GetOr("any_of", nil).(*py.List); ok && len(list.Items) > 0 {
		want := &engine.Want{}
		for _, item := range list.Items {
			_, isText := item.(string)
			want.ByFlow = want.ByFlow || !isText
			want.AnyOf = append(want.AnyOf, py.Str(item))
		}
		if want.ByFlow {
			return &engine.Want{Hint: want.String(), ByFlow: true}
		}
		return want
	}
	switch equal := v.Config.GetOr("equals", nil).(type) {
	case string:
		if equal != "" {
			return &engine.Want{Equals: equal}
		}
		return &engine.Want{Hint: "an empty text", ByFlow: true}
	default:
		return &engine.Want{Hint: py.Str(equal), ByFlow: true}
	}
}

// judgeAt is the validate step that surely follows a step of a flow file, nil
// when there is none.
func (d *document) judgeAt(root *item, id string) *item {
	for _, e := range stepsOf(root.get("edges")) {
		if textAt(e, "from") != id || textAt(e, "condition") == errorCondition {
			continue
		}
		if e.get("condition") != nil {
			return nil
		}
		to := textAt(e, "to")
		if list := e.get("to"); list != nil && list.kind == isList && len(list.list) == 1 && list.list[0].kind == isText {
			to = list.list[0].text
		}
		for _, step := range stepsOf(root.get("steps")) {
			if to != "" && textAt(step, "id") == to {
				return step
			}
		}
		return nil
	}
	return nil
}

// judgedAt is a node whose answer, if it is an interrupt, is judged by the step
// behind it, nil when none surely follows.
func (r reader) judgedAt(n engine.Node, next *item) engine.Node {
	i, ok := n.(engine.Interrupt)
	if !ok || next == nil || next.kind != isMapping || textAt(next, "type") != "validate" {
		return n
	}
	cfg := config(r.quiet().spec(next))
	values, ok := cfg.value().(map[string]any)
	if !ok {
		return n // it is told where the step is read
	}
	v := &teff.Node{ID: textAt(next, "id"), Type: "validate", Config: toDict(values)}
	if v.Config.GetOr("input_key", "answer") != i.Key {
		return n
	}
	i = judgedBy(i, v, filled(cfg.get("equals"), cfg.get("any_of"), cfg.get("regex")))
	if hint := textAt(cfg, "hint"); hint != "" {
		if i.Want == nil {
			i.Want = &engine.Want{}
		}
		i.Want.Hint = hint
	}
	return i
}

// nextOf is the step behind the i-th one of a list, nil behind the last.
func nextOf(steps []*item, i int) *item {
	if i+1 < len(steps) {
		return steps[i+1]
	}
	return nil
}

// textAt is a text in a mapping, "" when there is none.
func textAt(it *item, key string) string {
	if it.kind == isMapping {
		if v := it.get(key); v != nil && v.kind == isText {
			return v.text
		}
	}
	return ""
}
