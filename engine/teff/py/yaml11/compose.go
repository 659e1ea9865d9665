package yaml11

import (
	"fmt"
	"slices"

	"github.com/flowtui/flowtui/engine/teff/py"
)

// maxDepth is how deep collections may nest: PyYAML reaches about as far
// under Python's recursion limit.
const maxDepth = 300

// A composer builds nodes from tokens by YAML's grammar.
type composer struct {
	*scanner
	handles map[string]string
	anchors map[string]*Node
	open    map[*Node]bool // collections that are being read
	err     error          // of the scanner, which ends all
}

// Parse reads a document of at most one root; nil is an empty document. The
// text must be UTF-8.
func Parse(text string) (*Node, error) {
	s, err := newScanner(text)
	if err != nil {
		return nil, err
	}
	c := &composer{scanner: s, anchors: map[string]*Node{}, open: map[*Node]bool{}}
	root, err := c.stream()
	if c.err != nil {
		return nil, c.err
	}
	return root, err
}

// peekToken is the next token; after an error it is an end.
func (c *composer) peekToken() token {
	if c.err == nil {
		var t token
		if t, c.err = c.next(); c.err == nil {
			return t
		}
	}
	return token{kind: streamEnd}
}

func (c *composer) is(kinds ...tokenKind) bool {
	kind := c.peekToken().kind
	return c.err == nil && slices.Contains(kinds, kind)
}

func (c *composer) accept(kind tokenKind) (token, bool) {
	if !c.is(kind) {
		return token{}, false
	}
	return c.get(), true
}

func (c *composer) expected(context string, start Mark, format string) error {
	t := c.peekToken()
	return &Error{Class: "ParserError", Context: context, Start: start, Problem: fmt.Sprintf(format, py.Repr(string(t.kind))), At: t.start}
}

func (c *composer) stream() (*Node, error) {
	explicit := c.is(directive, documentStart)
	if c.is(streamEnd) {
		return nil, nil
	}
	if err := c.documentStart(explicit); err != nil {
		return nil, err
	}
	root, err := c.documentContent(explicit)
	if err != nil {
		return nil, err
	}
	for {
		if _, ok := c.accept(documentEnd); !ok {
			break
		}
	}
	if c.err == nil && !c.is(streamEnd) {
		second := c.peekToken().start
		if err := c.documentStart(true); err != nil {
			return nil, err
		}
		return nil, &Error{Class: "ComposerError", Context: "expected a single document in the stream", Start: root.Start,
			Problem: "but found another document", At: second}
	}
	return root, nil
}

func (c *composer) documentStart(explicit bool) error {
	c.handles = map[string]string{"!": "!", "!!": "tag:yaml.org,2002:"}
	if !explicit {
		return nil
	}
	own := map[string]bool{}
	version := false
	for {
		t, ok := c.accept(directive)
		if !ok {
			break
		}
		problem := ""
		switch {
		case t.value == "YAML" && version:
			problem = "found duplicate YAML directive"
		case t.value == "YAML" && t.arguments[0] != "1":
			problem = "found incompatible YAML document (version 1.* is required)"
		case t.value == "YAML":
			version = true
		case t.value == "TAG" && own[t.arguments[0]]:
			problem = "duplicate tag handle " + py.Repr(t.arguments[0])
		case t.value == "TAG":
			own[t.arguments[0]] = true
			c.handles[t.arguments[0]] = t.arguments[1]
		}
		if problem != "" {
			return &Error{Class: "ParserError", Problem: problem, At: t.start}
		}
	}
	if _, ok := c.accept(documentStart); !ok {
		return c.expected("", Mark{}, "expected '<document start>', but found %s")
	}
	return nil
}

func (c *composer) documentContent(explicit bool) (*Node, error) {
	if explicit && c.is(directive, documentStart, documentEnd, streamEnd) {
		return c.empty(c.peekToken().start), nil
	}
	return c.node(true, false, 0)
}

