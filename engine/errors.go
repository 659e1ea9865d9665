package engine

import (
	"errors"
	"fmt"
	"strings"

	"github.com/flowtui/flowtui/stores"
)

// The classes of errors, named as in the reference on durable runs. Test with
// errors.Is; get the details with errors.As on [*Error].
var (
	ErrCheckpointNotFound     = errors.New("nothing is stored for the run")
	ErrCheckpointConflict     = errors.New("another worker holds the run, it ended, or it changed")
	ErrCheckpointStoreCorrupt = errors.New("stored rows are unreadable or do not verify")
	ErrRecoveryNeedsDecision  = errors.New("a call is in doubt and its tool is not idempotent")
	ErrFlow                   = errors.New("the flow does not fit the run")
	ErrRefused                = errors.New("refused")
	ErrInvalid                = errors.New("invalid")
	// ErrUnwanted is an ErrInvalid about an answer that would not pass, and that
	// [Decide.Unchecked] sends all the same.
	ErrUnwanted = fmt.Errorf("%w: the answer would not pass", ErrInvalid)
	// ErrUnavailable says that something the run needs cannot be reached now,
	// like a model. It is a fact of the moment: the run stays recoverable.
	ErrUnavailable = errors.New("not available now")
	// ErrHeld says that a node failed and that the run can go on at it.
	ErrHeld = errors.New("a node failed, the run was not ended")
	// ErrTurn says that a turn of a conversation failed; the next one may work.
	ErrTurn = errors.New("the turn failed")
)

// Error is an error about one run. Its text says what happened and to which run;
// what to do next is in Hint, which the text leaves out.
type Error struct {
	Class    error // one of the Err values
	Key      stores.Key
	Reason   string
	Hint     string // what to do next
	Calls    []DoubtfulCall
	Findings []Finding
	Err      error // cause, may be nil
}

// DoubtfulCall is one call that a recovery needs a decision on.
type DoubtfulCall struct {
	ID   string
	Tool string
	Why  string
}

func (e *Error) Error() string {
	var b strings.Builder
	if e.Key.Run != "" {
		fmt.Fprintf(&b, "run %q: ", e.Key.Run)
	}
	if e.Reason != "" {
		b.WriteString(e.Reason)
	} else {
		b.WriteString(e.Class.Error())
	}
	for _, c := range e.Calls {
		fmt.Fprintf(&b, "; %s (%s): %s", c.ID, c.Tool, c.Why)
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	return b.String()
}

// Unwrap gives the class and the cause to errors.Is and errors.As.
func (e *Error) Unwrap() []error {
	errs := []error{e.Class}
	if e.Err != nil {
		errs = append(errs, e.Err)
	}
	return errs
}

func conflict(k stores.Key, hint, format string, args ...any) *Error {
	return &Error{Class: ErrCheckpointConflict, Key: k, Hint: hint, Reason: fmt.Sprintf(format, args...)}
}

// DeniedError is what a tool call returns when a person denied its approval. A
// flow may follow an error edge on it; else the run fails with the note.
type DeniedError struct {
	Tool, By, Note string
}

func (e *DeniedError) Error() string {
	msg := fmt.Sprintf("%s was denied by %s", e.Tool, e.By)
	if e.Note != "" {
		msg += ": " + e.Note
	}
	return msg
}

// ToolError is what a tool call returns when the tool finished and failed. It
// is recorded, so a recovered run meets the same error again.
type ToolError struct {
	Tool, Message string

	call string // id
}

func (e *ToolError) Error() string { return e.Tool + ": " + e.Message }
