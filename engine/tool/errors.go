package tool

import "errors"

// ErrOutcomeUnknown marks an error after which nobody can say whether the call
// had its effect: a timeout, a killed process, a lost connection. The engine
// then fails closed instead of recording a failure.
var ErrOutcomeUnknown = errors.New("the call may or may not have run")
