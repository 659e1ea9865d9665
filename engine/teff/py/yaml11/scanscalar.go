package yaml11

import (
	"strconv"
	"strings"

	"github.com/flowtui/flowtui/engine/teff/py"
)

func (s *scanner) addScalar(value string, plain bool, start, end Mark) {
	s.tokens = append(s.tokens, token{kind: scalarToken, value: value, plain: plain, start: start, end: end})
}

// blockScalar reads what follows "|" or ">".
func (s *scanner) blockScalar(folded bool) error {
	const what = "while scanning a block scalar"
	start := s.mark
	s.forward(1)
	keep, strip, increment, err := s.blockHeader(start)
	if err != nil {
		return err
	}
	if err := s.restOfLine(what, start); err != nil {
		return err
	}
	indent := max(s.indent+1, 1)
	var empty string // line ends that are not yet used
	var end Mark
	if increment == 0 {
		var found int
		empty, found, end = s.blockIndent()
		indent = max(indent, found)
	} else {
		indent += increment - 1
		empty, end = s.blockBreaks(indent)
	}
	var out strings.Builder
	last := ""
	for s.column() == indent && s.peek(0) != 0 {
		out.WriteString(empty)
		flush := !in(" \t", s.peek(0))
		out.WriteString(s.take(s.while(func(r rune) bool { return !in(lineEnds, r) })))
		last = s.lineBreak()
		empty, end = s.blockBreaks(indent)
		if s.column() != indent || s.peek(0) == 0 {
			break
		}
		switch {
		case !folded || last != "\n" || !flush || in(" \t", s.peek(0)):
			out.WriteString(last)
		case empty == "":
			out.WriteByte(' ')
		}
	}
	if !strip {
		out.WriteString(last)
	}
	if keep {
		out.WriteString(empty)
	}
	s.addScalar(out.String(), false, start, end)
	return nil
}

// blockHeader reads the chomping and indentation indicators.
func (s *scanner) blockHeader(start Mark) (keep, strip bool, increment int, err error) {
	const what = "while scanning a block scalar"
	for range 2 {
		switch r := s.peek(0); {
		case (r == '+' || r == '-') && !keep && !strip:
			keep, strip = r == '+', r == '-'
			s.forward(1)
		case r == '0' && increment == 0:
			return false, false, 0, s.fail(what, start, "expected indentation indicator in the range 1-9, but found 0")
		case r >= '1' && r <= '9' && increment == 0:
			increment = int(r - '0')
			s.forward(1)
		}
	}
	if !in(spaceEnds, s.peek(0)) {
		err = s.fail(what, start, "expected chomping or indentation indicators, but found %s", shown(s.peek(0)))
	}
	return keep, strip, increment, err
}

// blockIndent reads empty lines and gives the largest indent on the way.
func (s *scanner) blockIndent() (empty string, indent int, end Mark) {
	end = s.mark
	for in(" "+breaks, s.peek(0)) {
		if s.peek(0) != ' ' {
			empty += s.lineBreak()
			end = s.mark
			continue
		}
		s.forward(1)
		indent = max(indent, s.column())
	}
	return empty, indent, end
}

func (s *scanner) blockBreaks(indent int) (empty string, end Mark) {
	end = s.mark
	var out strings.Builder
	for {
		for s.column() < indent && s.peek(0) == ' ' {
			s.forward(1)
		}
		if !in(breaks, s.peek(0)) {
			return out.String(), end
		}
		out.WriteString(s.lineBreak())
		end = s.mark
	}
}

// quoted reads a scalar in quotes.
func (s *scanner) quoted(quote rune) error {
	start := s.mark
	s.forward(1)
	var out []byte
	for {
		if err := s.quotedText(&out, quote, start); err != nil {
			return err
		}
		if s.peek(0) == quote {
			s.forward(1)
			s.addScalar(string(out), false, start, s.mark)
			return nil
		}
		if err := s.quotedSpace(&out, start); err != nil {
			return err
		}
	}
}

var escapes = map[rune]rune{
	'0': 0, 'a': 7, 'b': 8, 't': 9, '\t': 9, 'n': 10, 'v': 11, 'f': 12, 'r': 13, 'e': 27, ' ': ' ', '"': '"', '\\': '\\', '/': '/',
	'N': 0x85, '_': 0xa0, 'L': 0x2028, 'P': 0x2029,
}

