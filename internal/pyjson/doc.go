// Package pyjson owns the text of JSON as Python's json module reads and
// writes it: NaN and Infinity are numbers, the last of two equal keys counts,
// and a lone surrogate may stand in an escape. It splits and checks texts
// without building values, so that what is stored stays byte for byte.
package pyjson
