package calc

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/flowtui/flowtui/engine/teff/py"
)

type tokenKind int

const (
	end tokenKind = iota
	name
	number
	text
	operator
)

// A token is one word of an expression: for text with prefix and quotes.
type token struct {
	kind tokenKind
	text string
	line int
}

// A scanner splits an expression into tokens as Python's tokenizer does.
type scanner struct {
	source string
	at     int
	line   int
	open   []byte // brackets that are open
	tokens []token
}

const maxBrackets = 200 // as in Python's tokenizer

func syntaxError(line int, format string, args ...any) error {
	return py.Errorf("SyntaxError", "%s (<unknown>, line %d)", fmt.Sprintf(format, args...), line)
}

// scan reads the one logical line that an expression may have.
func scan(source string) ([]token, error) {
	if strings.Contains(source, "\x00") {
		return nil, py.Errorf("SyntaxError", "source code string cannot contain null bytes")
	}
	if source == "" {
		return nil, syntaxError(0, "invalid syntax")
	}
	s := &scanner{source: strings.ReplaceAll(strings.ReplaceAll(source, "\r\n", "\n"), "\r", "\n"), line: 1}
	for {
		done, err := s.next()
		if err != nil {
			return s.tokens, err
		}
		if done {
			if s.line = 1; len(s.tokens) > 0 {
				s.line = s.tokens[len(s.tokens)-1].line
			}
			s.add(end, "")
			return s.tokens, nil
		}
	}
}

func (s *scanner) add(kind tokenKind, text string) {
	s.tokens = append(s.tokens, token{kind, text, s.line})
}

func (s *scanner) rest() string { return s.source[s.at:] }

func (s *scanner) peek() byte {
	if s.at < len(s.source) {
		return s.source[s.at]
	}
	return 0
}

// next reads white space and one token.
func (s *scanner) next() (done bool, err error) {
	if err := s.space(); err != nil {
		return false, err
	}
	c := s.peek()
	r, _ := utf8.DecodeRuneInString(s.rest())
	switch {
	case s.at == len(s.source):
		return true, nil
	case isDigit(c) || c == '.' && s.at+1 < len(s.source) && isDigit(s.source[s.at+1]):
		return false, s.number()
	case c == '"' || c == '\'':
		return false, s.quoted(s.at)
	case identifierByte(c):
		return false, s.name(r)
	}
	return false, s.operator(r)
}

// space skips blanks, comments and line ends, and finds indented lines.
func (s *scanner) space() error {
	for s.at < len(s.source) {
		lineStart := s.at == 0 || s.source[s.at-1] == '\n'
		switch c := s.peek(); {
		case c == ' ' || c == '\t' || c == '\f':
			blanks := len(s.rest()) - len(strings.TrimLeft(s.rest(), " \t\f"))
			s.at += blanks
			blank := s.peek() == '\n' || s.peek() == '#'
			if lineStart && len(s.open) == 0 && !blank && !strings.HasSuffix(s.source[:s.at], "\f") && (len(s.tokens) == 0 || s.ended()) {
				return py.Errorf("IndentationError", "unexpected indent (<unknown>, line %d)", s.line)
			}
		case c == '#':
			for s.at < len(s.source) && s.peek() != '\n' {
				s.at++
			}
		case c == '\n':
			s.at++
			s.line++
		case c == '\\' && strings.HasPrefix(s.rest(), "\\\n") && s.at+2 < len(s.source):
			s.at += 2
			s.line++
			s.joinLine()
		default:
			if len(s.tokens) > 0 && s.ended() {
				return syntaxError(s.line, "invalid syntax")
			}
			return nil
		}
	}
	return nil
}

// ended reports whether the logical line has ended since the last token.
func (s *scanner) ended() bool {
	return len(s.open) == 0 && s.tokens[len(s.tokens)-1].line < s.line
}

