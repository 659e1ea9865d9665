// Package storetest is the conformance suite of the store contract. Every
// driver runs it against its real backend, with [Run]. A capability that a
// driver lacks is a failure, and nothing is skipped.
//
// It builds its own rows, with made-up signatures, and imports nothing of
// flowtui but the contract. [Check] and the row builders are also for the
// drivers' own tests.
package storetest
