package py

import (
	"cmp"
	"math"
	"math/big"
	"strings"
)

// Equal is a == b: numbers by their value whatever their type (1 == 1.0 ==
// True), dicts whatever their order, nan equal to nothing. A list or dict that
// holds nan equals itself only, as in Python, where the element is the same object.
func Equal(a, b Value) bool { return equal(a, b, 0) }

func equal(a, b Value, depth int) bool {
	if depth > maxDepth {
		return false
	}
	if isNumber(a) && isNumber(b) {
		c, ordered := compareNumbers(a, b)
		return ordered && c == 0
	}
	switch a := a.(type) {
	case nil:
		return b == nil
	case string:
		b, ok := b.(string)
		return ok && a == b
	case *List:
		b, ok := b.(*List)
		if !ok || len(a.Items) != len(b.Items) {
			return false
		}
		for i := range a.Items {
			if !same(a.Items[i], b.Items[i], a == b, depth) {
				return false
			}
		}
		return true
	case *Dict:
		b, ok := b.(*Dict)
		if !ok || a.Len() != b.Len() {
			return false
		}
		for k, v := range a.All() {
			w, ok := b.Get(k)
			if !ok || !same(v, w, a == b, depth) {
				return false
			}
		}
		return true
	case Opaque:
		b, ok := b.(Opaque)
		return ok && a == b
	}
	return false
}

func same(a, b Value, identical bool, depth int) bool {
	return identical || equal(a, b, depth+1)
}

// Compare is a OP b for "<", "<=", ">" and ">=": numbers with numbers, strings
// with strings by code points, lists with lists; anything else is a TypeError.
func Compare(op string, a, b Value) (bool, error) {
	c, ordered, err := order(op, a, b, 0)
	if err != nil || !ordered {
		return false, err
	}
	switch op {
	case "<":
		return c < 0, nil
	case "<=":
		return c <= 0, nil
	case ">":
		return c > 0, nil
	case ">=":
		return c >= 0, nil
	}
	return false, Errorf("ValueError", "unknown comparison %s", Repr(op))
}

func order(op string, a, b Value, depth int) (c int, ordered bool, err error) {
	if isNumber(a) && isNumber(b) {
		c, ordered = compareNumbers(a, b)
		return c, ordered, nil
	}
	if s, ok := a.(string); ok {
		if t, ok := b.(string); ok {
			return strings.Compare(s, t), true, nil // bytes are ordered as code points are
		}
	}
	l, lok := a.(*List)
	m, mok := b.(*List)
	if !lok || !mok || depth > maxDepth {
		return 0, false, Errorf("TypeError", "'%s' not supported between instances of '%s' and '%s'", op, TypeName(a), TypeName(b))
	}
	for i := range min(len(l.Items), len(m.Items)) {
		if !Equal(l.Items[i], m.Items[i]) {
			return order(op, l.Items[i], m.Items[i], depth+1)
		}
	}
	return cmp.Compare(len(l.Items), len(m.Items)), true, nil
}

func isNumber(v Value) bool {
	switch v.(type) {
	case bool, int64, *big.Int, float64:
		return true
	}
	return false
}

// compareNumbers compares exactly, an int with a float as well; nan is not
// ordered.
func compareNumbers(a, b Value) (c int, ordered bool) {
	f, aIsFloat := a.(float64)
	g, bIsFloat := b.(float64)
	switch {
	case aIsFloat && math.IsNaN(f) || bIsFloat && math.IsNaN(g):
		return 0, false
	case aIsFloat && bIsFloat:
		return cmp.Compare(f, g), true
	case aIsFloat:
		return -compareIntFloat(bigInt(b), f), true
	case bIsFloat:
		return compareIntFloat(bigInt(a), g), true
	}
	return bigInt(a).Cmp(bigInt(b)), true
}

func compareIntFloat(n *big.Int, f float64) int {
	if math.IsInf(f, 0) {
		if f > 0 {
			return -1
		}
		return 1
	}
	return new(big.Rat).SetInt(n).Cmp(new(big.Rat).SetFloat64(f))
}

// bigInt is the int value of a bool or an int.
func bigInt(v Value) *big.Int {
	switch v := v.(type) {
	case bool:
		if v {
			return big.NewInt(1)
		}
		return new(big.Int)
	case int64:
		return big.NewInt(v)
	case *big.Int:
		return v
	}
	return new(big.Int)
}
