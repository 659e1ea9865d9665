package py

import (
	"errors"
	"fmt"
	"strconv"
	"unicode"
)

// errGlobalFlags reports (?i) and the like: they are in p.global.
var errGlobalFlags = errors.New("global flags")

const unterminated = "missing ), unterminated subpattern"

// group reads what follows "(".
func (p *patternParser) group(start int, f flags, depth int) (*piece, error) {
	open, inner, name, capture := "(?:", f, "", false
	switch {
	case !p.match('?'):
		capture = true
	case p.match('P'):
		if !p.match('<') {
			return p.namedReference(start, f)
		}
		var err error
		if name, err = p.groupName('>'); err != nil {
			return nil, err
		}
		capture = true
	case p.match(':'):
	case p.match('>'):
		open = "(?>"
	case p.match('#'):
		for p.next() >= 0 {
			if p.get() == ')' {
				return nil, nil
			}
		}
		return nil, p.fail(start, "missing ), unterminated comment")
	case p.next() == '=' || p.next() == '!' || p.next() == '<':
		return p.look(start, f, depth)
	case p.match('('):
		return p.condition(start, f, depth)
	default:
		add, del, err := p.inlineFlags(start)
		if err != nil {
			return nil, err
		}
		inner = f.with(add, del)
	}
	number := 0
	if capture {
		open = "("
		p.groups++
		number = p.groups
		if name != "" {
			if old, ok := p.names[name]; ok {
				return nil, p.fail(start+4, "redefinition of group name %s as group %d; was group %d", Repr(name), number, old)
			}
			p.names[name] = number
		}
	}
	text, w, err := p.alternatives(inner, depth+1)
	if err != nil {
		return nil, err
	}
	if !p.match(')') {
		return nil, p.fail(start, unterminated)
	}
	if capture {
		p.widths[number] = w
	}
	return &piece{text: open + text + ")", width: w}, nil
}

// groupName reads a name up to its end.
func (p *patternParser) groupName(end rune) (string, error) {
	name, from, err := p.until(end)
	if err == nil && !isIdentifier(name) {
		err = p.fail(from, "bad character in group name %s", Repr(name))
	}
	return name, err
}

func (p *patternParser) until(end rune) (text string, from int, err error) {
	from = p.at
	for {
		switch r := p.get(); {
		case r < 0 && p.at == from:
			return "", from, p.fail(from, "missing group name")
		case r < 0:
			return "", from, p.fail(from, "missing %c, unterminated name", end)
		case r == end && p.at == from+1:
			return "", from, p.fail(from, "missing group name")
		case r == end:
			return join(p.text[from : p.at-1]), from, nil
		}
	}
}

// namedReference reads what follows "(?P" when it is not "<".
func (p *patternParser) namedReference(start int, f flags) (*piece, error) {
	if !p.match('=') {
		if r := p.get(); r >= 0 {
			return nil, p.fail(start+1, "unknown extension ?P%c", r)
		}
		return nil, p.fail(p.at, "unexpected end of pattern")
	}
	from := p.at
	name, err := p.groupName(')')
	if err != nil {
		return nil, err
	}
	number, ok := p.names[name]
	if !ok {
		return nil, p.fail(from, "unknown group name %s", Repr(name))
	}
	return p.reference(number, from, from, f)
}

// reference matches again what a group matched; at and open are where an
// unknown and an open group are reported.
func (p *patternParser) reference(number, at, open int, f flags) (*piece, error) {
	w, closed := p.widths[number]
	switch {
	case number > p.groups:
		return nil, p.fail(at, "invalid group reference %d", number)
	case !closed:
		return nil, p.fail(open, "cannot refer to an open group")
	}
	if err := p.notInside(number); err != nil {
		return nil, err
	}
	mode := "(?-i:"
	if f.ignore {
		mode = "(?i:"
	}
	return &piece{text: fmt.Sprintf(`%s\%d)`, mode, number), width: w}, nil
}

// notInside refuses a group of the lookbehind that is being read.
func (p *patternParser) notInside(number int) error {
	if p.behind == 0 {
		return nil
	}
	if _, closed := p.widths[number]; !closed {
		return p.fail(p.at, "cannot refer to an open group")
	}
	if number >= p.behind {
		return p.fail(p.at, "cannot refer to group defined in the same lookbehind subpattern")
	}
	return nil
}

