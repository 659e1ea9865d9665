// Package model owns the interface to a language model: messages, tool specs
// and [Model], with [Scripted] for tests and the demo. No client of a real
// endpoint and no tool loop is here yet; both are to be built on this.
//
// It imports nothing of the project and knows nothing of flows or runs.
package model
