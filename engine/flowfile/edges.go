package flowfile

import (
	"slices"
	"strings"

	"github.com/flowtui/flowtui/engine"
)

var edgeKeys = keys{known: []string{"from", "to", "condition"}}

// errorCondition makes an edge the way out of a step that failed.
const errorCondition = "__error__"

func (d *document) readEdges(it *item) {
	before := len(*d.errs)
	for _, e := range d.items(it, "edges") {
		if e.kind != isMapping {
			d.wrong(e, "an edge", isMapping)
			continue
		}
		d.readEdge(e)
	}
	for _, s := range d.steps {
		d.addJumps(s)
		if !s.goes {
			d.flow.End(s.exit)
		}
	}
	if len(d.steps) == 0 {
		return
	}
	d.flow.Entry(d.steps[0].id)
	if len(*d.errs) == before && !d.lostStep { // else every step behind a typo would be named too
		d.reach()
	}
}

func (d *document) readEdge(it *item) {
	d.mapping(it, "an edge", edgeKeys)
	from := d.step(d.required(it, "from", "an edge"))
	if name := it.get("from"); from == nil && name != nil && name.kind == isText && name.text != "" && !d.lostStep {
		d.fail(name, "an edge starts at %q, which is no step", name.text)
	}
	to := d.targets(it)
	if from == nil || len(to) == 0 {
		return
	}
	from.next = append(from.next, to...)
	cond := it.get("condition")
	if cond == nil {
		from.goes = true
		d.flow.Edge(from.exit, to...)
		return
	}
	d.at(from.id).text(cond, "condition")
	text := cond.written() // what its variables hold is neither stored nor told
	if cond.kind == isText && text == errorCondition {
		d.flow.OnError(from.exit, to...)
		return
	}
	from.goes = true
	c, ok := conditionOf(cond)
	if !ok {
		if cond.kind == isText {
			d.at(from.id).fail(cond, "condition %q has no operator: want `key OP value` with one of >= <= != > < =, or %s", text, errorCondition)
		}
		return
	}
	if strings.ContainsAny(c.key, ".[") {
		d.at(from.id).fail(cond, "condition %q: no nested keys: %q must be a key of the state itself", text, c.key)
		return
	}
	d.flow.When(from.exit, engine.Condition{Text: text, Test: c.test}, to...)
}

// targets are where an edge leads: one step, or several that run concurrently.
func (d *document) targets(edge *item) []string {
	it := edge.get("to")
	switch {
	case it == nil:
		d.missing(edge, "to", "an edge")
		return nil
	case it.kind == isList && len(it.list) == 0:
		d.fail(it, "to must name a step")
		return nil
	}
	names := []*item{it}
	if it.kind == isList {
		names = it.list
	}
	var to []string
	for _, n := range names {
		id := d.text(n, "to")
		switch {
		case n.kind != isText:
		case d.step(id) == nil && d.lostStep: // it may be the step without an id
		case d.step(id) == nil:
			d.fail(n, "an edge leads to %q, which is no step", id)
		case slices.Contains(to, id):
			d.fail(n, "to names %q twice", id)
		default:
			to = append(to, id)
		}
	}
	return to
}

// reach refuses steps that no run can come to.
func (d *document) reach() {
	reached := map[string]bool{}
	todo := []string{d.steps[0].id}
	for len(todo) > 0 {
		id := todo[0]
		todo = todo[1:]
		if reached[id] {
			continue
		}
		reached[id] = true
		todo = append(todo, d.step(id).next...)
	}
	for _, s := range d.steps {
		if !reached[s.id] {
			d.at(s.id).fail(s.at, "no edge leads to this step")
		}
	}
}
