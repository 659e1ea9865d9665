package py

import (
	"math"
	"slices"
	"strings"
	"unicode"
)

// Render fills a template from a state (teff format, templates): a template
// without "{" is its own text, "}}" included; else it is [FormatMap], and a key
// that the state does not have is a KeyError that names it.
func Render(template string, state *Dict) (string, error) {
	if !strings.Contains(template, "{") {
		return template, nil
	}
	text, err := FormatMap(template, state)
	if e, ok := err.(*Error); ok && e.Type == "KeyError" {
		return "", NewKeyError("prompt template references unknown state key: " + e.Message)
	}
	return text, err
}

// FormatMap is template.format_map(values) with every value made a string by
// str() first. Errors are Python's: KeyError for an unknown key, ValueError
// for a broken template, IndexError, TypeError and AttributeError for a
// placeholder that looks into a value.
func FormatMap(template string, values *Dict) (string, error) {
	f := &formatter{values: values}
	err := f.write(split(template), 2)
	return f.out.String(), err
}

// maxOutput is how long a filled template gets, in bytes: a width of billions
// is a MemoryError and not the end of the process.
const maxOutput = 1 << 27

// letter is one code point with its text.
type letter struct {
	r    rune
	text string
}

func split(s string) []letter {
	var list []letter
	for r, text := range runes(s) {
		list = append(list, letter{r, text})
	}
	return list
}

func join(list []letter) string {
	var b strings.Builder
	for _, c := range list {
		b.WriteString(c.text)
	}
	return b.String()
}

type formatter struct {
	values *Dict
	out    strings.Builder
}

// write fills one piece of template after the other, so that the first error
// is the one that Python meets first; levels is how deep placeholders may nest.
func (f *formatter) write(t []letter, levels int) error {
	if levels == 0 {
		return Errorf("ValueError", "Max string recursion exceeded")
	}
	for len(t) > 0 {
		i := slices.IndexFunc(t, func(c letter) bool { return c.r == '{' || c.r == '}' })
		if i < 0 {
			f.out.WriteString(join(t))
			return nil
		}
		c, rest := t[i], t[i+1:]
		if len(rest) > 0 && rest[0] == c { // {{ or }}
			f.out.WriteString(join(t[:i+1]))
			t = rest[1:]
			continue
		}
		if c.r == '}' || len(rest) == 0 {
			return Errorf("ValueError", "Single '%s' encountered in format string", c.text)
		}
		f.out.WriteString(join(t[:i]))
		p, after, err := parsePlaceholder(rest)
		if err != nil {
			return err
		}
		if err := f.fill(p, levels); err != nil {
			return err
		}
		if f.out.Len() > maxOutput {
			return &Error{Type: "MemoryError"}
		}
		t = after
	}
	return nil
}

// A placeholder is {name!conversion:spec}.
type placeholder struct {
	name       []letter
	conversion rune
	spec       []letter
}

// parsePlaceholder reads what follows a "{" to its "}".
func parsePlaceholder(t []letter) (placeholder, []letter, error) {
	var p placeholder
	end, err := nameEnd(t)
	if err != nil {
		return p, nil, err
	}
	if end == len(t) {
		return p, nil, Errorf("ValueError", "expected '}' before end of string")
	}
	p.name = t[:end]
	c, t := t[end].r, t[end+1:]
	if c == '!' {
		if len(t) == 0 {
			return p, nil, Errorf("ValueError", "end of string while looking for conversion specifier")
		}
		p.conversion, t = t[0].r, t[1:]
		if len(t) > 0 {
			c, t = t[0].r, t[1:]
			if c != '}' && c != ':' {
				return p, nil, Errorf("ValueError", "expected ':' after conversion specifier")
			}
		}
	}
	if c == '}' {
		return p, t, nil
	}
	open := 1
	for i, c := range t {
		switch c.r {
		case '{':
			open++
		case '}':
			if open--; open == 0 {
				p.spec = t[:i]
				return p, t[i+1:], nil
			}
		}
	}
	return p, nil, Errorf("ValueError", "unmatched '{' in format spec")
}

// nameEnd finds what ends a placeholder's name. Inside "[…]" anything goes.
func nameEnd(t []letter) (int, error) {
	for i := 0; i < len(t); i++ {
		switch t[i].r {
		case '{':
			return 0, Errorf("ValueError", "unexpected '{' in field name")
		case '}', ':', '!':
			return i, nil
		case '[':
			n := slices.IndexFunc(t[i:], func(c letter) bool { return c.r == ']' })
			if n < 0 {
				return len(t), nil
			}
			i += n - 1
		}
	}
	return len(t), nil
}

