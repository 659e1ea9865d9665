package yaml11

import (
	"encoding/base64"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/flowtui/flowtui/engine/teff/py"
)

// A Constructor gives nodes their values. One node has one value, so lists and
// dicts under an alias are shared, as they are in Python.
type Constructor struct {
	done   map[*Node]py.Value
	nodes  map[py.Value]*Node
	others map[*py.Dict]bool
	merged int // pairs that merge keys have given
}

// NewConstructor is ready for the nodes of one document.
func NewConstructor() *Constructor {
	return &Constructor{done: map[*Node]py.Value{}, nodes: map[py.Value]*Node{}, others: map[*py.Dict]bool{}}
}

// Node is the node of a list or dict that Value has given, nil of any other.
func (c *Constructor) Node(v py.Value) *Node {
	switch v.(type) {
	case *py.List, *py.Dict:
		return c.nodes[v]
	}
	return nil
}

// Value is the Python value of a node; dates, bytes and sets are
// [py.Opaque]s. Keys of a mapping are str; other kinds become what json.dumps
// makes of them.
func (c *Constructor) Value(n *Node) (py.Value, error) {
	if v, ok := c.done[n]; ok {
		return v, nil
	}
	v, err := c.construct(n)
	if err != nil {
		return nil, err
	}
	c.done[n] = v
	switch v.(type) {
	case *py.List, *py.Dict:
		c.nodes[v] = n
	}
	return v, nil
}

// OtherKeys reports whether a mapping had keys that are no texts: in Python they
// are other keys than the texts that JSON makes of them.
func (c *Constructor) OtherKeys(d *py.Dict) bool { return c.others[d] }

func problem(n *Node, format string, args ...any) error {
	e := py.Errorf("", format, args...)
	return &Error{Class: "ConstructorError", Problem: e.Message, At: n.Start}
}

func (c *Constructor) construct(n *Node) (py.Value, error) {
	kind, known := strings.CutPrefix(n.Tag, prefix)
	if !known {
		kind = ""
	}
	switch kind {
	case "null", "bool", "int", "float", "timestamp", "binary", "str":
		if n.Kind != Scalar {
			return nil, problem(n, "expected a scalar node, but found %s", n.Kind)
		}
		return scalar(n, kind)
	case "seq", "omap", "pairs":
		return c.sequence(n, kind)
	case "map":
		if n.Kind != Mapping {
			return nil, problem(n, "expected a mapping node, but found %s", n.Kind)
		}
		return c.mapping(n)
	case "set":
		if n.Kind != Mapping {
			return nil, problem(n, "expected a mapping node, but found %s", n.Kind)
		}
		d, err := c.mapping(n)
		if err != nil {
			return nil, err
		}
		var members []string
		for _, k := range d.(*py.Dict).Keys() {
			members = append(members, py.Repr(k))
		}
		text := "{" + strings.Join(members, ", ") + "}"
		return py.Opaque{Type: "set", Text: text, Code: text}, nil
	}
	return nil, problem(n, "could not determine a constructor for the tag %s", py.Repr(n.Tag))
}

func scalar(n *Node, kind string) (py.Value, error) {
	switch kind {
	case "null":
		return nil, nil
	case "bool":
		switch strings.ToLower(n.Value) {
		case "yes", "true", "on":
			return true, nil
		case "no", "false", "off":
			return false, nil
		}
		return nil, &Error{Class: "KeyError", Problem: py.Repr(strings.ToLower(n.Value)), At: n.Start}
	case "int":
		return located(n)(integer(n.Value))
	case "float":
		return located(n)(float(n.Value))
	case "timestamp":
		return located(n)(date(n.Value))
	case "binary":
		return binary(n)
	}
	return n.Value, nil
}

// binary is a bytes object: what is no base64 is left out.
func binary(n *Node) (py.Value, error) {
	for _, r := range n.Value {
		if r >= utf8.RuneSelf {
			return nil, problem(n, "failed to convert base64 data into ascii")
		}
	}
	digits, _, _ := strings.Cut(n.Value, "=")
	digits = strings.Map(func(r rune) rune {
		if wordRune(r) && r != '-' && r != '_' || r == '+' || r == '/' {
			return r
		}
		return -1
	}, digits)
	data, err := base64.RawStdEncoding.DecodeString(digits)
	if err != nil {
		return nil, problem(n, "failed to decode base64 data: %v", err)
	}
	text := bytesRepr(data)
	return py.Opaque{Type: "bytes", Text: text, Code: text}, nil
}

// located puts a Python error at the place of a node.
func located(n *Node) func(py.Value, error) (py.Value, error) {
	return func(v py.Value, err error) (py.Value, error) {
		if e, ok := err.(*py.Error); ok {
			return nil, &Error{Class: e.Type, Problem: e.Message, At: n.Start}
		}
		return v, err
	}
}

