package py

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"
)

// ParseFloat is float(s): white space around it, digits of any script, single
// underscores between digits, inf, infinity and nan; a ValueError otherwise.
func ParseFloat(s string) (float64, error) {
	text, ok := asciiNumber(Strip(s))
	if ok {
		if f, err := strconv.ParseFloat(text, 64); err == nil || math.IsInf(f, 0) {
			return f, nil
		}
		if rest := strings.TrimLeft(text, "+-"); len(text)-len(rest) < 2 && strings.EqualFold(rest, "nan") {
			return math.NaN(), nil
		}
	}
	return 0, Errorf("ValueError", "could not convert string to float: %s", Repr(s))
}

// ParseInt is int(s): an int64 or a *[big.Int]; a ValueError otherwise.
func ParseInt(s string) (Value, error) {
	text, ok := asciiNumber(Strip(s))
	digits := text
	if text != "" && strings.IndexByte("+-", text[0]) >= 0 {
		digits = text[1:]
	}
	if !ok || digits == "" || strings.Trim(digits, "0123456789") != "" {
		return nil, Errorf("ValueError", "invalid literal for int() with base 10: %s", Repr(s))
	}
	return parseDigits(text)
}

// asciiNumber writes decimal digits of any script as ASCII ones, drops single
// underscores between digits, and refuses what Go alone takes for a number.
func asciiNumber(s string) (string, bool) {
	var b strings.Builder
	rs := []rune(s)
	for i, r := range rs {
		switch {
		case r == '_':
			if i == 0 || i == len(rs)-1 || !unicode.IsDigit(rs[i-1]) || !unicode.IsDigit(rs[i+1]) {
				return "", false
			}
		case r < 0x80 && r != 'x' && r != 'X' && r != 'p' && r != 'P':
			b.WriteRune(r)
		case r >= 0x80 && unicode.IsDigit(r):
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

// Float is float(v) of a number or a string. An int beyond the largest float
// is an OverflowError.
func Float(v Value) (float64, error) {
	switch v := v.(type) {
	case float64:
		return v, nil
	case string:
		return ParseFloat(v)
	case bool, int64, *big.Int:
		f, _ := new(big.Float).SetInt(bigInt(v)).Float64()
		if math.IsInf(f, 0) {
			return 0, Errorf("OverflowError", "int too large to convert to float")
		}
		return f, nil
	}
	return 0, Errorf("TypeError", "float() argument must be a string or a real number, not '%s'", TypeName(v))
}

// Int is int(v) of a number or a string: floats are cut towards zero.
func Int(v Value) (Value, error) {
	switch v := v.(type) {
	case bool, int64, *big.Int:
		return NewInt(bigInt(v)), nil
	case string:
		return ParseInt(v)
	case float64:
		if math.IsNaN(v) {
			return nil, Errorf("ValueError", "cannot convert float NaN to integer")
		}
		if math.IsInf(v, 0) {
			return nil, Errorf("OverflowError", "cannot convert float infinity to integer")
		}
		n, _ := big.NewFloat(v).Int(nil)
		return NewInt(n), nil
	}
	return nil, Errorf("TypeError", "int() argument must be a string, a bytes-like object or a real number, not '%s'", TypeName(v))
}