func (c *composer) empty(at Mark) *Node {
	return &Node{Kind: Scalar, Tag: resolve("", true), Start: at}
}

// node reads one value; block says that block collections may come, and
// indentless that "- " may stand where the mapping's keys do.
func (c *composer) node(block, indentless bool, depth int) (*Node, error) {
	if depth > maxDepth {
		return nil, &Error{Class: "RecursionError", Problem: "nested too deeply", At: c.peekToken().start}
	}
	if t, ok := c.accept(aliasToken); ok {
		n := c.anchors[t.value]
		switch {
		case n == nil:
			return nil, &Error{Class: "ComposerError", Problem: "found undefined alias " + py.Repr(t.value), At: t.start}
		case c.open[n]:
			return nil, &Error{Class: "ConstructorError", Problem: "found unconstructable recursive node", At: t.start}
		}
		return n, nil
	}
	p, err := c.properties()
	if err != nil {
		return nil, err
	}
	n := &Node{Start: p.start}
	if p.anchor != "" {
		if old := c.anchors[p.anchor]; old != nil {
			return nil, &Error{Class: "ComposerError", Context: "found duplicate anchor " + py.Repr(p.anchor) + "; first occurrence",
				Start: old.Start, Problem: "second occurrence", At: p.start}
		}
		c.anchors[p.anchor] = n
	}
	c.open[n] = true
	defer delete(c.open, n)
	return n, c.content(n, p, block, indentless, depth)
}

// properties are the anchor and tag of a node.
type properties struct {
	anchor, tag string
	tagged      bool
	start       Mark
}

func (c *composer) properties() (properties, error) {
	p := properties{start: c.peekToken().start}
	for range 2 {
		if p.anchor == "" {
			if t, ok := c.accept(anchorToken); ok {
				p.anchor = t.value
			}
		}
		if p.tagged {
			continue
		}
		if t, ok := c.accept(tagToken); ok {
			p.tag, p.tagged = t.value, true
			if t.handle != "" {
				prefix, known := c.handles[t.handle]
				if !known {
					return p, &Error{Class: "ParserError", Context: "while parsing a node", Start: p.start,
						Problem: "found undefined tag handle " + py.Repr(t.handle), At: t.start}
				}
				p.tag = prefix + t.value
			}
		}
	}
	return p, nil
}

func (c *composer) content(n *Node, p properties, block, indentless bool, depth int) error {
	untyped := !p.tagged || p.tag == "!"
	n.Tag = p.tag
	collection := func(kind Kind, tag string) {
		if n.Kind = kind; untyped {
			n.Tag = tag
		}
	}
	t := c.peekToken()
	switch {
	case c.err != nil:
		return c.err
	case indentless && t.kind == blockEntry:
		collection(Sequence, seqTag)
		return c.indentless(n, depth+1)
	case t.kind == scalarToken:
		c.get()
		n.Kind, n.Value = Scalar, t.value
		if untyped {
			n.Tag = resolve(t.value, t.plain || p.tag == "!")
		}
		return nil
	case t.kind == flowSequenceStart:
		collection(Sequence, seqTag)
		return c.flowSequence(n, depth+1)
	case t.kind == flowMappingStart:
		collection(Mapping, mapTag)
		return c.flowMapping(n, depth+1)
	case block && t.kind == blockSequenceStart:
		collection(Sequence, seqTag)
		return c.blockSequence(n, depth+1)
	case block && t.kind == blockMappingStart:
		collection(Mapping, mapTag)
		return c.blockMapping(n, depth+1)
	case p.anchor != "" || p.tagged:
		if n.Kind = Scalar; untyped {
			n.Tag = resolve("", true)
		}
		return nil
	}
	what := "flow"
	if block {
		what = "block"
	}
	return c.expected("while parsing a "+what+" node", p.start, "expected the node content, but found %s")
}

// orEmpty reads a node unless one of the tokens comes that say there is none.
func (c *composer) orEmpty(at Mark, none []tokenKind, block, indentless bool, depth int) (*Node, error) {
	if c.is(none...) {
		return c.empty(at), nil
	}
	return c.node(block, indentless, depth)
}

