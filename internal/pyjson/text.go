package pyjson

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// String decodes a string value; ok is false for every other value. A lone
// surrogate becomes its three bytes, as in WTF-8, which no UTF-8 text has.
func String(raw []byte) (s string, ok bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	return unquote(raw), true
}

// Int decodes an integer that fits; ok is false for every other value, 1.0
// and true included.
func Int(raw []byte) (n int64, ok bool) {
	n, err := strconv.ParseInt(string(raw), 10, 64)
	return n, err == nil && len(raw) > 0 && raw[0] != '+'
}

// IsNull reports whether a value is null.
func IsNull(raw []byte) bool { return string(raw) == "null" }

// unquote decodes a string that was checked.
func unquote(raw []byte) string {
	body := raw[1 : len(raw)-1]
	var b strings.Builder
	b.Grow(len(body))
	for i := 0; i < len(body); {
		if body[i] != '\\' {
			b.WriteByte(body[i])
			i++
			continue
		}
		if body[i+1] != 'u' {
			b.WriteByte(plainEscape(body[i+1]))
			i += 2
			continue
		}
		r := hexRune(body[i+2:])
		i += 6
		if utf16.IsSurrogate(r) && i+6 <= len(body) && body[i] == '\\' && body[i+1] == 'u' {
			if pair := utf16.DecodeRune(r, hexRune(body[i+2:])); pair != utf8.RuneError {
				r, i = pair, i+6
			}
		}
		writeRune(&b, r)
	}
	return b.String()
}

func plainEscape(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

func hexRune(b []byte) (r rune) {
	for _, c := range b[:4] {
		r = r<<4 | rune(hexDigit(c))
	}
	return r
}

func hexDigit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

func writeRune(b *strings.Builder, r rune) {
	if utf16.IsSurrogate(r) { // WriteRune would put U+FFFD in its place
		b.Write([]byte{0xe0 | byte(r>>12), 0x80 | byte(r>>6)&0x3f, 0x80 | byte(r)&0x3f})
		return
	}
	b.WriteRune(r)
}

// Quote writes a text as json.dumps(text, ensure_ascii=False) does. Bytes that
// are no UTF-8, those of a lone surrogate included, are written as they are.
func Quote(s string) []byte { return AppendQuote(nil, s) }

// AppendQuote is [Quote] at the end of b.
func AppendQuote(b []byte, s string) []byte {
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, `\n`...)
		case '\r':
			b = append(b, `\r`...)
		case '\t':
			b = append(b, `\t`...)
		case '\b':
			b = append(b, `\b`...)
		case '\f':
			b = append(b, `\f`...)
		default:
			if c < ' ' {
				b = fmt.Appendf(b, `\u%04x`, c)
				continue
			}
			b = append(b, c)
		}
	}
	return append(b, '"')
}

// Strict makes JSON that every reader takes of a text that [Check] accepts: a
// NaN is written {"$float": "NaN"}, the infinities likewise. All else stays as
// it is.
func Strict(text []byte) ([]byte, error) {
	s := scanner{text: text}
	if err := s.whole(); err != nil {
		return nil, err
	}
	if len(s.floats) == 0 {
		return text, nil
	}
	var b []byte
	done := 0
	for _, f := range s.floats {
		b = append(b, text[done:f.start]...)
		b = fmt.Appendf(b, `{"$float": %q}`, text[f.start:f.end])
		done = f.end
	}
	return append(b, text[done:]...), nil
}

// Without is the object text without every member of a key. The other members
// stay as they are written.
func Without(text []byte, key string) ([]byte, error) {
	members, err := Object(text)
	if err != nil || !slices.ContainsFunc(members, func(m Member) bool { return m.Key == key }) {
		return text, err
	}
	b := []byte{'{'}
	from := 0
	for _, m := range members {
		name := text[from:m.Start]
		from = m.End
		if m.Key == key {
			continue
		}
		if len(b) > 1 {
			b = append(b, ", "...)
		}
		b = append(b, name[bytes.IndexByte(name, '"'):bytes.LastIndexByte(name, '"')+1]...)
		b = append(append(b, ": "...), m.Raw...)
	}
	return append(b, '}'), nil
}
