// Package engine runs durable flows: a run survives its worker, and goes on
// from its last checkpoint on another one without doing anything twice.
//
// # Write a flow
//
// [NewFlow] starts a flow; [Flow.Node] and [Flow.Edge] make it a graph of named
// nodes. [Call] calls a tool, [Interrupt] asks a person, [Step] changes the
// state in Go, and a Go function is a [NodeFunc]. [Flow.State] gives the state
// a type, which [With], [If] and [Step] read. Tools are in package tool; what
// acts on the world must be one.
//
// # Run it
//
// [New] makes a [Runner] of a store, a key (see package seal) and the tools.
// [Runner.Run] works on a new run until its [Result] is done, failed or paused.
// A paused run says in Result.Waiting what it waits for; [Runner.Resume] brings
// it on with an approval, a denial or an answer. [Runner.RunToolLoop] lets a
// model call the tools.
//
// [Runner.Execute] starts a run or brings the one of the same id on, with
// answers by key. [Flow.InterruptLoop] asks until an answer passes its
// [Strategy], [Flow.Loop] repeats steps until one is accepted, [Flow.Subflow]
// and [Flow.Map] run flows within a step, and a [Flow.Conversation] goes on by
// messages: [Runner.Turn].
//
// # Recover it
//
// A worker calls [Runner.RecoverAll] when it starts, or [Runner.Recover] for
// one run. Calls that finished before a crash are not run again: their results
// replay. A call that may have run is in doubt: unless its tool is idempotent
// the error is [ErrRecoveryNeedsDecision], and [Error] names the calls. Look
// where they should have had their effect, then tell [Runner.Resolve], or
// recover with RerunInDoubt. Node code runs again, so it must be deterministic.
//
// [Verify] checks the signatures of a run, and [MakePlan] says what a recovery
// would do.
//
// # How it works
//
// All nodes of the frontier run concurrently on the same state; reducers merge
// their updates in the nodes' order; edges give the next frontier; one
// checkpoint is saved. That is a superstep. Every tool call is logged before it
// can run and after it ran. A recovering worker claims the run with a new
// segment, which cuts the old worker off.
//
// The package writes to a store only through the contract in package stores,
// and knows no driver, no screen and no file format.
package engine
