package pyjson

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"
)

// MaxDepth is how deep a text may nest. Python itself gives up at about 990.
const MaxDepth = 10_000

// Member is one member of an object. Start and End are the place of its value.
type Member struct {
	Key        string // decoded; a lone surrogate is its three bytes, as in WTF-8
	Raw        []byte // the value as it is written, without white space around it
	Start, End int
}

// Object checks a text as json.loads does and returns the members of its
// object in order, equal keys included. Any other value is an error.
func Object(text []byte) ([]Member, error) {
	s := scanner{text: text}
	if err := s.whole(); err != nil {
		return nil, err
	}
	if !s.object {
		return nil, errors.New("it is no JSON object")
	}
	return s.members, nil
}

// Last returns the value of a key, which is that of the last member that has it.
func Last(members []Member, key string) ([]byte, bool) {
	for i := len(members) - 1; i >= 0; i-- {
		if members[i].Key == key {
			return members[i].Raw, true
		}
	}
	return nil, false
}

// Check reports why json.loads would refuse a text. It does not mind the
// limits of Python's own stack.
func Check(text []byte) error {
	s := scanner{text: text}
	return s.whole()
}

// scanner walks a text once. It does not recurse: nesting costs a byte a level.
type scanner struct {
	text    []byte
	pos     int
	open    []byte // the containers under way, '{' or '['
	object  bool   // the outermost value is an object
	key     string // of the outermost member under way
	members []Member
	floats  []span // NaN and infinities
}

type span struct{ start, end int }

// what may come next
type expect int

const (
	value      expect = iota
	firstValue        // or the end of the list
	key
	firstKey // or the end of the object
	more     // a comma or an end
)

func (s *scanner) whole() error {
	if !utf8.Valid(s.text) {
		return errors.New("it is not UTF-8")
	}
	if bytes.HasPrefix(s.text, []byte("\xef\xbb\xbf")) {
		return errors.New("it starts with a byte order mark")
	}
	next, start := value, 0
	for {
		s.space()
		if next == more && len(s.open) == 0 {
			break
		}
		if s.pos == len(s.text) {
			return errors.New("it ends in the middle")
		}
		if len(s.open) == 1 && next == value && s.object {
			start = s.pos
		}
		var err error
		if next, err = s.step(next); err != nil {
			return fmt.Errorf("%w at byte %d", err, s.pos)
		}
		if s.object && next == more && len(s.open) == 1 {
			s.members = append(s.members, Member{s.key, s.text[start:s.pos], start, s.pos})
		}
	}
	if s.pos < len(s.text) {
		return fmt.Errorf("there is more after its end at byte %d", s.pos)
	}
	return nil
}

func (s *scanner) space() {
	for s.pos < len(s.text) {
		switch s.text[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

var errUnexpected = errors.New("unexpected character")

// step takes one token. A member is complete when step returns more at depth 1.
func (s *scanner) step(next expect) (expect, error) {
	c := s.text[s.pos]
	switch next {
	case more:
		return s.afterValue(c)
	case key, firstKey:
		if c == '}' && next == firstKey {
			return s.end()
		}
		return value, s.name()
	case firstValue:
		if c == ']' {
			return s.end()
		}
	}
	switch c {
	case '{', '[':
		if len(s.open) == MaxDepth {
			return 0, fmt.Errorf("more than %d levels", MaxDepth)
		}
		s.object = s.object || len(s.open) == 0 && c == '{'
		s.open = append(s.open, c)
		s.pos++
		if c == '{' {
			return firstKey, nil
		}
		return firstValue, nil
	case '"':
		return more, s.str()
	}
	return more, s.literal()
}

func (s *scanner) afterValue(c byte) (expect, error) {
	inside := s.open[len(s.open)-1]
	switch {
	case c == ',' && inside == '{':
		s.pos++
		return key, nil
	case c == ',':
		s.pos++
		return value, nil
	case c == '}' && inside == '{', c == ']' && inside == '[':
		return s.end()
	}
	return 0, errUnexpected
}

// end closes the innermost container. At the outermost object there is no
// member to take, which the depth tells.
func (s *scanner) end() (expect, error) {
	s.open = s.open[:len(s.open)-1]
	s.pos++
	return more, nil
}

// name takes a key and its colon.
func (s *scanner) name() error {
	if s.text[s.pos] != '"' {
		return errUnexpected
	}
	start := s.pos
	if err := s.str(); err != nil {
		return err
	}
	if len(s.open) == 1 {
		s.key = unquote(s.text[start:s.pos])
	}
	s.space()
	if s.pos == len(s.text) || s.text[s.pos] != ':' {
		return errUnexpected
	}
	s.pos++
	return nil
}

func (s *scanner) str() error {
	for i := s.pos + 1; i < len(s.text); i++ {
		switch c := s.text[i]; {
		case c == '"':
			s.pos = i + 1
			return nil
		case c < ' ':
			s.pos = i
			return errors.New("control character in a string")
		case c == '\\':
			n := escapeLength(s.text[i:])
			if n == 0 {
				s.pos = i
				return errors.New("bad escape")
			}
			i += n - 1
		}
	}
	return errors.New("string without an end")
}

// escapeLength is that of the escape that b starts with, 0 for a bad one.
func escapeLength(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	if b[1] != 'u' {
		if bytes.IndexByte([]byte(`"\/bfnrt`), b[1]) < 0 {
			return 0
		}
		return 2
	}
	if len(b) < 6 {
		return 0
	}
	for _, c := range b[2:6] {
		if hexDigit(c) < 0 {
			return 0
		}
	}
	return 6
}

var words = []string{"null", "true", "false", "NaN", "Infinity", "-Infinity"}

func (s *scanner) literal() error {
	rest := s.text[s.pos:]
	for i, w := range words {
		if bytes.HasPrefix(rest, []byte(w)) {
			if i > 2 {
				s.floats = append(s.floats, span{s.pos, s.pos + len(w)})
			}
			s.pos += len(w)
			return nil
		}
	}
	n := numberLength(rest)
	if n == 0 {
		return errUnexpected
	}
	s.pos += n
	return nil
}

// numberLength is that of the number that b starts with, as Python matches it:
// -?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?
func numberLength(b []byte) int {
	i := 0
	if i < len(b) && b[i] == '-' {
		i++
	}
	whole := digits(b[i:])
	if whole == 0 {
		return 0
	}
	if b[i] == '0' {
		whole = 1
	}
	i += whole
	if i < len(b) && b[i] == '.' {
		if n := digits(b[i+1:]); n > 0 {
			i += 1 + n
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		j := i + 1
		if j < len(b) && (b[j] == '-' || b[j] == '+') {
			j++
		}
		if n := digits(b[j:]); n > 0 {
			i = j + n
		}
	}
	return i
}

func digits(b []byte) int {
	n := 0
	for n < len(b) && '0' <= b[n] && b[n] <= '9' {
		n++
	}
	return n
}
