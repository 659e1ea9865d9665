package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/flowtui/flowtui/stores"
)

// The statements below compare and write in one go, so that no answer has to
// reach the client before the transaction can end. They say in SQL what
// Checkpoint.Follows and Call.MayRecord say in Go; when they write nothing, the
// Go rule gives the reason, and a test holds the two together.

// lockHead makes the writers of one run wait for one another. It is a statement
// of its own: the next one then sees what the writer before has committed.
const lockHead = `SELECT 1 FROM {runs} WHERE owner = $1 AND run = $2 FOR UPDATE`

// lastStep is what the rules ask of the run's newest checkpoint. What cannot be
// read cannot be followed, so it also says whether it is sound.
var lastStep = `last AS (SELECT incarnation, step, base, segment, status,
		(` + checkpointColumns + `) IS NOT NULL AND payload IS NOT NULL AND least(step, base, segment, calls, events, format) >= 0
			AND time BETWEEN ` + fmt.Sprint(minTime) + ` AND ` + fmt.Sprint(maxTime) + ` AS sound
	FROM {checkpoints} WHERE owner = $1 AND run = $2 ORDER BY step DESC LIMIT 1)`

// done is the last part of the statements: how many rows of kind main were
// written, and whether the rule allowed it. It fails, and with it the
// transaction, unless as many of the others were written as complete says, where
// table.n is a number of rows.
func done(main, complete string, others ...string) string {
	var counts []string
	for _, table := range append([]string{"ok", main}, others...) {
		counts = append(counts, "(SELECT count(*) AS n FROM "+table+") AS "+table)
	}
	return `SELECT ` + main + `.n, ok.n > 0, 1 / CASE WHEN ` + complete + ` THEN 1 ELSE 0 END FROM ` + strings.Join(counts, ", ")
}

const (
	isFirst = `SELECT WHERE $5 = 0 AND $7 = 1 AND NOT EXISTS (SELECT FROM last)`
	isNext  = `SELECT FROM last WHERE sound AND ` + follows
	follows = `$5 > 0 AND $5 = last.step + 1 AND $4 = last.incarnation
			AND last.status IN ('running', 'paused') AND $7 IN (last.segment, last.segment + 1)`

	headValues = `$1, $2, $3, $4, $5, $6, $7, $23, $24, $25, $11, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35`
	firstHead  = `INSERT INTO {runs} (` + headColumns + `, open) SELECT ` + headValues + `, {open} FROM ok
			ON CONFLICT DO NOTHING RETURNING 1`
	nextHead = `UPDATE {runs} AS r SET (` + headColumns + `, open) = ROW(` + headValues + `, {open}) FROM ok
			WHERE r.owner = $1 AND r.run = $2 AND r.incarnation = $4 AND r.step = $5 - 1 RETURNING 1`

	callsOfStep = `SELECT node, ordinal, segment, n, idempotent, status FROM {calls} WHERE owner = $1 AND run = $2 AND step = $6`
)

// openCalls is the value of Head.Open: of the superstep's calls, those whose
// newest record leaves it open whether they ran.
func openCalls(records string) string {
	return `CASE WHEN $11 <> 'running' THEN 0 ELSE (SELECT count(*) FROM (
			SELECT DISTINCT ON (node, ordinal) idempotent, status FROM (` + records + `) AS every
			ORDER BY node, ordinal, segment DESC, n DESC) AS newest
		WHERE NOT idempotent AND status IN ('started', 'unrecordable')) END`
}

// extras are what a save has beside its checkpoint and its head.
type extras struct {
	given    string // tables made of the arguments
	records  string // the superstep's call records, also those that are given
	writes   string
	tables   []string // that writes must have written to
	complete string   // how many rows, for each head that was written
}

// Arguments of a save: those of the checkpoint from 1, the head's own from 23.
// With an event and nothing else follow its own; otherwise the graph, the numbers
// of call records and events, then their arrays.
const graphAt, callsAt, eventsAt = 36, 39, 53

