package viewer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Scrub makes every character visible that could act on a terminal or deceive
// a reader: control characters, bidirectional and invisible ones, line and
// paragraph separators, bytes that are no UTF-8, and code points that mean
// nothing. The result is one line. Emoji that are joined of several stay whole.
func Scrub(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	marks := 0
	var prev rune
	for i, size := 0, 0; i < len(s); i += size {
		var r rune
		r, size = utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&b, `\x%02x`, s[i])
			prev = 0
			continue
		}
		marks = countMarks(marks, r)
		next, _ := utf8.DecodeRuneInString(s[i+size:])
		switch {
		case joins(prev, r, next), !hostile(r) && marks <= maxMarks:
			b.WriteRune(r)
		default:
			b.WriteString(visible(r))
		}
		prev = r
	}
	return b.String()
}

// isPlain reports text of printable ASCII only.
func isPlain[T ~string | ~[]byte](s T) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// maxMarks is how many marks may pile up on one letter before they are shown
// as what they are.
const maxMarks = 8

func countMarks(n int, r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return n + 1
	}
	return 0
}

// joins reports whether r holds an emoji together.
func joins(prev, r, next rune) bool {
	switch r {
	case '\u200d':
		return (isEmoji(prev) || prev == '\ufe0f') && isEmoji(next)
	case '\ufe0e', '\ufe0f':
		return isEmoji(prev) || prev == '#' || prev == '*' || '0' <= prev && prev <= '9'
	}
	return false
}

func isEmoji(r rune) bool {
	switch {
	case 0x1f000 <= r && r <= 0x1faff, 0x2190 <= r && r <= 0x21ff, 0x2300 <= r && r <= 0x27bf,
		0x2900 <= r && r <= 0x297f, 0x2b00 <= r && r <= 0x2bff, r == '©', r == '®', r == '™', r == 'ℹ', r == '‼', r == '⁉':
		return true
	}
	return false
}

// hostile reports characters that must not reach a terminal as they are.
func hostile(r rune) bool {
	switch {
	case r < ' ', 0x7f <= r && r < 0xa0, r == '\u2028', r == '\u2029', r == 0x034f, r == 0x2800,
		r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0, r == 0x17b4, r == 0x17b5:
		return true
	case r < 0xa0:
		return false
	case 0xfe00 <= r && r <= 0xfe0f, 0xe0000 <= r && r <= 0xe0fff, 0x180b <= r && r <= 0x180f:
		return true
	}
	return !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Zs)
}

// visible is how a hostile character is shown.
func visible(r rune) string {
	switch {
	case r == '\n':
		return "⏎"
	case r == '\t':
		return "→"
	case r < ' ':
		return string(0x2400 + r)
	case r == 0x7f:
		return "␡"
	}
	return fmt.Sprintf(`\u{%x}`, r)
}

// EscapeJSON writes hostile characters of JSON as \u escapes, so that JSON can
// be printed on a terminal. Its meaning stays the same, but for bytes that are
// no UTF-8, which JSON cannot hold.
func EscapeJSON(data []byte) []byte {
	if isPlain(data) {
		return data
	}
	var b []byte
	for i, size := 0, 0; i < len(data); i += size {
		var r rune
		r, size = utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && size == 1: // a byte of no character, which a terminal may obey
			b = append(b, `\ufffd`...)
		case r == '\n' || r == '\t' || r == '\r' || !hostile(r):
			b = append(b, data[i:i+size]...)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			b = fmt.Appendf(b, `\u%04x\u%04x`, hi, lo)
		default:
			b = fmt.Appendf(b, `\u%04x`, r)
		}
	}
	return b
}

// scrubJSON scrubs the texts inside a JSON value.
func scrubJSON(raw json.RawMessage) json.RawMessage {
	if isPlain(raw) && bytes.IndexByte(raw, '\\') < 0 {
		return asJSON(raw)
	}
	return mapStrings(raw, func(s string) (string, bool) {
		clean := Scrub(s)
		return clean, clean != s
	})
}

