// Package calc owns the language of teff's calculator tool: a Python
// expression of numbers, + - * / // % **, unary + and -, parentheses and pi
// (teff format, calculator). What Python's parser accepts beyond that is
// refused as the tool refuses it, with the same class of error.
//
// It may import engine/teff/py.
package calc
