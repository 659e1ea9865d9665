package calc

import (
	"math"
	"math/big"

	"github.com/flowtui/flowtui/engine/teff/py"
)

// notImplemented is the class of what Python can do and is not done here.
const notImplemented = "NotImplementedError"

func unknown(what string) error {
	return py.Errorf(notImplemented, "the bundled calculator does not know %s", what)
}

// unsupported is how the tool refuses what Python can parse.
func unsupported(n node) error { return py.Errorf("ValueError", "unsupported: %s", n.dump()) }

// Eval is the calculator tool's answer: str() of the value of a Python
// expression. Its errors are [py.Error]s of the classes that Python and the
// tool raise: SyntaxError, IndentationError, ValueError and KeyError for what
// the tool does not know, ZeroDivisionError, OverflowError, TypeError. Two classes
// are limits of this package and not Python's answer: MemoryError for a result
// of more than about a million digits, on which Python would work for hours, and
// NotImplementedError for what Python can do and is not known here.
func Eval(expression string) (string, error) {
	n, err := parse(expression)
	if err != nil {
		return "", err
	}
	v, err := eval(n, 0)
	if err != nil {
		return "", err
	}
	if n, ok := v.(*big.Int); ok {
		text, err := py.Dumps(n) // which has Python's limit on digits
		return string(text), err
	}
	if s, ok := v.(string); ok {
		return s, nil
	}
	return repr(v), nil
}

func eval(n node, depth int) (py.Value, error) {
	if depth > maxDepth {
		return nil, errDepth
	}
	switch n := n.(type) {
	case constant:
		return n.value, nil
	case variable:
		if n.id == "pi" {
			return math.Pi, nil
		}
	case unary:
		apply, ok := unaryOps[n.op]
		if !ok {
			return nil, &py.Error{Type: "KeyError", Message: "<class 'ast." + n.op + "'>"}
		}
		v, err := eval(n.operand, depth+1)
		if err != nil {
			return nil, err
		}
		return apply(v)
	case binary:
		apply, ok := binaryOps[n.op]
		if !ok {
			return nil, &py.Error{Type: "KeyError", Message: "<class 'ast." + n.op + "'>"}
		}
		left, err := eval(n.left, depth+1)
		if err != nil {
			return nil, err
		}
		right, err := eval(n.right, depth+1)
		if err != nil {
			return nil, err
		}
		return apply(left, right)
	}
	return nil, unsupported(n)
}

// repr is repr() of a value of the calculator.
func repr(v py.Value) string {
	switch v := v.(type) {
	case bytes:
		return bytesRepr(v)
	case complex128:
		return complexRepr(v)
	}
	return py.Repr(v)
}

func complexRepr(c complex128) string {
	part := func(f float64) string {
		text := py.Repr(f)
		if i := len(text) - 2; i > 0 && text[i:] == ".0" {
			return text[:i]
		}
		return text
	}
	if real(c) == 0 && !math.Signbit(real(c)) {
		return part(imag(c)) + "j"
	}
	sign := ""
	if !math.Signbit(imag(c)) || math.IsNaN(imag(c)) {
		sign = "+"
	}
	return "(" + part(real(c)) + sign + part(imag(c)) + "j)"
}

func typeName(v py.Value) string {
	switch v.(type) {
	case bytes:
		return "bytes"
	case complex128:
		return "complex"
	}
	return py.TypeName(v)
}

// A rank orders the kinds of numbers; an operation works in the higher one.
type rank int

const (
	noNumber rank = iota
	integer
	float
	complexNumber
)

func rankOf(v py.Value) rank {
	switch v.(type) {
	case bool, int64, *big.Int:
		return integer
	case float64:
		return float
	case complex128:
		return complexNumber
	}
	return noNumber
}

func toInt(v py.Value) *big.Int {
	switch v := v.(type) {
	case bool:
		if v {
			return big.NewInt(1)
		}
	case int64:
		return big.NewInt(v)
	case *big.Int:
		return v
	}
	return new(big.Int)
}

func toComplex(v py.Value) (complex128, error) {
	if c, ok := v.(complex128); ok {
		return c, nil
	}
	f, err := py.Float(v)
	return complex(f, 0), err
}

var unaryOps = map[string]func(py.Value) (py.Value, error){
	"UAdd": func(v py.Value) (py.Value, error) { return sign(v, "+", false) },
	"USub": func(v py.Value) (py.Value, error) { return sign(v, "-", true) },
}

func sign(v py.Value, op string, negate bool) (py.Value, error) {
	switch rankOf(v) {
	case integer:
		n := toInt(v)
		if negate {
			n = new(big.Int).Neg(n)
		}
		return py.NewInt(n), nil
	case float:
		if negate {
			return -v.(float64), nil
		}
		return v, nil
	case complexNumber:
		if negate {
			return -v.(complex128), nil
		}
		return v, nil
	}
	return nil, py.Errorf("TypeError", "bad operand type for unary %s: '%s'", op, typeName(v))
}

// maxBits bounds what an operation may make.
const maxBits = 1 << 22

// repeatCount is n of s*n for a text of so many bytes.
func repeatCount(n *big.Int, size int) (int, error) {
	if !n.IsInt64() {
		return 0, py.Errorf("OverflowError", "cannot fit 'int' into an index-sized integer")
	}
	count := max(n.Int64(), 0)
	if size > 0 && count > maxBits/int64(size) {
		return 0, &py.Error{Type: "MemoryError"}
	}
	return int(count), nil
}
