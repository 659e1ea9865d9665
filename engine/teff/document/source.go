package document

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"unicode/utf8"

	"github.com/flowtui/flowtui/engine/teff"
	"github.com/flowtui/flowtui/engine/teff/py"
	"github.com/flowtui/flowtui/engine/teff/py/yaml11"
)

// Limits of one document.
const (
	maxBytes  = 4 << 20
	maxFiles  = 1000    // read for one workflow: itself and what it includes
	maxValues = 1 << 20 // of all files, with aliases written out
)

// A loader reads one workflow: its document and what that includes.
type loader struct {
	lookup      func(string) (string, bool)
	own         func(file string) (*Source, error) // reads flow files of our own; nil: the document is teff's
	places      map[py.Value]place                 // of dicts and lists
	shared      map[py.Value]bool                  // lists that stand in several places by an alias
	otherKeys   map[*py.Dict]bool                  // mappings with keys that are no texts
	values      int                                // read so far
	files       int                                // read so far
	including   []string                           // real paths of files that are being read
	unsupported []teff.Problem
	partial     bool // some nodes are not known
}

// A place is where a dict or list is written.
type place struct {
	file string
	node *yaml11.Node
	own  *Place // instead of both, in a flow file of our own
}

// at is the position of a dict or list.
func (l *loader) at(v py.Value) teff.Position {
	p, ok := l.placeOf(v)
	switch {
	case !ok:
		return teff.Position{}
	case p.own != nil:
		return p.own.At
	}
	return teff.Position{File: p.file, Line: p.node.Start.Line, Column: p.node.Start.Column}
}

func (l *loader) placeOf(v py.Value) (place, bool) {
	switch v.(type) {
	case *py.Dict, *py.List:
		p, ok := l.places[v]
		return p, ok
	}
	return place{}, false
}

// valueAt is the position of the value under a dict's key.
func (l *loader) valueAt(d *py.Dict, key string) teff.Position {
	p, ok := l.placeOf(d)
	if !ok {
		return teff.Position{}
	}
	if p.own != nil {
		if at, ok := p.own.Keys[key]; ok {
			return at
		}
		return p.own.At
	}
	for i := len(p.node.Pairs) - 1; i >= 0; i-- {
		if pair := p.node.Pairs[i]; pair.Key.Value == key {
			return teff.Position{File: p.file, Line: pair.Value.Start.Line, Column: pair.Value.Start.Column}
		}
	}
	return l.at(d)
}

// like gives a new dict the position of another value.
func (l *loader) like(d *py.Dict, v py.Value) *py.Dict {
	if p, ok := l.placeOf(v); ok {
		l.places[d] = p
	}
	return d
}

func (l *loader) refuse(at teff.Position, node, format string, args ...any) {
	l.unsupported = append(l.unsupported, teff.Problem{Node: node, Position: at, Reason: py.Errorf("", format, args...).Message})
}

// read gives the mapping of one file, with the environment filled in.
func (l *loader) read(file string) (*py.Dict, error) {
	if l.own != nil {
		return l.readOwn(file)
	}
	at := teff.Position{File: file}
	text, err := ReadFile(file)
	switch {
	case err != nil:
		return nil, err
	case len(text) > maxBytes:
		return nil, fail(at, config, "the document is larger than %d MiB", maxBytes>>20)
	case !utf8.Valid(text):
		return nil, fail(at, "UnicodeDecodeError", "the document is not UTF-8")
	}
	root, err := yaml11.Parse(string(text))
	if err != nil {
		return nil, syntax(file, err)
	}
	if root == nil {
		return new(py.Dict), nil
	}
	c := yaml11.NewConstructor()
	v, err := c.Value(root)
	if err != nil {
		return nil, syntax(file, err)
	}
	copied, err := l.unshare(v, c, file, map[py.Value]py.Value{}, 0)
	if err != nil {
		return nil, err
	}
	switch top := copied.(type) {
	case nil:
		return new(py.Dict), nil
	case *py.Dict:
		return top, nil
	}
	return nil, fail(at, config, "workflow must be a mapping")
}

