package yaml11

import (
	"strconv"
	"unicode/utf8"
)

func wordRune(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r == '-' || r == '_'
}

func (s *scanner) anchor(kind tokenKind, what string) error {
	start := s.mark
	s.forward(1)
	n := s.while(wordRune)
	if n == 0 {
		return s.fail("while scanning an "+what, start, "expected alphabetic or numeric character, but found %s", shown(s.peek(0)))
	}
	name := s.take(n)
	if !in(blankEnds+"?:,]}%@`", s.peek(0)) {
		return s.fail("while scanning an "+what, start, "expected alphabetic or numeric character, but found %s", shown(s.peek(0)))
	}
	s.tokens = append(s.tokens, token{kind: kind, start: start, end: s.mark, value: name})
	return nil
}

func (s *scanner) tag() error {
	t := token{kind: tagToken, start: s.mark}
	var err error
	switch r := s.peek(1); {
	case r == '<':
		s.forward(2)
		if t.value, err = s.uri("tag", t.start); err != nil {
			return err
		}
		if s.peek(0) != '>' {
			return s.fail("while parsing a tag", t.start, "expected '>', but found %s", shown(s.peek(0)))
		}
		s.forward(1)
	case in(blankEnds, r):
		t.value = "!"
		s.forward(1)
	default:
		t.handle = "!"
		n := 1
		for !in(spaceEnds+"!", s.peek(n)) {
			n++
		}
		if s.peek(n) == '!' {
			if t.handle, err = s.handle("tag", t.start); err != nil {
				return err
			}
		} else {
			s.forward(1)
		}
		if t.value, err = s.uri("tag", t.start); err != nil {
			return err
		}
	}
	if !in(spaceEnds, s.peek(0)) {
		return s.fail("while scanning a tag", t.start, "expected ' ', but found %s", shown(s.peek(0)))
	}
	t.end = s.mark
	s.tokens = append(s.tokens, t)
	return nil
}

// handle reads "!", "!!" or "!name!".
func (s *scanner) handle(what string, start Mark) (string, error) {
	if s.peek(0) != '!' {
		return "", s.fail("while scanning a "+what, start, "expected '!', but found %s", shown(s.peek(0)))
	}
	n := 1
	if s.peek(1) != ' ' {
		for wordRune(s.peek(n)) {
			n++
		}
		if s.peek(n) != '!' {
			s.forward(n)
			return "", s.fail("while scanning a "+what, start, "expected '!', but found %s", shown(s.peek(0)))
		}
		n++
	}
	return s.take(n), nil
}

func (s *scanner) uri(what string, start Mark) (string, error) {
	var out []byte
	for {
		r := s.peek(0)
		switch {
		case r == '%':
			escaped, err := s.uriEscapes(what, start)
			if err != nil {
				return "", err
			}
			out = append(out, escaped...)
			continue
		case r != 0 && (wordRune(r) || in(";/?:@&=+$,.!~*'()[]", r)):
			out = append(out, byte(r))
			s.forward(1)
			continue
		}
		if len(out) == 0 {
			return "", s.fail("while parsing a "+what, start, "expected URI, but found %s", shown(r))
		}
		return string(out), nil
	}
}

func (s *scanner) uriEscapes(what string, start Mark) ([]byte, error) {
	var out []byte
	for s.peek(0) == '%' {
		s.forward(1)
		n, err := strconv.ParseUint(string(s.peek(0))+string(s.peek(1)), 16, 8)
		if err != nil {
			return nil, s.fail("while scanning a "+what, start, "expected URI escape sequence of 2 hexadecimal numbers, but found %s", shown(s.peek(0)))
		}
		s.forward(2)
		out = append(out, byte(n))
	}
	if !utf8.Valid(out) {
		return nil, s.fail("while scanning a "+what, start, "'utf-8' codec can't decode it")
	}
	return out, nil
}

func (s *scanner) fetchDirective() error {
	s.unwind(-1)
	if err := s.removeKey(); err != nil {
		return err
	}
	s.allowKey = false
	t := token{kind: directive, start: s.mark}
	const what = "while scanning a directive"
	s.forward(1)
	n := s.while(wordRune)
	if n == 0 {
		return s.fail(what, t.start, "expected alphabetic or numeric character, but found %s", shown(s.peek(0)))
	}
	t.value = s.take(n)
	if !in(spaceEnds, s.peek(0)) {
		return s.fail(what, t.start, "expected alphabetic or numeric character, but found %s", shown(s.peek(0)))
	}
	var err error
	switch t.value {
	case "YAML":
		t.arguments, err = s.version(t.start)
	case "TAG":
		t.arguments, err = s.tagPrefix(t.start)
	default:
		s.forward(s.while(func(r rune) bool { return !in(lineEnds, r) }))
	}
	if err != nil {
		return err
	}
	if err := s.restOfLine(what, t.start); err != nil {
		return err
	}
	t.end = s.mark
	s.tokens = append(s.tokens, t)
	return nil
}

func (s *scanner) blanks() {
	for s.peek(0) == ' ' {
		s.forward(1)
	}
}

// restOfLine allows nothing but a comment.
func (s *scanner) restOfLine(context string, start Mark) error {
	s.blanks()
	if s.peek(0) == '#' {
		s.forward(s.while(func(r rune) bool { return !in(lineEnds, r) }))
	}
	if !in(lineEnds, s.peek(0)) {
		return s.fail(context, start, "expected a comment or a line break, but found %s", shown(s.peek(0)))
	}
	s.lineBreak()
	return nil
}

func (s *scanner) version(start Mark) ([2]string, error) {
	s.blanks()
	var v [2]string
	for i, after := range []string{".", spaceEnds} {
		n := s.while(func(r rune) bool { return r >= '0' && r <= '9' })
		if n == 0 {
			return v, s.fail("while scanning a directive", start, "expected a digit, but found %s", shown(s.peek(0)))
		}
		v[i] = s.take(n)
		if !in(after, s.peek(0)) {
			return v, s.fail("while scanning a directive", start, "expected a digit or '%c', but found %s", after[len(after)-1-i*(len(after)-2)], shown(s.peek(0)))
		}
		if i == 0 {
			s.forward(1)
		}
	}
	return v, nil
}

func (s *scanner) tagPrefix(start Mark) (v [2]string, err error) {
	s.blanks()
	if v[0], err = s.handle("directive", start); err != nil {
		return v, err
	}
	if s.peek(0) != ' ' {
		return v, s.fail("while scanning a directive", start, "expected ' ', but found %s", shown(s.peek(0)))
	}
	s.blanks()
	if v[1], err = s.uri("directive", start); err != nil {
		return v, err
	}
	if !in(spaceEnds, s.peek(0)) {
		return v, s.fail("while scanning a directive", start, "expected ' ', but found %s", shown(s.peek(0)))
	}
	return v, nil
}
