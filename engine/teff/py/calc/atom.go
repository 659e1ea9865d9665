package calc

import (
	"strings"

	"github.com/flowtui/flowtui/engine/teff/py"
)

var keywords = func() map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields("False None True and as assert async await break class continue def del elif else except " +
		"finally for from global if import in is lambda nonlocal not or pass raise return try while with yield") {
		set[w] = true
	}
	return set
}()

// primary is an atom with its calls, subscripts and attributes.
func (p *parser) primary() (node, error) {
	if p.is("await") {
		return nil, unknown("await")
	}
	n, err := p.atom()
	for depth := 0; err == nil; depth++ {
		op, ok := p.take("(", "[", ".")
		if !ok {
			break
		}
		if depth > maxDepth {
			return nil, errDepth
		}
		switch op {
		case "(":
			n, err = p.call(n)
		case "[":
			n, err = p.subscript(n)
		case ".":
			t := p.peek()
			if t.kind != name || keywords[t.text] {
				return nil, p.unexpected()
			}
			p.at++
			n = other{"Attribute(value=" + n.dump() + ", attr=" + py.Repr(t.text) + ", ctx=Load())"}
		}
	}
	return n, err
}

var words = map[string]py.Value{"None": nil, "True": true, "False": false}

var ellipsis = py.Opaque{Type: "ellipsis", Text: "Ellipsis", Code: "Ellipsis"}

func (p *parser) atom() (node, error) {
	t := p.peek()
	switch {
	case t.kind == number:
		p.at++
		v, err := literal(t)
		return constant{value: v}, err
	case t.kind == text:
		return p.strings()
	case t.kind == name && !keywords[t.text]:
		p.at++
		return variable{t.text}, nil
	}
	word, ok := p.take("None", "True", "False", "...", "(", "[", "{")
	if !ok {
		return nil, p.unexpected()
	}
	switch word {
	case "...":
		return constant{value: ellipsis}, nil
	case "(":
		return p.parenthesised()
	case "[":
		list, _, err := p.list("]")
		return other{"List(elts=" + dumps(list) + ", ctx=Load())"}, err
	case "{":
		return p.braces()
	}
	return constant{value: words[word]}, nil
}

func (p *parser) parenthesised() (node, error) {
	if p.is("yield") {
		return nil, unknown("yield")
	}
	list, comma, err := p.list(")")
	if err != nil {
		return nil, err
	}
	if len(list) == 1 && !comma {
		if o, ok := list[0].(other); ok && strings.HasPrefix(o.text, "Starred(") {
			return nil, syntaxError(p.tokens[p.at-1].line, "cannot use starred expression here")
		}
		return list[0], nil
	}
	return tuple(list), nil
}

// list reads expressions up to a closing bracket; comma says that the last one
// was followed by one.
func (p *parser) list(close string) (list []node, comma bool, err error) {
	for {
		if _, ok := p.take(close); ok {
			return list, comma, nil
		}
		if len(list) > 0 && !comma {
			return nil, false, p.missingComma()
		}
		n, err := p.element()
		if err != nil {
			return nil, false, err
		}
		list = append(list, n)
		_, comma = p.take(",")
	}
}

// missingComma is the error of two expressions in brackets with nothing between.
func (p *parser) missingComma() error {
	t := p.peek()
	begins := t.kind == number || t.kind == text || t.kind == name && !keywords[t.text] || p.is("None", "True", "False", "...", "{", "~", "not")
	if begins && p.broken == nil {
		return syntaxError(t.line, "invalid syntax. Perhaps you forgot a comma?")
	}
	return p.unexpected()
}

// element is one member of a list: *x, x := y or an expression. A
// comprehension is refused where it is seen.
func (p *parser) element() (node, error) {
	if _, ok := p.take("*"); ok {
		n, err := p.binary(0)
		if err != nil {
			return nil, err
		}
		return other{"Starred(value=" + n.dump() + ", ctx=Load())"}, nil
	}
	n, err := p.expression()
	if err != nil {
		return nil, err
	}
	if v, ok := n.(variable); ok && p.is(":=") {
		p.at++
		value, err := p.expression()
		if err != nil {
			return nil, err
		}
		return other{"NamedExpr(target=Name(id=" + py.Repr(v.id) + ", ctx=Store()), value=" + value.dump() + ")"}, nil
	}
	return n, p.noComprehension()
}

