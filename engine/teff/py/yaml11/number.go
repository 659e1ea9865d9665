package yaml11

import (
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/flowtui/flowtui/engine/teff/py"
)

var errIndex = py.Errorf("IndexError", "string index out of range")

// signed cuts underscores and the sign off.
func signed(text string) (rest string, negative bool, err error) {
	rest = strings.ReplaceAll(text, "_", "")
	if rest == "" {
		return "", false, errIndex
	}
	if rest[0] == '-' || rest[0] == '+' {
		return rest[1:], rest[0] == '-', nil
	}
	return rest, false, nil
}

func integer(text string) (py.Value, error) {
	rest, negative, err := signed(text)
	if err == nil && rest == "" {
		err = errIndex
	}
	if err != nil {
		return nil, err
	}
	n, err := unsigned(rest)
	if err != nil {
		return nil, err
	}
	if negative {
		n = new(big.Int).Neg(n)
	}
	return py.NewInt(n), nil
}

func unsigned(text string) (*big.Int, error) {
	radix := func(digits string, base int) (*big.Int, error) {
		n, ok := new(big.Int).SetString(digits, base)
		if !ok || strings.ContainsAny(digits, "+-_") {
			return nil, py.Errorf("ValueError", "invalid literal for int() with base %d: %s", base, py.Repr(digits))
		}
		return n, nil
	}
	switch {
	case text == "0":
		return new(big.Int), nil
	case strings.HasPrefix(text, "0b"):
		return radix(text[2:], 2)
	case strings.HasPrefix(text, "0x"):
		return radix(text[2:], 16)
	case strings.HasPrefix(text, "0"):
		return radix(strings.TrimPrefix(text, "0o"), 8)
	}
	n := new(big.Int)
	for _, part := range strings.Split(text, ":") { // 1:30 is 90
		v, err := py.ParseInt(part)
		if err != nil {
			return nil, err
		}
		digit, ok := v.(*big.Int)
		if !ok {
			digit = big.NewInt(v.(int64))
		}
		n.Add(n.Mul(n, big.NewInt(60)), digit)
	}
	return n, nil
}

func float(text string) (py.Value, error) {
	rest, negative, err := signed(strings.ToLower(text))
	if err != nil {
		return nil, err
	}
	f := 0.0
	switch {
	case rest == ".inf":
		f = math.Inf(1)
	case rest == ".nan":
		return math.NaN(), nil
	default:
		base := 1.0
		parts := strings.Split(rest, ":")
		for i := len(parts) - 1; i >= 0; i-- {
			digit, err := py.ParseFloat(parts[i])
			if err != nil {
				return nil, err
			}
			f += float64(digit * base)
			base *= 60
		}
	}
	if negative {
		f = -f
	}
	return f, nil
}

var moment = regexp.MustCompile(`^([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})` +
	`(?:(?:[Tt]|[ \t]+)([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]*))?(?:[ \t]*(Z|([-+])([0-9]{1,2})(?::([0-9]{2}))?))?)?$`)

// date is a date or datetime: an object that cannot be saved.
func date(text string) (py.Value, error) {
	m := moment.FindStringSubmatch(text)
	if m == nil {
		return nil, py.Errorf("AttributeError", "'NoneType' object has no attribute 'groupdict'")
	}
	var n [6]int
	for i := range n {
		n[i], _ = strconv.Atoi(m[i+1])
	}
	switch {
	case n[0] < 1:
		return nil, py.Errorf("ValueError", "year %d is out of range", n[0])
	case n[1] < 1 || n[1] > 12:
		return nil, py.Errorf("ValueError", "month must be in 1..12")
	case n[2] < 1 || n[2] > time.Date(n[0], time.Month(n[1])+1, 0, 0, 0, 0, 0, time.UTC).Day():
		return nil, py.Errorf("ValueError", "day is out of range for month")
	case n[3] > 23:
		return nil, py.Errorf("ValueError", "hour must be in 0..23")
	case n[4] > 59:
		return nil, py.Errorf("ValueError", "minute must be in 0..59")
	case n[5] > 59:
		return nil, py.Errorf("ValueError", "second must be in 0..59")
	}
	day := fmt.Sprintf("%04d-%02d-%02d", n[0], n[1], n[2])
	if m[4] == "" {
		return py.Opaque{Type: "date", Text: day, Code: fmt.Sprintf("datetime.date(%d, %d, %d)", n[0], n[1], n[2])}, nil
	}
	day += fmt.Sprintf(" %02d:%02d:%02d", n[3], n[4], n[5])
	if micro := (m[7] + "000000")[:6]; micro != "000000" {
		day += "." + micro
	}
	switch {
	case m[8] == "Z":
		day += "+00:00"
	case m[8] != "":
		day += fmt.Sprintf("%s%02s:%02s", m[9], m[10], m[11])
	}
	return py.Opaque{Type: "datetime", Text: day, Code: "datetime.datetime(" + day + ")"}, nil
}