// joinLine makes the next line a part of this one.
func (s *scanner) joinLine() {
	if n := len(s.tokens); n > 0 {
		s.tokens[n-1].line = s.line
	}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func identifierByte(c byte) bool {
	return c >= 0x80 || c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || isDigit(c)
}

func (s *scanner) name(first rune) error {
	from := s.at
	for s.at < len(s.source) && identifierByte(s.peek()) {
		s.at++
	}
	word := s.source[from:s.at]
	if q := s.peek(); (q == '"' || q == '\'') && isPrefix(word) {
		return s.quoted(from)
	}
	for i, r := range word {
		if r == '_' || unicode.IsLetter(r) || unicode.Is(unicode.Nl, r) ||
			i > 0 && unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc) {
			continue
		}
		return s.badCharacter(r)
	}
	s.add(name, norm.NFKC.String(word))
	return nil
}

func (s *scanner) badCharacter(r rune) error {
	if unicode.IsPrint(r) {
		return syntaxError(s.line, "invalid character '%c' (U+%04X)", r, r)
	}
	return syntaxError(s.line, "invalid non-printable character U+%04X", r)
}

func isPrefix(word string) bool {
	switch strings.ToLower(word) {
	case "r", "u", "b", "f", "br", "rb", "fr", "rf":
		return true
	}
	return false
}

var operators = []string{
	"...", "**", "//", "<<", ">>", "<=", ">=", "==", "!=", ":=", "->",
	"+", "-", "*", "/", "%", "@", "&", "|", "^", "~", "<", ">", "(", ")", "[", "]", "{", "}", ",", ":", ".", ";", "=",
}

func (s *scanner) operator(r rune) error {
	if r == '\\' {
		return syntaxError(s.line, "unexpected character after line continuation character")
	}
	for _, op := range operators {
		if !strings.HasPrefix(s.rest(), op) {
			continue
		}
		if err := s.bracket(op); err != nil {
			return err
		}
		s.add(operator, op)
		s.at += len(op)
		return nil
	}
	if strings.ContainsRune("$?!`", r) {
		s.add(operator, string(r))
		s.at++
		return nil
	}
	return s.badCharacter(r)
}

func (s *scanner) bracket(op string) error {
	switch op {
	case "(", "[", "{":
		if len(s.open) >= maxBrackets {
			return syntaxError(s.line, "too many nested parentheses")
		}
		s.open = append(s.open, op[0])
	case ")", "]", "}":
		if len(s.open) == 0 {
			return syntaxError(s.line, "unmatched '%s'", op)
		}
		last := s.open[len(s.open)-1]
		if closing(last) != op {
			return syntaxError(s.line, "closing parenthesis '%s' does not match opening parenthesis '%c'", op, last)
		}
		s.open = s.open[:len(s.open)-1]
	}
	return nil
}

func closing(open byte) string {
	switch open {
	case '(':
		return ")"
	case '[':
		return "]"
	}
	return "}"
}

// quoted reads a string literal whose prefix began at from; the quote is next.
func (s *scanner) quoted(from int) error {
	quote := s.source[s.at : s.at+1]
	line := s.line
	if strings.HasPrefix(s.rest(), strings.Repeat(quote, 3)) {
		quote = strings.Repeat(quote, 3)
	}
	for s.at += len(quote); ; s.at++ {
		switch {
		case s.at >= len(s.source) && len(quote) == 3:
			return syntaxError(line, "unterminated triple-quoted string literal (detected at line %d)", s.line)
		case s.at >= len(s.source) || s.peek() == '\n' && len(quote) == 1:
			return syntaxError(line, "unterminated string literal (detected at line %d)", line)
		case strings.HasPrefix(s.rest(), quote):
			s.at += len(quote)
			s.add(text, s.source[from:s.at])
			return nil
		case s.peek() == '\\':
			s.at++
		}
		if s.at < len(s.source) && s.peek() == '\n' {
			s.line++
		}
	}
}
