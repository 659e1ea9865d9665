package calc

import (
	"math"
	"math/big"

	"github.com/flowtui/flowtui/engine/teff/py"
)

func power(a, b py.Value) (py.Value, error) {
	return operation{"** or pow()", intPower, floatPower, complexPower}.apply(a, b)
}

func intPower(a, b *big.Int) (py.Value, error) {
	if b.Sign() < 0 {
		x, err := py.Float(py.NewInt(a))
		if err != nil {
			return nil, err
		}
		y, err := py.Float(py.NewInt(b))
		if err != nil {
			return nil, err
		}
		return floatPower(x, y)
	}
	if a.BitLen() > 1 && (!b.IsInt64() || b.Int64() > maxBits/int64(a.BitLen())) {
		return nil, &py.Error{Type: "MemoryError"}
	}
	if a.BitLen() <= 1 { // 0, 1 or -1
		n := new(big.Int).Set(a)
		if b.Sign() == 0 || a.Sign() < 0 && b.Bit(0) == 0 {
			n.SetInt64(1)
		}
		return py.NewInt(n), nil
	}
	return py.NewInt(new(big.Int).Exp(a, b, nil)), nil
}

func floatPower(a, b float64) (py.Value, error) {
	switch {
	case a == 0 && b < 0:
		return nil, zeroDivision("0.0 cannot be raised to a negative power")
	case a < 0 && !math.IsInf(a, 0) && !math.IsInf(b, 0) && b != math.Floor(b):
		return complexPower(complex(a, 0), complex(b, 0))
	}
	f := realPower(a, b)
	if math.IsInf(f, 0) && !math.IsInf(a, 0) && !math.IsInf(b, 0) {
		return nil, py.Errorf("OverflowError", "(34, 'Numerical result out of range')")
	}
	return f, nil
}

func complexPower(a, b complex128) (py.Value, error) {
	var c complex128
	switch {
	case b == 0:
		c = 1
	case a == 0:
		if imag(b) != 0 || real(b) < 0 {
			return nil, zeroDivision("0.0 to a negative or complex power")
		}
	case imag(b) == 0 && real(b) == math.Floor(real(b)) && math.Abs(real(b)) <= 100:
		c = wholePower(a, int(real(b)))
	default:
		size := hypot(real(a), imag(a))
		angle := atan2(imag(a), real(a))
		length, phase := realPower(size, real(b)), angle*real(b)
		if imag(b) != 0 {
			length /= exponential(angle * imag(b))
			phase += float64(imag(b) * logarithm(size))
		}
		if math.IsInf(phase, 0) {
			return nil, zeroDivision("0.0 to a negative or complex power")
		}
		sin, cos := sinCos(phase)
		c = complex(length*cos, length*sin)
	}
	if math.IsInf(real(c), 0) || math.IsInf(imag(c), 0) {
		return nil, py.Errorf("OverflowError", "complex exponentiation")
	}
	return c, nil
}

func wholePower(x complex128, n int) complex128 {
	if n < 0 {
		return over(1, wholePower(x, -n))
	}
	c := complex128(1)
	for p := x; n > 0; n >>= 1 {
		if n&1 > 0 {
			c = times(c, p)
		}
		p = times(p, p)
	}
	return c
}
