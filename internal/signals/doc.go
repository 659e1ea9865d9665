// Package signals owns what a signal to stop means to a program of flowtui: the
// first one ends its context, and a second one the process, except that hanging
// up is said more than once.
package signals
