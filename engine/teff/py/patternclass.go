package py

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// What Python's categories are, as the inside of a regexp2 class: of all of
// Unicode, and under (?a).
const (
	anyRune    = `[\s\S]`
	spaceRunes = `\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000`
	wordRunes  = `\p{L}\p{N}_`
)

func category(r rune, f flags) string {
	switch {
	case r == 'd' && f.ascii:
		return `0-9`
	case r == 'd':
		return `\p{Nd}`
	case r == 's' && f.ascii:
		return `\u0009-\u000d\u0020`
	case r == 's':
		return spaceRunes
	case f.ascii:
		return `0-9A-Za-z_`
	}
	return wordRunes
}

func isCategory(r rune) bool { return strings.ContainsRune("dswDSW", r) }

// runeText writes a code point so that it means itself everywhere.
func runeText(r rune) string {
	switch {
	case r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)) || r > 0xffff:
		return string(r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// literal matches one code point, or what differs from it only in case.
func literal(r rune, f flags) string {
	if !f.ignore {
		return runeText(r)
	}
	var b strings.Builder
	for _, v := range variants(r, f.ascii) {
		b.WriteString(runeText(v))
	}
	return "[" + b.String() + "]"
}

// Code points that re takes for the same letter beyond Unicode's simple case
// folding.
var alsoEqual = [][]rune{{'i', 'I', '\u0131', '\u0130'}, {'\u0390', '\u1fd3'}, {'\u03b0', '\u1fe3'}, {'\ufb05', '\ufb06'}}

// casedRunes are the code points that have variants, in order.
var casedRunes = sync.OnceValue(func() []rune {
	var list []rune
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if len(variants(r, false)) > 1 {
			list = append(list, r)
		}
	}
	return list
})

// variants are the code points that re.IGNORECASE takes for the same as r.
func variants(r rune, asciiOnly bool) []rune {
	list := []rune{r}
	if asciiOnly {
		if r < 0x80 && unicode.IsLetter(r) {
			list = append(list, r^0x20)
		}
		return list
	}
	for v := unicode.SimpleFold(r); v != r; v = unicode.SimpleFold(v) {
		list = append(list, v)
	}
	for _, set := range alsoEqual {
		if slices.Contains(set, r) {
			list = append(list, set...)
		}
	}
	return list
}

// escape reads what follows a backslash outside a class.
func (p *patternParser) escape(start int, f flags) (*piece, error) {
	r := p.get()
	word := "[" + category('w', f) + "]"
	switch {
	case r == 'A':
		return &piece{text: `\A`, anchor: true}, nil
	case r == 'Z':
		return &piece{text: `\z`, anchor: true}, nil
	case r == 'b':
		return &piece{text: fmt.Sprintf("(?:(?<=%s)(?!%s)|(?<!%s)(?=%s))", word, word, word, word), anchor: true}, nil
	case r == 'B': // which an empty text has not
		return &piece{text: fmt.Sprintf(`(?:(?!\A\z)(?:(?<=%s)(?=%s)|(?<!%s)(?!%s)))`, word, word, word, word), anchor: true}, nil
	case isCategory(r):
		not := ""
		if unicode.IsUpper(r) {
			not = "^"
		}
		return &piece{text: "[" + not + category(unicode.ToLower(r), f) + "]", width: width{1, 1}}, nil
	case r >= '1' && r <= '9':
		return p.numbered(start, f)
	}
	c, err := p.character(r, start)
	if err != nil {
		return nil, err
	}
	return &piece{text: literal(c, f), width: width{1, 1}}, nil
}

// numbered reads a reference or three octal digits.
func (p *patternParser) numbered(start int, f flags) (*piece, error) {
	octal := func(r rune) bool { return r >= '0' && r <= '7' }
	if p.next() >= '0' && p.next() <= '9' {
		p.at++
		if octal(p.text[p.at-2].r) && octal(p.text[p.at-1].r) && octal(p.next()) {
			p.at++
			c, err := p.octal(start)
			return &piece{text: literal(c, f), width: width{1, 1}}, err
		}
	}
	number, _ := strconv.Atoi(join(p.text[start+1 : p.at]))
	return p.reference(number, start+1, start, f)
}

func (p *patternParser) octal(start int) (rune, error) {
	digits := join(p.text[start+1 : p.at])
	n, _ := strconv.ParseInt(digits, 8, 32)
	if n > 0o377 {
		return 0, p.fail(start, `octal escape value \%s outside of range 0-0o377`, digits)
	}
	return rune(n), nil
}

