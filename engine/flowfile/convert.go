package flowfile

import (
	"fmt"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// converter turns the parser's tree into items. A part that is wrong is told
// to the reader and becomes a broken item, so that the rest is still checked.
// An alias is a second pointer to one item; what it stands for is counted
// before anything expands it.
type converter struct {
	reader
	anchors map[string]*item // nil while the anchor itself is being read
	size    int              // of all so far, with aliases expanded
}

func (c *converter) bad(t *token.Token, format string, args ...any) *item {
	it := place(t)
	c.fail(it, format, args...)
	return it
}

func (c *converter) convert(n ast.Node, depth int) *item {
	if n == nil {
		return &item{kind: isNull}
	}
	t := n.GetToken()
	if depth > maxDepth {
		return c.bad(t, "nested deeper than %d levels", maxDepth)
	}
	if c.size > maxSize {
		return place(t) // told already
	}
	before := c.size
	it := c.node(n, depth)
	if it.height+depth > maxDepth {
		return c.bad(t, "nested deeper than %d levels with its aliases", maxDepth)
	}
	if it.size == 0 {
		c.spend(t, 1+len(it.text)/16)
		it.size = c.size - before
	}
	return it
}

// spend counts; the document that grows too large is told once.
func (c *converter) spend(t *token.Token, n int) {
	if c.size <= maxSize && c.size+n > maxSize {
		c.fail(place(t), "the document is too large with its aliases expanded")
	}
	c.size += n
}

func (c *converter) node(n ast.Node, depth int) *item {
	switch n := n.(type) {
	case *ast.MappingNode:
		return c.mappingNode(n, depth)
	case *ast.MappingValueNode:
		return c.mappingNode(&ast.MappingNode{Start: n.Start, Values: []*ast.MappingValueNode{n}}, depth)
	case *ast.SequenceNode:
		return c.sequence(n, depth)
	case *ast.AnchorNode:
		name := n.Name.GetToken().Value
		c.anchors[name] = nil
		it := c.convert(n.Value, depth)
		c.anchors[name] = it
		return it
	case *ast.AliasNode:
		return c.alias(n)
	case *ast.TagNode:
		return c.tag(n)
	}
	return c.scalar(n)
}

func (c *converter) alias(n *ast.AliasNode) *item {
	name := n.Value.GetToken().Value
	it, ok := c.anchors[name]
	switch {
	case !ok:
		return c.bad(n.GetToken(), "no anchor &%s stands before this alias", name)
	case it == nil:
		return c.bad(n.GetToken(), "the alias *%s stands inside its own anchor", name)
	}
	c.spend(n.GetToken(), it.size)
	return it
}

func (c *converter) sequence(n *ast.SequenceNode, depth int) *item {
	it := place(n.GetToken())
	it.kind = isList
	for _, v := range n.Values {
		e := c.convert(v, depth+1)
		it.list = append(it.list, e)
		it.height = max(it.height, e.height+1)
	}
	return it
}

// mappingNode converts a mapping: string keys, each once, and merge keys.
func (c *converter) mappingNode(n *ast.MappingNode, depth int) *item {
	it := start(n)
	it.kind = isMapping
	seen := map[string]bool{}
	add := func(f field) {
		seen[f.key.text] = true
		it.fields = append(it.fields, f)
		it.height = max(it.height, f.value.height+1)
	}
	var merged []*item
	for _, v := range n.Values {
		value := c.convert(v.Value, depth+1)
		if v.Key.IsMergeKey() {
			merged = append(merged, c.mergeSources(v, value)...)
			continue
		}
		key := c.key(v.Key)
		switch {
		case key.kind == broken:
		case seen[key.text]:
			c.fail(key, "the key %q stands twice in this mapping", key.text)
		default:
			add(field{key, value})
		}
	}
	for _, m := range merged { // what is written here wins, then the first source
		for _, f := range m.fields {
			if !seen[f.key.text] {
				add(f)
			}
		}
	}
	return it
}

func (c *converter) key(n ast.MapKeyNode) *item {
	var inner ast.Node = n
	if k, ok := n.(*ast.MappingKeyNode); ok {
		inner = k.Value
	}
	it := place(n.GetToken())
	if _, ok := inner.(ast.ScalarNode); ok {
		it = c.convert(inner, 0)
	}
	if it.kind != isText {
		return c.bad(n.GetToken(), "a key must be a string; quote it")
	}
	return it
}

// mergeSources are the mappings that a "<<" key brings in.
func (c *converter) mergeSources(v *ast.MappingValueNode, value *item) []*item {
	sources := []*item{value}
	if value.kind == isList {
		sources = value.list
	}
	for _, s := range sources {
		if s.kind != isMapping && s.kind != broken {
			c.fail(place(v.Key.GetToken()), "<< takes a mapping or a list of mappings")
			return nil
		}
	}
	return sources
}

func (c *converter) scalar(n ast.Node) *item {
	t := n.GetToken()
	it := place(t)
	switch n := n.(type) {
	case *ast.NullNode:
		it.kind = isNull
	case *ast.BoolNode:
		it.kind, it.truth = isBool, n.Value
	case *ast.LiteralNode:
		it.kind, it.text = isText, n.Value.Value
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode:
		it.kind, it.text = isText, t.Value
		if t.Type == token.SingleQuoteType || t.Type == token.DoubleQuoteType {
			break
		}
		num, ok, err := number(t.Value)
		if err != nil {
			return c.bad(t, "%s", err)
		}
		if ok {
			it.kind, it.text = isNumber, num
		}
	case *ast.InfinityNode, *ast.NanNode:
		return c.bad(t, "%s cannot be kept in a run's state, which is JSON", t.Value)
	default:
		return c.bad(t, "%s is not supported here", n.Type())
	}
	return c.checked(t, it)
}

// tag knows one tag, !!str, which makes any scalar a text.
func (c *converter) tag(n *ast.TagNode) *item {
	t := n.GetToken()
	if t.Value != "!!str" {
		return c.bad(t, "the tag %s is not supported", t.Value)
	}
	it := place(t)
	it.kind = isText
	switch v := n.Value.(type) {
	case nil:
	case *ast.NullNode:
		if v.GetToken().Type != token.ImplicitNullType {
			it.text = v.GetToken().Value
		}
	case *ast.LiteralNode:
		it.text = v.Value.Value
	case *ast.AliasNode:
		return c.bad(t, "!!str cannot stand before an alias")
	case ast.ScalarNode:
		it.text = v.GetToken().Value
	default:
		return c.bad(t, "!!str must stand before a scalar")
	}
	return c.checked(t, it)
}

// checked refuses a text that JSON could not keep.
func (c *converter) checked(t *token.Token, it *item) *item {
	if !utf8.ValidString(it.text) {
		return c.bad(t, "%s", fmt.Sprintf("the text %.20q… is not valid Unicode", it.text))
	}
	return it
}
