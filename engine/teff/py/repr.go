package py

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"
)

// Str is str(v).
func Str(v Value) string {
	switch v := v.(type) {
	case string:
		return v
	case Opaque:
		return v.Text
	}
	return Repr(v)
}

// Repr is repr(v).
func Repr(v Value) string {
	var b strings.Builder
	writeRepr(&b, v, 0)
	return b.String()
}

func writeRepr(b *strings.Builder, v Value, depth int) {
	if depth > maxDepth { // only of a value that holds itself
		b.WriteString("...")
		return
	}
	switch v := v.(type) {
	case nil:
		b.WriteString("None")
	case bool:
		if v {
			b.WriteString("True")
		} else {
			b.WriteString("False")
		}
	case int64:
		b.WriteString(strconv.FormatInt(v, 10))
	case *big.Int:
		b.WriteString(v.String())
	case float64:
		b.WriteString(floatRepr(v))
	case string:
		writeQuoted(b, v)
	case *List:
		b.WriteByte('[')
		for i, e := range v.Items {
			if i > 0 {
				b.WriteString(", ")
			}
			writeRepr(b, e, depth+1)
		}
		b.WriteByte(']')
	case *Dict:
		b.WriteByte('{')
		for i, k := range v.keys {
			if i > 0 {
				b.WriteString(", ")
			}
			writeQuoted(b, k)
			b.WriteString(": ")
			writeRepr(b, v.values[i], depth+1)
		}
		b.WriteByte('}')
	case Opaque:
		b.WriteString(v.Code)
	default:
		fmt.Fprintf(b, "<%T>", v)
	}
}

// floatRepr is the shortest text that reads back as the same float, with an
// exponent of at least two digits below 1e-4 and from 1e16 on.
func floatRepr(f float64) string {
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

func writeQuoted(b *strings.Builder, s string) {
	q := byte('\'')
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		q = '"'
	}
	b.WriteByte(q)
	for r, text := range runes(s) {
		switch {
		case r == rune(q) || r == '\\':
			b.WriteByte('\\')
			b.WriteString(text)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(r):
			b.WriteString(text)
		default:
			b.WriteString(escape(r))
		}
	}
	b.WriteByte(q)
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

// ascii is ascii(s).
func ascii(s string) string {
	var b strings.Builder
	for r, text := range runes(Repr(s)) {
		if r < 0x80 {
			b.WriteString(text)
		} else {
			b.WriteString(escape(r))
		}
	}
	return b.String()
}
