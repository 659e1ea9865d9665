package py

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// formatString is format(text, spec) of a string:
// [[fill]align][sign][z][#][0][width][grouping][.precision][type].
func formatString(text string, spec []letter) (string, error) {
	if len(spec) == 0 {
		return text, nil
	}
	f, err := parseSpec(spec)
	if err == nil {
		err = f.fits()
	}
	if err != nil {
		return "", err
	}
	letters := split(text)
	if f.precision >= 0 && f.precision < len(letters) {
		letters = letters[:f.precision]
	}
	pad := max(f.width-len(letters), 0)
	if pad > maxOutput {
		return "", &Error{Type: "MemoryError"}
	}
	left := 0
	switch f.align {
	case '>':
		left = pad
	case '^':
		left = pad / 2
	}
	return strings.Repeat(f.fill, left) + join(letters) + strings.Repeat(f.fill, pad-left), nil
}

// A formatSpec is what a string's format asks for; width and precision are -1
// where it says nothing.
type formatSpec struct {
	fill             string
	align, sign      rune
	noNegZero, alt   bool
	width, precision int
	grouping, kind   rune
}

type specReader struct{ rest []letter }

// take removes the next code point if it is one of set.
func (s *specReader) take(set string) rune {
	if len(s.rest) == 0 || !strings.ContainsRune(set, s.rest[0].r) {
		return 0
	}
	r := s.rest[0].r
	s.rest = s.rest[1:]
	return r
}

// number removes decimal digits; -1 if there are none.
func (s *specReader) number() (int, error) {
	n := slices.IndexFunc(s.rest, func(c letter) bool { return !unicode.IsDigit(c.r) })
	if n < 0 {
		n = len(s.rest)
	}
	digits := s.rest[:n]
	s.rest = s.rest[n:]
	return integer(digits)
}

func parseSpec(spec []letter) (formatSpec, error) {
	const aligns = "<>=^"
	f := formatSpec{fill: " ", align: '<', width: -1, precision: -1}
	s := &specReader{spec}
	filled := len(spec) > 1 && strings.ContainsRune(aligns, spec[1].r)
	if filled {
		f.fill, f.align = spec[0].text, spec[1].r
		s.rest = spec[2:]
	} else if a := s.take(aligns); a != 0 {
		f.align = a
	}
	f.sign = s.take(" +-")
	f.noNegZero = s.take("z") != 0
	f.alt = s.take("#") != 0
	if !filled && s.take("0") != 0 {
		f.fill = "0"
	}
	var err error
	if f.width, err = s.number(); err != nil {
		return f, err
	}
	f.grouping = s.take(",")
	if s.take("_") != 0 {
		if f.grouping != 0 {
			return f, Errorf("ValueError", "Cannot specify both ',' and '_'.")
		}
		f.grouping = '_'
	}
	if f.grouping == '_' && s.take(",") != 0 {
		return f, Errorf("ValueError", "Cannot specify both ',' and '_'.")
	}
	if s.take(".") != 0 {
		if f.precision, err = s.number(); err != nil {
			return f, err
		}
		if f.precision < 0 {
			return f, Errorf("ValueError", "Format specifier missing precision")
		}
	}
	if len(s.rest) > 1 {
		return f, Errorf("ValueError", "Invalid format specifier '%s' for object of type 'str'", join(spec))
	}
	f.kind = 's'
	if len(s.rest) == 1 {
		f.kind = s.rest[0].r
	}
	return f, nil
}

// fits says what a string's format may not have.
func (f formatSpec) fits() error {
	shown := string(f.kind)
	if f.kind <= 32 || f.kind >= 128 {
		shown = fmt.Sprintf(`\x%x`, f.kind)
	}
	switch {
	case f.grouping != 0 && !strings.ContainsRune("defgEG%F", f.kind) && (f.grouping != '_' || !strings.ContainsRune("boxX", f.kind)):
		return Errorf("ValueError", "Cannot specify '%c' with '%s'.", f.grouping, shown)
	case f.kind != 's':
		return Errorf("ValueError", "Unknown format code '%s' for object of type 'str'", shown)
	case f.sign == ' ':
		return Errorf("ValueError", "Space not allowed in string format specifier")
	case f.sign != 0:
		return Errorf("ValueError", "Sign not allowed in string format specifier")
	case f.noNegZero:
		return Errorf("ValueError", "Negative zero coercion (z) not allowed in string format specifier")
	case f.alt:
		return Errorf("ValueError", "Alternate form (#) not allowed in string format specifier")
	case f.align == '=':
		return Errorf("ValueError", "'=' alignment not allowed in string format specifier")
	}
	return nil
}
