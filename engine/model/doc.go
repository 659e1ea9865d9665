// Package model owns the interface to a language model: messages, tool specs
// and [Model]; the two classes of its errors; [Spec], which says in plain data
// what a flow file or a command line asks for; and [Scripted] for tests and the
// demo. The client of real endpoints is in the package openai below this one,
// and the package provider opens what a Spec says. The tool loop is elsewhere.
//
// It imports nothing of the project and knows nothing of flows or runs.
package model
