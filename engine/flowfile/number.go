package flowfile

import (
	"fmt"
	"math/big"
	"regexp"
	"strings"
)

var (
	decimal = regexp.MustCompile(`^([0-9]*)(\.[0-9]*)?([eE][-+]?[0-9]+)?$`)
	octal11 = regexp.MustCompile(`^0[0-9]+$`)
	bases   = map[string]int{"0x": 16, "0o": 8, "0b": 2}
)

// number reads a plain scalar that looks like a number as JSON text, never by
// way of a float: every digit is kept. It returns false for any other text.
func number(text string) (string, bool, error) {
	if text == "" || strings.HasPrefix(text, "_") || !strings.ContainsAny(text, "0123456789") {
		return "", false, nil
	}
	digits, sign := text, ""
	switch digits[0] {
	case '-':
		digits, sign = digits[1:], "-"
	case '+':
		digits = digits[1:]
	}
	digits = strings.ReplaceAll(digits, "_", "")
	if len(digits) > 2 {
		if base, ok := bases[digits[:2]]; ok {
			if n, ok := new(big.Int).SetString(digits[2:], base); ok && digits[2] != '-' && digits[2] != '+' {
				return sign + n.String(), true, nil
			}
			return "", false, nil
		}
	}
	if octal11.MatchString(digits) {
		return "", false, fmt.Errorf("%s is octal in YAML 1.1 and decimal in YAML 1.2; quote it, or write 0o or no zero", text)
	}
	m := decimal.FindStringSubmatch(digits)
	if m == nil || m[1] == "" && len(m[2]) < 2 {
		return "", false, nil
	}
	whole, fraction := strings.TrimLeft(m[1], "0"), m[2]
	if whole == "" {
		whole = "0"
	}
	if fraction == "." {
		fraction = ".0"
	}
	return sign + whole + fraction + m[3], true, nil
}
