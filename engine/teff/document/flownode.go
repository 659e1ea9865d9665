package document

import (
	"slices"

	"github.com/flowtui/flowtui/engine/teff/py"
)

// list reads the steps of a list, or one step; keepIDs says that a transform's
// id counts.
func (f *flow) list(v py.Value, keepIDs bool) ([]spec, error) {
	if v == nil {
		return nil, nil
	}
	var all []spec
	for _, item := range listOf(v) {
		word, payload, err := f.idiom(item)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(f.inLists(), word) {
			return nil, fail(f.at(item), config, "%s cannot stand inside a list of steps; supported there: %s", word, f.supported(f.inLists()))
		}
		if word != "transform" || !keepIDs {
			f.nameless(word, payload)
		}
		specs, err := f.nodes(word, payload, false)
		if err != nil {
			return nil, err
		}
		if word == "transform" && keepIDs {
			specs[0].id = text(payload, "id")
		}
		all = append(all, specs...)
	}
	return all, nil
}

// nameless refuses the id of a step in a list in flow files of our own, where no
// key is passed over. teff drops it: such a step is named after its type and place.
func (f *flow) nameless(word string, p *py.Dict) {
	if f.own != nil && get(p, "id") != nil {
		f.refuse(f.valueAt(p, "id"), "", "%s stands in a list, where a step is named after its type and place: leave its id out, or write the file with {id, type, config} and edges", word)
	}
}

// nodes are those of an idiom that may also stand in a list; top says that it
// stands among the document's steps, where ids count.
func (f *flow) nodes(word string, p *py.Dict, top bool) ([]spec, error) {
	id := ""
	if top {
		id = text(p, "id")
	}
	if slices.Contains(modelled, word) {
		return f.modelled(word, id, p)
	}
	switch word {
	case "interrupt":
		return f.interrupt(p, id, top)
	case "map":
		return f.mapped(p, id, top)
	case "type":
		typ, ok := get(p, "type").(string)
		if !ok {
			return nil, fail(f.at(p), "KeyError", "type requires a type: 'type'")
		}
		c := f.like(new(py.Dict), p)
		switch own := get(p, "config").(type) {
		case *py.Dict:
			c = own
		case nil:
		default:
			return nil, fail(f.valueAt(p, "config"), config, "config must be a mapping, not %s", py.Repr(own))
		}
		return []spec{{typ, id, c, p}}, nil
	}
	return []spec{{word, id, f.like(without(p, "id"), p), p}}, nil
}

// modelled is an idiom that needs a model, and so cannot run here.
func (f *flow) modelled(word, id string, p *py.Dict) ([]spec, error) {
	if f.own != nil {
		if word == "llm" {
			return []spec{{word, id, f.like(without(p, "id"), p), p}}, nil
		}
		f.refuse(f.at(p), id, "%s is an idiom of teff for models with tools: a tool_loop does the same", word)
		return []spec{{word, id, f.like(without(p, "id"), p), p}}, nil
	}
	if !f.model && !py.Truth(get(p, "model")) {
		return nil, fail(f.at(p), config, "`model:` required here — set `default_model:` at the top of flow.yaml or pass a per-step `model:`")
	}
	if word != "llm" || id == "" { // else it is one node, of which the engine says why it cannot run
		f.refuse(f.at(p), id, "%s needs a model, and the teff format does not say which nodes it becomes", word)
		f.partial = true
	}
	return []spec{{"llm_chat", id, f.like(without(p, "id"), p), p}}, nil
}

// interrupt is the node that pauses and, with a strategy, the one that judges
// the answer.
func (f *flow) interrupt(p *py.Dict, id string, top bool) ([]spec, error) {
	if !py.Truth(get(p, "key")) {
		return nil, fail(f.at(p), config, "interrupt requires a `key`")
	}
	c := f.like(dict("key", get(p, "key"), "prompt", p.GetOr("prompt", "")), p)
	if choices, has := p.Get("choices"); has && f.own != nil {
		c.Set("choices", choices)
	} else if has {
		f.refuseChoices(p, id)
	}
	specs := []spec{{"interrupt", id, c, p}}
	if !p.Has("strategy") {
		return specs, nil
	}
	if s, ok := get(p, "strategy").(*py.Dict); ok && f.own != nil && s.Has("llm") {
		c.Set("strategy", s) // the interrupt itself is followed by who judges
		return specs, nil
	}
	validate, err := f.ask(p, "")
	if err != nil {
		return nil, err
	}
	if text(validate, "strategy") == "llm" {
		f.judgedByModel(p, "the teff format does not say which nodes of a flow it becomes")
	}
	judge := ""
	switch {
	case id != "":
		judge = id + "-validate"
	case top:
		judge = f.only("validate")
	}
	return append(specs, spec{"validate", judge, validate, p}), nil
}

// mapped is a map node; one step processes an item.
func (f *flow) mapped(p *py.Dict, id string, top bool) ([]spec, error) {
	processor := get(p, "processor")
	if !py.Truth(processor) {
		return nil, fail(f.at(p), "KeyError", "map requires a processor: 'processor'")
	}
	specs, err := f.list(processor, false)
	if err != nil {
		return nil, err
	}
	if len(specs) != 1 && f.own == nil {
		return nil, fail(f.at(p), config, "the processor of a map is one step, not %d", len(specs))
	}
	c := new(py.Dict)
	passed := []string{"input_keys", "output_key", "max_concurrency"}
	if f.own != nil { // teff forgets the others
		passed = append(passed, "chunk_size", "result_key")
	}
	for _, key := range passed {
		if v, has := p.Get(key); has {
			c.Set(key, v)
		}
	}
	if key, ok := get(c, "input_keys").(string); ok {
		c.Set("input_keys", py.NewList(key))
	}
	for _, key := range []string{"chunk_size", "result_key"} {
		if p.Has(key) && !top && f.own == nil {
			f.refuse(f.valueAt(p, key), id, "a map inside a list has %s: whether that counts is not known", key)
		}
	}
	c.Set("processor", f.specList(specs))
	return []spec{{"map", id, f.like(c, p), p}}, nil
}