func (p *parser) noComprehension() error {
	if p.is("for", "async") {
		return unknown("a comprehension")
	}
	return nil
}

func (p *parser) braces() (node, error) {
	if _, ok := p.take("}"); ok {
		return other{"Dict(keys=[], values=[])"}, nil
	}
	at := p.at
	if !p.is("**") {
		if _, err := p.element(); err != nil {
			return nil, err
		}
		if !p.is(":") {
			p.at = at
			list, _, err := p.list("}")
			return other{"Set(elts=" + dumps(list) + ")"}, err
		}
		p.at = at
	}
	return p.dict()
}

func (p *parser) dict() (node, error) {
	var keys []string
	var values []node
	for {
		key := "None"
		if _, ok := p.take("**"); !ok {
			k, err := p.expression()
			if err != nil {
				return nil, err
			}
			if _, ok := p.take(":"); !ok {
				return nil, p.unexpected()
			}
			key = k.dump()
		}
		v, err := p.expression()
		if err == nil {
			err = p.noComprehension()
		}
		if err != nil {
			return nil, err
		}
		keys, values = append(keys, key), append(values, v)
		_, comma := p.take(",")
		if _, ok := p.take("}"); ok {
			return other{"Dict(keys=[" + strings.Join(keys, ", ") + "], values=" + dumps(values) + ")"}, nil
		}
		if !comma {
			return nil, p.missingComma()
		}
	}
}

func (p *parser) call(f node) (node, error) {
	var args []node
	var named []string
	for comma := true; ; {
		if _, ok := p.take(")"); ok {
			return other{"Call(func=" + f.dump() + ", args=" + dumps(args) + ", keywords=[" + strings.Join(named, ", ") + "])"}, nil
		}
		if !comma {
			return nil, p.missingComma()
		}
		if err := p.argument(&args, &named); err != nil {
			return nil, err
		}
		_, comma = p.take(",")
	}
}

func (p *parser) argument(args *[]node, named *[]string) error {
	t := p.peek()
	if _, ok := p.take("**"); ok {
		v, err := p.expression()
		if err == nil {
			*named = append(*named, "keyword(value="+v.dump()+")")
		}
		return err
	}
	if t.kind == name && !keywords[t.text] && p.at+1 < len(p.tokens) && p.tokens[p.at+1].text == "=" && p.tokens[p.at+1].kind == operator {
		p.at += 2
		v, err := p.expression()
		if err == nil {
			*named = append(*named, "keyword(arg="+py.Repr(t.text)+", value="+v.dump()+")")
		}
		return err
	}
	n, err := p.element()
	if err != nil {
		return err
	}
	if o, ok := n.(other); len(*named) > 0 && (!ok || !strings.HasPrefix(o.text, "Starred(")) {
		return syntaxError(t.line, "positional argument follows keyword argument")
	}
	*args = append(*args, n)
	return nil
}

func (p *parser) subscript(of node) (node, error) {
	var list []node
	comma := false
	for {
		n, err := p.slice()
		if err != nil {
			return nil, err
		}
		list = append(list, n)
		_, comma = p.take(",")
		if _, ok := p.take("]"); ok {
			break
		}
		if !comma {
			return nil, p.missingComma()
		}
	}
	index := list[0]
	if comma || len(list) > 1 {
		index = tuple(list)
	}
	return other{"Subscript(value=" + of.dump() + ", slice=" + index.dump() + ", ctx=Load())"}, nil
}

func (p *parser) slice() (node, error) {
	var parts []string
	colons := 0
	for _, field := range []string{"lower", "upper", "step"} {
		if !p.is(":", ",", "]") {
			n, err := p.element()
			if err != nil {
				return nil, err
			}
			if colons == 0 && !p.is(":") {
				return n, nil
			}
			parts = append(parts, field+"="+n.dump())
		}
		if _, ok := p.take(":"); !ok {
			break
		}
		colons++
	}
	if colons == 0 || colons > 2 {
		return nil, p.unexpected()
	}
	return other{"Slice(" + strings.Join(parts, ", ") + ")"}, nil
}