func bytesRepr(data []byte) string {
	var b strings.Builder
	for _, c := range data {
		if c < 0x80 {
			b.WriteByte(c)
		} else {
			b.WriteRune(rune(c))
		}
	}
	quoted := py.Repr(b.String())
	for _, c := range data {
		if c >= 0xa1 {
			quoted = strings.ReplaceAll(quoted, string(rune(c)), py.Errorf("", `\x%02x`, c).Message)
		}
	}
	return "b" + quoted
}

func (c *Constructor) sequence(n *Node, kind string) (py.Value, error) {
	if n.Kind != Sequence {
		return nil, problem(n, "expected a sequence node, but found %s", n.Kind)
	}
	list := py.NewList()
	for _, item := range n.Items {
		if kind == "seq" {
			v, err := c.Value(item)
			if err != nil {
				return nil, err
			}
			list.Items = append(list.Items, v)
			continue
		}
		if item.Kind != Mapping || len(item.Pairs) != 1 {
			return nil, &Error{Class: "ConstructorError", Context: "while constructing an ordered map", Start: n.Start,
				Problem: "expected a mapping of length 1, but found " + item.Kind.String(), At: item.Start}
		}
		k, err := c.Value(item.Pairs[0].Key)
		if err != nil {
			return nil, err
		}
		v, err := c.Value(item.Pairs[0].Value)
		if err != nil {
			return nil, err
		}
		list.Items = append(list.Items, py.NewList(k, v))
	}
	return list, nil
}

func (c *Constructor) mapping(n *Node) (py.Value, error) {
	if err := c.flatten(n); err != nil {
		return nil, err
	}
	d := new(py.Dict)
	places := map[any]string{} // the text of a key that is no string
	for _, p := range n.Pairs {
		key, err := c.Value(p.Key)
		if err != nil {
			return nil, err
		}
		name, err := keyText(n, p.Key, key, places)
		if err != nil {
			return nil, err
		}
		v, err := c.Value(p.Value)
		if err != nil {
			return nil, err
		}
		d.Set(name, v)
		if _, isText := key.(string); !isText {
			c.others[d] = true
		}
	}
	return d, nil
}

// keyText is what json.dumps makes of a key. Keys that are equal in Python,
// such as 1 and true, are one key, the first one.
func keyText(n, at *Node, key py.Value, places map[any]string) (string, error) {
	if s, ok := key.(string); ok {
		return s, nil
	}
	switch key.(type) {
	case *py.List, *py.Dict:
		return "", &Error{Class: "ConstructorError", Context: "while constructing a mapping", Start: n.Start,
			Problem: "found unhashable key", At: at.Start}
	case py.Opaque:
		return "", &Error{Class: "TypeError", Problem: "keys must be str, int, float, bool or None, not " + py.TypeName(key), At: at.Start}
	}
	identity := py.Repr(key)
	if f, err := py.Float(key); err == nil && key != nil && !math.IsNaN(f) && f == math.Trunc(f) && !math.IsInf(f, 0) {
		whole, _ := py.Int(key)
		identity = py.Repr(whole)
	}
	if name, ok := places[identity]; ok {
		return name, nil
	}
	text, err := py.Dumps(key)
	places[identity] = string(text)
	return string(text), err
}

// maxMerged bounds what merge keys of merge keys can grow to.
const maxMerged = 1 << 18

// flatten puts the pairs that merge keys name before a mapping's own.
func (c *Constructor) flatten(n *Node) error {
	if n.flat {
		return nil
	}
	n.flat = true
	var merged, own []Pair
	for _, p := range n.Pairs {
		switch p.Key.Tag {
		case prefix + "merge":
			pairs, err := c.merge(n, p.Value)
			if err != nil {
				return err
			}
			if c.merged += len(pairs); c.merged > maxMerged {
				return problem(n, "its merge keys give too many keys")
			}
			merged = append(merged, pairs...)
			continue
		case prefix + "value":
			p.Key = &Node{Kind: Scalar, Tag: strTag, Value: p.Key.Value, Start: p.Key.Start}
		}
		own = append(own, p)
	}
	n.Pairs = append(merged, own...)
	return nil
}

func (c *Constructor) merge(n, from *Node) ([]Pair, error) {
	fail := func(what string, at *Node) error {
		return &Error{Class: "ConstructorError", Context: "while constructing a mapping", Start: n.Start,
			Problem: "expected a " + what + ", but found " + at.Kind.String(), At: at.Start}
	}
	switch from.Kind {
	case Mapping:
		err := c.flatten(from)
		return from.Pairs, err
	case Sequence:
		var pairs []Pair // the first mapping comes last: it wins
		for i := len(from.Items) - 1; i >= 0; i-- {
			item := from.Items[i]
			if item.Kind != Mapping {
				return nil, fail("mapping for merging", item)
			}
			if err := c.flatten(item); err != nil {
				return nil, err
			}
			if pairs = append(pairs, item.Pairs...); len(pairs) > maxMerged {
				return nil, problem(n, "its merge keys give too many keys")
			}
		}
		return pairs, nil
	}
	return nil, fail("mapping or list of mappings for merging", from)
}