// A table that is named costs a tenth of a commit, also when nothing is put into
// it; and most saves have one event and nothing else.
var (
	oneEvent = extras{
		records: callsOfStep,
		writes: `told AS (INSERT INTO {events} (owner, run, store, incarnation, ` + eventList + `)
		SELECT $1, $2, $3, $4, ` + marks(graphAt, 9) + ` FROM head RETURNING 1)`,
		tables:   []string{"told"},
		complete: `told.n = head.n`,
	}
	anything = extras{
		given:   `records AS (SELECT * FROM unnest(` + marks(callsAt, 14) + `) AS u (` + callList + `)),`,
		records: callsOfStep + ` UNION ALL SELECT node, ordinal, segment, n, idempotent, status FROM records WHERE step = $6`,
		writes: `logged AS (INSERT INTO {calls} (owner, run, store, incarnation, ` + callList + `)
		SELECT $1, $2, $3, $4, records.* FROM head, records RETURNING 1),
	told AS (INSERT INTO {events} (owner, run, store, incarnation, ` + eventList + `)
		SELECT $1, $2, $3, $4, u.* FROM head, unnest(` + marks(eventsAt, 9) + `) AS u RETURNING 1),
	drawn AS (INSERT INTO {graphs} (digest, graph) SELECT $10, $36 FROM head WHERE $36 IS NOT NULL ON CONFLICT DO NOTHING)`,
		tables:   []string{"logged", "told"},
		complete: `logged.n = $37 * head.n AND told.n = $38 * head.n`,
	}
)

func saveStatement(allowed, head string, x extras) string {
	return `WITH ` + lastStep + `, ` + x.given + `
	ok AS (` + allowed + `),
	head AS (` + strings.ReplaceAll(head, "{open}", openCalls(x.records)) + `),
	saved AS (INSERT INTO {checkpoints} (` + checkpointColumns + `, payload) SELECT ` + marks(1, 22) + ` FROM head RETURNING 1),
	` + x.writes + `
	` + done("head", `saved.n = head.n AND `+x.complete, append(x.tables, "saved")...)
}

var (
	saveFirst = saveStatement(isFirst, firstHead, anything)
	saveNext  = saveStatement(isNext, nextHead, anything)
	saveStep  = saveStatement(isNext, nextHead, oneEvent)
)

// Save implements stores.Store.
func (s *Store) Save(ctx context.Context, w stores.Save) error {
	c := w.Checkpoint
	err := w.Check()
	for _, call := range w.Calls {
		if err == nil {
			err = call.MayRecord(&c)
		}
	}
	if err != nil {
		return s.wrap("save", c.Key, err)
	}
	return s.judge(ctx, "save", c.Key, saving(w), c.Follows)
}

// saving is the statement that saves.
func saving(w stores.Save) statement {
	args := slices.Concat(checkpointArgs(w.Checkpoint), headArgs(w.Head))
	if w.Checkpoint.Step > 0 && len(w.Calls) == 0 && len(w.Events) == 1 && w.Graph == nil {
		return ask(saveStep, append(args, eventArgs(w.Events[0])[placeColumns:]...)...)
	}
	sql := saveNext
	if w.Checkpoint.Step == 0 {
		sql = saveFirst
	}
	return ask(sql, slices.Concat(args, []any{w.Graph, int64(len(w.Calls)), int64(len(w.Events))}, callArrays(w.Calls), eventArrays(w.Events))...)
}

// recordable locks the head too: a run that began after lockHead was not locked
// by it, and then the two must agree.
const (
	recordable = `SELECT last.status, last.base FROM last,
			(SELECT step, incarnation FROM {runs} WHERE owner = $1 AND run = $2 FOR UPDATE) AS head
		WHERE last.sound AND head.step = last.step AND head.incarnation = last.incarnation AND ` + mayRecord
	mayRecord = `$4 = last.incarnation AND $5 <= last.segment
			AND ($12 <> 'started' OR $5 = last.segment AND last.status IN ('running', 'paused'))`
)

