// Package worker keeps the runs of a store going: it recovers at start what a
// crash cut short, then sweeps again and again for unfinished runs that nobody
// holds and for decisions that were stored without running anything.
//
// Any number of sweepers, on any number of hosts, may share a store: leases,
// fencing and the compare-and-set of every save make sure that two never both
// advance a run. A sweeper decides nothing that a person has to decide: a run
// with a call in doubt, a run that does not verify, a run of a flow that is not
// known here are left as they are and told once.
//
// Stopping is a fact of the process and not of the runs: what is under way gets
// a grace period, is then cut short, and stays recoverable.
package worker
