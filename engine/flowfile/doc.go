// Package flowfile owns flow files: it reads a YAML document into an
// [engine.Flow] with its tools, or says with file, line and column why not. A
// file is checked as a whole before anything runs.
//
// The condition language, the templates and the transform actions are a
// dialect that other programs write too; its rules for text are Python's, and
// testdata holds what the original answers. The format is described for users
// in docs/flow-files.md.
//
// It may import engine, engine/model, engine/teff and engine/tool. It knows nothing of stores or screens.
package flowfile