// quotedText reads up to a blank, a line end or the quote.
func (s *scanner) quotedText(out *[]byte, quote rune, start Mark) error {
	for {
		*out = append(*out, s.take(s.while(func(r rune) bool { return !in(blankEnds+`'"\`, r) }))...)
		r := s.peek(0)
		switch {
		case quote == '\'' && r == '\'' && s.peek(1) == '\'':
			*out = append(*out, '\'')
			s.forward(2)
		case quote == '"' && r == '\'' || quote == '\'' && (r == '"' || r == '\\'):
			*out = append(*out, byte(r))
			s.forward(1)
		case quote == '"' && r == '\\':
			if err := s.escape(out, start); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

func (s *scanner) escape(out *[]byte, start Mark) error {
	const what = "while scanning a double-quoted scalar"
	s.forward(1)
	r := s.peek(0)
	if code, ok := escapes[r]; ok && s.index < len(s.text)-1 {
		*out = py.AppendRune(*out, code)
		s.forward(1)
		return nil
	}
	n := map[rune]int{'x': 2, 'u': 4, 'U': 8}[r]
	switch {
	case n > 0:
		s.forward(1)
		for k := range n {
			if !in("0123456789ABCDEFabcdef", s.peek(k)) {
				return s.fail(what, start, "expected escape sequence of %d hexadecimal numbers, but found %s", n, shown(s.peek(k)))
			}
		}
		code, _ := strconv.ParseUint(string(s.text[s.index:s.index+n]), 16, 32)
		if code > 0x10ffff {
			return &Error{Class: "ValueError", Problem: "chr() arg not in range(0x110000)", At: s.mark}
		}
		*out = py.AppendRune(*out, rune(code))
		s.forward(n)
		return nil
	case in(breaks, r):
		s.lineBreak()
		more, err := s.quotedBreaks(start)
		*out = append(*out, more...)
		return err
	}
	return s.fail(what, start, "found unknown escape character %s", shown(r))
}

func (s *scanner) quotedSpace(out *[]byte, start Mark) error {
	blanks := s.take(s.while(func(r rune) bool { return r == ' ' || r == '\t' }))
	switch r := s.peek(0); {
	case r == 0:
		return s.fail("while scanning a quoted scalar", start, "found unexpected end of stream")
	case !in(breaks, r):
		*out = append(*out, blanks...)
		return nil
	}
	first := s.lineBreak()
	more, err := s.quotedBreaks(start)
	*out = append(*out, fold(first, more)...)
	return err
}

// fold is what a line end and the empty lines behind it become.
func fold(first, more string) string {
	switch {
	case first != "\n":
		return first + more
	case more == "":
		return " "
	}
	return more
}

func (s *scanner) quotedBreaks(start Mark) (string, error) {
	var out strings.Builder
	for {
		if s.separator('-') || s.separator('.') {
			return "", s.fail("while scanning a quoted scalar", start, "found unexpected document separator")
		}
		for s.peek(0) == ' ' || s.peek(0) == '\t' {
			s.forward(1)
		}
		if !in(breaks, s.peek(0)) {
			return out.String(), nil
		}
		out.WriteString(s.lineBreak())
	}
}

// plain reads a scalar without quotes.
func (s *scanner) plain() error {
	start, end := s.mark, s.mark
	indent := s.indent + 1
	var out strings.Builder
	space := ""
	for s.peek(0) != '#' {
		n := s.plainLength()
		if n == 0 {
			break
		}
		s.allowKey = false
		out.WriteString(space)
		out.WriteString(s.take(n))
		end = s.mark
		space = s.plainSpace()
		if space == "" || s.flow == 0 && s.column() < indent {
			break
		}
	}
	s.addScalar(out.String(), true, start, end)
	return nil
}

func (s *scanner) plainLength() int {
	after := blankEnds
	if s.flow > 0 {
		after += ",[]{}"
	}
	n := 0
	for {
		r := s.peek(n)
		if in(blankEnds, r) || r == ':' && in(after, s.peek(n+1)) || s.flow > 0 && in(",?[]{}", r) {
			return n
		}
		n++
	}
}

// plainSpace reads what may stand between two words of a plain scalar; "" ends it.
func (s *scanner) plainSpace() string {
	blanks := s.take(s.while(func(r rune) bool { return r == ' ' }))
	if !in(breaks, s.peek(0)) {
		return blanks
	}
	first := s.lineBreak()
	s.allowKey = true
	var more strings.Builder
	for {
		if s.separator('-') || s.separator('.') {
			return ""
		}
		for s.peek(0) == ' ' {
			s.forward(1)
		}
		if !in(breaks, s.peek(0)) {
			return fold(first, more.String())
		}
		more.WriteString(s.lineBreak())
	}
}
