package flowfile

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

// Conditions and templates compare and print values as Python's str() does:
// the dialect was defined by a Python program.

// str is Python's str() of a JSON value. A mapping's keys come sorted, since
// a state does not keep their order.
func str(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	var b strings.Builder
	writeRepr(&b, v)
	return b.String()
}

func writeRepr(b *strings.Builder, v any) {
	switch v := v.(type) {
	case nil:
		b.WriteString("None")
	case bool:
		if v {
			b.WriteString("True")
		} else {
			b.WriteString("False")
		}
	case string:
		b.WriteString(quote(v))
	case json.Number:
		b.WriteString(numberText(v))
	case float64:
		b.WriteString(floatText(v))
	case []any:
		b.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				b.WriteString(", ")
			}
			writeRepr(b, e)
		}
		b.WriteByte(']')
	case map[string]any:
		b.WriteByte('{')
		for i, k := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(quote(k) + ": ")
			writeRepr(b, v[k])
		}
		b.WriteByte('}')
	default: // a Go node's own type
		fmt.Fprint(b, v)
	}
}

func isInteger(n json.Number) bool { return !strings.ContainsAny(string(n), ".eE") }

func numberText(n json.Number) string {
	if isInteger(n) {
		if n == "-0" {
			return "0"
		}
		return string(n)
	}
	f, _ := strconv.ParseFloat(string(n), 64) // out of range is an infinity, as in Python
	return floatText(f)
}

// floatText is Python's repr of a float: the shortest text that reads back as
// the same float, with an exponent below 1e-4 and from 1e16 on.
func floatText(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// quote is Python's repr of a string.
func quote(s string) string {
	q := byte('\'')
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		q = '"'
	}
	var b strings.Builder
	b.WriteByte(q)
	for _, r := range s {
		switch {
		case r == rune(q) || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			b.WriteString(escape(r))
		}
	}
	b.WriteByte(q)
	return b.String()
}

func escape(r rune) string {
	switch {
	case r < 0x100:
		return fmt.Sprintf(`\x%02x`, r)
	case r < 0x10000:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}

// ascii is Python's ascii() of a string.
func ascii(s string) string {
	var b strings.Builder
	for _, r := range quote(s) {
		if r < 0x80 {
			b.WriteRune(r)
		} else {
			b.WriteString(escape(r))
		}
	}
	return b.String()
}

// isSpace is Python's str.isspace.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

func strip(s string) string { return strings.TrimFunc(s, isSpace) }

// lower and upper are full Unicode mappings: ß becomes SS, a final Σ becomes ς.
func lower(s string) string { return cases.Lower(language.Und).String(s) }
func upper(s string) string { return cases.Upper(language.Und).String(s) }

// parseFloat is Python's float() of a string.
func parseFloat(s string) (float64, bool) {
	s, ok := asciiNumber(strip(s))
	if !ok {
		return 0, false
	}
	if unsigned := strings.TrimLeft(s, "+-"); len(s)-len(unsigned) < 2 && strings.EqualFold(unsigned, "nan") {
		return math.NaN(), true
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(f, 0) {
		return 0, false
	}
	return f, true
}

// asciiNumber writes decimal digits of any script as ASCII ones, drops single
// underscores between digits, and refuses what Go alone takes for a number.
func asciiNumber(s string) (string, bool) {
	var b strings.Builder
	digit := func(r rune) bool { return unicode.IsDigit(r) }
	rs := []rune(s)
	for i, r := range rs {
		switch {
		case r == '_':
			if i == 0 || i == len(rs)-1 || !digit(rs[i-1]) || !digit(rs[i+1]) {
				return "", false
			}
		case r < 0x80 && r != 'x' && r != 'X' && r != 'p' && r != 'P':
			b.WriteRune(r)
		case r >= 0x80 && digit(r):
			b.WriteByte(byte('0' + digitValue(r)))
		default:
			return "", false
		}
	}
	return b.String(), true
}

// digitValue relies on Unicode's decimal digits coming in runs from zero to nine.
func digitValue(r rune) int {
	n := 0
	for unicode.IsDigit(r - rune(n) - 1) {
		n++
	}
	return n % 10
}

// splitLines is Python's str.splitlines.
func splitLines(s string) []string {
	var lines []string
	start := 0
	for i, r := range s {
		if i < start { // the \n of a \r\n
			continue
		}
		switch r {
		case '\n', '\v', '\f', '\r', 0x1c, 0x1d, 0x1e, 0x85, 0x2028, 0x2029:
			lines = append(lines, s[start:i])
			start = i + len(string(r))
			if r == '\r' && strings.HasPrefix(s[start:], "\n") {
				start++
			}
		}
	}
	if start < len(s) {
		lines = append(lines, s[start:])
	}
	return lines
}
