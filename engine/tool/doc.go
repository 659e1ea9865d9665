// Package tool owns what a flow may call: the [Tool] type with its attributes
// (idempotent, approval, timeout), a [Registry], and the command tool, which
// speaks JSON on stdin and stdout. It knows nothing of flows, runs or stores.
package tool