// character is the code point that an escape stands for, in a class or not.
func (p *patternParser) character(r rune, start int) (rune, error) {
	if r < 0 {
		return 0, p.fail(start, "bad escape (end of pattern)")
	}
	if i := strings.IndexRune(`afnrtv\`, r); i >= 0 {
		return rune("\a\f\n\r\t\v\\"[i]), nil
	}
	switch r {
	case 'x':
		return p.hex(2, start)
	case 'u':
		return p.hex(4, start)
	case 'U':
		return p.hex(8, start)
	case '0':
		for n := 0; n < 2 && p.next() >= '0' && p.next() <= '7'; n++ {
			p.at++
		}
		return p.octal(start)
	}
	if r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
		return 0, p.fail(start, `bad escape \%c`, r)
	}
	return r, nil
}

func (p *patternParser) hex(digits, start int) (rune, error) {
	from := p.at
	for p.at < from+digits && p.next() >= 0 && strings.ContainsRune("0123456789abcdefABCDEF", p.next()) {
		p.at++
	}
	text := join(p.text[start:p.at])
	if p.at < from+digits {
		return 0, p.fail(start, "incomplete escape %s", text)
	}
	n, err := strconv.ParseUint(text[2:], 16, 32)
	if err != nil || n > unicode.MaxRune {
		return 0, p.fail(start, "bad escape %s", text)
	}
	return rune(n), nil
}

// A charClass collects what stands between brackets.
type charClass struct {
	inside  strings.Builder // what a regexp2 class can hold
	outside []string        // complements, which it cannot
}

// class reads what follows "[".
func (p *patternParser) class(start int, f flags) (*piece, error) {
	var c charClass
	negated := p.match('^')
	for first := true; ; first = false {
		here := p.at
		r := p.get()
		switch {
		case r < 0:
			return nil, p.fail(start, "unterminated character set")
		case r == ']' && !first:
			return &piece{text: c.text(negated), width: width{1, 1}}, nil
		}
		low, isCat, err := p.member(r, here)
		if err != nil {
			return nil, err
		}
		if !p.match('-') {
			c.add(low, low, isCat, f)
			continue
		}
		there := p.at
		r = p.get()
		if r < 0 {
			return nil, p.fail(start, "unterminated character set")
		}
		if r == ']' {
			c.add(low, low, isCat, f)
			c.add('-', '-', false, f)
			return &piece{text: c.text(negated), width: width{1, 1}}, nil
		}
		high, highIsCat, err := p.member(r, there)
		if err != nil {
			return nil, err
		}
		if isCat || highIsCat || high < low {
			return nil, p.fail(here, "bad character range %s", join(p.text[here:p.at]))
		}
		c.add(low, high, false, f)
	}
}

// member reads one member of a class: a code point, or a category by its letter.
func (p *patternParser) member(r rune, start int) (c rune, isCat bool, err error) {
	if r != '\\' {
		return r, false, nil
	}
	r = p.get()
	switch {
	case r == 'b':
		return '\b', false, nil
	case isCategory(r):
		return r, true, nil
	case r >= '1' && r <= '7':
		for n := 0; n < 2 && p.next() >= '0' && p.next() <= '7'; n++ {
			p.at++
		}
		c, err = p.octal(start)
		return c, false, err
	}
	c, err = p.character(r, start)
	return c, false, err
}

func (c *charClass) add(low, high rune, isCat bool, f flags) {
	switch {
	case isCat && unicode.IsUpper(low):
		c.outside = append(c.outside, "[^"+category(unicode.ToLower(low), f)+"]")
		return
	case isCat:
		c.inside.WriteString(category(low, f))
		return
	}
	c.inside.WriteString(runeText(low))
	if high > low {
		c.inside.WriteString("-" + runeText(high))
	}
	if !f.ignore {
		return
	}
	from, _ := slices.BinarySearch(casedRunes(), low)
	for _, r := range casedRunes()[from:] {
		if r > high {
			return
		}
		for _, v := range variants(r, f.ascii) {
			if v < low || v > high {
				c.inside.WriteString(runeText(v))
			}
		}
	}
}

func (c *charClass) text(negated bool) string {
	not := ""
	if negated {
		not = "^"
	}
	if len(c.outside) == 0 {
		return "[" + not + c.inside.String() + "]"
	}
	all := c.outside
	if c.inside.Len() > 0 {
		all = append(all, "["+c.inside.String()+"]")
	}
	if negated {
		return "(?:(?!" + strings.Join(all, "|") + ")" + anyRune + ")"
	}
	return "(?:" + strings.Join(all, "|") + ")"
}
