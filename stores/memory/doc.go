// Package memory is the reference driver of the store contract: maps under one
// mutex, copies on the way in and out. It is for tests and for runs that need
// not outlive the process.
//
// It imports nothing of flowtui but the contract.
package memory
