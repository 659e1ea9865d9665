package document

import (
	"github.com/flowtui/flowtui/engine/teff/py"
)

// loop adds a cycle back to the last node, which decides, or with max_rounds a
// node that goes round on its own.
func (f *flow) loop(p *py.Dict) error {
	decider := f.last
	if decider == "" {
		return fail(f.at(p), "ValueError", "loop requires a preceding node to decide from")
	}
	done := get(p, "done")
	if !py.Truth(done) {
		return fail(f.at(p), config, "loop requires a `done:` step or list")
	}
	key, ok := get(p, "key").(string)
	if !ok || !p.Has("until") {
		return fail(f.at(p), "KeyError", "loop requires key and until")
	}
	switch rounds := get(p, "max_rounds").(type) {
	case nil:
	case int64:
		if rounds < 1 {
			return fail(f.valueAt(p, "max_rounds"), "ValueError", "max_rounds must be at least 1, not %d", rounds)
		}
		return f.boundedLoop(p, done)
	default:
		return fail(f.valueAt(p, "max_rounds"), "TypeError", "max_rounds must be an int, not %s", py.Repr(rounds))
	}
	until := py.Str(get(p, "until"))
	after, err := f.list(done, true)
	if err != nil {
		return err
	}
	body, err := f.list(get(p, "body"), true)
	if err != nil {
		return err
	}
	if len(body) == 0 || len(after) == 0 {
		return fail(f.at(p), "AssertionError", "the body of a loop has no steps")
	}
	if label, ok := get(p, "label").(string); ok && label != "" {
		f.labels[label] = decider
	}
	end, err := f.path(decider, key+"="+until, after)
	if err != nil {
		return err
	}
	back, err := f.path(decider, key+"!="+until, body)
	if err != nil {
		return err
	}
	f.link(back, decider, "")
	f.last = end
	return nil
}

// path adds a chain of nodes that is entered under a condition, and gives its
// last node.
func (f *flow) path(from, condition string, specs []spec) (string, error) {
	first := len(f.edges.Items)
	f.link(from, "", condition)
	to, last, err := f.chain(specs)
	if err != nil {
		return "", err
	}
	f.edges.Items[first].(*py.Dict).Set("to", to)
	return last, nil
}

func (f *flow) boundedLoop(p *py.Dict, done py.Value) error {
	body, err := f.list(get(p, "body"), false)
	if err != nil {
		return err
	}
	if len(body) == 0 {
		return fail(f.at(p), "AssertionError", "the body of a loop has no steps")
	}
	after, err := f.list(done, false)
	if err != nil {
		return err
	}
	if label, ok := get(p, "label").(string); ok && label != "" {
		f.refuse(f.valueAt(p, "label"), "", "a loop with max_rounds has a label: which node it names is not known")
	}
	c := dict("key", get(p, "key"), "until", get(p, "until"), "max_rounds", get(p, "max_rounds"), "body", f.specList(body))
	return f.follow(append([]spec{{"loop", "", f.like(c, p), p}}, after...)...)
}
