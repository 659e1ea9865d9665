package py

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	// maxDepth is how deep Python's json reads and writes lists and dicts
	// under the default recursion limit (teff format, stores).
	maxDepth = 990
	// maxDigits is how many digits int() reads and str() writes.
	maxDigits = 4300
)

// Loads is json.loads(text): any spacing, the last of duplicate keys wins in
// the first one's place, NaN, Infinity and -Infinity are numbers, a \u escape
// may give a lone surrogate. It is a JSONDecodeError for what is not JSON (a
// byte order mark as well), a UnicodeDecodeError for what is not UTF-8, a
// RecursionError below [maxDepth] levels and a ValueError for an int of more
// than 4300 digits.
func Loads(text []byte) (Value, error) {
	if !utf8.Valid(text) {
		return nil, invalidUTF8(text)
	}
	d := &decoder{text: text}
	if bytes.HasPrefix(text, []byte("\ufeff")) {
		return nil, d.fail("Unexpected UTF-8 BOM (decode using utf-8-sig)", 0)
	}
	d.space()
	v, err := d.value(0)
	if err != nil {
		return nil, err
	}
	d.space()
	if d.at < len(d.text) {
		return nil, d.fail("Extra data", d.at)
	}
	return v, nil
}

func invalidUTF8(text []byte) *Error {
	i := 0
	for {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			return Errorf("UnicodeDecodeError", "'utf-8' codec can't decode byte 0x%02x in position %d", text[i], i)
		}
		i += n
	}
}

type decoder struct {
	text []byte
	at   int // in bytes
}

// fail says where in lines, columns and characters, as Python does.
func (d *decoder) fail(what string, at int) *Error {
	before := d.text[:at]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return Errorf("JSONDecodeError", "%s: line %d column %d (char %d)", what, line, column, utf8.RuneCount(before))
}

func (d *decoder) peek() byte {
	if d.at < len(d.text) {
		return d.text[d.at]
	}
	return 0
}

func (d *decoder) space() {
	for d.at < len(d.text) && strings.IndexByte(" \t\n\r", d.text[d.at]) >= 0 {
		d.at++
	}
}

var literals = []struct {
	text  string
	value Value
}{
	{"null", nil}, {"true", true}, {"false", false},
	{"NaN", math.NaN()}, {"Infinity", math.Inf(1)}, {"-Infinity", math.Inf(-1)},
}

func (d *decoder) value(depth int) (Value, error) {
	switch c := d.peek(); c {
	case '"':
		return d.string()
	case '{', '[':
		if depth >= maxDepth {
			return nil, Errorf("RecursionError", "maximum recursion depth exceeded while decoding a JSON object")
		}
		if c == '{' {
			return d.dict(depth + 1)
		}
		return d.list(depth + 1)
	}
	for _, l := range literals {
		if bytes.HasPrefix(d.text[d.at:], []byte(l.text)) {
			d.at += len(l.text)
			return l.value, nil
		}
	}
	return d.number()
}

func (d *decoder) list(depth int) (Value, error) {
	d.at++
	l := new(List)
	if d.space(); d.peek() == ']' {
		d.at++
		return l, nil
	}
	for {
		v, err := d.value(depth)
		if err != nil {
			return nil, err
		}
		l.Items = append(l.Items, v)
		d.space()
		switch d.peek() {
		case ',':
			d.at++
			d.space()
		case ']':
			d.at++
			return l, nil
		default:
			return nil, d.fail("Expecting ',' delimiter", d.at)
		}
	}
}

func (d *decoder) dict(depth int) (Value, error) {
	d.at++
	m := new(Dict)
	if d.space(); d.peek() == '}' {
		d.at++
		return m, nil
	}
	for {
		if d.peek() != '"' {
			return nil, d.fail("Expecting property name enclosed in double quotes", d.at)
		}
		key, err := d.string()
		if err != nil {
			return nil, err
		}
		if d.space(); d.peek() != ':' {
			return nil, d.fail("Expecting ':' delimiter", d.at)
		}
		d.at++
		d.space()
		v, err := d.value(depth)
		if err != nil {
			return nil, err
		}
		m.Set(key, v)
		d.space()
		switch d.peek() {
		case ',':
			d.at++
			d.space()
		case '}':
			d.at++
			return m, nil
		default:
			return nil, d.fail("Expecting ',' delimiter", d.at)
		}
	}
}

