package teff

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/flowtui/flowtui/stores"
)

// grace is how long a commit that was sent may still say how it ended after its
// context has.
const grace = 5 * time.Second

// replace compares and writes in one transaction. A commit whose reply was lost
// is settled by reading back.
func (s *server) replace(ctx context.Context, list []change) error {
	for _, c := range list {
		switch {
		case !storable(c.key):
			return fmt.Errorf("%w: the server cannot hold the id %q", stores.ErrInvalid, c.key.Run)
		case c.row.iteration > math.MaxInt32:
			return fmt.Errorf("%w: iteration %d is more than the server keeps", stores.ErrInvalid, c.row.iteration)
		}
	}
	tx, err := s.pool.Begin(ctx)
	if err != nil {
		return s.class(err)
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if err := s.write(ctx, tx, list); err != nil {
		_ = tx.Rollback(late) // its own error says nothing more
		return s.class(err)
	}
	err = tx.Commit(late)
	if err == nil {
		return nil
	}
	again, stop := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer stop()
	return s.settle(again, list, err)
}

// settle finds out whether a commit that failed has happened.
func (s *server) settle(ctx context.Context, list []change, err error) error {
	c := list[len(list)-1]
	now, readErr := s.row(ctx, c.key)
	found := readErr == nil
	switch {
	case readErr != nil && !errors.Is(readErr, stores.ErrNotFound):
	case c.next == nil && !found, c.next != nil && found && s.same(ctx, now, c):
		return nil
	case c.unchanged(now, found):
		return fmt.Errorf("%w: nothing was saved: %w", stores.ErrUnavailable, err)
	}
	return fmt.Errorf("%w: %w", stores.ErrUnknown, err)
}

// same reports whether a row holds what was to be written. The server has its
// own way to write JSON, so it is asked.
func (s *server) same(ctx context.Context, now record, c change) bool {
	var same bool
	err := s.pool.QueryRow(ctx, s.sql(`SELECT state = $3::jsonb FROM {table} WHERE owner = $1 AND checkpoint_id = $2`), c.key.Owner, c.key.Run, string(c.state)).Scan(&same)
	return err == nil && same && now.iteration == c.row.iteration && orEmpty(now.next) == orEmpty(c.row.next) && (now.next == nil) == (c.row.next == nil)
}

func (s *server) write(ctx context.Context, tx pgx.Tx, list []change) error {
	for _, c := range list {
		rows, err := tx.Query(ctx, s.sql(selectWhole+` WHERE owner = $1 AND checkpoint_id = $2 FOR UPDATE`), c.key.Owner, c.key.Run)
		if err != nil {
			return err
		}
		now, err := collectRecords(rows, true)
		if err != nil {
			return err
		}
		if found := len(now) > 0; !c.unchanged(append(now, record{})[0], found) {
			return errChanged(c.key)
		}
	}
	for i := range list {
		if err := s.put(ctx, tx, &list[i]); err != nil {
			return err
		}
	}
	return nil
}

func (s *server) put(ctx context.Context, tx pgx.Tx, c *change) error {
	run := func(sql string, args ...any) error {
		tag, err := tx.Exec(ctx, s.sql(sql), args...)
		if err == nil && tag.RowsAffected() != 1 {
			err = fmt.Errorf("%w: %d rows were written instead of 1; has the table a trigger?", stores.ErrUnreadable, tag.RowsAffected())
		}
		return err
	}
	k := c.key
	switch {
	case c.next == nil:
		return run(`DELETE FROM {table} WHERE owner = $1 AND checkpoint_id = $2`, k.Owner, k.Run)
	case c.seen == nil: // without ON CONFLICT: a row that came meanwhile is somebody else's
		if err := run(`INSERT INTO {table} (owner, checkpoint_id, state, next_node_id, iteration, updated_at) VALUES ($1, $2, $3::jsonb, $4, $5, $6)`,
			k.Owner, k.Run, string(c.state), c.row.next, c.row.iteration, clock()); err != nil {
			return taken(err, k)
		}
	default:
		if err := run(`UPDATE {table} SET state = $3::jsonb, next_node_id = $4, iteration = $5, updated_at = $6 WHERE owner = $1 AND checkpoint_id = $2`,
			k.Owner, k.Run, string(c.state), c.row.next, c.row.iteration, clock()); err != nil {
			return err
		}
	}
	rows, err := tx.Query(ctx, s.sql(selectWhole+` WHERE owner = $1 AND checkpoint_id = $2`), k.Owner, k.Run)
	if err != nil {
		return err
	}
	now, err := collectRecords(rows, true)
	if err != nil {
		return err
	}
	if len(now) != 1 {
		return fmt.Errorf("%w: the row that was written is not there; has the table a trigger?", stores.ErrUnreadable)
	}
	c.stored = now[0].text
	if !s.history {
		return nil
	}
	return run(`INSERT INTO `+historyTable+` (owner, checkpoint_id, iteration, state, next_node_id) VALUES ($1, $2, $5, $3::jsonb, $4)
		ON CONFLICT (owner, checkpoint_id, iteration) DO UPDATE SET state = excluded.state, next_node_id = excluded.next_node_id`,
		k.Owner, k.Run, string(c.state), c.row.next, c.row.iteration)
}

func taken(err error, k stores.Key) error {
	if strings.Contains(err.Error(), "SQLSTATE 23505") {
		return errChanged(k)
	}
	return err
}