func (f *formatter) fill(p placeholder, levels int) error {
	text, err := f.lookup(p.name)
	if err != nil {
		return err
	}
	switch c := p.conversion; {
	case c == 0 || c == 's':
	case c == 'r':
		text = Repr(text)
	case c == 'a':
		text = ascii(text)
	case c > 32 && c < 127:
		return Errorf("ValueError", "Unknown conversion specifier %c", c)
	default:
		return Errorf("ValueError", `Unknown conversion specifier \x%x`, c)
	}
	spec := p.spec
	if slices.ContainsFunc(spec, func(c letter) bool { return c.r == '{' }) {
		inner := &formatter{values: f.values}
		if err := inner.write(spec, levels-1); err != nil {
			return err
		}
		spec = split(inner.out.String())
	}
	text, err = formatString(text, spec)
	f.out.WriteString(text)
	return err
}

// lookup is the text of `key` or `key[0]`.
func (f *formatter) lookup(name []letter) (string, error) {
	end := slices.IndexFunc(name, func(c letter) bool { return c.r == '.' || c.r == '[' })
	if end < 0 {
		end = len(name)
	}
	n, err := integer(name[:end])
	if err != nil {
		return "", err
	}
	if n >= 0 || end == 0 {
		return "", Errorf("ValueError", "Format string contains positional fields")
	}
	key := join(name[:end])
	v, ok := f.values.Get(key)
	if !ok {
		return "", NewKeyError(key)
	}
	return lookInto(Str(v), name[end:])
}

// lookInto follows [0] and .attribute into a string.
func lookInto(text string, path []letter) (string, error) {
	for len(path) > 0 {
		c := path[0].r
		path = path[1:]
		if c != '.' && c != '[' {
			return "", Errorf("ValueError", "Only '.' or '[' may follow ']' in format field specifier")
		}
		end := slices.IndexFunc(path, func(p letter) bool {
			return c == '[' && p.r == ']' || c == '.' && (p.r == '.' || p.r == '[')
		})
		if end < 0 && c == '[' {
			return "", Errorf("ValueError", "Missing ']' in format string")
		}
		if end < 0 {
			end = len(path)
		}
		name := path[:end]
		if path = path[end:]; c == '[' {
			path = path[1:]
		}
		n, err := integer(name)
		switch {
		case err != nil && c == '[':
			return "", err
		case len(name) == 0:
			return "", Errorf("ValueError", "Empty attribute in format string")
		case c == '.':
			return "", noAttribute(join(name))
		case n < 0:
			return "", Errorf("TypeError", "string indices must be integers, not 'str'")
		}
		letters := split(text)
		if n >= len(letters) {
			return "", Errorf("IndexError", "string index out of range")
		}
		text = letters[n].text
	}
	return text, nil
}

// strAttributes are what a Python str has. Python prints their addresses in
// memory, which cannot be foretold.
const strAttributes = " capitalize casefold center count encode endswith expandtabs find format format_map index isalnum isalpha " +
	"isascii isdecimal isdigit isidentifier islower isnumeric isprintable isspace istitle isupper join ljust lower lstrip " +
	"maketrans partition removeprefix removesuffix replace rfind rindex rjust rpartition rsplit rstrip split splitlines " +
	"startswith strip swapcase title translate upper zfill "

func noAttribute(name string) error {
	if strings.Contains(strAttributes, " "+name+" ") || strings.HasPrefix(name, "__") {
		return Errorf("NotImplementedError", "the template prints %s of a Python string, which is different in every process", Repr(name))
	}
	return Errorf("AttributeError", "'str' object has no attribute %s", Repr(name))
}

// integer reads decimal digits of any script; -1 if there is anything else.
func integer(t []letter) (int, error) {
	if len(t) == 0 {
		return -1, nil
	}
	n := 0
	for _, c := range t {
		if !unicode.IsDigit(c.r) {
			return -1, nil
		}
		d := digitOf(c.r)
		if n > (math.MaxInt64-d)/10 {
			return 0, Errorf("ValueError", "Too many decimal digits in format string")
		}
		n = n*10 + d
	}
	return n, nil
}

func digitOf(r rune) int {
	if r < 0x80 {
		return int(r - '0')
	}
	return digitValue(r)
}
