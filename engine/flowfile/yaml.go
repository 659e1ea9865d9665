package flowfile

import (
	"bytes"
	"errors"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Limits of a document. The parser takes time that grows with the square of
// a mapping's keys and recurses with the depth, so both are bounded before it
// starts; size bounds what aliases expand to.
const (
	MaxBytes  = 4 << 20 // that a file may have
	maxTokens = 50_000
	maxDepth  = 100
	maxSize   = 1 << 20 // values, and one more for each 16 bytes of text
)

// parseYAML reads one document. What is wrong with it is told to r; the item
// for it is broken.
func parseYAML(r reader, data []byte) (root *item) {
	whole := &item{kind: broken}
	switch {
	case len(data) > MaxBytes:
		r.fail(whole, "the file is larger than %d MiB", MaxBytes>>20)
		return whole
	case !utf8.Valid(data):
		r.fail(whole, "the file is not UTF-8")
		return whole
	}
	defer func() { // a defect of the parser must not end an open viewer
		if p := recover(); p != nil {
			r.fail(whole, "not YAML: the parser failed: %v", p)
			root = whole
		}
	}()
	tokens := lexer.Tokenize(string(bytes.TrimPrefix(data, []byte("\ufeff"))))
	if !bounded(r, tokens) {
		return whole
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		r.fail(syntaxError(err))
		return whole
	}
	var bodies []ast.Node
	for _, d := range file.Docs {
		if d.Body != nil {
			bodies = append(bodies, d.Body)
		}
	}
	switch len(bodies) {
	case 0:
		return &item{kind: isNull}
	case 1:
		c := converter{reader: r, anchors: map[string]*item{}}
		return c.convert(bodies[0], 0)
	}
	r.fail(start(bodies[1]), "a flow file holds one document, not %d", len(bodies))
	return whole
}

func syntaxError(err error) (*item, string, any) {
	var se *yaml.SyntaxError
	if errors.As(err, &se) {
		return place(se.Token), "not YAML: %s", se.Message
	}
	return &item{}, "not YAML: %s", err
}

// place is a broken item at the place of a token.
func place(t *token.Token) *item {
	if t == nil || t.Position == nil {
		return &item{kind: broken}
	}
	return &item{kind: broken, line: t.Position.Line, column: t.Position.Column}
}

// start is the place of a node's first token; a block mapping's own is a colon.
func start(n ast.Node) *item {
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		return place(m.Values[0].Key.GetToken())
	}
	return place(n.GetToken())
}

// bounded looks at the tokens for what the parser could not stand.
func bounded(r reader, tokens token.Tokens) bool {
	depth, line, nested := 0, 0, 0
	for i, t := range tokens {
		if t.Position.Line != line {
			line, nested = t.Position.Line, 0
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth--
		case token.SequenceEntryType, token.MappingKeyType:
			nested++ // "- - - a" nests on one line
		}
		switch {
		case i >= maxTokens:
			r.fail(place(t), "the file has too many values")
			return false
		case depth > maxDepth || nested > maxDepth:
			r.fail(place(t), "nested deeper than %d levels", maxDepth)
			return false
		}
	}
	return true
}
