package calc

import (
	"math"
	"math/big"
	"strings"

	"github.com/flowtui/flowtui/engine/teff/py"
)

var binaryOps = map[string]func(a, b py.Value) (py.Value, error){
	"Add": add, "Sub": subtract, "Mult": multiply, "Div": divide, "FloorDiv": floorDivide, "Mod": modulo, "Pow": power,
}

func wrongTypes(op string, a, b py.Value) error {
	return py.Errorf("TypeError", "unsupported operand type(s) for %s: '%s' and '%s'", op, typeName(a), typeName(b))
}

// An operation is one operator on each kind of numbers.
type operation struct {
	op      string
	ints    func(a, b *big.Int) (py.Value, error)
	floats  func(a, b float64) (py.Value, error)
	complex func(a, b complex128) (py.Value, error)
}

func (o operation) apply(a, b py.Value) (py.Value, error) {
	ra, rb := rankOf(a), rankOf(b)
	switch kind := max(ra, rb); {
	case ra == noNumber || rb == noNumber || kind == complexNumber && o.complex == nil:
		return nil, wrongTypes(o.op, a, b)
	case kind == integer:
		return o.ints(toInt(a), toInt(b))
	case kind == float:
		x, err := py.Float(a)
		if err != nil {
			return nil, err
		}
		y, err := py.Float(b)
		if err != nil {
			return nil, err
		}
		return o.floats(x, y)
	}
	x, err := toComplex(a)
	if err != nil {
		return nil, err
	}
	y, err := toComplex(b)
	if err != nil {
		return nil, err
	}
	return o.complex(x, y)
}

func add(a, b py.Value) (py.Value, error) {
	switch a := a.(type) {
	case string:
		if b, ok := b.(string); ok {
			return a + b, nil
		}
		return nil, py.Errorf("TypeError", "can only concatenate str (not \"%s\") to str", typeName(b))
	case bytes:
		if b, ok := b.(bytes); ok {
			return a + b, nil
		}
		return nil, py.Errorf("TypeError", "can't concat %s to bytes", typeName(b))
	}
	return operation{"+",
		func(a, b *big.Int) (py.Value, error) { return py.NewInt(new(big.Int).Add(a, b)), nil },
		func(a, b float64) (py.Value, error) { return a + b, nil },
		func(a, b complex128) (py.Value, error) { return a + b, nil },
	}.apply(a, b)
}

func subtract(a, b py.Value) (py.Value, error) {
	return operation{"-",
		func(a, b *big.Int) (py.Value, error) { return py.NewInt(new(big.Int).Sub(a, b)), nil },
		func(a, b float64) (py.Value, error) { return a - b, nil },
		func(a, b complex128) (py.Value, error) { return a - b, nil },
	}.apply(a, b)
}

func isText(v py.Value) bool {
	switch v.(type) {
	case string, bytes:
		return true
	}
	return false
}

func multiply(a, b py.Value) (py.Value, error) {
	if isText(b) && !isText(a) {
		a, b = b, a
	}
	if isText(a) {
		return repeatText(a, b)
	}
	return operation{"*",
		func(a, b *big.Int) (py.Value, error) {
			if a.BitLen()+b.BitLen() > maxBits {
				return nil, &py.Error{Type: "MemoryError"}
			}
			return py.NewInt(new(big.Int).Mul(a, b)), nil
		},
		func(a, b float64) (py.Value, error) { return a * b, nil },
		func(a, b complex128) (py.Value, error) { return times(a, b), nil },
	}.apply(a, b)
}

func repeatText(s, n py.Value) (py.Value, error) {
	if rankOf(n) != integer {
		return nil, py.Errorf("TypeError", "can't multiply sequence by non-int of type '%s'", typeName(n))
	}
	if b, ok := s.(bytes); ok {
		count, err := repeatCount(toInt(n), len(b))
		return bytes(strings.Repeat(string(b), count)), err
	}
	count, err := repeatCount(toInt(n), len(s.(string)))
	return strings.Repeat(s.(string), count), err
}