// recordStatement counts Head.Open on: one call changes it by one at most, and
// counting all calls for each record would make a superstep of many calls slow.
// The sum in the order keeps the planner from walking the primary key, through
// all records of the run: of a new call there is none to be found.
func recordStatement(tell, complete string, tables ...string) string {
	return `WITH ` + lastStep + `,
	ok AS (` + recordable + `),
	logged AS (INSERT INTO {calls} (` + callColumns + `) SELECT ` + marks(1, 18) + ` FROM ok RETURNING 1),
	` + tell + `counted AS (UPDATE {runs} AS r SET open = greatest(0, r.open + change.by) FROM (
			SELECT $19::int - coalesce(before.open, false)::int AS by
			FROM ok LEFT JOIN (SELECT segment, n, NOT idempotent AND status IN ('started', 'unrecordable') AS open FROM {calls}
				WHERE owner = $1 AND run = $2 AND step = $7 AND node = $8 AND ordinal = $9 ORDER BY segment + 0::bigint DESC, n DESC LIMIT 1) AS before ON true
			WHERE ok.status = 'running' AND ok.base = $7 AND (before.n IS NULL OR ($5, $6) > (before.segment, before.n))) AS change
		WHERE r.owner = $1 AND r.run = $2 AND change.by <> 0)
	` + done("logged", complete, tables...)
}

// Arguments of a record: its own, whether it leaves the call open, and with
// events their number and arrays.
var (
	recordCall = recordStatement("", `logged.n = ok.n`)
	recordTold = recordStatement(`told AS (INSERT INTO {events} (owner, run, store, incarnation, `+eventList+`)
		SELECT $1, $2, $3, $4, u.* FROM ok, unnest(`+marks(21, 9)+`) AS u RETURNING 1),
	`, `logged.n = ok.n AND told.n = $20 * ok.n`, "told")
)

// RecordCall implements stores.Store.
func (s *Store) RecordCall(ctx context.Context, w stores.CallWrite) error {
	c := w.Call
	if err := w.Check(); err != nil {
		return s.wrap("record call", c.Key, err)
	}
	return s.judge(ctx, "record call", c.Key, recording(w), c.MayRecord)
}

// recording is the statement that records a call.
func recording(w stores.CallWrite) statement {
	args := append(callArgs(w.Call), w.Call.Open())
	if len(w.Events) == 0 {
		return ask(recordCall, args...)
	}
	return ask(recordTold, slices.Concat(args, []any{int64(len(w.Events))}, eventArrays(w.Events))...)
}

// judge writes with a statement that ends with done. When it wrote nothing, the
// rule says why.
func (s *Store) judge(ctx context.Context, op string, k stores.Key, st statement, rule func(last *stores.Checkpoint) error) error {
	results, err := s.write(ctx, op, k, ask(lockHead, st.args[:2]...), st)
	if err != nil {
		return err
	}
	var written int64
	var allowed bool
	r := &row{}
	err = facts(results[1], r.number("rows", &written), r.flag("allowed", &allowed))
	if err == nil && written == 0 {
		err = s.refuse(ctx, op, k, rule, allowed && len(results[0].Rows) > 0)
	}
	return s.wrap(op, k, err)
}

// found is what a write that was refused met.
type found struct {
	head, known bool // the run has a head, the run has a checkpoint
	whole       bool // the head belongs to the newest checkpoint
	last        stores.Checkpoint
}

func bindFound(r *row, f *found) []column {
	return slices.Concat([]column{r.flag("head", &f.head), r.flag("known", &f.known), r.flag("whole", &f.whole)},
		bindCheckpoint(false)(r, &f.last))
}

var selectFound = `SELECT EXISTS (SELECT FROM {runs} WHERE owner = $1 AND run = $2), last.step IS NOT NULL,
		EXISTS (SELECT FROM {runs} WHERE owner = $1 AND run = $2 AND step = last.step AND incarnation = last.incarnation), ` + of("last", checkpointColumns) + `, last.size
	FROM (VALUES (1)) AS one LEFT JOIN (SELECT ` + checkpointColumns + `, octet_length(payload)::bigint AS size
		FROM {checkpoints} WHERE owner = $1 AND run = $2 ORDER BY step DESC LIMIT 1) AS last ON true`

