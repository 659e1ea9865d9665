// Package crash proves with real processes that a durable run survives its
// worker. It has tests only.
//
// The test binary is its own worker: TestMain turns it into one when a job is in
// its environment. Workers share one store, of every kind that processes can
// share, take orders from the test, and pay at a server of the test that counts
// what it is asked. They are killed with SIGKILL before and after every store
// operation, at random moments and in the middle of calls, stopped with SIGSTOP
// and woken when another worker has taken over, and run out of disk space. What
// must hold then: every run ends as if nothing had happened, no call that is not
// idempotent has a second effect unless somebody said "run it again", and every
// write that a worker was told of as done is there.
//
// It owns none of the engine's rules, and imports it as any program would. On
// systems without these signals it has no tests.
package crash
