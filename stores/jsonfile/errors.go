package jsonfile

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"github.com/flowtui/flowtui/stores"
)

// wrap says in an error which reading operation failed and of what class the
// failure is. Errors of the contract are their own class.
func (s *Store) wrap(op string, k stores.Key, err error) error {
	if err == nil {
		return nil
	}
	e := &stores.OpError{Op: op, Store: s.path, Key: k, Err: err}
	switch {
	case ofContract(err):
	case errors.Is(err, fs.ErrPermission):
		e.Class, e.Why = stores.ErrUnreadable, "the permissions do not allow to read it"
	default:
		e.Why, e.Class = class(err)
	}
	return e
}

// wrapWrite is wrap for operations that write.
func (s *Store) wrapWrite(op string, k stores.Key, err error) error {
	if err == nil || ofContract(err) {
		return s.wrap(op, k, err)
	}
	why, class := class(err)
	return &stores.OpError{Op: op, Store: s.path, Key: k, Class: class, Why: why, Err: err}
}

func ofContract(err error) bool {
	for _, c := range []error{
		stores.ErrNotFound, stores.ErrConflict, stores.ErrReadOnly, stores.ErrInvalid, stores.ErrUnreadable, stores.ErrNotStore,
		stores.ErrTooNew, stores.ErrBusy, stores.ErrFull, stores.ErrUnavailable, stores.ErrUnknown, stores.ErrClosed,
		context.Canceled, context.DeadlineExceeded,
	} {
		if errors.Is(err, c) {
			return true
		}
	}
	return false
}

// class is of errors that come from the system. Nothing was saved when one of
// them comes from a write: else it is wrapped in ErrUnknown.
func class(err error) (why string, class error) {
	switch {
	case isFull(err):
		return "nothing was saved", stores.ErrFull
	case isReadOnlyDisk(err):
		return "", stores.ErrReadOnly
	case errors.Is(err, fs.ErrPermission):
		return "no permission", stores.ErrReadOnly
	case errors.Is(err, errNotFile), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EISDIR):
		return "", stores.ErrUnreadable
	}
	return "", stores.ErrUnavailable
}
