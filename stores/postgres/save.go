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

// lastStep is the run's newest checkpoint without its payload. What cannot be
// read cannot be followed, so it also says whether it is sound.
var lastStep = `last AS (SELECT ` + checkpointColumns + `, octet_length(payload)::bigint AS size,
		(` + checkpointColumns + `) IS NOT NULL AND payload IS NOT NULL AND least(step, base, segment, calls, events, format) >= 0
			AND time BETWEEN ` + fmt.Sprint(minTime) + ` AND ` + fmt.Sprint(maxTime) + ` AS sound
	FROM {checkpoints} WHERE owner = $1 AND run = $2 ORDER BY step DESC LIMIT 1)`

// answer is the last part of both statements: how many rows of kind main were
// written, and what the run looked like. It fails, and with it the transaction,
// unless all the other rows were written as well.
func answer(main, complete string) string {
	return `SELECT (SELECT count(*) FROM ` + main + `), 1 / CASE WHEN ` + complete + ` THEN 1 ELSE 0 END,
		EXISTS (SELECT FROM {runs} WHERE owner = $1 AND run = $2), last.step IS NOT NULL, ` + of("last", checkpointColumns) + `, last.size
	FROM (VALUES (1)) AS one LEFT JOIN last ON true`
}

// Arguments of a save: those of the checkpoint from 1, the head's own from 23,
// the graph, the numbers of call records and events, then their arrays.
const (
	headAt, graphAt, sizesAt, callsAt, eventsAt = 23, 36, 37, 39, 53

	headValues = `$1, $2, $3, $4, $5, $6, $7, $23, $24, $25, $11, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35`

	// openCalls is the value of Head.Open: of the superstep's calls, those whose
	// newest record leaves it open whether they ran.
	openCalls = `CASE WHEN $11 <> 'running' THEN 0 ELSE (SELECT count(*) FROM (
			SELECT DISTINCT ON (node, ordinal) idempotent, status FROM (
				SELECT node, ordinal, segment, n, idempotent, status FROM {calls} WHERE owner = $1 AND run = $2 AND step = $6
				UNION ALL SELECT node, ordinal, segment, n, idempotent, status FROM records WHERE step = $6) AS every
			ORDER BY node, ordinal, segment DESC, n DESC) AS newest
		WHERE NOT idempotent AND status IN ('started', 'unrecordable')) END`

	isFirst = `SELECT WHERE $5 = 0 AND $7 = 1 AND NOT EXISTS (SELECT FROM last)`
	isNext  = `SELECT FROM last WHERE sound AND ` + follows
	follows = `$5 > 0 AND $5 = last.step + 1 AND $4 = last.incarnation
			AND last.status IN ('running', 'paused') AND $7 IN (last.segment, last.segment + 1)`
	firstHead = `INSERT INTO {runs} (` + headColumns + `, open) SELECT ` + headValues + `, ` + openCalls + ` FROM ok
			ON CONFLICT DO NOTHING RETURNING 1`
	nextHead = `UPDATE {runs} AS r SET (` + headColumns + `, open) = ROW(` + headValues + `, ` + openCalls + `) FROM ok
			WHERE r.owner = $1 AND r.run = $2 AND r.incarnation = $4 AND r.step = $5 - 1 RETURNING 1`
)

func saveStatement(allowed, head string) string {
	return `WITH ` + lastStep + `,
	records AS (SELECT * FROM unnest(` + marks(callsAt, 14) + `) AS u (` + callList + `)),
	ok AS (` + allowed + `),
	head AS (` + head + `),
	saved AS (INSERT INTO {checkpoints} (` + checkpointColumns + `, payload) SELECT ` + marks(1, 22) + ` FROM head RETURNING 1),
	logged AS (INSERT INTO {calls} (owner, run, store, incarnation, ` + callList + `)
		SELECT $1, $2, $3, $4, records.* FROM head, records RETURNING 1),
	told AS (INSERT INTO {events} (owner, run, store, incarnation, ` + eventList + `)
		SELECT $1, $2, $3, $4, u.* FROM head, unnest(` + marks(eventsAt, 9) + `) AS u RETURNING 1),
	drawn AS (INSERT INTO {graphs} (digest, graph) SELECT $10, $36 FROM head WHERE $36 IS NOT NULL ON CONFLICT DO NOTHING)
	` + answer("head", `(SELECT count(*) FROM head) = (SELECT count(*) FROM saved)
		AND (SELECT count(*) FROM logged) = $37 * (SELECT count(*) FROM head)
		AND (SELECT count(*) FROM told) = $38 * (SELECT count(*) FROM head)`)
}

