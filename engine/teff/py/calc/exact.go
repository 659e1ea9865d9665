package calc

import (
	"math"
	"math/big"
)

// realPower is a to the power of b, rounded correctly: the C library that
// Python calls is at most a little less exact, and Go's is more so.
func realPower(a, b float64) float64 {
	rough := math.Pow(a, b)
	if a == 0 || b == 0 || a == 1 || rough == 0 || math.IsInf(rough, 0) || math.IsNaN(rough) || math.IsInf(a, 0) {
		return rough
	}
	negative := a < 0 && math.Mod(b, 2) != 0
	x := bigFloat(math.Abs(a))
	y := bigFloat(b)
	f, _ := exp(y.Mul(y, log(x))).Float64()
	if negative {
		return -f
	}
	return f
}

// precision is how many bits the exact functions work with: a float's 53, as
// many for a product's size, and the rest to decide how to round.
const precision = 320

func bigFloat(f float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(f) }

func fromInt(n int64) *big.Float { return new(big.Float).SetPrec(precision).SetInt64(n) }

// log is the natural logarithm of x > 0: x is 2^e m with m near 1, and
// log m is 2 artanh((m-1)/(m+1)).
func log(x *big.Float) *big.Float {
	m := new(big.Float).SetPrec(precision)
	e := x.MantExp(m) // m in [0.5, 1)
	if m.Cmp(big.NewFloat(math.Sqrt2/2)) < 0 {
		m.Mul(m, fromInt(2))
		e--
	}
	result := series(new(big.Float).Quo(new(big.Float).Sub(m, fromInt(1)), new(big.Float).Add(m, fromInt(1))), false)
	return result.Add(result, new(big.Float).Mul(fromInt(int64(e)), ln2()))
}

// series is twice the area tangent of a small t, or twice the arc tangent when
// the signs alternate.
func series(t *big.Float, alternate bool) *big.Float {
	square := new(big.Float).Mul(t, t)
	if alternate {
		square.Neg(square)
	}
	sum, term := fromInt(0), new(big.Float).SetPrec(precision).Set(t)
	for k := int64(1); term.Sign() != 0 && (sum.Sign() == 0 || term.MantExp(nil) > sum.MantExp(nil)-precision); k += 2 {
		sum.Add(sum, new(big.Float).Quo(term, fromInt(k)))
		term.Mul(term, square)
	}
	return sum.Mul(sum, fromInt(2))
}

func inverse(n int64) *big.Float { return new(big.Float).Quo(fromInt(1), fromInt(n)) }

// ln2 is log 2 = 2 artanh(1/3).
func ln2() *big.Float { return series(inverse(3), false) }

// twoPi is 32 arctan(1/5) - 8 arctan(1/239).
func twoPi() *big.Float {
	a := new(big.Float).Mul(fromInt(16), series(inverse(5), true))
	return a.Sub(a, new(big.Float).Mul(fromInt(4), series(inverse(239), true)))
}

// exp is e to the power of x, which is within a float's exponents: x is
// k log 2 + r, and e^r = (e^(r/256))^256.
func exp(x *big.Float) *big.Float {
	near, _ := new(big.Float).Quo(x, ln2()).Float64()
	k := math.Round(near)
	r := new(big.Float).Sub(x, new(big.Float).Mul(fromInt(int64(k)), ln2()))
	r.SetMantExp(r, -8)
	sum, term := fromInt(1), fromInt(1)
	for n := int64(1); ; n++ {
		term.Mul(term, r)
		term.Quo(term, fromInt(n))
		if term.Sign() == 0 || term.MantExp(nil) < -precision {
			break
		}
		sum.Add(sum, term)
	}
	for range 8 {
		sum.Mul(sum, sum)
	}
	return sum.SetMantExp(sum, int(k))
}

// logarithm and exponential are those of floats, rounded correctly.
func logarithm(x float64) float64 {
	if x <= 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return math.Log(x)
	}
	f, _ := log(bigFloat(x)).Float64()
	return f
}

func exponential(x float64) float64 {
	if rough := math.Exp(x); rough == 0 || math.IsInf(rough, 0) || math.IsNaN(rough) {
		return rough
	}
	f, _ := exp(bigFloat(x)).Float64()
	return f
}

// hypot is the size of a point, atan2 the angle to it, rounded correctly.
func hypot(x, y float64) float64 {
	if x == 0 || y == 0 || math.IsInf(x, 0) || math.IsInf(y, 0) || math.IsNaN(x) || math.IsNaN(y) {
		return math.Hypot(x, y)
	}
	a, b := bigFloat(x), bigFloat(y)
	f, _ := a.Sqrt(a.Add(a.Mul(a, a), b.Mul(b, b))).Float64()
	return f
}

func atan2(y, x float64) float64 {
	if x == 0 || y == 0 || math.IsInf(x, 0) || math.IsInf(y, 0) || math.IsNaN(x) || math.IsNaN(y) {
		return math.Atan2(y, x)
	}
	t := new(big.Float).Quo(bigFloat(math.Abs(y)), bigFloat(math.Abs(x)))
	const halvings = 8 // of the angle, until its series is short
	for range halvings {
		root := new(big.Float).Mul(t, t)
		root.Sqrt(root.Add(root, fromInt(1)))
		t.Quo(t, root.Add(root, fromInt(1)))
	}
	angle := series(t, true)
	angle.SetMantExp(angle, halvings-1)
	if x < 0 {
		half := twoPi()
		angle.Sub(half.SetMantExp(half, -1), angle)
	}
	f, _ := angle.Float64()
	return math.Copysign(f, y)
}

// sinCos gives the sine and cosine of x: those of a 256th of it by their
// series, doubled eight times.
func sinCos(x float64) (sin, cos float64) {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) || math.Abs(x) > 1<<200 {
		return math.Sincos(x)
	}
	r := bigFloat(x)
	turns, _ := new(big.Float).Quo(r, twoPi()).Int(nil)
	r.Sub(r, new(big.Float).Mul(new(big.Float).SetPrec(precision).SetInt(turns), twoPi()))
	r.SetMantExp(r, -8)
	s, c, term := fromInt(0), fromInt(1), fromInt(1)
	for n := int64(1); ; n++ {
		term.Mul(term, r)
		term.Quo(term, fromInt(n))
		if term.Sign() == 0 || n > 1 && term.MantExp(nil) < s.MantExp(nil)-precision {
			break
		}
		switch n % 4 {
		case 0:
			c.Add(c, term)
		case 1:
			s.Add(s, term)
		case 2:
			c.Sub(c, term)
		case 3:
			s.Sub(s, term)
		}
	}
	for range 8 {
		double := new(big.Float).Mul(s, c)
		s, c = double.Mul(double, fromInt(2)), new(big.Float).Sub(new(big.Float).Mul(c, c), new(big.Float).Mul(s, s))
	}
	sin, _ = s.Float64()
	cos, _ = c.Float64()
	return sin, cos
}
