// Package yaml11 owns YAML 1.1 as PyYAML's safe loader reads it, which is what
// teff reads its documents with: the same tokens, the same implicit types (yes
// is a boolean, 010 is 8, 1e3 is a string), merge keys, and the same texts
// refused. Every node keeps its place, and one node under an anchor is one
// value wherever its aliases stand.
//
// It may import engine/teff/py.
package yaml11
