package stores

import (
	"errors"
	"fmt"
)

// The classes of errors. Drivers return them wrapped, mostly in an [OpError];
// test with errors.Is.
var (
	ErrNotFound    = errors.New("not found")
	ErrConflict    = errors.New("conflict")
	ErrReadOnly    = errors.New("store is read-only")
	ErrInvalid     = errors.New("invalid argument")
	ErrUnreadable  = errors.New("store is unreadable")
	ErrNotStore    = errors.New("not a store")
	ErrTooNew      = errors.New("store was written by a newer flowtui")
	ErrBusy        = errors.New("store is busy")
	ErrFull        = errors.New("disk is full")
	ErrUnavailable = errors.New("store cannot be reached")
	ErrUnknown     = errors.New("outcome of the write is unknown")
	ErrClosed      = errors.New("store is closed")
)

// OpError says which operation on which run failed. It unwraps to its class
// and to the driver's own error.
type OpError struct {
	Op    string // "save", "latest", …
	Store string // location, without any password
	Key   Key    // zero when the operation is not about one run
	Class error  // one of the Err values, or nil
	Err   error  // the driver's error, may be nil
	Why   string // one sentence more, may be empty
}

func (e *OpError) Error() string {
	msg := e.Op
	if e.Key.Run != "" {
		msg += fmt.Sprintf(" %q", e.Key.Run)
		if e.Key.Owner != "" && e.Key.Owner != DefaultOwner {
			msg += fmt.Sprintf(" of %q", e.Key.Owner)
		}
	}
	if e.Store != "" {
		msg += " in " + e.Store
	}
	if e.Class != nil {
		msg += ": " + e.Class.Error()
	}
	if e.Why != "" {
		msg += ": " + e.Why
	}
	if e.Err != nil {
		msg += ": " + e.Err.Error()
	}
	return msg
}

// Unwrap gives the class and the cause to errors.Is and errors.As.
func (e *OpError) Unwrap() []error {
	var errs []error
	if e.Class != nil {
		errs = append(errs, e.Class)
	}
	if e.Err != nil {
		errs = append(errs, e.Err)
	}
	return errs
}
