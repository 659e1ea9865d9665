package flowfile

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxWidth bounds what a format may ask for: it may come from the state.
const maxWidth = 10_000

// format is Python's format spec for strings: [[fill]align][0][width][.precision][s].
type format struct {
	fill      rune
	align     rune
	width     int
	precision int // -1: all
}

func parseFormat(spec string) (format, error) {
	f := format{fill: ' ', align: '<', precision: -1}
	rs := []rune(spec)
	const aligns = "<>^="
	switch {
	case len(rs) > 1 && strings.ContainsRune(aligns, rs[1]):
		f.fill, f.align, rs = rs[0], rs[1], rs[2:]
	case len(rs) > 0 && strings.ContainsRune(aligns, rs[0]):
		f.align, rs = rs[0], rs[1:]
	}
	filled := len([]rune(spec))-len(rs) == 2
	if len(rs) > 0 && rs[0] == '0' && !filled {
		f.fill = '0'
	}
	var err error
	if f.width, rs, err = digits(rs); err != nil {
		return f, fmt.Errorf("format %q: %w", spec, err)
	}
	if len(rs) > 1 && rs[0] == '.' && isDigit(rs[1]) {
		if f.precision, rs, err = digits(rs[1:]); err != nil {
			return f, fmt.Errorf("format %q: %w", spec, err)
		}
	}
	if rest := string(rs); f.align == '=' || rest != "" && rest != "s" {
		return f, fmt.Errorf("format %q: values are formatted as text: [[fill]<>^][width][.precision]", spec)
	}
	return f, nil
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

func digits(rs []rune) (int, []rune, error) {
	n := 0
	for len(rs) > 0 && isDigit(rs[0]) {
		n = n*10 + int(rs[0]-'0')
		if n > maxWidth {
			return 0, nil, fmt.Errorf("more than %d letters", maxWidth)
		}
		rs = rs[1:]
	}
	return n, rs, nil
}

func (f format) apply(s string) string {
	if f.precision >= 0 && utf8.RuneCountInString(s) > f.precision {
		s = string([]rune(s)[:f.precision])
	}
	pad := f.width - utf8.RuneCountInString(s)
	if pad <= 0 {
		return s
	}
	left := 0
	switch f.align {
	case '>':
		left = pad
	case '^':
		left = pad / 2
	}
	fill := string(f.fill)
	return strings.Repeat(fill, left) + s + strings.Repeat(fill, pad-left)
}
