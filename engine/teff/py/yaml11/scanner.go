package yaml11

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowtui/flowtui/engine/teff/py"
)

// What ends a line, and what may stand behind an indicator; 0 is the end of
// the document.
const (
	breaks    = "\r\n\u0085\u2028\u2029"
	lineEnds  = "\x00" + breaks
	blankEnds = "\x00 \t" + breaks
	spaceEnds = "\x00 " + breaks
)

func in(set string, r rune) bool { return strings.ContainsRune(set, r) }

// A scanner splits a document into tokens.
type scanner struct {
	text   []rune // with a 0 at its end
	index  int
	mark   Mark
	tokens []token // read and not yet taken
	taken  int
	done   bool

	flow     int // how many brackets are open
	indent   int // of the block that is open, from 0; -1: none
	indents  []int
	allowKey bool              // a simple key may begin here
	keys     map[int]simpleKey // by flow level
}

func newScanner(text string) (*scanner, error) {
	s := &scanner{mark: Mark{1, 1}, indent: -1, allowKey: true, keys: map[int]simpleKey{}}
	for _, r := range text {
		s.text = append(s.text, r)
		printable := r == '\t' || r == '\n' || r == '\r' || r >= 0x20 && r <= 0x7e || r == 0x85 || r >= 0xa0 && r <= 0xfffd || r >= 0x10000
		if !printable {
			return nil, &Error{Class: "ReaderError", Problem: fmt.Sprintf("unacceptable character #x%04x: special characters are not allowed", r), At: s.mark}
		}
		s.index++
		s.move(r, -1)
	}
	s.text, s.index, s.mark = append(s.text, 0), 0, Mark{1, 1}
	return s, nil
}

func (s *scanner) peek(ahead int) rune {
	if i := s.index + ahead; i < len(s.text) {
		return s.text[i]
	}
	return 0
}

func (s *scanner) move(r, next rune) {
	switch {
	case r == '\n' || r == 0x85 || r == 0x2028 || r == 0x2029 || r == '\r' && next != '\n':
		s.mark = Mark{s.mark.Line + 1, 1}
	case r != '\ufeff':
		s.mark.Column++
	}
}

func (s *scanner) forward(n int) {
	for ; n > 0; n-- {
		s.move(s.peek(0), s.peek(1))
		s.index++
	}
}

// column counts from 0, as indents do.
func (s *scanner) column() int { return s.mark.Column - 1 }

// take removes the next n runes.
func (s *scanner) take(n int) string {
	text := string(s.text[s.index : s.index+n])
	s.forward(n)
	return text
}

// while counts the runes ahead that fit.
func (s *scanner) while(fits func(rune) bool) int {
	n := 0
	for fits(s.peek(n)) && s.index+n < len(s.text) {
		n++
	}
	return n
}

func (s *scanner) fail(context string, start Mark, format string, args ...any) error {
	return &Error{Class: "ScannerError", Context: context, Start: start, Problem: fmt.Sprintf(format, args...), At: s.mark}
}

// shown is a rune as Python's %r shows it.
func shown(r rune) string { return py.Repr(string(r)) }

// next is the token that comes; take it with get.
func (s *scanner) next() (token, error) {
	for {
		more, err := s.needMore()
		if err == nil && !more {
			return s.tokens[0], nil
		}
		if err == nil {
			err = s.fetch()
		}
		if err != nil {
			return token{}, err
		}
	}
}

func (s *scanner) get() token {
	t := s.tokens[0]
	s.tokens = s.tokens[1:]
	s.taken++
	return t
}

// needMore reports whether the next token is not known yet: a simple key may
// still put one before it.
func (s *scanner) needMore() (bool, error) {
	if s.done || len(s.tokens) == 0 {
		return !s.done, nil
	}
	if err := s.dropStaleKeys(); err != nil {
		return false, err
	}
	first := -1
	for _, k := range s.keys {
		if first < 0 || k.token < first {
			first = k.token
		}
	}
	return first == s.taken, nil
}

func (s *scanner) add(kind tokenKind, length int) {
	start := s.mark
	s.forward(length)
	s.tokens = append(s.tokens, token{kind: kind, start: start, end: s.mark})
}

// fetch reads one token, or more where blocks end.
func (s *scanner) fetch() error {
	s.skip()
	if err := s.dropStaleKeys(); err != nil {
		return err
	}
	s.unwind(s.column())
	r := s.peek(0)
	after := s.peek(1)
	column0 := s.mark.Column == 1
	switch {
	case r == 0:
		return s.fetchEnd()
	case r == '%' && column0:
		return s.fetchDirective()
	case r == '-' && column0 && s.separator('-'):
		return s.fetchDocument(documentStart)
	case r == '.' && column0 && s.separator('.'):
		return s.fetchDocument(documentEnd)
	case r == '[':
		return s.fetchOpen(flowSequenceStart)
	case r == '{':
		return s.fetchOpen(flowMappingStart)
	case r == ']':
		return s.fetchClose(flowSequenceEnd)
	case r == '}':
		return s.fetchClose(flowMappingEnd)
	case r == ',':
		s.allowKey = true
		err := s.removeKey()
		s.add(flowEntry, 1)
		return err
	case r == '-' && in(blankEnds, after):
		return s.fetchIndicator(blockEntry, blockSequenceStart, "sequence entries are not allowed here")
	case r == '?' && (s.flow > 0 || in(blankEnds, after)):
		return s.fetchIndicator(keyToken, blockMappingStart, "mapping keys are not allowed here")
	case r == ':' && (s.flow > 0 || in(blankEnds, after)):
		return s.fetchValue()
	case r == '*' || r == '&' || r == '!' || r == '\'' || r == '"':
		return s.fetchProperty(r)
	case (r == '|' || r == '>') && s.flow == 0:
		s.allowKey = true
		if err := s.removeKey(); err != nil {
			return err
		}
		return s.blockScalar(r == '>')
	case s.beginsPlain(r, after):
		return s.fetchProperty(r)
	}
	return s.fail("while scanning for the next token", Mark{}, "found character %s that cannot start any token", shown(r))
}

