// Package sim holds the deterministic simulation of the engine, as tests only:
// workers and operators act on runs of random flows over a store whose every
// operation can fail, while a scheduler that draws from a seed decides who goes
// next and what happens to it. What they do is checked against a model of what
// must hold. See sim_test.go for how to run it.
package sim
