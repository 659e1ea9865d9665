package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
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
	file       os.FileInfo               // the database file, to notice that another one took its place
	seen       atomic.Pointer[time.Time] // when it was last there; readers look too
	statements map[string]*prepared
	known
}

// glance is how long the file counts as there once it was seen: what a commit
// loses in that time, it would have lost as well a moment after it.
const glance = 5 * time.Millisecond

// gone says that the path no longer names the file that the writer has open:
// what is written there would be lost.
func (w *writer) gone(path string) error {
	begin := time.Now()
	if seen := w.seen.Load(); seen != nil && begin.Sub(*seen) < glance {
		return nil
	}
	now, err := os.Stat(path)
	if err == nil && os.SameFile(now, w.file) {
		w.seen.Store(&begin)
		return nil
	}
	return errors.Join(fmt.Errorf("%w: the file was removed or replaced while it was open", stores.ErrUnavailable), err)
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
	works := false
	defer func() {
		if !works {
			s.dropWriter()
		}
	}()
	err = w.conn.Raw(func(conn any) (err error) {
		t := tx{ctx: context.WithoutCancel(ctx), w: w, conn: conn, own: &effect{}}
		defer func() {
			if !works { // perhaps a panic, after which database/sql closes the connection
				t.rollback()
				_ = w.finalize()
			}
		}()
		begun, err := s.transaction(ctx, t, f)
		works = begun || primary(code(err)) == lib.SQLITE_BUSY || ctx.Err() != nil
		return err
	})
	if err == nil {
		s.notify()
	}
	return err
}

// transaction runs f between BEGIN and COMMIT, and tells whether it got so far.
func (s *Store) transaction(ctx context.Context, t tx, f func(tx) error) (begun bool, err error) {
	if err := s.patiently(ctx, func() error { return t.run("BEGIN IMMEDIATE") }); err != nil {
		return false, err
	}
	if err = t.look(); err == nil {
		err = f(t)
	}
	if err != nil {
		t.rollback()
		return true, err
	}
	if err := s.patiently(t.ctx, func() error { return t.run("COMMIT") }); err != nil {
		t.rollback()
		return true, commitError(err)
	}
	t.keep()
	return true, nil
}

// patiently runs f again while another process holds a lock that it needs. The
// connection itself does not wait: the driver could only be interrupted by a
// goroutine per statement that watches ctx.
func (s *Store) patiently(ctx context.Context, f func() error) error {
	deadline := time.Now().Add(s.opts.BusyTimeout)
	for delay := time.Millisecond; ; delay = min(2*delay, 25*time.Millisecond) {
		err := f()
		if primary(code(err)) != lib.SQLITE_BUSY || !time.Now().Before(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(delay):
		}
	}
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
		w := &writer{db: db, statements: map[string]*prepared{}}
		if w.conn, err = db.Conn(ctx); err == nil {
			if err = w.migrate(ctx, s.opts.Clock()); err == nil {
				if err = w.settle(ctx, s.file); err == nil {
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

// settle ends the opening of a connection. From now on it does not wait for
// locks by itself, see patiently.
func (w *writer) settle(ctx context.Context, file string) (err error) {
	if w.file, err = os.Stat(file); err != nil {
		return err
	}
	_, err = w.conn.ExecContext(ctx, "PRAGMA busy_timeout = 0")
	return err
}

// migrate reads first: another database is not touched, and a store that is up
// to date is not written to.
func (w *writer) migrate(ctx context.Context, now time.Time) error {
	found, err := inspect(w.conn.QueryContext(ctx, selectContents))
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
		_, _ = w.conn.ExecContext(free, "ROLLBACK") // it says nothing, see tx.rollback
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
	return errors.Join(w.closeStatements(ctx), w.conn.Close(), w.db.Close())
}

// closeStatements ends what would keep the file open after the connection.
func (w *writer) closeStatements(ctx context.Context) error {
	finalize := func(any) error { return w.finalize() }
	err := w.conn.Raw(finalize)
	if !errors.Is(err, sql.ErrConnDone) {
		return err
	}
	// The connection went back to the pool, which has no other.
	conn, err := w.db.Conn(ctx)
	if err != nil {
		return err
	}
	return errors.Join(conn.Raw(finalize), conn.Close())
}

func (w *writer) finalize() (err error) {
	for _, st := range w.statements {
		err = errors.Join(err, st.stmt.Close())
	}
	clear(w.statements)
	return err
}

// Prepare implements stores.Preparer.
func (s *Store) Prepare(ctx context.Context) error {
	return s.write(ctx, "prepare", stores.Key{}, func(tx) error { return nil })
}
