package teff

import (
	"errors"
	"fmt"

	"github.com/flowtui/flowtui/engine/teff/py"
)

// An InexactError refuses what cannot be done exactly as teff would do it: the
// run is left where its last checkpoint is, for teff itself to go on.
type InexactError struct{ Reason string }

// Error says why.
func (e *InexactError) Error() string {
	return "cannot do exactly what teff does: " + e.Reason + "; let teff itself run it on"
}

func inexact(format string, args ...any) error {
	return &InexactError{Reason: fmt.Sprintf(format, args...)}
}

// raised reports whether an error is one that teff would raise too: an
// exception or a pause. Anything else (a store that fails, a cancelled
// context, a refusal, a panic) ends the call as if the process had died.
func raised(err error) bool {
	return isException(err) || isInterrupt(err)
}

func isException(err error) bool {
	var e *py.Error
	return errors.As(err, &e)
}

func isInterrupt(err error) bool {
	_, ok := asInterrupt(err)
	return ok
}

func asInterrupt(err error) (*Interrupt, bool) {
	var i *Interrupt
	ok := errors.As(err, &i)
	return i, ok
}

// exception is the last line of Python's traceback.
func exception(err error) string {
	var e *py.Error
	if errors.As(err, &e) {
		return e.Error()
	}
	return err.Error()
}

// ownLimit reports an exception that stands for a limit of package py: Python
// would work on, or give what cannot be given here.
func ownLimit(err error) (*py.Error, bool) {
	var e *py.Error
	if errors.As(err, &e) && (e.Type == "MemoryError" || e.Type == "NotImplementedError") {
		return e, true
	}
	return nil, false
}