// refuse says why nothing was written. It reads that in a round trip of its own,
// which a write that passes does not pay for; so a rule that is met by now may
// have been broken then. A write that was allowed while the head was locked has
// met no other worker.
func (s *Store) refuse(ctx context.Context, op string, k stores.Key, rule func(last *stores.Checkpoint) error, allowed bool) error {
	res, err := s.query(ctx, op, k, selectFound, k.Owner, k.Run)
	if err != nil {
		return fmt.Errorf("nothing was saved, and the reason cannot be read: %w", err)
	}
	f, err := one(collect(res, bindFound, func(f *found, bad string) { f.last.Bad = bad }))
	if err != nil {
		return err
	}
	last := &f.last
	if !f.known {
		last = nil
	} else if last.Bad != "" {
		return fmt.Errorf("%w: the newest checkpoint cannot be read: %s", stores.ErrUnreadable, last.Bad)
	}
	if err := rule(last); err != nil {
		return err
	}
	switch {
	case f.head && !f.known:
		return fmt.Errorf("%w: the run has a head and no checkpoint", stores.ErrUnreadable)
	case f.known && !f.head:
		return fmt.Errorf("%w: the run has checkpoints and no head", stores.ErrUnreadable)
	case f.known && !f.whole:
		return fmt.Errorf("%w: the head of the run does not belong to its newest checkpoint, step %d", stores.ErrUnreadable, last.Step)
	}
	if allowed {
		return fmt.Errorf("%w: the server did not keep the head, a trigger or a rule may swallow it; nothing was saved", stores.ErrUnreadable)
	}
	return fmt.Errorf("%w: another worker wrote at the same moment", stores.ErrConflict)
}

// deleteSeen deletes the run whose newest checkpoint is still the one that was
// seen. Like recordable, it needs the head that it locks to belong to it.
var deleteSeen = func() string {
	sql := `WITH ` + lastStep + `,
	ok AS (SELECT FROM last, (SELECT step, incarnation FROM {runs} WHERE owner = $1 AND run = $2 FOR UPDATE) AS head
		WHERE last.sound AND head.step = last.step AND head.incarnation = last.incarnation
			AND last.incarnation = $3 AND last.step = $4),
	`
	for _, t := range []string{"checkpoints", "runs", "calls", "events", "leases"} {
		sql += t + `_gone AS (DELETE FROM {` + t + `} USING ok WHERE owner = $1 AND run = $2 RETURNING 1),
	`
	}
	return strings.TrimSuffix(sql, ",\n\t") + "\n\t" + done("runs_gone", "true")
}()

// DeleteAt implements stores.Remover.
func (s *Store) DeleteAt(ctx context.Context, k stores.Key, incarnation string, step int64) error {
	return s.judge(ctx, "delete", k, ask(deleteSeen, k.Owner, k.Run, incarnation, step), func(last *stores.Checkpoint) error {
		return stores.MayDelete(incarnation, step, last)
	})
}

// deleteRun takes away what it sees of a run. It locks the head before all
// else, so that two deletions do not wait for each other; and it does nothing
// when the head it locked is another than it sees: then the run began after
// lockHead, and there may be rows that it does not see.
var deleteRun = func() string {
	sql := `WITH seen AS (SELECT xmin::text AS version FROM {runs} WHERE owner = $1 AND run = $2),
	head AS (SELECT xmin::text AS version FROM {runs} WHERE owner = $1 AND run = $2 FOR UPDATE),
	ok AS (SELECT WHERE NOT EXISTS (SELECT FROM seen) OR EXISTS (SELECT FROM head JOIN seen USING (version))),
	`
	for _, t := range []string{"checkpoints", "runs", "calls", "events", "leases"} {
		sql += t + `_gone AS (DELETE FROM {` + t + `} USING ok WHERE owner = $1 AND run = $2 RETURNING 1),
	`
	}
	return sql + `every AS (SELECT FROM checkpoints_gone UNION ALL SELECT FROM runs_gone UNION ALL SELECT FROM calls_gone
		UNION ALL SELECT FROM events_gone)
	SELECT (SELECT count(*) FROM every), EXISTS (SELECT FROM ok)`
}()

// Delete implements stores.Store. Graphs stay: other runs may share them.
func (s *Store) Delete(ctx context.Context, k stores.Key) error {
	args := []any{k.Owner, k.Run}
	for {
		results, err := s.write(ctx, "delete", k, ask(lockHead, args...), ask(deleteRun, args...))
		if err != nil {
			return err
		}
		var gone int64
		var ok bool
		r := &row{}
		err = facts(results[1], r.number("", &gone), r.flag("", &ok))
		if err == nil && !ok {
			continue // the run began meanwhile; now its head can be locked
		}
		if err == nil && gone == 0 {
			err = stores.ErrNotFound
		}
		return s.wrap("delete", k, err)
	}
}
