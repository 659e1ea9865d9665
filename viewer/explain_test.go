package viewer

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/stores"
)

// What is forbidden is refused; it is not called corrupt.
func TestForbiddenIsNotCorrupt(t *testing.T) {
	s := new(Service)
	for _, err := range []error{
		&stores.OpError{Op: "open", Store: "/srv/a.db", Class: stores.ErrUnreadable, Why: "the file cannot be opened for reading, check its permissions", Err: errors.New("unable to open database file (14)")},
		&stores.OpError{Op: "list", Store: "/srv/a.db", Class: stores.ErrUnreadable, Why: "/srv/a.db-wal holds 9 bytes; reading them needs /srv/a.db-shm, which cannot be opened or created here"},
		&stores.OpError{Op: "open", Err: &fs.PathError{Op: "stat", Path: "/srv/a.db", Err: fs.ErrPermission}},
		fmt.Errorf("flow files: %w", &fs.PathError{Op: "open", Path: "/srv/a.db", Err: fs.ErrPermission}),
	} {
		p := s.Explain(err)
		if p.Exit() != 7 || !strings.Contains(p.Message, "/srv/a.db") || !strings.Contains(p.Hint, "permission") || damaged(err) {
			t.Errorf("%v: %+v", err, p)
		}
		if _, ofStore := errors.AsType[*stores.OpError](err); strings.Contains(p.Hint, "the store") != ofStore {
			t.Errorf("%v: %+v", err, p)
		}
	}
	if p := s.Explain(&stores.OpError{Op: "open", Class: stores.ErrUnreadable, Err: errors.New("malformed")}); p.Exit() != 6 {
		t.Errorf("%+v", p)
	}
}

// Each reason is told once.
func TestDoubtIsToldOnce(t *testing.T) {
	const limit = "the call may or may not have run: no answer within 2s: the call may or may not have run (no answer within 2s: the call may or may not have run)"
	for why, want := range map[string]string{
		limit:                              "pay may or may not have run: no answer within 2s",
		"the call may or may not have run": "pay may or may not have run",
		"the node gave up waiting: the call may or may not have run":                    "pay may or may not have run: the node gave up waiting",
		"the call ran, but its result cannot be kept: stdout is not JSON (see the log)": "pay ran, but its result cannot be kept: stdout is not JSON (see the log)",
		"json: unsupported value: NaN":                                                  "pay may have run, but its result could not be kept: json: unsupported value: NaN",
	} {
		c := engine.CallInfo{Tool: "pay", Status: stores.CallUnrecordable, Why: why}
		if got := doubtOn(c, "pay"); got != want {
			t.Errorf("%q", got)
		}
		err := &engine.Error{Class: engine.ErrRecoveryNeedsDecision, Reason: "no", Calls: []engine.DoubtfulCall{{ID: "a.1", Tool: "pay", Why: c.Doubt()}}}
		if got := explain(err).Message; got != "no; a.1 (pay): it"+strings.TrimPrefix(want, "pay") {
			t.Errorf("%q", got)
		}
	}
	const started = "started at 10:00:00 UTC, no result was recorded: it may or may not have run"
	if got := plainDoubt(started); got != started {
		t.Errorf("%q", got)
	}
}

func TestWhatWasFoundIsToldOnce(t *testing.T) {
	for what, want := range map[string]string{
		"not a store: looked for a SQLite file, found a folder": "a folder",
		"looked for a SQLite file, found a text":                "a text",
		"a name, found nowhere":                                 "a name, found nowhere",
	} {
		if got := foundOnly(what); got != want {
			t.Errorf("%q", got)
		}
	}
}
