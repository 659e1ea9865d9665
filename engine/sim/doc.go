// Package sim holds the deterministic simulation of the engine, as tests only:
// workers and operators act on runs of random flows (concurrent, conditional and
// repeated nodes, containers, nodes that are tried again, tool loops, approvals,
// questions, runs that are held) over a store whose every operation can fail, while a scheduler that draws from a seed decides who goes
// next and what happens to it. What they do is checked against a model of what
// must hold. The store is the memory store, for thousands of seeds, or one that
// does I/O, where a seed must go the way that it goes in memory. See sim_test.go
// and stores_test.go for how to run it.
package sim
