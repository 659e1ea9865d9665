package sqlite

import (
	"context"
	"database/sql"

	"github.com/flowtui/flowtui/stores"
)

// defaultRows is the limit of History and Events when none is given.
const defaultRows = 1000

// Latest implements stores.Store.
func (s *Store) Latest(ctx context.Context, k stores.Key) (c stores.Checkpoint, err error) {
	err = s.read(ctx, "latest", k, func(ctx context.Context, db *sql.DB) (err error) {
		c, err = checkpoint(ctx, db, `WHERE owner = ? AND run = ? ORDER BY step DESC LIMIT 1`, k.Owner, k.Run)
		return err
	})
	return c, err
}

// At implements stores.Historian.
func (s *Store) At(ctx context.Context, k stores.Key, step int64) (c stores.Checkpoint, err error) {
	err = s.read(ctx, "at", k, func(ctx context.Context, db *sql.DB) (err error) {
		c, err = checkpoint(ctx, db, `WHERE owner = ? AND run = ? AND step = ?`, k.Owner, k.Run, step)
		return err
	})
	return c, err
}

func checkpoint(ctx context.Context, db *sql.DB, where string, args ...any) (stores.Checkpoint, error) {
	rows, err := db.QueryContext(ctx, `SELECT `+checkpointColumns+`, octet_length(payload), payload FROM checkpoints `+where, args...)
	return one(collect(rows, err, bindCheckpoint(true), finishCheckpoint))
}

// History implements stores.Historian.
func (s *Store) History(ctx context.Context, k stores.Key, q stores.HistoryQuery) (steps []stores.Checkpoint, err error) {
	body, where, args := "NULL", "", []any{k.Owner, k.Run}
	if q.Payload {
		body = "payload"
	}
	if q.From > 0 {
		// Without it, rows with an absurd step are shown too.
		where, args = "AND step >= ?", append(args, q.From)
	}
	if q.Limit <= 0 {
		q.Limit = defaultRows
	}
	query := `SELECT ` + checkpointColumns + `, octet_length(payload), ` + body + ` FROM checkpoints
		WHERE owner = ? AND run = ? ` + where + ` ORDER BY step LIMIT ?`
	args = append(args, q.Limit)
	err = s.read(ctx, "history", k, func(ctx context.Context, db *sql.DB) error {
		rows, err := db.QueryContext(ctx, query, args...)
		steps, err = collect(rows, err, bindCheckpoint(q.Payload), finishCheckpoint)
		return err
	})
	return steps, err
}

// Calls implements stores.Store.
func (s *Store) Calls(ctx context.Context, k stores.Key, since int64) (calls []stores.Call, err error) {
	query, args := `SELECT `+callColumns+` FROM calls WHERE owner = ? AND run = ? ORDER BY segment, n`, []any{k.Owner, k.Run}
	if since > 0 {
		// The calls of the last steps are few: find them, then sort them.
		query = `SELECT ` + callColumns + ` FROM calls INDEXED BY calls_step
			WHERE owner = ? AND run = ? AND step >= ? ORDER BY segment, n`
		args = append(args, since)
	}
	err = s.read(ctx, "calls", k, func(ctx context.Context, db *sql.DB) error {
		rows, err := db.QueryContext(ctx, query, args...)
		calls, err = collect(rows, err, bindCall, finishCall)
		return err
	})
	return calls, err
}

// Events implements stores.EventLog.
func (s *Store) Events(ctx context.Context, k stores.Key, after int64, limit int) (events []stores.Event, err error) {
	where, args := "", []any{k.Owner, k.Run}
	if after > 0 {
		where, args = "AND n > ?", append(args, after)
	}
	if limit <= 0 {
		limit = defaultRows
	}
	query := `SELECT ` + eventColumns + ` FROM events WHERE owner = ? AND run = ? ` + where + ` ORDER BY n LIMIT ?`
	args = append(args, limit)
	err = s.read(ctx, "events", k, func(ctx context.Context, db *sql.DB) error {
		rows, err := db.QueryContext(ctx, query, args...)
		events, err = collect(rows, err, bindEvent, finishEvent)
		return err
	})
	return events, err
}

// Graph implements stores.Grapher.
func (s *Store) Graph(ctx context.Context, digest string) (graph []byte, err error) {
	err = s.read(ctx, "graph", stores.Key{}, func(ctx context.Context, db *sql.DB) error {
		rows, err := db.QueryContext(ctx, `SELECT graph FROM graphs WHERE digest = ?`, digest)
		graph, err = one(collect(rows, err, func(r *row, b *[]byte) []any { return []any{r.bytes("graph", b)} }, func(*[]byte, string) {}))
		return err
	})
	return graph, err
}
