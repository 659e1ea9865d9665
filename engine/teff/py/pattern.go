package py

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// A patternParser reads a pattern as Python's re does, so that it refuses what
// re refuses, and writes it for regexp2, whose dialect differs: every atom is
// written in a form that means the same under all options.
type patternParser struct {
	text   []letter
	at     int
	groups int
	names  map[string]int
	widths map[int]width // of the closed groups
	refs   []groupRef    // what conditions ask for, which may come later
	behind int           // groups that were open or closed when a lookbehind began, plus 1; 0: outside
	global flags         // flags of the whole pattern, from (?i) at its start
}

type flags struct{ ignore, multiline, dotall, verbose, ascii bool }

func (f flags) with(add, del flags) flags {
	return flags{
		(f.ignore || add.ignore) && !del.ignore, (f.multiline || add.multiline) && !del.multiline,
		(f.dotall || add.dotall) && !del.dotall, (f.verbose || add.verbose) && !del.verbose, f.ascii || add.ascii,
	}
}

// set gives a flag by its letter; known is false for a letter that is none.
func (f *flags) set(r rune) (known bool) {
	switch r {
	case 'i':
		f.ignore = true
	case 'm':
		f.multiline = true
	case 's':
		f.dotall = true
	case 'x':
		f.verbose = true
	case 'a':
		f.ascii = true
	case 'u':
	default:
		return false
	}
	return true
}

// A groupRef is a group by its number, and where it is named.
type groupRef struct{ number, at int }

// A width is how many code points a piece matches, at least and at most.
type width struct{ min, max int }

const (
	endless = 1<<31 - 1 // of widths and repetitions
	tooMany = 1<<32 - 1 // repetitions that Python refuses
	nesting = 450       // groups in groups, under Python's recursion limit
)

func (w width) plus(v width) width {
	return width{min(w.min+v.min, endless), min(w.max+v.max, endless)}
}
func (w width) or(v width) width    { return width{min(w.min, v.min), max(w.max, v.max)} }
func (w width) times(v width) width { return width{product(w.min, v.min), product(w.max, v.max)} }
func product(a, b int) int          { return min(a*b, endless) }

// A piece is one item of a sequence, written for regexp2.
type piece struct {
	text   string
	width  width
	anchor bool // cannot be repeated
	repeat bool // is repeated already
}

func (p *patternParser) fail(at int, format string, args ...any) error {
	where := fmt.Sprintf(" at position %d", at)
	line, column := 1, 1
	for _, c := range p.text[:at] {
		if column++; c.r == '\n' {
			line, column = line+1, 1
		}
	}
	for _, c := range p.text {
		if c.r == '\n' {
			where += fmt.Sprintf(" (line %d, column %d)", line, column)
			break
		}
	}
	return Errorf("error", "%s%s", fmt.Sprintf(format, args...), where)
}

// next is the coming code point, -1 at the end.
func (p *patternParser) next() rune {
	if p.at < len(p.text) {
		return p.text[p.at].r
	}
	return -1
}

func (p *patternParser) get() rune {
	r := p.next()
	if r >= 0 {
		p.at++
	}
	return r
}

func (p *patternParser) match(r rune) bool {
	if p.next() != r {
		return false
	}
	p.at++
	return true
}

func (p *patternParser) compile(text []letter) (string, error) {
	p.text = text
	out, _, err := p.alternatives(flags{}, 0)
	if err != nil {
		return "", err
	}
	if p.next() >= 0 {
		return "", p.fail(p.at, "unbalanced parenthesis")
	}
	for _, ref := range p.refs {
		if ref.number > p.groups {
			return "", p.fail(ref.at, "invalid group reference %d", ref.number)
		}
	}
	return out, nil
}

func (p *patternParser) alternatives(f flags, depth int) (string, width, error) {
	if depth > nesting {
		return "", width{}, Errorf("RecursionError", "maximum recursion depth exceeded")
	}
	var out []string
	var total width
	for {
		text, w, used, err := p.sequence(f, depth, depth == 0 && out == nil)
		if err != nil {
			return "", w, err
		}
		if depth == 0 {
			f = used
		}
		if out == nil {
			total = w
		}
		total = total.or(w)
		if out = append(out, text); !p.match('|') {
			return strings.Join(out, "|"), total, nil
		}
	}
}

