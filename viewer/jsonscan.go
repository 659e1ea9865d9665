package viewer

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// tokenKind is what a token of JSON is.
type tokenKind int

const (
	tokenEnd tokenKind = iota
	tokenOpen
	tokenClose
	tokenKey
	tokenString
	tokenLiteral // number, true, false, null
)

// token is a piece of JSON; data[start:end] are its bytes as stored.
type token struct {
	kind       tokenKind
	start, end int
}

// jsonScan walks the tokens of valid JSON without changing or building a
// value. It does not recurse, so nesting costs a byte a level, and it never
// panics: on invalid JSON the tokens are merely not useful.
type jsonScan struct {
	data    []byte
	pos     int
	stack   []byte // the open containers, '{' or '['
	wantKey bool
}

func (s *jsonScan) next() token {
	for s.pos < len(s.data) {
		start := s.pos
		switch c := s.data[start]; c {
		case ' ', '\t', '\n', '\r', ':':
			s.pos++
		case ',':
			s.pos++
			s.wantKey = s.inObject()
		case '{', '[':
			s.pos++
			s.stack = append(s.stack, c)
			s.wantKey = c == '{'
			return token{tokenOpen, start, s.pos}
		case '}', ']':
			s.pos++
			s.stack = s.stack[:max(0, len(s.stack)-1)]
			s.wantKey = false
			return token{tokenClose, start, s.pos}
		case '"':
			s.pos = endOfString(s.data, start)
			kind := tokenString
			if s.wantKey {
				kind, s.wantKey = tokenKey, false
			}
			return token{kind, start, s.pos}
		default:
			s.pos = endOfLiteral(s.data, start)
			return token{tokenLiteral, start, s.pos}
		}
	}
	return token{tokenEnd, len(s.data), len(s.data)}
}

func (s *jsonScan) inObject() bool {
	return len(s.stack) > 0 && s.stack[len(s.stack)-1] == '{'
}

func endOfString(data []byte, start int) int {
	for i := start + 1; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(data)
}

func endOfLiteral(data []byte, start int) int {
	for i := start + 1; i < len(data); i++ {
		switch data[i] {
		case ' ', '\t', '\n', '\r', ',', ':', ']', '}', '{', '[', '"':
			return i
		}
	}
	return len(data)
}

// unquote decodes a JSON string token, at most limit characters of it (-1:
// all), and returns how many bytes of the token were left undecoded. A lone
// surrogate stays as its escape, because no text can hold it.
func unquote(tok []byte, limit int) (text string, rest int) {
	body := tok
	if len(body) > 0 && body[0] == '"' {
		body = body[1:]
	}
	if len(body) > 0 && body[len(body)-1] == '"' {
		body = body[:len(body)-1]
	}
	var b strings.Builder
	for n := 0; len(body) > 0 && n != limit; n++ {
		size := 1
		if body[0] == '\\' {
			size = unescape(&b, body)
		} else {
			_, size = utf8.DecodeRune(body)
			b.Write(body[:size])
		}
		body = body[size:]
	}
	return b.String(), len(body)
}

// unescape writes what one escape at the start of body means and returns its length.
func unescape(b *strings.Builder, body []byte) int {
	if len(body) < 2 {
		b.WriteByte('\\')
		return 1
	}
	switch body[1] {
	case 'n':
		b.WriteByte('\n')
	case 't':
		b.WriteByte('\t')
	case 'r':
		b.WriteByte('\r')
	case 'b':
		b.WriteByte('\b')
	case 'f':
		b.WriteByte('\f')
	case 'u':
		return unescapeRune(b, body)
	default:
		b.WriteByte(body[1])
	}
	return 2
}

func unescapeRune(b *strings.Builder, body []byte) int {
	r, ok := hexEscape(body)
	switch {
	case !ok:
		b.WriteString(`\u`)
		return 2
	case !utf16.IsSurrogate(r):
		b.WriteRune(r)
		return 6
	}
	if low, ok := hexEscape(body[6:]); ok {
		if whole := utf16.DecodeRune(r, low); whole != utf8.RuneError {
			b.WriteRune(whole)
			return 12
		}
	}
	b.Write(body[:6])
	return 6
}

func hexEscape(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 32)
	return rune(n), err == nil
}

// quote is s as a JSON string, without rewriting <, > and &.
func quote(s string) []byte {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes
	return []byte(strings.TrimSuffix(b.String(), "\n"))
}

// edit collects replacements in stored bytes; what is not replaced stays byte for byte.
type edit struct {
	data []byte
	out  []byte
	done int // bytes of data that are in out
}

// replace puts text where data[start:end] was and returns where it is in the result.
func (e *edit) replace(start, end int, text []byte) int {
	e.out = append(e.out, e.data[e.done:start]...)
	at := len(e.out)
	e.out = append(e.out, text...)
	e.done = end
	return at
}

func (e *edit) result() []byte {
	if e.done == 0 {
		return e.data
	}
	return append(e.out, e.data[e.done:]...)
}

// asJSON makes stored bytes safe to hand on as JSON: what is not JSON becomes
// one string.
func asJSON(raw []byte) json.RawMessage {
	if len(raw) == 0 || json.Valid(raw) {
		return raw
	}
	return quote(string(raw))
}
