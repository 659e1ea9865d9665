package main

import (
	"errors"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// plainly tells a value of the wrong kind by the name of its setting instead of
// by a type of this program.
func plainly(data []byte, err error) error {
	var at *token.Token
	want := ""
	if e, ok := errors.AsType[*yaml.TypeError](err); ok {
		at, want = e.Token, wanted(e.DstType)
	} else if e, ok := errors.AsType[*yaml.UnexpectedNodeTypeError](err); ok {
		at, want = e.Token, map[ast.NodeType]string{ast.SequenceType: "a list", ast.MappingType: "a mapping of names"}[e.Expected]
	}
	if at == nil || at.Position == nil || want == "" {
		return err
	}
	return &misplacedError{at.Position.Line, at.Position.Column, settingAt(data, at) + ": want " + want}
}

func wanted(t reflect.Type) string {
	if t == nil {
		return ""
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a text"
	case reflect.Slice:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "a mapping of names"
	}
	return ""
}

// settingAt names the setting whose value stands at a token: contexts.prod.owner.
func settingAt(data []byte, at *token.Token) string {
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return "this"
	}
	found := finder{at: at.Position}
	for _, doc := range file.Docs {
		ast.Walk(&found, doc)
	}
	if found.path == "" {
		return "this"
	}
	return strings.TrimPrefix(found.path, "$.")
}

// finder looks for the outermost node at a place.
type finder struct {
	at   *token.Position
	path string
}

// Visit implements ast.Visitor.
func (f *finder) Visit(n ast.Node) ast.Visitor {
	if t := n.GetToken(); f.path == "" && n.Type() != ast.DocumentType && t != nil && t.Position != nil && t.Position.Line == f.at.Line && t.Position.Column == f.at.Column {
		f.path = n.GetPath()
	}
	return f
}
