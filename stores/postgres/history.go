package postgres

import (
	"context"
	"fmt"

	"github.com/flowtui/flowtui/stores"
)

// defaultRows is the limit of History and Events when none is given.
const defaultRows = 1000

// Latest implements stores.Store.
func (s *Store) Latest(ctx context.Context, k stores.Key) (stores.Checkpoint, error) {
	return s.checkpoint(ctx, "latest", k, `WHERE owner = $1 AND run = $2 ORDER BY step DESC LIMIT 1`)
}

// At implements stores.Historian.
func (s *Store) At(ctx context.Context, k stores.Key, step int64) (stores.Checkpoint, error) {
	return s.checkpoint(ctx, "at", k, `WHERE owner = $1 AND run = $2 AND step = $3`, step)
}

func (s *Store) checkpoint(ctx context.Context, op string, k stores.Key, where string, more ...any) (stores.Checkpoint, error) {
	res, err := s.query(ctx, op, k, `SELECT `+checkpointColumns+`, octet_length(payload)::bigint, payload FROM {checkpoints} `+where,
		append([]any{k.Owner, k.Run}, more...)...)
	if err != nil {
		return stores.Checkpoint{}, err
	}
	c, err := one(collect(res, bindCheckpoint(true), finishCheckpoint))
	return c, s.wrap(op, k, err)
}

// History implements stores.Historian.
func (s *Store) History(ctx context.Context, k stores.Key, q stores.HistoryQuery) ([]stores.Checkpoint, error) {
	if q.Limit <= 0 {
		q.Limit = defaultRows
	}
	body, where, args := "", "", []any{k.Owner, k.Run, int64(q.Limit)}
	if q.Payload {
		body = ", payload"
	}
	if q.From > 0 {
		// Without it, rows with an absurd step are shown too.
		where, args = "AND step >= $4", append(args, q.From)
	}
	res, err := s.query(ctx, "history", k, `SELECT `+checkpointColumns+`, octet_length(payload)::bigint`+body+` FROM {checkpoints}
		WHERE owner = $1 AND run = $2 `+where+` ORDER BY step LIMIT $3`, args...)
	if err != nil {
		return nil, err
	}
	return collect(res, bindCheckpoint(q.Payload), finishCheckpoint), nil
}

// Calls implements stores.Store.
func (s *Store) Calls(ctx context.Context, k stores.Key, since int64) ([]stores.Call, error) {
	where, args := "", []any{k.Owner, k.Run}
	if since > 0 {
		where, args = "AND step >= $3", append(args, since)
	}
	res, err := s.query(ctx, "calls", k, `SELECT `+callColumns+` FROM {calls}
		WHERE owner = $1 AND run = $2 `+where+` ORDER BY segment, n`, args...)
	if err != nil {
		return nil, err
	}
	return collect(res, bindCall, finishCall), nil
}

// Events implements stores.EventLog.
func (s *Store) Events(ctx context.Context, k stores.Key, after int64, limit int) ([]stores.Event, error) {
	if limit <= 0 {
		limit = defaultRows
	}
	where, args := "", []any{k.Owner, k.Run, int64(limit)}
	if after > 0 {
		where, args = "AND n > $4", append(args, after)
	}
	res, err := s.query(ctx, "events", k, `SELECT `+eventColumns+` FROM {events}
		WHERE owner = $1 AND run = $2 `+where+` ORDER BY n LIMIT $3`, args...)
	if err != nil {
		return nil, err
	}
	return collect(res, bindEvent, finishEvent), nil
}

// Graph implements stores.Grapher.
func (s *Store) Graph(ctx context.Context, digest string) ([]byte, error) {
	res, err := s.query(ctx, "graph", stores.Key{}, `SELECT graph FROM {graphs} WHERE digest = $1`, digest)
	if err != nil {
		return nil, err
	}
	type graph struct {
		text []byte
		bad  string
	}
	g, err := one(collect(res, func(r *row, g *graph) []column { return []column{r.bytes("graph", &g.text)} },
		func(g *graph, bad string) { g.bad = bad }))
	if err == nil && g.bad != "" {
		err = fmt.Errorf("%w: %s", stores.ErrUnreadable, g.bad)
	}
	return g.text, s.wrap("graph", stores.Key{}, err)
}

// Orphans implements stores.Auditor.
func (s *Store) Orphans(ctx context.Context, owner string) ([]stores.Key, error) {
	res, err := s.query(ctx, "orphans", stores.Key{}, `SELECT owner, run FROM (
			(SELECT owner, run FROM {checkpoints} UNION SELECT owner, run FROM {calls} UNION SELECT owner, run FROM {events})
			EXCEPT SELECT owner, run FROM {runs}) AS headless
		WHERE $1 = '*' OR owner = $1 ORDER BY owner, run`, owner)
	if err != nil {
		return nil, err
	}
	return collect(res, func(r *row, k *stores.Key) []column {
		return []column{r.text("owner", &k.Owner), r.text("run", &k.Run)}
	}, func(*stores.Key, string) {}), nil
}
