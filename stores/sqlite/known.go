package sqlite

import (
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"modernc.org/sqlite"

	"github.com/flowtui/flowtui/stores"
)

// known is what a connection knows of the newest checkpoints without reading
// them: it wrote them, and nobody else has written since. SQLite counts every
// change of the database, by whomever; while the count is the one of this
// connection's last commit, the rows are as it left them. It is compared inside
// the write transaction, so the compare-and-set is as strict as with a read.
type known struct {
	runs   map[stores.Key]*knownRun
	data   uint32 // version of the data at the last commit
	valid  bool   // data is known
	schema int64  // version of the schema that was checked, 0 for none
}

// knownRun is what is known of one run.
type knownRun struct {
	newest   *stores.Checkpoint // without its payload
	head     stores.Head        // without its payload
	lastCall int64              // the latest step that a call record is of, noCall or unknownCall
	calls    stepCalls          // those of that step, nil when they are not all known
}

// What lastCall is when it is no step.
const (
	noCall      = -1
	unknownCall = -2
)

// remembered bounds how many runs are known.
const remembered = 1000

// effect is what a transaction did to checkpoints and calls.
type effect struct {
	complete bool // only what is said here; else nothing is known afterwards
	key      stores.Key
	saved    *knownRun // nil when no checkpoint was saved
	called   callWord  // of the call that was recorded, when none was saved
}

func (m *known) forget() { clear(m.runs) }

// look finds out, inside a transaction, whether somebody else has written.
// Whoever it was may have added a trigger, which would change or swallow what
// is written from now on.
func (t tx) look() error {
	w := t.w
	data, err := t.dataVersion()
	if err == nil && w.valid && data == w.data {
		return nil
	}
	w.forget()
	schema, err := t.schemaVersion()
	if err != nil || schema == w.schema {
		return err
	}
	found, err := inspect(t.query(selectContents))
	if err == nil {
		err = found.check()
	}
	if err == nil {
		w.schema = schema
	}
	return err
}

// keep takes over what a transaction did, after its commit.
func (t tx) keep() {
	w, e := t.w, *t.own
	data, err := t.dataVersion()
	if err != nil || !e.complete || len(w.runs) >= remembered {
		w.forget()
	}
	w.data, w.valid = data, err == nil
	if err != nil || !e.complete {
		return
	}
	if e.saved != nil {
		if w.runs == nil {
			w.runs = map[stores.Key]*knownRun{}
		}
		w.runs[e.key] = e.saved
	} else if run, ok := w.runs[e.key]; ok {
		run.recorded(e.called)
	}
}

// dataVersion changes with every commit, also those of this connection.
func (t tx) dataVersion() (uint32, error) {
	c, ok := t.conn.(sqlite.FileControl)
	if !ok {
		return 0, fmt.Errorf("the driver's connection is a %T", t.conn)
	}
	return c.FileControlDataVersion("main")
}

func (t tx) schemaVersion() (n int64, err error) {
	rows, err := t.query("PRAGMA schema_version")
	return one(collect(rows, err, func(r *row, n *int64) []any { return []any{r.number("schema version", n)} }, func(*int64, string) {}))
}

// asRead is what a read gives of a checkpoint that is written now, without its
// payload, or nil for one that had better be read: it may be bad, and a bad row
// must not be followed.
func asRead(c stores.Checkpoint) *stores.Checkpoint {
	for _, s := range []string{c.Store, c.Incarnation, c.Kind, c.Flow, c.Digest, c.User, c.Thread, c.Principal, c.KeyID} {
		if !utf8.ValidString(s) {
			return nil
		}
	}
	t := micro(c.Time)
	if c.Calls < 0 || c.Events < 0 || c.Format < 0 || t < minTime || t > maxTime {
		return nil
	}
	c.Time, c.Payload, c.Size = time.UnixMicro(t).UTC(), nil, 0
	return &c
}

// after is what is known of a run once this save is there, beside the newest
// checkpoint.
func (old *knownRun) after(t tx, w stores.Save) (*knownRun, error) {
	h := w.Head
	h.Payload = nil
	run := &knownRun{head: h, lastCall: unknownCall}
	if old == nil {
		return run, nil
	}
	if err := old.look(t); err != nil {
		return nil, err
	}
	run.lastCall, run.calls = old.lastCall, old.calls // after a rollback, old is forgotten too
	for _, c := range w.Calls {
		run.recorded(wordOf(c))
	}
	return run, nil
}

// What is no integer sorts after all that are: then any step may have calls.
const selectLastCall = `SELECT CASE typeof(step) WHEN 'integer' THEN step ELSE 9223372036854775807 END
	FROM calls INDEXED BY calls_step WHERE owner = ? AND run = ? ORDER BY step DESC LIMIT 1`

// look finds lastCall.
func (run *knownRun) look(t tx) error {
	if run.lastCall != unknownCall {
		return nil
	}
	k := run.head.Key
	rows, err := t.query(selectLastCall, k.Owner, k.Run)
	n, err := one(collect(rows, err, func(_ *row, n *int64) []any { return []any{n} }, func(*int64, string) {}))
	switch {
	case errors.Is(err, stores.ErrNotFound):
		run.lastCall = noCall
	case err != nil:
		return err
	default:
		run.lastCall = n
	}
	return nil
}

// sameRun reports whether only those columns of the head change that updateHead
// writes.
func (old *knownRun) sameRun(h stores.Head) bool {
	o := old.head
	return o.Place == h.Place && o.Kind == h.Kind && o.Flow == h.Flow && o.Digest == h.Digest && o.Identity == h.Identity &&
		o.Created.Equal(h.Created) && o.Format == h.Format && o.KeyID == h.KeyID
}
