package viewer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/seal"
	"github.com/flowtui/flowtui/stores"
)

// The codes of problems, see Problem.
const (
	codeFailed        = "failed"
	codeUsage         = "usage"
	codeNotFound      = "not-found"
	codeConflict      = "conflict"
	codeNeedsDecision = "needs-decision"
	codeCorrupt       = "corrupt"
	codeRefused       = "refused"
)

// Exit is the exit code of the command line for the problem.
func (p Problem) Exit() int {
	switch p.Code {
	case codeUsage:
		return 2
	case codeNotFound:
		return 3
	case codeConflict:
		return 4
	case codeNeedsDecision:
		return 5
	case codeCorrupt:
		return 6
	case codeRefused:
		return 7
	}
	return 1
}

// class is how errors of one kind are told.
type class struct {
	err  error
	code string
	hint string
}

// classes are tried in order: what the engine says comes before what a store
// says, since the engine's errors wrap the store's.
var classes = []class{
	{engine.ErrCheckpointNotFound, codeNotFound, ""},
	{engine.ErrRecoveryNeedsDecision, codeNeedsDecision, ""},
	{engine.ErrCheckpointConflict, codeConflict, ""},
	{engine.ErrCheckpointStoreCorrupt, codeCorrupt, ""},
	{engine.ErrFlow, codeRefused, ""},
	{engine.ErrRefused, codeRefused, ""},
	{engine.ErrInvalid, codeUsage, ""},
	{seal.ErrNoKey, codeRefused, "give the key with --key-file, --key-env, --key-cmd or FLOWTUI_KEY_FILE"},
	{stores.ErrUnknown, codeFailed, "it may or may not have been saved: look at the run again before you try again"},
	{stores.ErrNotFound, codeNotFound, ""},
	{stores.ErrConflict, codeConflict, "look at it again before you act"},
	{stores.ErrReadOnly, codeRefused, "nothing was saved"},
	{stores.ErrInvalid, codeUsage, ""},
	{stores.ErrTooNew, codeRefused, ""},
	{stores.ErrUnreadable, codeCorrupt, ""},
	{stores.ErrNotStore, codeFailed, ""},
	{stores.ErrBusy, codeFailed, "nothing was saved; try again"},
	{stores.ErrFull, codeFailed, "nothing was saved; make room, then try again"},
	{stores.ErrUnavailable, codeFailed, "the store cannot be reached; look at the run again before you try again"},
	{stores.ErrClosed, codeFailed, "nothing was saved"},
	{context.Canceled, codeFailed, "it was stopped; the run can be recovered"},
	{context.DeadlineExceeded, codeFailed, "the store was too slow; try again"},
}

// Explain tells an error to a person: what happened, to which run, and what to
// do next. Its texts are scrubbed and secrets are masked.
func (s *Service) Explain(err error) Problem {
	if err == nil {
		return Problem{}
	}
	return out(s, explain(err), false)
}

func explain(err error) Problem {
	var accepted *acceptedError
	if errors.As(err, &accepted) {
		p := explain(accepted.err)
		p.Message = fmt.Sprintf("%s, but then: %s", accepted.what, p.Message)
		return p
	}
	if p, ok := errors.AsType[Problem](err); ok {
		return p
	}
	if p, ok := forbidden(err); ok {
		return p
	}
	p := Problem{Code: codeFailed, Message: err.Error()}
	for _, c := range classes {
		if errors.Is(err, c.err) {
			p.Code, p.Hint = c.code, c.hint
			break
		}
	}
	p.Overridable = errors.Is(err, engine.ErrUnwanted)
	if e, ok := errors.AsType[*engine.Error](err); ok {
		p.Run = e.Key.Run
		if e.Hint != "" {
			p.Hint = e.Hint
		}
		for _, c := range e.Calls {
			p.Message = strings.ReplaceAll(p.Message, ": "+c.Why, ": "+plainDoubt(c.Why))
			if strings.HasPrefix(c.Why, ranBut) {
				p.Message = strings.Replace(p.Message, "a call may have run, but", "a call ran, but", 1)
			}
		}
		if errors.Is(e, engine.ErrFlow) && e.Key.Run == "" {
			p.Code = codeUsage // the flow itself is not valid
		}
	} else if e, ok := errors.AsType[*stores.OpError](err); ok {
		p.Run = e.Key.Run
	}
	return p
}

// forbidden tells of files that this user may not read. Nothing is wrong with
// what is in them, though a driver that could not look may call it unreadable.
func forbidden(err error) (Problem, bool) {
	p := Problem{Code: codeRefused, Hint: "ask for the permission, or be a user who has it"}
	e, ok := errors.AsType[*stores.OpError](err)
	path, named := errors.AsType[*fs.PathError](err)
	if ok {
		p.Hint = "nothing is wrong with the store: " + p.Hint
	}
	switch {
	case ok && errors.Is(e, stores.ErrUnreadable) && strings.Contains(e.Why, "cannot be opened"):
		p.Message, p.Run = fmt.Sprintf("%s: %s", e.Store, e.Why), e.Key.Run
		return p, true
	case named && errors.Is(path, fs.ErrPermission):
		p.Message = fmt.Sprintf("no permission to read %s", path.Path)
		if errors.Is(err, stores.ErrReadOnly) {
			p.Message, p.Hint = fmt.Sprintf("no permission to write %s", path.Path), "nothing was saved: ask for the permission, or be a user who has it"
		}
		return p, true
	}
	return p, false
}

// acceptedError is an error after the operator's action was already stored.
type acceptedError struct {
	what string // what was stored last
	err  error
}

func (e *acceptedError) Error() string { return e.what + ", but then: " + e.err.Error() }
func (e *acceptedError) Unwrap() error { return e.err }
