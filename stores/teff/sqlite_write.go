package teff

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"

	"github.com/flowtui/flowtui/stores"
)

// replace compares and writes in one transaction, which takes the write lock
// first. What teff writes in two commits, the row and its history, is one here.
func (d *database) replace(ctx context.Context, list []change) error {
	info, err := d.info(ctx)
	if err != nil {
		return err
	}
	if info.ReadOnly { // a handle that writes would first migrate or roll back
		return fmt.Errorf("%w: %s", stores.ErrReadOnly, info.Why)
	}
	options := url.Values{"mode": {"rw"}, "_pragma": {"synchronous(full)"}}
	return explain(onHandle(ctx, d.file, options, func(ctx context.Context, db *sql.DB) error {
		conn, err := db.Conn(ctx)
		if err != nil {
			return err
		}
		defer conn.Close()
		if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
			return err
		}
		if err := d.write(ctx, conn, list); err != nil {
			// SQLite may have rolled back by itself: then this says nothing.
			_, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
			return err
		}
		if _, err := conn.ExecContext(context.WithoutCancel(ctx), "COMMIT"); err != nil {
			_, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
			return err
		}
		return nil
	}))
}

func (d *database) write(ctx context.Context, conn *sql.Conn, list []change) error {
	for _, c := range list {
		rows, err := conn.QueryContext(ctx, `SELECT owner, checkpoint_id, state, next_node_id, iteration, updated_at FROM checkpoints
			WHERE owner = ? AND checkpoint_id = ?`, c.key.Owner, c.key.Run)
		if err != nil {
			return err
		}
		now, err := scanRows(rows, true)
		if err != nil {
			return err
		}
		if found := len(now) > 0; !c.unchanged(append(now, record{})[0], found) {
			return errChanged(c.key)
		}
	}
	for _, c := range list {
		if err := d.put(ctx, conn, c); err != nil {
			return err
		}
	}
	return nil
}

// put is teff's save, or its delete, which leaves the history.
func (d *database) put(ctx context.Context, conn *sql.Conn, c change) error {
	k := c.key
	if c.next == nil {
		return one(conn.ExecContext(ctx, `DELETE FROM checkpoints WHERE owner = ? AND checkpoint_id = ?`, k.Owner, k.Run))
	}
	err := one(conn.ExecContext(ctx, `INSERT INTO checkpoints (owner, checkpoint_id, state, next_node_id, iteration, updated_at) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (owner, checkpoint_id) DO UPDATE SET state = excluded.state, next_node_id = excluded.next_node_id,
			iteration = excluded.iteration, updated_at = excluded.updated_at`,
		k.Owner, k.Run, string(c.state), c.row.next, c.row.iteration, clock()))
	if err != nil || !d.history {
		return err
	}
	return one(conn.ExecContext(ctx, `INSERT OR REPLACE INTO checkpoint_history (owner, checkpoint_id, iteration, state, next_node_id) VALUES (?, ?, ?, ?, ?)`,
		k.Owner, k.Run, c.row.iteration, string(c.state), c.row.next))
}

// one makes sure that a statement wrote one row: one that a trigger swallowed
// must not count as kept.
func one(res sql.Result, err error) error {
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err == nil && n != 1 {
		err = errors.Join(stores.ErrUnreadable, fmt.Errorf("%d rows were written instead of 1; has the table a trigger?", n))
	}
	return err
}
