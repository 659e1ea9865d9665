package sqlite

import (
	"errors"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/flowtui/flowtui/stores"
)

// code is SQLite's extended result code of err, or 0.
func code(err error) int {
	if e, ok := errors.AsType[*driver.Error](err); ok {
		return e.Code()
	}
	return 0
}

// primary strips the detail of an extended result code.
func primary(code int) int { return code & 0xff }

// wrap says in an error which operation failed and of what class the failure
// is. Errors of the contract are their own class.
func (s *Store) wrap(op string, k stores.Key, err error) error {
	if err == nil {
		return nil
	}
	if _, done := errors.AsType[*stores.OpError](err); done {
		return err
	}
	e := &stores.OpError{Op: op, Store: s.file, Key: k, Err: err}
	e.Why, e.Class = class(code(err))
	return e
}

func class(code int) (why string, class error) {
	switch code {
	case lib.SQLITE_CONSTRAINT_UNIQUE, lib.SQLITE_CONSTRAINT_PRIMARYKEY:
		return "a row with this number exists already", stores.ErrConflict
	case lib.SQLITE_READONLY_ROLLBACK:
		return "an interrupted write must be undone first; open the store once with write permission", stores.ErrUnreadable
	case lib.SQLITE_IOERR_SHMSIZE:
		// The -shm file could not grow.
		return "nothing was saved", stores.ErrFull
	}
	switch primary(code) {
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return "another process was writing for too long; nothing was saved, try again", stores.ErrBusy
	case lib.SQLITE_PROTOCOL:
		return "another process stands still in the middle of a write; nothing was saved, try again when it goes on or was ended", stores.ErrBusy
	case lib.SQLITE_FULL:
		return "nothing was saved", stores.ErrFull
	case lib.SQLITE_READONLY, lib.SQLITE_PERM:
		return "", stores.ErrReadOnly
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		return "", stores.ErrUnreadable
	case lib.SQLITE_CONSTRAINT, lib.SQLITE_TOOBIG, lib.SQLITE_MISMATCH:
		return "", stores.ErrInvalid
	case lib.SQLITE_CANTOPEN, lib.SQLITE_IOERR, lib.SQLITE_NOLFS, lib.SQLITE_AUTH:
		return "", stores.ErrUnavailable
	}
	return "", nil
}
