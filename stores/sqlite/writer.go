package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"

	lib "modernc.org/sqlite/lib"

	"github.com/flowtui/flowtui/stores"
)

// querier is what a database, a connection and a transaction have in common.
type querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// writer is the one connection that writes. It opens at the first write.
type writer struct {
	db         *sql.DB
	conn       *sql.Conn
	file       os.FileInfo // the database file, to notice that another one took its place
	statements map[string]*sql.Stmt
}

// gone says that the path no longer names the file that the writer has open:
// what is written there would be lost.
func (w *writer) gone(path string) error {
	now, err := os.Stat(path)
	if err == nil && os.SameFile(now, w.file) {
		return nil
	}
	return errors.Join(fmt.Errorf("%w: the file was removed or replaced while it was open", stores.ErrUnavailable), err)
}

// tx is a write transaction.
type tx struct {
	ctx context.Context
	w   *writer
}

func (t tx) exec(query string, args ...any) (sql.Result, error) {
	stmt, err := t.w.prepare(query)
	if err != nil {
		return nil, err
	}
	return stmt.ExecContext(t.ctx, args...)
}

// insert writes exactly one row: an insert that a trigger swallowed must not
// count as kept.
func (t tx) insert(query string, args ...any) error {
	res, err := t.exec(query, args...)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n != 1 {
		return errors.Join(fmt.Errorf("%w: %d rows were written instead of 1", stores.ErrUnreadable, n), err)
	}
	return nil
}

func (t tx) query(query string, args ...any) (*sql.Rows, error) {
	stmt, err := t.w.prepare(query)
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(t.ctx, args...)
}

func (w *writer) prepare(query string) (*sql.Stmt, error) {
	if stmt, ok := w.statements[query]; ok {
		return stmt, nil
	}
	stmt, err := w.conn.PrepareContext(context.Background(), query)
	if err == nil {
		w.statements[query] = stmt
	}
	return stmt, err
}

// write runs f in a transaction that takes the write lock first, so it never
// fails half way because another writer came between its read and its write.
//
// Only the wait for the lock obeys ctx. What follows is short and is not
// interrupted: its outcome is always known.
func (s *Store) write(ctx context.Context, op string, k stores.Key, f func(tx) error) error {
	return s.wrap(op, k, s.transact(ctx, f))
}

func (s *Store) transact(ctx context.Context, f func(tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return ctx.Err()
	case <-s.done:
		return stores.ErrClosed
	}
	w, err := s.openWriter(ctx)
	if err != nil {
		return err
	}
	if err := w.gone(s.file); err != nil {
		s.dropWriter()
		return err
	}
	free := context.WithoutCancel(ctx)
	if _, err := (tx{ctx, w}).exec("BEGIN IMMEDIATE"); err != nil {
		w.rollback(free) // it may have begun although it reports the end of ctx
		if primary(code(err)) != lib.SQLITE_BUSY && ctx.Err() == nil {
			s.dropWriter()
		}
		return err
	}
	t := tx{free, w}
	if err := f(t); err != nil {
		w.rollback(free)
		return err
	}
	if _, err := t.exec("COMMIT"); err != nil {
		w.rollback(free)
		return commitError(err)
	}
	s.notify()
	return nil
}

// rollback ends a failed transaction. Its own error says nothing: after some
// failures SQLite has rolled back by itself.
func (w *writer) rollback(ctx context.Context) {
	_, _ = w.conn.ExecContext(ctx, "ROLLBACK")
}

// commitError tells a commit that certainly did not happen from one whose
// frames may have reached the disk.
func commitError(err error) error {
	switch primary(code(err)) {
	case lib.SQLITE_BUSY, lib.SQLITE_FULL, lib.SQLITE_READONLY, lib.SQLITE_CONSTRAINT:
		return err
	}
	return fmt.Errorf("%w: %w", stores.ErrUnknown, err)
}

// openWriter returns the writer; the caller holds the turn.
func (s *Store) openWriter(ctx context.Context) (*writer, error) {
	s.mu.Lock()
	w, closed := s.writer, s.closed
	s.mu.Unlock()
	if closed {
		return nil, stores.ErrClosed
	}
	if w != nil {
		return w, nil
	}
	if why := s.whyReadOnly(); why != "" {
		return nil, fmt.Errorf("%w: %s", stores.ErrReadOnly, why)
	}
	// Look at what is there before a setting of the write handle changes it.
	src, err := s.acquire(ctx)
	if err != nil {
		return nil, err
	}
	s.release(src)
	w, err = s.connect(ctx)
	if err != nil {
		if primary(code(err)) == lib.SQLITE_CANTOPEN {
			err = fmt.Errorf("%w: %w", stores.ErrReadOnly, err)
		}
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writer = w
	s.replace(nil)
	return w, nil
}

// connect opens the write handle and brings the tables up to date. Changing a
// new file to WAL mode does not wait for other processes, so it is tried again.
func (s *Store) connect(ctx context.Context) (*writer, error) {
	o := settings{mode: "rw", busy: s.opts.BusyTimeout, synchronous: s.opts.Synchronous}
	if s.opts.Create {
		o.mode = "rwc"
	}
	for deadline := time.Now().Add(s.opts.BusyTimeout); ; {
		db, err := o.open(s.file)
		if err != nil {
			return nil, err
		}
		w := &writer{db: db, statements: map[string]*sql.Stmt{}}
		if w.conn, err = db.Conn(ctx); err == nil {
			if err = w.migrate(ctx, s.opts.Clock()); err == nil {
				if w.file, err = os.Stat(s.file); err == nil {
					return w, nil
				}
			}
			w.conn.Close()
		}
		db.Close()
		if primary(code(err)) != lib.SQLITE_BUSY || time.Now().After(deadline) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// migrate reads first: another database is not touched, and a store that is up
// to date is not written to.
func (w *writer) migrate(ctx context.Context, now time.Time) error {
	found, err := inspect(ctx, w.conn)
	if err != nil {
		return err
	}
	if !found.empty() {
		if err := found.check(); err != nil || found.version == Version {
			return err
		}
	}
	// The mode is kept in the file, so it is no setting of a connection.
	if _, err := w.conn.ExecContext(ctx, "PRAGMA journal_mode = WAL"); err != nil {
		return err
	}
	free := context.WithoutCancel(ctx)
	if _, err = w.conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err == nil {
		if err = migrate(free, w.conn, now); err == nil {
			_, err = w.conn.ExecContext(free, "COMMIT")
		}
	}
	if err != nil {
		w.rollback(free)
	}
	return err
}

// dropWriter gives up a connection that does not work any more; the next write
// opens another one.
func (s *Store) dropWriter() {
	s.mu.Lock()
	w := s.writer
	s.writer = nil
	s.replace(nil)
	s.mu.Unlock()
	if w != nil {
		_ = w.close()
	}
}

// close folds the -wal file into the main file and lets go of both. A reader
// that is in the way is not waited for: nothing is lost, the -wal just stays.
func (w *writer) close() error {
	ctx := context.Background()
	_, _ = w.conn.ExecContext(ctx, "PRAGMA busy_timeout = 100")
	_, _ = w.conn.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	for _, stmt := range w.statements {
		_ = stmt.Close()
	}
	return errors.Join(w.conn.Close(), w.db.Close())
}

// Prepare implements stores.Preparer.
func (s *Store) Prepare(ctx context.Context) error {
	return s.write(ctx, "prepare", stores.Key{}, func(tx) error { return nil })
}
