package py

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"unicode/utf8"

	"github.com/flowtui/flowtui/internal/pyjson"
)

// Dumps is json.dumps(v, ensure_ascii=False) in UTF-8: the separators are
// ", " and ": ", keys stay in their order, NaN and the infinities are bare
// words. It is a TypeError for an [Opaque], a UnicodeEncodeError for a lone
// surrogate, a RecursionError below about 990 levels and a ValueError for an
// int of more than 4300 digits: a teff process cannot save such a value either.
func Dumps(v Value) ([]byte, error) {
	text, err := appendJSON(nil, v, 0)
	if err == nil && !utf8.Valid(text) {
		err = noUTF8(string(text))
	}
	if err != nil {
		return nil, err
	}
	return text, nil
}

// noUTF8 is the error of encoding a text with lone surrogates.
func noUTF8(text string) error {
	at, last, i := -1, -1, 0
	first := rune(0)
	for r := range runes(text) {
		if isSurrogate(r) && at < 0 {
			at, last, first = i, i, r
		} else if isSurrogate(r) && last == i-1 {
			last = i
		}
		i++
	}
	switch {
	case at < 0:
		return fmt.Errorf("py: a string that is not UTF-8")
	case at == last:
		return Errorf("UnicodeEncodeError", "'utf-8' codec can't encode character '%s' in position %d: surrogates not allowed", escape(first), at)
	}
	return Errorf("UnicodeEncodeError", "'utf-8' codec can't encode characters in position %d-%d: surrogates not allowed", at, last)
}

func appendJSON(b []byte, v Value, depth int) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...), nil
	case bool:
		return strconv.AppendBool(b, v), nil
	case int64:
		return strconv.AppendInt(b, v, 10), nil
	case *big.Int:
		text, err := intText(v)
		return append(b, text...), err
	case float64:
		return append(b, jsonFloat(v)...), nil
	case string:
		return pyjson.AppendQuote(b, v), nil
	case *List, *Dict:
		if depth >= maxDepth {
			return nil, Errorf("RecursionError", "maximum recursion depth exceeded while encoding a JSON object")
		}
		if l, ok := v.(*List); ok {
			return appendJSONList(b, l, depth+1)
		}
		return appendJSONDict(b, v.(*Dict), depth+1)
	case Opaque:
		return nil, Errorf("TypeError", "Object of type %s is not JSON serializable", v.Type)
	}
	return nil, fmt.Errorf("py: %T is no Python value", v)
}

func appendJSONList(b []byte, l *List, depth int) ([]byte, error) {
	b = append(b, '[')
	var err error
	for i, e := range l.Items {
		if i > 0 {
			b = append(b, ", "...)
		}
		if b, err = appendJSON(b, e, depth); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

func appendJSONDict(b []byte, d *Dict, depth int) ([]byte, error) {
	b = append(b, '{')
	var err error
	for i, k := range d.keys {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(pyjson.AppendQuote(b, k), ": "...)
		if b, err = appendJSON(b, d.values[i], depth); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

func jsonFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	return floatRepr(f)
}

// intText is str(n), which Python limits in length.
func intText(n *big.Int) (string, error) {
	text := n.String()
	if digits := len(text) - (1-n.Sign())/2; digits > maxDigits {
		return "", Errorf("ValueError", "Exceeds the limit (%d digits) for integer string conversion; "+
			"use sys.set_int_max_str_digits() to increase the limit", maxDigits)
	}
	return text, nil
}
