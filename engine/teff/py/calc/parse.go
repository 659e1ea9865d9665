package calc

import (
	"slices"
	"strings"

	"github.com/flowtui/flowtui/engine/teff/py"
)

// A node is a part of an expression as Python's ast names it.
type node interface{ dump() string }

type (
	constant struct {
		value py.Value // also complex128 and bytes
		kind  string
	}
	variable struct{ id string }
	binary   struct {
		op          string
		left, right node
	}
	unary struct {
		op      string
		operand node
	}
	// other is what Python can parse and the calculator cannot evaluate: only
	// its text in Python's ast counts.
	other struct{ text string }
)

func (c constant) dump() string {
	if c.kind != "" {
		return "Constant(value=" + repr(c.value) + ", kind=" + py.Repr(c.kind) + ")"
	}
	return "Constant(value=" + repr(c.value) + ")"
}
func (v variable) dump() string { return "Name(id=" + py.Repr(v.id) + ", ctx=Load())" }
func (b binary) dump() string {
	return "BinOp(left=" + b.left.dump() + ", op=" + b.op + "(), right=" + b.right.dump() + ")"
}
func (u unary) dump() string { return "UnaryOp(op=" + u.op + "(), operand=" + u.operand.dump() + ")" }
func (o other) dump() string { return o.text }

func dumps(nodes []node) string {
	var list []string
	for _, n := range nodes {
		list = append(list, n.dump())
	}
	return "[" + strings.Join(list, ", ") + "]"
}

type parser struct {
	tokens []token
	broken error // what the scanner found behind the last token
	at     int
	depth  int
}

// maxDepth is how deep an expression may nest: Python's recursion reaches
// further, but how far depends on where the tool is called.
const maxDepth = 800

var errDepth = unknown("more than 800 levels")

// parse is ast.parse(source, mode="eval").body.
func parse(source string) (node, error) {
	tokens, broken := scan(source)
	if len(tokens) == 0 && broken != nil {
		return nil, broken
	}
	p := &parser{tokens: tokens, broken: broken}
	n, err := p.expressions()
	if e, ok := err.(*py.Error); broken != nil && (err == nil && p.peek().kind == end || ok && e.Type == notImplemented) {
		return nil, broken
	}
	if err == nil && p.peek().kind != end {
		err = p.unexpected()
	}
	return n, err
}

func (p *parser) peek() token {
	if p.at < len(p.tokens) {
		return p.tokens[p.at]
	}
	return token{kind: end, line: p.tokens[len(p.tokens)-1].line}
}

// is reports whether the next token is one of the operators or keywords.
func (p *parser) is(words ...string) bool {
	t := p.peek()
	return (t.kind == operator || t.kind == name && keywords[t.text]) && slices.Contains(words, t.text)
}

func (p *parser) take(words ...string) (string, bool) {
	if !p.is(words...) {
		return "", false
	}
	p.at++
	return p.tokens[p.at-1].text, true
}

// unexpected is the error of a token that does not fit: the scanner's, if it
// broke off there or later, but for an indented line.
func (p *parser) unexpected() error {
	if e, ok := p.broken.(*py.Error); ok && e.Type == "SyntaxError" {
		return p.broken
	}
	if open := p.unclosed(); open != nil && p.peek().kind == end {
		return syntaxError(open.line, "'%s' was never closed", open.text)
	}
	return syntaxError(p.peek().line, "invalid syntax")
}

// unclosed is the last bracket that is never closed.
func (p *parser) unclosed() *token {
	var open []*token
	for i, t := range p.tokens {
		switch {
		case t.kind != operator:
		case strings.Contains("([{", t.text):
			open = append(open, &p.tokens[i])
		case strings.Contains(")]}", t.text) && len(open) > 0:
			open = open[:len(open)-1]
		}
	}
	if len(open) == 0 {
		return nil
	}
	return open[len(open)-1]
}

// expressions is one expression, or several as a tuple.
func (p *parser) expressions() (node, error) {
	first, err := p.expression()
	if err != nil || !p.is(",") {
		return first, err
	}
	list := []node{first}
	for {
		if _, ok := p.take(","); !ok || p.peek().kind == end {
			return tuple(list), nil
		}
		n, err := p.expression()
		if err != nil {
			return nil, err
		}
		list = append(list, n)
	}
}

func tuple(list []node) node { return other{"Tuple(elts=" + dumps(list) + ", ctx=Load())"} }

func (p *parser) expression() (node, error) { return p.nested(p.conditional) }

