package tool

import "errors"

// ErrOutcomeUnknown marks an error after which nobody can say whether the call
// had its effect: a timeout, a killed process, a lost connection. The engine
// then fails closed instead of recording a failure.
var ErrOutcomeUnknown = errors.New("the call may or may not have run")

// ErrNotStarted marks an error of a tool that cannot be started on this machine
// and surely did not run: its program is missing. That is not the run's failure.
var ErrNotStarted = errors.New("the tool cannot be started here")
