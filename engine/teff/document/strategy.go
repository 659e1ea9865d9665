package document

import (
	"slices"

	"github.com/flowtui/flowtui/engine/teff/py"
)

// What an Ask may hold beside its strategy (teff format, Ask fields).
var (
	strategies = []string{"equals", "any_of", "regex", "llm"}
	askFields  = []string{
		"decision_key", "pass_value", "fail_value", "value_key", "value_field", "rounds_key", "max_rounds",
		"verdict_key", "ok_field", "clear_field", "clarify_value",
	}
)

// ask is the validate node's config for an interrupt with a strategy; where is
// put before a message.
func (l *loader) ask(interrupt *py.Dict, where string) (*py.Dict, error) {
	at := l.valueAt(interrupt, "strategy")
	s, ok := get(interrupt, "strategy").(*py.Dict)
	if !ok {
		return nil, fail(at, config, "%sstrategy must be a mapping, not %s", where, py.Repr(get(interrupt, "strategy")))
	}
	chosen := slices.IndexFunc(strategies, s.Has)
	if chosen < 0 {
		keys := py.NewList()
		for _, k := range s.Keys() {
			keys.Items = append(keys.Items, k)
		}
		return nil, fail(at, config, "%sstrategy requires one of equals / any_of / regex / llm, got %s", where, py.Repr(keys))
	}
	for _, key := range s.Keys() {
		switch {
		case slices.Contains(strategies, key) || slices.Contains(askFields, key) || l.own != nil && key == "hint":
		case l.own != nil:
			return nil, fail(l.valueAt(s, key), config, "%sthe strategy of an interrupt has no key %s", where, py.Repr(key))
		default:
			return nil, fail(l.valueAt(s, key), "TypeError", "Ask.__init__() got an unexpected keyword argument %s", py.Repr(key))
		}
	}
	if strategies[chosen] == "llm" {
		model, _ := get(s, "llm").(*py.Dict)
		if !py.Truth(get(interrupt, "model")) && (model == nil || !py.Truth(get(model, "model"))) {
			return nil, fail(at, config, "%sinterrupt with a 'llm' strategy requires model and provider", where)
		}
	}
	if s.Has("regex") {
		if pattern, ok := get(s, "regex").(string); ok {
			if _, err := py.Compile(pattern); err != nil {
				l.refuse(l.valueAt(s, "regex"), "", "regex: %v: it fails at the first answer", err)
			}
		}
	}
	c := dict("input_key", interrupt.GetOr("key", ""), "strategy", strategies[chosen])
	for key, v := range s.All() {
		switch key {
		case "llm":
		case "decision_key":
			c.Set("output_key", v)
		default:
			c.Set(key, v)
		}
	}
	return l.like(c, s), nil
}

// judgedByModel refuses a strategy llm where the format does not say which nodes
// it becomes.
func (l *loader) judgedByModel(interrupt *py.Dict, why string) {
	l.refuse(l.valueAt(interrupt, "strategy"), text(interrupt, "id"), "the strategy llm needs a model, and %s", why)
	l.partial = true
}

// expandStrategies puts a validate step behind each interrupt with a strategy
// of a graph document's own steps, and moves the interrupt's edges there. A model
// judges in a step of its own, between the two.
func (l *loader) expandStrategies(doc *py.Dict) (*py.Dict, error) {
	list, ok := get(doc, "steps").(*py.List)
	if !ok {
		return doc, nil
	}
	steps, added := py.NewList(), py.NewList()
	moved := map[string]string{}
	for _, v := range list.Items {
		steps.Items = append(steps.Items, v)
		step, ok := v.(*py.Dict)
		if !ok || text(step, "type") != "interrupt" {
			continue
		}
		c, ok := get(step, "config").(*py.Dict)
		id, named := get(step, "id").(string)
		if !ok || !named || !c.Has("strategy") {
			continue
		}
		validate, err := l.ask(c, "step "+py.Repr(id)+": ")
		if err != nil {
			return nil, err
		}
		moved[id] = id + "-validate"
		last := id
		behind := func(next, typ string, c *py.Dict) {
			steps.Items = append(steps.Items, l.like(dict("id", next, "type", typ, "config", c), step))
			added.Items = append(added.Items, l.like(dict("from", last, "to", next), step))
			last = next
		}
		if text(validate, "strategy") == "llm" {
			if len(l.including) > 1 {
				l.judgedByModel(c, "in an included document it is expanded twice, into nodes that are not known")
			}
			behind(id+"-classifier", "llm_chat", l.like(new(py.Dict), step))
		}
		behind(moved[id], "validate", validate)
	}
	if len(moved) == 0 {
		return doc, nil
	}
	for _, v := range items(get(doc, "edges")) {
		if edge, ok := v.(*py.Dict); ok {
			if to, ok := moved[text(edge, "from")]; ok {
				v = l.like(edge.Copy(), edge)
				v.(*py.Dict).Set("from", to)
			}
		}
		added.Items = append(added.Items, v)
	}
	out := l.like(doc.Copy(), doc)
	out.Set("steps", steps)
	if _, ok := get(doc, "edges").(*py.List); ok || !doc.Has("edges") {
		out.Set("edges", added)
	}
	return out, nil
}