// mapStrings changes the keys and texts of a JSON value; the rest stays byte for byte.
func mapStrings(raw json.RawMessage, f func(string) (string, bool)) json.RawMessage {
	raw = asJSON(raw)
	e, scan := edit{data: raw}, jsonScan{data: raw}
	for {
		t := scan.next()
		switch t.kind {
		case tokenEnd:
			return e.result()
		case tokenKey, tokenString:
			tok := raw[t.start:t.end]
			if isPlain(tok) && bytes.IndexByte(tok, '\\') < 0 {
				continue
			}
			text, _ := unquote(tok, -1)
			if changed, ok := f(text); ok {
				e.replace(t.start, t.end, quote(changed))
			}
		}
	}
}

// scrubLines scrubs each line of a text, so that its lines stay.
func scrubLines(s string) string {
	if isPlain(s) {
		return s
	}
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i := range lines {
		lines[i] = Scrub(lines[i])
	}
	return strings.Join(lines, "\n")
}

// boundary is what all values pass on their way out of a Service.
type boundary struct {
	mask  bool
	scrub bool
}

var rawMessage = reflect.TypeFor[json.RawMessage]()

// apply changes every text that v points to. Fields tagged scrub:"-" stay as
// the store has them, texts tagged scrub:"lines" keep their lines; nothing else
// can be forgotten.
func (b boundary) apply(v any) { b.walk(reflect.ValueOf(v)) }

func (b boundary) text(s string) string { return b.textBy(Scrub, s) }

func (b boundary) textBy(scrub func(string) string, s string) string {
	if b.mask {
		s, _ = maskText(s)
	}
	if b.scrub {
		s = scrub(s)
	}
	return s
}

func (b boundary) json(raw json.RawMessage, masked bool) json.RawMessage {
	if len(raw) == 0 {
		return raw
	}
	if b.mask && !masked {
		raw = maskJSON(raw).JSON
	}
	switch {
	case !b.scrub, masked && isPlain(raw) && bytes.IndexByte(raw, '\\') < 0:
		return raw
	}
	return scrubJSON(raw)
}

func (b boundary) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			b.walk(v.Elem())
		}
	case reflect.String:
		if v.CanSet() {
			v.SetString(b.text(v.String()))
		}
	case reflect.Slice, reflect.Array:
		if v.Type() == rawMessage {
			v.SetBytes(b.json(v.Bytes(), false))
			return
		}
		for i := range v.Len() {
			b.walk(v.Index(i))
		}
	case reflect.Map:
		b.walkMap(v)
	case reflect.Struct:
		b.walkStruct(v)
	}
}

func (b boundary) walkStruct(v reflect.Value) {
	t := v.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		switch {
		case !f.IsExported() || f.Tag.Get("scrub") == "-":
		case f.Type == rawMessage:
			v.Field(i).SetBytes(b.json(v.Field(i).Bytes(), f.Tag.Get("mask") == "done"))
		case f.Tag.Get("scrub") == "lines":
			v.Field(i).SetString(b.textBy(scrubLines, v.Field(i).String()))
		default:
			b.walk(v.Field(i))
		}
	}
}

// walkMap fills the map anew: neither keys nor values can be changed in place.
func (b boundary) walkMap(v reflect.Value) {
	type entry struct{ key, value reflect.Value }
	var entries []entry
	for it := v.MapRange(); it.Next(); {
		e := entry{reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()}
		e.key.Set(it.Key())
		e.value.Set(it.Value())
		entries = append(entries, e)
	}
	v.Clear()
	for _, e := range entries {
		b.walk(e.key)
		b.walk(e.value)
		for e.key.Kind() == reflect.String && v.MapIndex(e.key).IsValid() {
			e.key.SetString(e.key.String() + "′") // two names that look the same
		}
		v.SetMapIndex(e.key, e.value)
	}
}
