// Package py owns Python's values as the teff format needs them: what JSON and
// YAML read and write, and what Python's str(), repr(), comparison, str
// methods, str.format_map, re, float() and int() answer for them.
//
// A stored run was written by a Python program and may be taken over by it
// again, so the answers are Python 3.11's to the character: the texts, the
// order of keys, which numbers are floats, and which call raises what.
//
// It knows nothing of workflows and imports no other package of the module.
package py