func (p *parser) conditional() (node, error) {
	if _, ok := p.take("lambda"); ok {
		return nil, p.lambda()
	}
	body, err := p.or()
	if err != nil {
		return nil, err
	}
	at := p.at
	if _, ok := p.take("if"); !ok {
		return body, nil
	}
	test, err := p.or()
	if err != nil {
		return nil, err
	}
	if _, ok := p.take("else"); !ok {
		if p.peek().kind != end && p.broken == nil && !p.is(":") || p.unclosed() == nil && p.broken == nil && !p.is(":") {
			return nil, syntaxError(p.tokens[at].line, "expected 'else' after 'if' expression")
		}
		return nil, p.unexpected()
	}
	otherwise, err := p.expression()
	if err != nil {
		return nil, err
	}
	return other{"IfExp(test=" + test.dump() + ", body=" + body.dump() + ", orelse=" + otherwise.dump() + ")"}, nil
}

// lambda reads a function to refuse it.
func (p *parser) lambda() error {
	for !p.is(":") {
		p.take("*", "**")
		if t := p.peek(); t.kind == name && !keywords[t.text] {
			p.at++
		} else if _, ok := p.take("/"); !ok {
			return p.unexpected()
		}
		if _, ok := p.take("="); ok {
			if _, err := p.expression(); err != nil {
				return err
			}
		}
		if _, ok := p.take(","); !ok && !p.is(":") {
			return p.unexpected()
		}
	}
	p.at++
	if _, err := p.expression(); err != nil {
		return err
	}
	return unknown("lambda")
}

func (p *parser) or() (node, error)  { return p.boolean("or", "Or", p.and) }
func (p *parser) and() (node, error) { return p.boolean("and", "And", p.not) }

func (p *parser) boolean(word, op string, operand func() (node, error)) (node, error) {
	n, err := operand()
	list := []node{n}
	for err == nil {
		if _, ok := p.take(word); !ok {
			break
		}
		n, err = operand()
		list = append(list, n)
	}
	if err != nil || len(list) == 1 {
		return n, err
	}
	return other{"BoolOp(op=" + op + "(), values=" + dumps(list) + ")"}, nil
}

func (p *parser) not() (node, error) {
	if _, ok := p.take("not"); !ok {
		return p.comparison()
	}
	return p.unary("Not", p.not)
}

func (p *parser) unary(op string, operand func() (node, error)) (node, error) {
	n, err := p.nested(operand)
	return unary{op, n}, err
}

// nested reads one level deeper, as deep as Python would.
func (p *parser) nested(read func() (node, error)) (node, error) {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxDepth {
		return nil, errDepth
	}
	return read()
}

var comparisons = map[string]string{
	"==": "Eq", "!=": "NotEq", "<": "Lt", "<=": "LtE", ">": "Gt", ">=": "GtE", "is": "Is", "in": "In",
}

func (p *parser) comparison() (node, error) {
	left, err := p.binary(0)
	var ops []string
	var right []node
	for err == nil {
		op := ""
		if word, ok := p.take("==", "!=", "<", "<=", ">", ">=", "is", "in"); ok {
			op = comparisons[word]
			if _, ok := p.take("not"); ok && word == "is" {
				op = "IsNot"
			} else if ok {
				p.at--
			}
		} else if _, ok := p.take("not"); ok {
			if _, ok := p.take("in"); !ok {
				return nil, p.unexpected()
			}
			op = "NotIn"
		} else {
			break
		}
		var n node
		n, err = p.binary(0)
		ops, right = append(ops, op+"()"), append(right, n)
	}
	if err != nil || ops == nil {
		return left, err
	}
	return other{"Compare(left=" + left.dump() + ", ops=[" + strings.Join(ops, ", ") + "], comparators=" + dumps(right) + ")"}, nil
}

// levels are the binary operators from the weakest to the strongest.
var levels = [][]string{{"|"}, {"^"}, {"&"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "//", "%", "@"}}

var binaryNames = map[string]string{
	"|": "BitOr", "^": "BitXor", "&": "BitAnd", "<<": "LShift", ">>": "RShift", "+": "Add", "-": "Sub",
	"*": "Mult", "/": "Div", "//": "FloorDiv", "%": "Mod", "@": "MatMult", "**": "Pow",
}

func (p *parser) binary(level int) (node, error) {
	if level == len(levels) {
		return p.factor()
	}
	left, err := p.binary(level + 1)
	for n := 0; err == nil; n++ {
		op, ok := p.take(levels[level]...)
		if !ok {
			break
		}
		if n > maxDepth {
			return nil, errDepth
		}
		var right node
		right, err = p.binary(level + 1)
		left = binary{binaryNames[op], left, right}
	}
	return left, err
}

var unaryNames = map[string]string{"+": "UAdd", "-": "USub", "~": "Invert"}

func (p *parser) factor() (node, error) {
	if op, ok := p.take("+", "-", "~"); ok {
		return p.unary(unaryNames[op], p.factor)
	}
	base, err := p.primary()
	if err != nil {
		return nil, err
	}
	if _, ok := p.take("**"); !ok {
		return base, nil
	}
	exponent, err := p.nested(p.factor)
	return binary{"Pow", base, exponent}, err
}
