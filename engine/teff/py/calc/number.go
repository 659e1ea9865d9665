package calc

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/flowtui/flowtui/engine/teff/py"
)

// number reads a literal as Python's tokenizer does.
func (s *scanner) number() error {
	from := s.at
	var err error
	prefix := strings.ToLower(s.source[s.at:min(s.at+2, len(s.source))])
	switch prefix {
	case "0x":
		err = s.radix(16, "hexadecimal")
	case "0o":
		err = s.radix(8, "octal")
	case "0b":
		err = s.radix(2, "binary")
	default:
		err = s.decimal()
	}
	if err == nil {
		s.add(number, s.source[from:s.at])
	}
	return err
}

func (s *scanner) radix(base int, kind string) error {
	digit := func() bool {
		_, err := strconv.ParseUint(string(s.peek()), base, 8)
		return err == nil
	}
	s.at += 2
	for first := true; first || s.peek() == '_'; first = false {
		if s.peek() == '_' {
			s.at++
		}
		if !digit() && isDigit(s.peek()) {
			return syntaxError(s.line, "invalid digit '%c' in %s literal", s.peek(), kind)
		}
		if !digit() {
			return syntaxError(s.line, "invalid %s literal", kind)
		}
		for digit() {
			s.at++
		}
	}
	if isDigit(s.peek()) {
		return syntaxError(s.line, "invalid digit '%c' in %s literal", s.peek(), kind)
	}
	return s.numberEnd(s.at, kind)
}

// digits reads digits with single underscores between them.
func (s *scanner) digits() error {
	for {
		for isDigit(s.peek()) {
			s.at++
		}
		if s.peek() != '_' {
			return nil
		}
		if s.at++; !isDigit(s.peek()) {
			return syntaxError(s.line, "invalid decimal literal")
		}
	}
}

func (s *scanner) decimal() error {
	from := s.at
	if err := s.digits(); err != nil {
		return err
	}
	whole := s.source[from:s.at]
	plain := true
	if s.peek() == '.' {
		plain = false
		if s.at++; isDigit(s.peek()) {
			if err := s.digits(); err != nil {
				return err
			}
		}
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		at := s.at
		s.at++
		signed := s.peek() == '+' || s.peek() == '-'
		if signed {
			s.at++
		}
		switch {
		case isDigit(s.peek()):
			plain = false
			if err := s.digits(); err != nil {
				return err
			}
		case signed:
			return syntaxError(s.line, "invalid decimal literal")
		default:
			s.at = at
			return s.numberEnd(at, "decimal")
		}
	}
	if c := s.peek(); c == 'j' || c == 'J' {
		s.at++
		return s.numberEnd(s.at, "imaginary")
	}
	if plain && len(whole) > 1 && whole[0] == '0' && strings.Trim(whole, "0_") != "" {
		return syntaxError(s.line, "leading zeros in decimal integer literals are not permitted; use an 0o prefix for octal integers")
	}
	return s.numberEnd(s.at, "decimal")
}

// numberEnd refuses a letter right behind a number, unless a keyword that can
// follow one begins there.
func (s *scanner) numberEnd(at int, kind string) error {
	rest := s.source[at:]
	for _, word := range []string{"and", "else", "for", "if", "in", "is", "or"} {
		if strings.HasPrefix(rest, word) {
			return nil
		}
	}
	if rest == "" || !identifierByte(rest[0]) {
		return nil
	}
	return syntaxError(s.line, "invalid %s literal", kind)
}

// literal is the value of a number token.
func literal(t token) (py.Value, error) {
	digits := strings.ToLower(strings.ReplaceAll(t.text, "_", ""))
	if len(digits) > 1 && strings.IndexByte("xob", digits[1]) >= 0 {
		n, _ := new(big.Int).SetString(digits, 0)
		return py.NewInt(n), nil
	}
	if imaginary, ok := strings.CutSuffix(digits, "j"); ok {
		f, _ := strconv.ParseFloat(imaginary, 64)
		return complex(0, f), nil
	}
	if strings.ContainsAny(digits, ".e") {
		f, _ := strconv.ParseFloat(digits, 64) // out of range is an infinity, as in Python
		return f, nil
	}
	n, err := py.ParseInt(digits)
	if e, ok := err.(*py.Error); ok {
		return nil, syntaxError(t.line, "%s - Consider hexadecimal for huge integer literals to avoid decimal conversion limits.", e.Message)
	}
	return n, nil
}