func (c *composer) blockSequence(n *Node, depth int) error {
	start := c.get().start
	for {
		t, ok := c.accept(blockEntry)
		if !ok {
			break
		}
		item, err := c.orEmpty(t.end, []tokenKind{blockEntry, blockEnd}, true, false, depth)
		if err != nil {
			return err
		}
		n.Items = append(n.Items, item)
	}
	if _, ok := c.accept(blockEnd); !ok {
		return c.expected("while parsing a block collection", start, "expected <block end>, but found %s")
	}
	return nil
}

func (c *composer) indentless(n *Node, depth int) error {
	for {
		t, ok := c.accept(blockEntry)
		if !ok {
			return c.err
		}
		item, err := c.orEmpty(t.end, []tokenKind{blockEntry, keyToken, valueToken, blockEnd}, true, false, depth)
		if err != nil {
			return err
		}
		n.Items = append(n.Items, item)
	}
}

func (c *composer) blockMapping(n *Node, depth int) error {
	start := c.get().start
	none := []tokenKind{keyToken, valueToken, blockEnd}
	for {
		t, ok := c.accept(keyToken)
		if !ok {
			break
		}
		key, err := c.orEmpty(t.end, none, true, true, depth)
		if err != nil {
			return err
		}
		value := c.empty(c.peekToken().start)
		if t, ok := c.accept(valueToken); ok {
			if value, err = c.orEmpty(t.end, none, true, true, depth); err != nil {
				return err
			}
		}
		n.Pairs = append(n.Pairs, Pair{key, value})
	}
	if _, ok := c.accept(blockEnd); !ok {
		return c.expected("while parsing a block mapping", start, "expected <block end>, but found %s")
	}
	return nil
}

func (c *composer) flowSequence(n *Node, depth int) error {
	start := c.get().start
	for first := true; !c.is(flowSequenceEnd); first = false {
		if !first {
			if _, ok := c.accept(flowEntry); !ok {
				return c.expected("while parsing a flow sequence", start, "expected ',' or ']', but got %s")
			}
		}
		if c.is(flowSequenceEnd) {
			break
		}
		var item *Node
		var err error
		if c.is(keyToken) {
			item = &Node{Kind: Mapping, Tag: mapTag, Start: c.peekToken().start}
			err = c.flowPair(item, flowSequenceEnd, depth+1)
		} else {
			item, err = c.node(false, false, depth)
		}
		if err != nil {
			return err
		}
		n.Items = append(n.Items, item)
	}
	c.get()
	return nil
}

func (c *composer) flowMapping(n *Node, depth int) error {
	start := c.get().start
	for first := true; !c.is(flowMappingEnd); first = false {
		if !first {
			if _, ok := c.accept(flowEntry); !ok {
				return c.expected("while parsing a flow mapping", start, "expected ',' or '}', but got %s")
			}
		}
		if c.is(flowMappingEnd) {
			break
		}
		var err error
		if c.is(keyToken) {
			err = c.flowPair(n, flowMappingEnd, depth)
		} else {
			var key *Node
			key, err = c.node(false, false, depth)
			n.Pairs = append(n.Pairs, Pair{key, c.empty(c.peekToken().start)})
		}
		if err != nil {
			return err
		}
	}
	c.get()
	return nil
}

// flowPair reads "? key : value" of a flow collection.
func (c *composer) flowPair(n *Node, end tokenKind, depth int) error {
	t := c.get()
	key, err := c.orEmpty(t.end, []tokenKind{valueToken, flowEntry, end}, false, false, depth)
	if err != nil {
		return err
	}
	value := c.empty(c.peekToken().start)
	if t, ok := c.accept(valueToken); ok {
		if value, err = c.orEmpty(t.end, []tokenKind{flowEntry, end}, false, false, depth); err != nil {
			return err
		}
	}
	n.Pairs = append(n.Pairs, Pair{key, value})
	return c.err
}
