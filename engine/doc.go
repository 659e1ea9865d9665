// Package engine owns the meaning of a durable run: flows and supersteps, the
// signed call log, recovery, approvals, interrupts, plans and verification.
//
// A flow is a graph of named nodes. All nodes of the frontier run concurrently
// on the same state; reducers merge their updates in the nodes' order; edges
// give the next frontier; one checkpoint is saved. Every tool call is logged
// before it can run and after it ran, so that a run survives its worker: a new
// worker claims it with a new segment, replays the calls that finished, runs
// idempotent ones again, and fails closed on the rest.
//
// It writes to a store
// only through the contract in package stores, and knows no driver, no screen
// and no file format.
package engine
