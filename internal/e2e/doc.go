// Package e2e holds the end-to-end tests: the real program on a real demo
// store, in a real terminal. It has no code of its own.
package e2e