func (d *decoder) number() (Value, error) {
	start, at := d.at, d.at
	digits := func() bool {
		from := at
		for at < len(d.text) && d.text[at] >= '0' && d.text[at] <= '9' {
			at++
		}
		return at > from
	}
	has := func(set string) bool { return at < len(d.text) && strings.IndexByte(set, d.text[at]) >= 0 }
	if has("-") {
		at++
	}
	if has("0") {
		at++
	} else if !digits() {
		return nil, d.fail("Expecting value", start)
	}
	isFloat := false
	if whole := at; has(".") {
		at++
		if isFloat = digits(); !isFloat {
			at = whole
		}
	}
	if whole := at; has("eE") {
		if at++; has("+-") {
			at++
		}
		if digits() {
			isFloat = true
		} else {
			at = whole
		}
	}
	d.at = at
	text := string(d.text[start:at])
	if !isFloat {
		return parseDigits(text)
	}
	f, _ := strconv.ParseFloat(text, 64) // out of range is an infinity, as in Python
	return f, nil
}

// parseDigits reads an optional sign and ASCII digits.
func parseDigits(text string) (Value, error) {
	if n := len(strings.TrimLeft(text, "+-")); n > maxDigits {
		return nil, Errorf("ValueError", "Exceeds the limit (%d digits) for integer string conversion: value has %d digits; "+
			"use sys.set_int_max_str_digits() to increase the limit", maxDigits, n)
	}
	n, ok := new(big.Int).SetString(text, 10)
	if !ok {
		return nil, fmt.Errorf("py: not a number: %q", text)
	}
	return NewInt(n), nil
}

func (d *decoder) string() (string, error) {
	begin := d.at
	d.at++
	plain := d.at
	var b []byte
	for d.at < len(d.text) {
		switch c := d.text[d.at]; {
		case c == '"':
			b = append(b, d.text[plain:d.at]...)
			d.at++
			return string(b), nil
		case c < 0x20:
			return "", d.fail("Invalid control character at", d.at)
		case c != '\\':
			d.at++
		default:
			b = append(b, d.text[plain:d.at]...)
			r, err := d.escape(begin)
			if err != nil {
				return "", err
			}
			b = AppendRune(b, r)
			plain = d.at
		}
	}
	return "", d.fail("Unterminated string starting at", begin)
}

// escape reads a backslash and what it escapes.
func (d *decoder) escape(begin int) (rune, error) {
	at := d.at
	if d.at += 2; d.at > len(d.text) {
		return 0, d.fail("Unterminated string starting at", begin)
	}
	c := d.text[at+1]
	if c != 'u' {
		if i := strings.IndexByte(`"\/bfnrt`, c); i >= 0 {
			return rune("\"\\/\b\f\n\r\t"[i]), nil
		}
		return 0, d.fail(`Invalid \escape`, at)
	}
	r, ok := d.hex(d.at)
	if !ok {
		return 0, d.fail(`Invalid \uXXXX escape`, at+1)
	}
	d.at += 4
	if r < 0xd800 || r > 0xdbff || !bytes.HasPrefix(d.text[d.at:], []byte(`\u`)) {
		return r, nil
	}
	if low, ok := d.hex(d.at + 2); ok && low >= 0xdc00 && low <= 0xdfff {
		d.at += 6
		return 0x10000 + (r-0xd800)<<10 + (low - 0xdc00), nil
	}
	return r, nil
}

func (d *decoder) hex(at int) (rune, bool) {
	if at+4 >= len(d.text) { // a quote must follow, too
		return 0, false
	}
	var r rune
	for _, c := range d.text[at : at+4] {
		i := strings.IndexByte("0123456789abcdef", c|0x20)
		if i < 0 || c < '0' {
			return 0, false
		}
		r = r<<4 | rune(i)
	}
	return r, true
}