// ReadFile reads a document's file, which must be a regular one: whoever opens a
// pipe or a device may wait forever. Of one that is larger than the limit of a
// document it returns one byte more than that.
func ReadFile(file string) ([]byte, error) {
	if info, err := os.Stat(file); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file", file)
	}
	in, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return io.ReadAll(io.LimitReader(in, maxBytes+1))
}

// syntax turns an error of YAML into one of the document.
func syntax(file string, err error) error {
	var e *yaml11.Error
	if !errors.As(err, &e) {
		return err
	}
	class, reason := e.Class, e.Error()
	switch class {
	case "ReaderError", "ScannerError", "ParserError", "ComposerError", "ConstructorError":
		class, reason = config, "invalid YAML: "+reason
	}
	return fail(teff.Position{File: file, Line: e.At.Line, Column: e.At.Column}, class, "%s", reason)
}

var variable = regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_]*\}`)

// interpolate fills ${NAME} from the environment; an unset one stays.
func (l *loader) interpolate(s string) string {
	return variable.ReplaceAllStringFunc(s, func(reference string) string {
		if v, ok := l.lookup(reference[2 : len(reference)-1]); ok {
			return v
		}
		return reference
	})
}

// unshare copies a value, so that what an alias repeats is written out, fills
// in the environment and notes where everything stands.
func (l *loader) unshare(v py.Value, c *yaml11.Constructor, file string, first map[py.Value]py.Value, depth int) (py.Value, error) {
	if l.values++; l.values > maxValues {
		return nil, fail(teff.Position{File: file}, config, "the document holds more than %d values", maxValues)
	}
	switch v := v.(type) {
	case string:
		return l.interpolate(v), nil
	case *py.List:
		list := py.NewList()
		l.places[list] = place{file: file, node: c.Node(v)}
		if old, again := first[v]; again {
			l.shared[old], l.shared[list] = true, true
		} else {
			first[v] = list
		}
		for _, item := range v.Items {
			item, err := l.unshare(item, c, file, first, depth+1)
			if err != nil {
				return nil, err
			}
			list.Items = append(list.Items, item)
		}
		return list, nil
	case *py.Dict:
		d := new(py.Dict)
		l.places[d] = place{file: file, node: c.Node(v)}
		l.otherKeys[d] = c.OtherKeys(v)
		for key, item := range v.All() {
			item, err := l.unshare(item, c, file, first, depth+1)
			if err != nil {
				return nil, err
			}
			d.Set(key, item)
		}
		return d, nil
	}
	return v, nil
}

// refuseOdd refuses what a run cannot keep as it is: mappings with keys that are
// no texts, which are under other keys once the run was read from a store, and
// sets, whose order is another one in every process.
func (l *loader) refuseOdd(at teff.Position, v py.Value, node, what string) {
	switch v := v.(type) {
	case py.Opaque:
		if v.Type == "set" {
			l.refuse(at, node, "%s holds a set, which has no order", what)
		}
	case *py.List:
		for _, item := range v.Items {
			l.refuseOdd(l.at(v), item, node, what)
		}
	case *py.Dict:
		if l.otherKeys[v] {
			l.refuse(l.at(v), node, "%s has a key that is no text (such as 1, or yes without quotes): a run loses it when it is read from a store", what)
		}
		for _, item := range v.All() {
			l.refuseOdd(l.at(v), item, node, what)
		}
	}
}

// refuseShared refuses lists that an alias repeats where runs extend lists in
// place: whether teff keeps them one list is not known.
func (l *loader) refuseShared(v py.Value, node, what string) {
	switch v := v.(type) {
	case *py.List:
		if l.shared[v] {
			l.refuse(l.at(v), node, "%s holds a list that an alias repeats: whether both stay one list is not known", what)
		}
		for _, item := range v.Items {
			l.refuseShared(item, node, what)
		}
	case *py.Dict:
		for _, item := range v.All() {
			l.refuseShared(item, node, what)
		}
	}
}
