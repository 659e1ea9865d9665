// Package document owns workflow documents of the teff format: it reads a
// graph or flow document with what it includes, fills in the environment,
// expands idioms and strategies, checks it as teff does, and compiles it into
// a [teff.Workflow].
//
// What is wrong is told with file, line, node and reason, all of a document's
// unsupported parts at once: Python plugins and callables, models, and forms
// whose meaning the format does not settle.
//
// It may import engine/teff and engine/teff/py.
package document
