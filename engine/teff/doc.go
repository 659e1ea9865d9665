// Package teff runs workflows of the Python project teff (format of 0.3.0) on
// checkpoints that teff wrote, so exactly that teff can take over at any point:
// it owns the graph types, conditions, reducers, node types, the run loop with
// teff's order of saves, interrupts, nested checkpoints, answers and
// conversation turns. teff's defects are part of the format and are kept.
//
// What cannot be exact here (a Python callable, a plugin, a model) is refused
// with the reason before anything runs or is saved. A node that is lacking stands
// only in the way of a run that comes to it.
//
// Python's values and text functions are in teff/py, reading documents is in
// teff/document, where rows are kept is in stores/teff.
package teff
