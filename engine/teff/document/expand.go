package document

import (
	"slices"
	"strings"

	"github.com/flowtui/flowtui/engine/teff"
	"github.com/flowtui/flowtui/engine/teff/py"
)

// A Source is a flow file of our own that was read by its own rules: its values,
// how many they are with aliases written out, and where its dicts and lists stand.
type Source struct {
	Doc    *py.Dict
	Values int
	Places map[py.Value]Place
}

// A Place is where a dict or list stands.
type Place struct {
	At   teff.Position
	Keys map[string]teff.Position // where the values of a dict stand
}

// ownIdioms are those of flow files of our own, beside the dialect's.
var (
	ownIdioms     = []string{"call", "tool_loop"}
	ownListIdioms = []string{"call", "interrupt", "llm", "map", "tool_loop", "transform", "type"}
)

// Expand gives the graph form of a flow file of our own: what it includes is
// merged into it, and idioms are steps and edges, by the rules of the dialect.
// read reads one file. Its strategies stay as they are, but for those of idioms.
// What is wrong or has no meaning here is an [*Error] with all of it.
func Expand(file string, read func(file string) (*Source, error)) (*Source, error) {
	l := &loader{own: read, places: map[py.Value]place{}, shared: map[py.Value]bool{}, otherKeys: map[*py.Dict]bool{}}
	doc, err := l.open(file)
	if err != nil {
		return nil, err
	}
	if l.looksLikeFlow(get(doc, "steps")) {
		if doc.Has("edges") && len(items(get(doc, "edges"))) > 0 {
			l.refuse(l.valueAt(doc, "edges"), "", "edges beside steps of the form {IDIOM: …}: those follow each other")
		}
		steps, edges, err := l.expandFlow(doc)
		if err != nil {
			return nil, err
		}
		doc = l.like(doc.Copy(), doc)
		doc.Set("steps", py.NewList(steps...))
		doc.Set("edges", py.NewList(edges...))
	}
	if len(l.unsupported) > 0 {
		return nil, &Error{Class: config, Problems: l.unsupported}
	}
	places := map[py.Value]Place{}
	for v, p := range l.places {
		places[v] = *p.own
	}
	return &Source{doc, l.values, places}, nil
}

// readOwn gives the mapping of a flow file of our own.
func (l *loader) readOwn(file string) (*py.Dict, error) {
	s, err := l.own(file)
	if err != nil {
		return nil, err
	}
	if l.values += s.Values; l.values > maxValues {
		return nil, fail(teff.Position{File: file}, config, "the document holds more than %d values with all that it includes", maxValues)
	}
	for v, p := range s.Places {
		l.places[v] = place{own: &p}
	}
	return s.Doc, nil
}

// partKeys are what an included part of a flow file of our own may hold.
var partKeys = []string{"name", "description", "include", "steps", "edges", "tools", "state", Mark}

// ownPart refuses what of an included part would be lost.
func (l *loader) ownPart(part *py.Dict) {
	for _, key := range part.Keys() {
		if !slices.Contains(partKeys, key) {
			l.refuse(l.valueAt(part, key), "", "an included file has %s: give it in the file that includes it", key)
		}
	}
	for _, key := range []string{"steps", "edges", "tools"} {
		if v := get(part, key); v != nil && !hasType(v, "array") {
			l.refuse(l.valueAt(part, key), "", "%s of an included file must be a list", key)
		}
	}
	state, ok := get(part, "state").(*py.Dict)
	if !ok {
		if get(part, "state") != nil {
			l.refuse(l.valueAt(part, "state"), "", "state of an included file must be a mapping")
		}
		return
	}
	for key, v := range state.All() {
		if key != "initial" && key != "schema" {
			l.refuse(l.valueAt(state, key), "", "state of an included file has no key %s; known keys: initial, schema", py.Repr(key))
		} else if v != nil && !hasType(v, "object") {
			l.refuse(l.valueAt(state, key), "", "state.%s of an included file must be a mapping", key)
		}
	}
}

// knownIdioms are those of the document's dialect.
func (l *loader) knownIdioms() []string {
	if l.own != nil {
		return slices.Concat(idioms, ownIdioms)
	}
	return idioms
}

// supported lists the idioms among words. Our own files have those of teff's only
// that run here; of a document teff's own list is told, and what of it does not.
func (l *loader) supported(words []string) string {
	fails := func(word string) bool { return slices.Contains(modelled, word) && (l.own == nil || word != "llm") }
	runs := slices.Sorted(slices.Values(words))
	if l.own != nil {
		return strings.Join(slices.DeleteFunc(runs, fails), ", ")
	}
	return strings.Join(runs, ", ") + "; here only those without a model: not " + strings.Join(modelled, ", ")
}

// inLists are the idioms that may stand in lists.
func (l *loader) inLists() []string {
	if l.own != nil {
		return ownListIdioms
	}
	return listIdioms
}