var saveFirst, saveNext = saveStatement(isFirst, firstHead), saveStatement(isNext, nextHead)

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
	sql := saveNext
	if c.Step == 0 {
		sql = saveFirst
	}
	args := slices.Concat(checkpointArgs(c), headArgs(w.Head), []any{w.Graph, int64(len(w.Calls)), int64(len(w.Events))},
		callArrays(w.Calls), eventArrays(w.Events))
	return s.judge(ctx, "save", c.Key, ask(sql, args...), c.Follows)
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

// recordCall counts Head.Open on: one call changes it by one at most, and
// counting all calls for each record would make a superstep of many calls slow.
var recordCall = `WITH ` + lastStep + `,
	ok AS (` + recordable + `),
	before AS (SELECT segment, n, NOT idempotent AND status IN ('started', 'unrecordable') AS open FROM {calls}
		WHERE owner = $1 AND run = $2 AND step = $7 AND node = $8 AND ordinal = $9 ORDER BY segment DESC, n DESC LIMIT 1),
	logged AS (INSERT INTO {calls} (` + callColumns + `) SELECT ` + marks(1, 18) + ` FROM ok RETURNING 1),
	told AS (INSERT INTO {events} (owner, run, store, incarnation, ` + eventList + `)
		SELECT $1, $2, $3, $4, u.* FROM ok, unnest(` + marks(21, 9) + `) AS u RETURNING 1),
	change AS (SELECT $19::int - coalesce(before.open, false)::int AS by FROM ok LEFT JOIN before ON true
		WHERE ok.status = 'running' AND ok.base = $7 AND (before.n IS NULL OR ($5, $6) > (before.segment, before.n))),
	counted AS (UPDATE {runs} AS r SET open = greatest(0, r.open + change.by) FROM change
		WHERE r.owner = $1 AND r.run = $2 AND change.by <> 0)
	` + answer("logged", `(SELECT count(*) FROM logged) = (SELECT count(*) FROM ok)
		AND (SELECT count(*) FROM told) = $20 * (SELECT count(*) FROM ok)`)

// RecordCall implements stores.Store.
func (s *Store) RecordCall(ctx context.Context, w stores.CallWrite) error {
	c := w.Call
	if err := w.Check(); err != nil {
		return s.wrap("record call", c.Key, err)
	}
	open := c.Open()
	args := slices.Concat(callArgs(c), []any{open, int64(len(w.Events))}, eventArrays(w.Events))
	return s.judge(ctx, "record call", c.Key, ask(recordCall, args...), c.MayRecord)
}

// judge writes with a statement that ends with answer. When it wrote nothing,
// the rule says why.
func (s *Store) judge(ctx context.Context, op string, k stores.Key, st statement, rule func(last *stores.Checkpoint) error) error {
	results, err := s.write(ctx, op, k, ask(lockHead, st.args[:2]...), st)
	if err != nil {
		return err
	}
	found, err := one(collect(results[1], bindFound, func(f *found, bad string) { f.last.Bad = bad }))
	if err == nil && found.written == 0 {
		err = found.refuse(len(results[0].Rows) > 0, rule)
	}
	return s.wrap(op, k, err)
}

// found is what a write met.
type found struct {
	written     int64
	head, known bool // the run has a head, the run has a checkpoint
	last        stores.Checkpoint
}

func bindFound(r *row, f *found) []column {
	return slices.Concat([]column{r.number("rows", &f.written), func(any) {}, r.flag("head", &f.head), r.flag("known", &f.known)},
		bindCheckpoint(false)(r, &f.last))
}

// refuse says why nothing was written.
func (f found) refuse(locked bool, rule func(last *stores.Checkpoint) error) error {
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
	case f.known && locked:
		return fmt.Errorf("%w: the head of the run does not belong to its newest checkpoint, step %d", stores.ErrUnreadable, last.Step)
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
	return strings.TrimSuffix(sql, ",\n\t") + "\n\t" + answer("runs_gone", "true")
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
