// Package viewer owns what an operator sees and may do: it attaches stores,
// turns their rows into badges, verdicts and one sentence of why and next,
// verifies, plans, acts and watches. The screens and the command line are two
// faces of the one [Service]; neither computes a status of its own.
//
// Everything that a store holds is untrusted. All of it leaves the Service
// through one boundary, where secrets are masked and control characters are
// made visible, so that no screen has to remember to.
//
// It uses the engine and the store contract, and knows no driver, no screen
// and no flag: how formats are opened and flows are found is injected.
package viewer
