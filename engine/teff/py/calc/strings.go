package calc

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/flowtui/flowtui/engine/teff/py"
)

// bytes is a Python bytes object.
type bytes string

// strings reads adjacent string literals as one.
func (p *parser) strings() (node, error) {
	var out strings.Builder
	kind := ""
	isBytes := strings.ContainsAny(prefix(p.peek().text), "bB")
	for first := true; p.peek().kind == text; first = false {
		t := p.peek()
		p.at++
		marks := strings.ToLower(prefix(t.text))
		if strings.Contains(marks, "f") {
			return nil, unknown("an f-string")
		}
		if strings.Contains(marks, "b") != isBytes {
			return nil, syntaxError(t.line, "cannot mix bytes and nonbytes literals")
		}
		if first && marks == "u" {
			kind = "u"
		}
		quotes := 1
		body := t.text[len(marks):]
		if len(body) >= 6 && body[:3] == strings.Repeat(body[:1], 3) {
			quotes = 3
		}
		body = body[quotes : len(body)-quotes]
		if !strings.Contains(marks, "r") {
			var err error
			if body, err = unescape(body, isBytes, t.line); err != nil {
				return nil, err
			}
		}
		if isBytes && !ascii(t.text) {
			return nil, syntaxError(t.line, "bytes can only contain ASCII literal characters")
		}
		out.WriteString(body)
	}
	if isBytes {
		return constant{value: bytes(out.String())}, nil
	}
	return constant{value: out.String(), kind: kind}, nil
}

func ascii(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

func prefix(literal string) string { return literal[:strings.IndexAny(literal, `"'`)] }

// unescape resolves the escapes of a literal without its quotes.
func unescape(s string, isBytes bool, line int) (string, error) {
	var out []byte
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			out = append(out, s[i])
			continue
		}
		i++
		c := s[i]
		if c == '\n' {
			continue
		}
		if at := strings.IndexByte(`abfnrtv\'"`, c); at >= 0 {
			out = append(out, "\a\b\f\n\r\t\v\\'\""[at])
			continue
		}
		digits, base := 0, 16
		switch {
		case c == 'x':
			digits = 2
		case c == 'u' && !isBytes:
			digits = 4
		case c == 'U' && !isBytes:
			digits = 8
		case c >= '0' && c <= '7':
			base = 8
			for digits = 1; digits < 3 && i+digits < len(s) && s[i+digits] >= '0' && s[i+digits] <= '7'; digits++ {
			}
			i--
		case c == 'N' && !isBytes:
			return "", unknown(`a character by its name, \N`)
		default: // an unknown escape is itself
			out = append(out, '\\', c)
			continue
		}
		code, err := strconv.ParseUint(s[min(i+1, len(s)):min(i+1+digits, len(s))], base, 32)
		if err != nil || i+digits >= len(s) || code > unicode.MaxRune {
			return "", syntaxError(line, "(unicode error) 'unicodeescape' codec can't decode bytes in position %d-%d: truncated \\%cXX escape", i-1, i, c)
		}
		i += digits
		if isBytes {
			out = append(out, byte(code))
		} else {
			out = py.AppendRune(out, rune(code))
		}
	}
	return string(out), nil
}

// bytesRepr is repr() of a bytes object.
func bytesRepr(b bytes) string {
	quote := byte('\'')
	if strings.Contains(string(b), "'") && !strings.Contains(string(b), `"`) {
		quote = '"'
	}
	out := []byte{'b', quote}
	for i := range len(b) {
		switch c := b[i]; {
		case c == quote || c == '\\':
			out = append(out, '\\', c)
		case c == '\n':
			out = append(out, `\n`...)
		case c == '\r':
			out = append(out, `\r`...)
		case c == '\t':
			out = append(out, `\t`...)
		case c < 0x20 || c >= 0x7f:
			const digits = "0123456789abcdef"
			out = append(out, '\\', 'x', digits[c>>4], digits[c&15])
		default:
			out = append(out, c)
		}
	}
	return string(append(out, quote))
}
