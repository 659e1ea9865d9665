package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/flowtui/flowtui/stores"
)

// refusal is an error that the server sent, or nil.
func refusal(err error) *pgconn.PgError {
	e, _ := errors.AsType[*pgconn.PgError](err)
	return e
}

// lost reports that the connection is no longer good for anything: the server
// ended it, or nothing came through.
func lost(err error) bool {
	if e := refusal(err); e != nil {
		return e.Severity == "FATAL" || e.Severity == "PANIC"
	}
	return err != nil
}

// wrap says in an error which operation failed and of what class the failure
// is. Errors of the contract are their own class.
func (s *Store) wrap(op string, k stores.Key, err error) error {
	if err == nil {
		return nil
	}
	if _, done := errors.AsType[*stores.OpError](err); done {
		return err
	}
	e := &stores.OpError{Op: op, Store: s.location, Key: k, Err: err}
	e.Why, e.Class = class(err)
	return e
}

// class is the class of an error that is not one of the contract's.
func class(err error) (why string, class error) {
	for _, known := range []error{
		stores.ErrNotFound, stores.ErrConflict, stores.ErrReadOnly, stores.ErrInvalid, stores.ErrUnreadable, stores.ErrNotStore,
		stores.ErrTooNew, stores.ErrUnknown, stores.ErrUnavailable, stores.ErrClosed,
	} {
		if errors.Is(err, known) {
			return "", nil
		}
	}
	// The caller's context; a connection that took too long has more to say.
	if err == context.Canceled || err == context.DeadlineExceeded {
		return "", nil
	}
	e := refusal(err)
	if e == nil {
		return "", stores.ErrUnavailable
	}
	if c, ok := codes[e.Code]; ok {
		return c.why, c.class
	}
	if c, ok := codes[e.Code[:min(2, len(e.Code))]]; ok {
		return c.why, c.class
	}
	return "", nil
}

type meaning struct {
	class error
	why   string
}

const (
	again    = "nothing was saved, try again"
	notSaved = "nothing was saved"
)

// codes are SQLSTATEs, or the two characters that a class of them starts with.
var codes = map[string]meaning{
	"08":    {stores.ErrUnavailable, ""},
	"22":    {stores.ErrInvalid, ""},
	"22012": {stores.ErrUnreadable, "the server did not keep every row, a trigger or a rule may swallow them; nothing was saved"}, // see complete
	"23":    {stores.ErrInvalid, ""},
	"23505": {stores.ErrConflict, "a row with this number exists already"},
	"25006": {stores.ErrReadOnly, "the server takes no writes now: it is a replica or was set read-only"},
	"28":    {stores.ErrUnavailable, "the server refused the login"},
	"3D000": {stores.ErrNotFound, "the server has no such database"},
	"3F000": {stores.ErrUnreadable, "the schema of the store is gone"},
	"40":    {stores.ErrBusy, "another writer was in the way; " + again},
	"40003": {stores.ErrUnknown, ""},
	"42501": {stores.ErrReadOnly, "the role may not do this"},
	"42703": {stores.ErrUnreadable, "a column of the store is gone"},
	"42804": {stores.ErrUnreadable, "a column of the store has another type"},
	"42883": {stores.ErrUnreadable, "a column of the store has another type"},
	"42P01": {stores.ErrUnreadable, "a table of the store is gone"},
	"42P07": {stores.ErrInvalid, "the schema has other tables with these names; give the store a schema or a prefix of its own"},
	"53":    {stores.ErrUnavailable, ""},
	"53100": {stores.ErrFull, notSaved},
	"53300": {stores.ErrUnavailable, "the server has no connection left"},
	"54":    {stores.ErrInvalid, ""},
	"55P03": {stores.ErrBusy, "another writer held the run for too long; " + again},
	"57":    {stores.ErrUnavailable, ""},
	"57014": {stores.ErrBusy, "the server cancelled it, a statement_timeout may be too short; " + again},
	"58":    {stores.ErrUnavailable, ""},
	"58030": {stores.ErrUnreadable, "the server's disk failed"},
	"XX":    {stores.ErrUnreadable, ""},
}

// outcome says what is known of a write that was sent and was not answered by
// COMMIT. An error of the server for one statement has rolled all of them back.
// Of a connection that ended nothing is known, unless the server said that it
// shuts down: it does so between statements only.
func outcome(err error) error {
	e := refusal(err)
	switch {
	case e != nil && !lost(err) && e.Code != "40003":
		return err
	case pgconn.SafeToRetry(err):
		return fmt.Errorf("%w: the write was not sent: %w", stores.ErrUnavailable, err)
	case e != nil && (e.Code == "57P01" || e.Code == "57P03" || e.Code == "53300"):
		return err
	}
	return fmt.Errorf("%w: %w", stores.ErrUnknown, err)
}