// sequence reads up to "|" or ")". first says that global flags may come.
func (p *patternParser) sequence(f flags, depth int, first bool) (string, width, flags, error) {
	var items []piece
	for p.next() >= 0 && p.next() != '|' && p.next() != ')' {
		start := p.at
		r := p.get()
		if f.verbose && strings.ContainsRune(" \t\n\r\v\f", r) {
			continue
		}
		if f.verbose && r == '#' {
			for c := p.get(); c >= 0 && c != '\n'; c = p.get() {
			}
			continue
		}
		if strings.ContainsRune("*+?{", r) {
			again, err := p.repeat(r, &items, f)
			if err != nil {
				return "", width{}, f, err
			}
			if again {
				continue
			}
		}
		item, err := p.item(r, start, f, depth)
		if err == errGlobalFlags {
			if !first || len(items) > 0 {
				return "", width{}, f, p.fail(start, "global flags not at the start of the expression")
			}
			f = f.with(p.global, flags{})
			continue
		}
		if err != nil {
			return "", width{}, f, err
		}
		if item != nil {
			items = append(items, *item)
		}
	}
	var out strings.Builder
	var total width
	for _, it := range items {
		out.WriteString(it.text)
		total = total.plus(it.width)
	}
	return out.String(), total, f, nil
}

// item reads one atom that begins with r; nil for a comment.
func (p *patternParser) item(r rune, start int, f flags, depth int) (*piece, error) {
	switch r {
	case '\\':
		return p.escape(start, f)
	case '[':
		return p.class(start, f)
	case '(':
		return p.group(start, f, depth)
	case '.':
		if f.dotall {
			return &piece{text: anyRune, width: width{1, 1}}, nil
		}
		return &piece{text: `[^\n]`, width: width{1, 1}}, nil
	case '^':
		if f.multiline {
			return &piece{text: `(?m:^)`, anchor: true}, nil
		}
		return &piece{text: `\A`, anchor: true}, nil
	case '$':
		if f.multiline {
			return &piece{text: `(?m:$)`, anchor: true}, nil
		}
		return &piece{text: `\Z`, anchor: true}, nil
	}
	return &piece{text: literal(r, f), width: width{1, 1}}, nil
}

// repeat applies a quantifier to the last item; handled is false for a "{"
// that is itself.
func (p *patternParser) repeat(r rune, items *[]piece, f flags) (handled bool, err error) {
	start := p.at - 1
	times := width{0, endless}
	switch r {
	case '?':
		times.max = 1
	case '+':
		times.min = 1
	case '{':
		var ok bool
		if times, ok, err = p.counts(start); !ok || err != nil {
			return false, err
		}
	}
	if len(*items) == 0 || (*items)[len(*items)-1].anchor {
		return false, p.fail(start, "nothing to repeat")
	}
	last := &(*items)[len(*items)-1]
	if last.repeat {
		return false, p.fail(start, "multiple repeat")
	}
	text := fmt.Sprintf("(?:%s){%d,", last.text, times.min)
	if times.max < endless {
		text += strconv.Itoa(times.max)
	}
	text += "}"
	switch {
	case p.match('?'):
		text += "?"
	case p.match('+'):
		text = "(?>" + text + ")"
	}
	*last = piece{text: text, width: last.width.times(times), repeat: true}
	return true, nil
}

// counts reads what follows "{"; without ok the "{" is a letter.
func (p *patternParser) counts(start int) (times width, ok bool, err error) {
	if p.next() == '}' {
		return times, false, nil
	}
	digits := func() string {
		from := p.at
		for p.next() >= '0' && p.next() <= '9' {
			p.at++
		}
		return join(p.text[from:p.at])
	}
	low := digits()
	high := low
	if p.match(',') {
		high = digits()
	}
	if !p.match('}') {
		p.at = start + 1
		return times, false, nil
	}
	number := func(s string, missing int) int {
		if s == "" {
			return missing
		}
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n >= tooMany {
			n = tooMany
		}
		return int(n)
	}
	times = width{number(low, 0), number(high, endless)}
	if times.min >= tooMany || times.max >= tooMany {
		return times, false, Errorf("OverflowError", "the repetition number is too large")
	}
	if times.max < times.min {
		return times, false, p.fail(start, "min repeat greater than max repeat")
	}
	return width{min(times.min, endless), min(times.max, endless)}, true, nil
}

func isIdentifier(s string) bool {
	for i, r := range s {
		if r != '_' && !unicode.IsLetter(r) && !unicode.Is(unicode.Nl, r) &&
			(i == 0 || !unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc)) {
			return false
		}
	}
	return s != ""
}
