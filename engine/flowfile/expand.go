package flowfile

import (
	"errors"
	"maps"
	"math/big"
	"path/filepath"
	"strconv"

	"github.com/flowtui/flowtui/engine/teff"
	teffdoc "github.com/flowtui/flowtui/engine/teff/document"
	"github.com/flowtui/flowtui/engine/teff/py"
)

// expander gives a file's graph form: the expansion of includes and idioms is
// that of the dialect, which works on Python's values. What it does not touch
// comes back as the very item that was read.
type expander struct {
	reader
	opts   Options
	items  map[py.Value]*item // of dicts and lists
	leaves []*item            // scalars that only pass through
	places map[py.Value]teffdoc.Place
	// Texts pass as they are written, and what is made of them is filled when it is
	// back, so that conditions know what of them is a variable's.
	variables map[string]string
	paths     map[*item]bool // texts that pass filled, as files are read by them
}

// expand gives the document that the file stands for.
func (r reader) expand(root *item, opts Options) *item {
	before := len(*r.errs)
	if root.kind != isMapping || !r.idioms(root.get("steps")) && root.get("include") == nil {
		return root
	}
	if len(*r.errs) > before {
		return &item{kind: broken} // it is told already
	}
	if root.get("include") != nil && opts.Dir == "" {
		r.fail(root.get("include"), "include needs the folder of the file: it is read from a file only")
		return &item{kind: broken}
	}
	x := &expander{reader: r, opts: opts, items: map[py.Value]*item{}, variables: map[string]string{}, paths: map[*item]bool{}}
	main := filepath.Join(opts.Dir, r.file)
	s, err := teffdoc.Expand(main, func(file string) (*teffdoc.Source, error) {
		if file == main {
			return x.source(root), nil
		}
		return x.included(file)
	})
	var wrong *teffdoc.Error
	switch {
	case errors.As(err, &wrong):
		for _, p := range wrong.Problems {
			x.problem(p)
		}
	case err != nil:
		r.fail(root.get("include"), "%s", err)
	default:
		x.places = s.Places
		out := x.back(s.Doc, teff.Position{File: root.file, Line: root.line, Column: root.column})
		if len(*r.errs) == before {
			return out
		}
	}
	return &item{kind: broken}
}

func (x *expander) problem(p teff.Problem) {
	e := Error{File: x.file, Line: p.Position.Line, Column: p.Position.Column, Message: plain(p.Reason)}
	if p.Node != "" {
		e.Node = x.within + p.Node
	}
	if p.Position.File != "" {
		e.File = x.shown(p.Position.File)
	}
	*x.errs = append(*x.errs, e)
}

// shown is a path as it is told: from the folder of the main file.
func (x *expander) shown(path string) string {
	if rel, err := filepath.Rel(x.opts.Dir, path); err == nil && filepath.IsAbs(path) {
		return filepath.ToSlash(rel)
	}
	return path
}

// included reads a file that another one includes.
func (x *expander) included(path string) (*teffdoc.Source, error) {
	name := x.shown(path)
	data, err := teffdoc.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := x.reader
	r.file = name
	root := parseYAML(r, data)
	r.fill(root, x.opts.Env)
	placeIn(root, name, map[*item]bool{})
	r.idioms(root.get("steps"))
	if root.kind != isMapping {
		r.wrong(root, "a flow file", isMapping)
		return &teffdoc.Source{Doc: py.NewDict()}, nil
	}
	r.mapping(root, "an included file", documentKeys)
	if it := root.get(teffdoc.Mark); it != nil && it.text != "flowtui" {
		r.fail(it, "a flow file cannot include one of the dialect %q", it.text)
	}
	return x.source(root), nil
}

// placeIn notes the file of items that are not of the main one.
func placeIn(it *item, file string, done map[*item]bool) {
	if it == nil || done[it] {
		return
	}
	done[it] = true
	it.file = file
	for _, e := range it.list {
		placeIn(e, file, done)
	}
	for _, f := range it.fields {
		f.key.file = file
		placeIn(f.value, file, done)
	}
}

func (it *item) position() teff.Position {
	return teff.Position{File: it.file, Line: it.line, Column: it.column}
}

func (x *expander) source(root *item) *teffdoc.Source {
	s := &teffdoc.Source{Values: root.size, Places: map[py.Value]teffdoc.Place{}}
	for _, part := range stepsOf(root.get("include")) {
		x.paths[part], x.paths[part.get("path")], x.paths[part.get("prefix")] = true, true, true
	}
	s.Doc = x.python(root, s.Places).(*py.Dict)
	return s
}

// python is an item as the expansion takes it.
func (x *expander) python(it *item, places map[py.Value]teffdoc.Place) py.Value {
	switch it.kind {
	case isNull:
		return nil
	case isBool:
		return it.truth
	case isNumber:
		if n, ok := new(big.Int).SetString(it.text, 10); ok && n.IsInt64() {
			return n.Int64()
		}
	case isText:
		maps.Copy(x.variables, it.variables)
		switch {
		case it.filled != "" && it.filled != it.text: // a template, which comes back as it is
		case x.paths[it]:
			return it.text
		default:
			return it.written()
		}
	case isList:
		list := py.NewList()
		x.items[list], places[list] = it, teffdoc.Place{At: it.position()}
		for _, e := range it.list {
			list.Items = append(list.Items, x.python(e, places))
		}
		return list
	case isMapping:
		d := py.NewDict()
		keys := map[string]teff.Position{}
		x.items[d], places[d] = it, teffdoc.Place{At: it.position(), Keys: keys}
		for _, f := range it.fields {
			keys[f.key.text] = f.value.position()
			d.Set(f.key.text, x.python(f.value, places))
		}
		return d
	}
	x.leaves = append(x.leaves, it)
	return py.Opaque{Type: leafType, Text: it.written(), Code: strconv.Itoa(len(x.leaves) - 1)}
}

const leafType = "item"

// back is a value of the expansion as an item at a place.
func (x *expander) back(v py.Value, at teff.Position) *item {
	it := &item{file: at.File, line: at.Line, column: at.Column}
	switch v := v.(type) {
	case nil:
		it.kind = isNull
	case bool:
		it.kind, it.truth = isBool, v
	case int64:
		it.kind, it.text = isNumber, strconv.FormatInt(v, 10)
	case string:
		it.kind, it.text = isText, fillFrom(v, x.variables)
		if it.text != v {
			it.unfilled, it.variables = v, x.variables
		}
	case py.Opaque:
		if n, err := strconv.Atoi(v.Code); err == nil && v.Type == leafType {
			return x.leaves[n]
		}
	case *py.List:
		if old := x.items[v]; old != nil {
			return old
		}
		it.kind = isList
		for _, e := range v.Items {
			it.list = append(it.list, x.back(e, at))
		}
	case *py.Dict:
		if old := x.items[v]; old != nil {
			return old
		}
		x.mappingBack(v, it)
	}
	return it
}

func (x *expander) mappingBack(d *py.Dict, it *item) {
	at := it.position()
	place, known := x.places[d]
	if known {
		at = place.At
		it.file, it.line, it.column = at.File, at.Line, at.Column
	}
	it.kind = isMapping
	for key, v := range d.All() {
		there, ok := place.Keys[key]
		if !ok {
			there = at
		}
		name := &item{kind: isText, text: key, file: there.File, line: there.Line, column: there.Column}
		it.fields = append(it.fields, field{name, x.back(v, there)})
	}
}