// look reads a lookahead or lookbehind from its "=", "!" or "<" on.
func (p *patternParser) look(start int, f flags, depth int) (*piece, error) {
	open := "(?"
	back := p.match('<')
	if back {
		open = "(?<"
	}
	r := p.get()
	switch {
	case r < 0:
		return nil, p.fail(p.at, "unexpected end of pattern")
	case r != '=' && r != '!':
		return nil, p.fail(start+1, "unknown extension ?<%c", r)
	}
	outermost := back && p.behind == 0
	if outermost {
		p.behind = p.groups + 1
	}
	text, w, err := p.alternatives(f, depth+1)
	if err != nil {
		return nil, err
	}
	if outermost {
		p.behind = 0
	}
	if !p.match(')') {
		return nil, p.fail(start, unterminated)
	}
	if back && w.min != w.max {
		return nil, Errorf("error", "look-behind requires fixed-width pattern")
	}
	return &piece{text: open + string(r) + text + ")"}, nil
}

// condition reads what follows "(?(".
func (p *patternParser) condition(start int, f flags, depth int) (*piece, error) {
	name, from, err := p.until(')')
	if err != nil {
		return nil, err
	}
	number, known := p.names[name]
	switch {
	case known:
	case isIdentifier(name):
		return nil, p.fail(from, "unknown group name %s", Repr(name))
	default:
		if number, err = strconv.Atoi(name); err != nil || number < 0 {
			return nil, p.fail(from, "bad character in group name %s", Repr(name))
		}
		if number == 0 {
			return nil, p.fail(from, "bad group number")
		}
		p.refs = append(p.refs, groupRef{number, from})
	}
	if err := p.notInside(number); err != nil {
		return nil, err
	}
	yes, w, _, err := p.sequence(f, depth+1, false)
	if err != nil {
		return nil, err
	}
	no, w2 := "", width{}
	if p.match('|') {
		if no, w2, _, err = p.sequence(f, depth+1, false); err != nil {
			return nil, err
		}
		if p.next() == '|' {
			return nil, p.fail(p.at, "conditional backref with more than two branches")
		}
	}
	if !p.match(')') {
		return nil, p.fail(start, unterminated)
	}
	return &piece{text: fmt.Sprintf("(?(%d)(?:%s)|(?:%s))", number, yes, no), width: w.or(w2)}, nil
}

// inlineFlags reads the flags after "(?" up to ")", which makes them global
// and is errGlobalFlags, or ":".
func (p *patternParser) inlineFlags(start int) (add, del flags, err error) {
	r := p.get()
	if r < 0 {
		return add, del, p.fail(p.at, "unexpected end of pattern")
	}
	if r != '-' && r != 'L' && !new(flags).set(r) {
		return add, del, p.fail(start+1, "unknown extension ?%c", r)
	}
	text, ascii := false, false
	for ; r != '-' && r != ':' && r != ')'; r = p.get() {
		switch {
		case r == 'L':
			return add, del, p.fail(p.at, "bad inline flags: cannot use 'L' flag with a str pattern")
		case r < 0 || !add.set(r):
			return add, del, p.badFlag(r, "missing -, : or )")
		}
		text, ascii = text || r == 'u', ascii || r == 'a'
		if text && ascii {
			return add, del, p.fail(p.at, "bad inline flags: flags 'a', 'u' and 'L' are incompatible")
		}
	}
	if r == ')' {
		p.global = p.global.with(add, flags{})
		return add, del, errGlobalFlags
	}
	if r == ':' {
		return add, del, nil
	}
	missing := "missing flag"
	for r = p.get(); r != ':' || missing == "missing flag"; r = p.get() {
		switch {
		case r == 'a' || r == 'u' || r == 'L':
			return add, del, p.fail(p.at, "bad inline flags: cannot turn off flags 'a', 'u' and 'L'")
		case r < 0 || !del.set(r):
			return add, del, p.badFlag(r, missing)
		}
		missing = "missing :"
	}
	if add.ignore && del.ignore || add.multiline && del.multiline || add.dotall && del.dotall || add.verbose && del.verbose {
		return add, del, p.fail(p.at, "bad inline flags: flag turned on and off")
	}
	return add, del, nil
}

func (p *patternParser) badFlag(r rune, missing string) error {
	if unicode.IsLetter(r) {
		return p.fail(p.at-1, "unknown flag")
	}
	return p.fail(p.at, "%s", missing)
}