func (s *scanner) beginsPlain(r, after rune) bool {
	return !in(blankEnds+"-?:,[]{}#&*!|>'\"%@`", r) || !in(blankEnds, after) && (r == '-' || s.flow == 0 && in("?:", r))
}

// separator reports whether "---" or "..." comes.
func (s *scanner) separator(r rune) bool {
	return s.peek(0) == r && s.peek(1) == r && s.peek(2) == r && in(blankEnds, s.peek(3))
}

// skip goes over blanks, comments and line ends.
func (s *scanner) skip() {
	if s.index == 0 && s.peek(0) == '\ufeff' {
		s.forward(1)
	}
	for {
		for s.peek(0) == ' ' {
			s.forward(1)
		}
		if s.peek(0) == '#' {
			for !in(lineEnds, s.peek(0)) {
				s.forward(1)
			}
		}
		if s.lineBreak() == "" {
			return
		}
		if s.flow == 0 {
			s.allowKey = true
		}
	}
}

// lineBreak takes one line end and gives it as a scalar holds it.
func (s *scanner) lineBreak() string {
	switch r := s.peek(0); r {
	case '\r', '\n', 0x85:
		if r == '\r' && s.peek(1) == '\n' {
			s.forward(1)
		}
		s.forward(1)
		return "\n"
	case 0x2028, 0x2029:
		s.forward(1)
		return string(r)
	}
	return ""
}

func (s *scanner) dropStaleKeys() error {
	for level, k := range s.keys {
		if k.mark.Line != s.mark.Line || s.index-k.index > 1024 {
			if k.required {
				return s.fail("while scanning a simple key", k.mark, "could not find expected ':'")
			}
			delete(s.keys, level)
		}
	}
	return nil
}

func (s *scanner) saveKey() error {
	if !s.allowKey {
		return nil
	}
	if err := s.removeKey(); err != nil {
		return err
	}
	s.keys[s.flow] = simpleKey{s.taken + len(s.tokens), s.flow == 0 && s.indent == s.column(), s.index, s.mark}
	return nil
}

func (s *scanner) removeKey() error {
	k, ok := s.keys[s.flow]
	if ok && k.required {
		return s.fail("while scanning a simple key", k.mark, "could not find expected ':'")
	}
	delete(s.keys, s.flow)
	return nil
}

// unwind ends the blocks that are indented more than column.
func (s *scanner) unwind(column int) {
	for s.flow == 0 && s.indent > column {
		s.indent = s.indents[len(s.indents)-1]
		s.indents = s.indents[:len(s.indents)-1]
		s.add(blockEnd, 0)
	}
}

// open begins a block at a column if it is indented more.
func (s *scanner) open(column int) bool {
	if s.indent >= column {
		return false
	}
	s.indents = append(s.indents, s.indent)
	s.indent = column
	return true
}

func (s *scanner) fetchEnd() error {
	s.unwind(-1)
	if err := s.removeKey(); err != nil {
		return err
	}
	s.allowKey, s.done = false, true
	clear(s.keys)
	s.add(streamEnd, 0)
	return nil
}

func (s *scanner) fetchDocument(kind tokenKind) error {
	s.unwind(-1)
	err := s.removeKey()
	s.allowKey = false
	s.add(kind, 3)
	return err
}

func (s *scanner) fetchOpen(kind tokenKind) error {
	err := s.saveKey()
	s.flow++
	s.allowKey = true
	s.add(kind, 1)
	return err
}

func (s *scanner) fetchClose(kind tokenKind) error {
	err := s.removeKey()
	s.flow--
	s.allowKey = false
	s.add(kind, 1)
	return err
}

// fetchIndicator reads "- " or "? ".
func (s *scanner) fetchIndicator(kind, block tokenKind, refused string) error {
	if s.flow == 0 {
		if !s.allowKey {
			return s.fail("", Mark{}, "%s", refused)
		}
		if s.open(s.column()) {
			s.add(block, 0)
		}
	}
	s.allowKey = kind == blockEntry || s.flow == 0
	err := s.removeKey()
	s.add(kind, 1)
	return err
}

func (s *scanner) fetchValue() error {
	if k, ok := s.keys[s.flow]; ok {
		delete(s.keys, s.flow)
		s.tokens = slices.Insert(s.tokens, k.token-s.taken, token{kind: keyToken, start: k.mark, end: k.mark})
		if s.flow == 0 && s.open(k.mark.Column-1) {
			s.tokens = slices.Insert(s.tokens, k.token-s.taken, token{kind: blockMappingStart, start: k.mark, end: k.mark})
		}
		s.allowKey = false
		s.add(valueToken, 1)
		return nil
	}
	if s.flow == 0 {
		if !s.allowKey {
			return s.fail("", Mark{}, "mapping values are not allowed here")
		}
		if s.open(s.column()) {
			s.add(blockMappingStart, 0)
		}
	}
	s.allowKey = s.flow == 0
	err := s.removeKey()
	s.add(valueToken, 1)
	return err
}

// fetchProperty reads what a simple key may begin with.
func (s *scanner) fetchProperty(r rune) error {
	if err := s.saveKey(); err != nil {
		return err
	}
	s.allowKey = false
	switch r {
	case '*':
		return s.anchor(aliasToken, "alias")
	case '&':
		return s.anchor(anchorToken, "anchor")
	case '!':
		return s.tag()
	case '\'', '"':
		return s.quoted(r)
	}
	return s.plain()
}