// times multiplies as Python does, without the special cases of infinities.
func times(a, b complex128) complex128 {
	re := float64(real(a)*real(b)) - float64(imag(a)*imag(b))
	im := float64(real(a)*imag(b)) + float64(imag(a)*real(b))
	return complex(re, im)
}

func zeroDivision(what string) error { return py.Errorf("ZeroDivisionError", "%s", what) }

func divide(a, b py.Value) (py.Value, error) {
	return operation{"/",
		func(a, b *big.Int) (py.Value, error) {
			if b.Sign() == 0 {
				return nil, zeroDivision("division by zero")
			}
			f, _ := new(big.Rat).SetFrac(a, b).Float64()
			if math.IsInf(f, 0) {
				return nil, py.Errorf("OverflowError", "integer division result too large for a float")
			}
			if f == 0 && (a.Sign() < 0) != (b.Sign() < 0) {
				return math.Copysign(0, -1), nil
			}
			return f, nil
		},
		func(a, b float64) (py.Value, error) {
			if b == 0 {
				return nil, zeroDivision("float division by zero")
			}
			return a / b, nil
		},
		func(a, b complex128) (py.Value, error) {
			if b == 0 {
				return nil, zeroDivision("complex division by zero")
			}
			return over(a, b), nil
		},
	}.apply(a, b)
}

// over divides as Python does (Smith's method).
func over(a, b complex128) complex128 {
	if math.Abs(real(b)) >= math.Abs(imag(b)) {
		ratio := imag(b) / real(b)
		d := real(b) + float64(imag(b)*ratio)
		return complex((real(a)+float64(imag(a)*ratio))/d, (imag(a)-float64(real(a)*ratio))/d)
	}
	if math.Abs(imag(b)) < math.Abs(real(b)) || math.IsNaN(imag(b)) || math.IsNaN(real(b)) {
		return complex(math.NaN(), math.NaN())
	}
	ratio := real(b) / imag(b)
	d := float64(real(b)*ratio) + imag(b)
	return complex((float64(real(a)*ratio)+imag(a))/d, (float64(imag(a)*ratio)-real(a))/d)
}

func floorDivide(a, b py.Value) (py.Value, error) {
	return operation{"//",
		func(a, b *big.Int) (py.Value, error) {
			if b.Sign() == 0 {
				return nil, zeroDivision("integer division or modulo by zero")
			}
			q, _ := floorDivMod(a, b)
			return py.NewInt(q), nil
		},
		func(a, b float64) (py.Value, error) {
			if b == 0 {
				return nil, zeroDivision("float floor division by zero")
			}
			q, _ := floatDivMod(a, b)
			return q, nil
		},
		nil,
	}.apply(a, b)
}

func modulo(a, b py.Value) (py.Value, error) {
	if isText(a) {
		return nil, unknown("formatting with %")
	}
	return operation{"%",
		func(a, b *big.Int) (py.Value, error) {
			if b.Sign() == 0 {
				return nil, zeroDivision("integer modulo by zero")
			}
			_, r := floorDivMod(a, b)
			return py.NewInt(r), nil
		},
		func(a, b float64) (py.Value, error) {
			if b == 0 {
				return nil, zeroDivision("float modulo")
			}
			_, r := floatDivMod(a, b)
			return r, nil
		},
		nil,
	}.apply(a, b)
}

// floorDivMod rounds the quotient down: the remainder has the divisor's sign.
func floorDivMod(a, b *big.Int) (q, r *big.Int) {
	q, r = new(big.Int).QuoRem(a, b, new(big.Int))
	if r.Sign() != 0 && r.Sign() != b.Sign() {
		q.Sub(q, big.NewInt(1))
		r.Add(r, b)
	}
	return q, r
}

func floatDivMod(a, b float64) (q, r float64) {
	r = math.Mod(a, b)
	q = (a - r) / b
	switch {
	case r == 0:
		r = math.Copysign(0, b)
	case (b < 0) != (r < 0):
		r += b
		q--
	}
	if q == 0 {
		return math.Copysign(0, a/b), r
	}
	floor := math.Floor(q)
	if q-floor > 0.5 {
		floor++
	}
	return floor, r
}
