package redis

import (
	"context"
	"errors"
	"strings"

	client "github.com/redis/go-redis/v9"

	"github.com/flowtui/flowtui/stores"
)

// dialError is a connection that was never made: nothing was sent.
type dialError struct{ err error }

func (e dialError) Error() string { return e.err.Error() }
func (e dialError) Unwrap() error { return e.err }

// goneError tells a store that is not the one that was attached any more.
type goneError struct{ why string }

func (e goneError) Error() string { return e.why }

// doubt is the end of a context, or a failure of the connection, after a write
// was sent.
type doubt struct{ err error }

func (e doubt) Error() string { return e.err.Error() }
func (e doubt) Unwrap() error { return e.err }

// wrap says in an error which operation failed and of what class the failure
// is. Errors of the contract are their own class.
func (s *Store) wrap(op string, k stores.Key, err error) error {
	if err == nil {
		return nil
	}
	if _, done := errors.AsType[*stores.OpError](err); done {
		return err
	}
	e := &stores.OpError{Op: op, Store: s.conf.location, Key: k, Err: err}
	e.Why, e.Class = class(err)
	return e
}

// contract are the classes that an error may have already.
var contract = []error{
	stores.ErrNotFound, stores.ErrConflict, stores.ErrReadOnly, stores.ErrInvalid, stores.ErrUnreadable, stores.ErrNotStore,
	stores.ErrTooNew, stores.ErrBusy, stores.ErrFull, stores.ErrUnavailable, stores.ErrUnknown, stores.ErrClosed,
}

func class(err error) (why string, class error) {
	for _, c := range contract {
		if errors.Is(err, c) {
			return "", nil
		}
	}
	reply, answered := errors.AsType[client.Error](err)
	_, sent := errors.AsType[doubt](err)
	_, undialled := errors.AsType[dialError](err)
	_, gone := errors.AsType[goneError](err)
	switch {
	case gone:
		return "", stores.ErrUnavailable
	case answered:
		return replyClass(reply.Error(), sent)
	case errors.Is(err, client.ErrClosed):
		return "", stores.ErrClosed
	case errors.Is(err, client.ErrPoolTimeout), errors.Is(err, client.ErrPoolExhausted):
		return "all connections of this process are in use; nothing was sent, try again", stores.ErrBusy
	case undialled:
		return "no connection; nothing was sent", stores.ErrUnavailable
	case sent:
		return "the write was sent and no answer came; look at the run before you try again", stores.ErrUnknown
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return "", nil
	}
	return "the connection failed; try again", stores.ErrUnavailable
}

// reply is what an error that the server answers with means. In all of them but
// the unknown ones nothing was changed.
type reply struct {
	code  string
	class error
	why   string
}

var replies = []reply{
	// A script that a key's permission stops half way is not undone.
	{"NOPERM ACL failure in script", stores.ErrUnknown, "this user lacks a permission (see ACL); look at the run before you try again"},
	{"NOPERM", stores.ErrReadOnly, "this user lacks a permission (see ACL); nothing was changed"},
	{"READONLY", stores.ErrReadOnly, "the server is a replica; nothing was changed, write to its primary"},
	{"OOM", stores.ErrFull, "the server's maxmemory is reached; nothing was saved"},
	{"MISCONF", stores.ErrUnavailable, "the server cannot write to its disk and takes no writes; nothing was saved"},
	{"NOREPLICAS", stores.ErrUnavailable, "the server lacks the replicas that it needs for a write; nothing was saved"},
	{"LOADING", stores.ErrUnavailable, "the server still loads its data; try again"},
	{"MASTERDOWN", stores.ErrUnavailable, "the replica has lost its primary"},
	{"CLUSTERDOWN", stores.ErrUnavailable, "the cluster does not serve this slot now; try again"},
	{"MOVED", stores.ErrUnavailable, "the server is part of a cluster: open it with redis+cluster://"},
	{"ASK", stores.ErrBusy, "the slot is being moved to another server; nothing was changed, try again"},
	{"TRYAGAIN", stores.ErrBusy, "the slot is being moved to another server; nothing was changed, try again"},
	{"BUSY", stores.ErrBusy, "the server runs a script that takes too long; nothing was changed, try again"},
	{"ERR max number of clients", stores.ErrBusy, "the server has too many connections; try again"},
	{"NOAUTH", stores.ErrUnavailable, "the server wants a password"},
	{"WRONGPASS", stores.ErrUnavailable, "the user or the password is wrong"},
	{"ERR AUTH", stores.ErrUnavailable, "a password was given, and the server knows none"},
	{"DENIED", stores.ErrUnavailable, "the server refuses this machine"},
	{"ERR DB index", stores.ErrInvalid, "the server has no database of this number"},
	{"ERR SELECT", stores.ErrInvalid, "the server has no database of this number"},
	{"WRONGTYPE", stores.ErrUnreadable, "a key of the store holds something else"},
	{"ERR unknown command", stores.ErrReadOnly, "the server does not know a command that is needed for this; nothing was changed"},
}

// replyClass finds the code, which comes first, or after the name of the script
// that met the error.
func replyClass(text string, write bool) (why string, class error) {
	for _, r := range replies {
		if strings.HasPrefix(text, r.code) || inScript(text, r.code) {
			if strings.HasPrefix(r.code, "NOPERM") && !write {
				return "this user may not read it (see ACL)", stores.ErrUnavailable
			}
			return r.why, r.class
		}
	}
	if write {
		return "the server failed in the middle; look at the run before you try again", stores.ErrUnknown
	}
	return "", stores.ErrUnreadable
}

// nonLocal is what a script meets at a key that is not there while its slot is
// being moved. Every script looks at such a key before it changes a row.
const nonLocal = "attempted to access a non local key"

func inScript(text, code string) bool {
	if code == "TRYAGAIN" && strings.Contains(text, nonLocal) {
		return true
	}
	_, after, found := strings.Cut(text, "@user_script")
	if !found {
		return false
	}
	return strings.Contains(after, " "+code) || strings.Contains(after, "-"+code) ||
		code == "NOPERM" && strings.Contains(text, "The user executing the script can't run this command")
}

// isReply reports whether err is an answer of the server with this code.
func isReply(err error, code string) bool {
	reply, ok := errors.AsType[client.Error](err)
	return ok && (strings.HasPrefix(reply.Error(), code) || inScript(reply.Error(), code))
}
