package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/flowtui/flowtui/stores"
)

// exchange is send with the store's names.
func (s *Store) exchange(ctx context.Context, conn *pgxpool.Conn, list ...statement) ([]*pgconn.Result, error) {
	named := make([]statement, len(list))
	for i, st := range list {
		st.sql = s.sql(st.sql)
		named[i] = st
	}
	return send(ctx, conn.Conn().PgConn(), named...)
}

// exchangePrepared is exchange with statements that are sent again and again.
func (s *Store) exchangePrepared(ctx context.Context, conn *pgxpool.Conn, list ...statement) ([]*pgconn.Result, error) {
	named := make([]statement, len(list))
	for i, st := range list {
		if err := st.prepare(ctx, conn.Conn().PgConn(), s.names); err != nil {
			return nil, &unsent{err}
		}
		named[i] = st
	}
	return send(ctx, conn.Conn().PgConn(), named...)
}

// unsent is an error from before anything was sent that could take effect.
type unsent struct{ error }

func (e *unsent) Unwrap() error     { return e.error }
func (e *unsent) SafeToRetry() bool { return true }

// ended puts the end of a context in the place of what it did to the connection.
func ended(ctx context.Context, err error) error {
	switch {
	case err == nil || ctx.Err() == nil:
		return err
	case errors.Is(context.Cause(ctx), stores.ErrClosed):
		return stores.ErrClosed
	}
	return ctx.Err()
}

// read runs statements in one round trip. On a connection that turns out to be
// dead they are run again, once: the pool has others like it, and lets go of
// them all.
func (s *Store) read(ctx context.Context, list ...statement) (results []*pgconn.Result, err error) {
	ctx, cancel, err := s.within(ctx)
	if err != nil {
		return nil, err
	}
	defer cancel()
	for try := 1; ; try++ {
		results, err = s.readOnce(ctx, list)
		if err == nil || ctx.Err() != nil || !lost(err) || errors.Is(err, stores.ErrInvalid) {
			return results, ended(ctx, err)
		}
		s.pool.Reset()
		if _, never := errors.AsType[*pgconn.ConnectError](err); never || try == 2 {
			return nil, err
		}
	}
}

func (s *Store) readOnce(ctx context.Context, list []statement) ([]*pgconn.Result, error) {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Release()
	return s.exchange(ctx, conn, list...)
}

// query runs one statement that reads rows of the store. While a store that may
// be created is not there yet, it has none.
func (s *Store) query(ctx context.Context, op string, k stores.Key, sql string, args ...any) (*pgconn.Result, error) {
	unmade := s.opts.Create && !s.prepared.Load() // asked before: it may be made meanwhile
	results, err := s.read(ctx, ask(sql, args...))
	if err != nil {
		if unmade && missing(err) {
			return &pgconn.Result{}, nil
		}
		if e := refusal(err); e != nil && e.Code == "42501" {
			err = fmt.Errorf("%w: the role may not read this: %w", stores.ErrUnreadable, err)
		}
		return nil, s.wrap(op, k, err)
	}
	return results[0], nil
}

// missing reports that a table or its schema is not there.
func missing(err error) bool {
	e := refusal(err)
	return e != nil && (e.Code == "42P01" || e.Code == "3F000")
}

// grace is how long a write that was sent may still say how it ended after its
// context has. Cutting it off at once would make its outcome unknown.
const grace = time.Second

// linger is ctx with grace.
func linger(ctx context.Context) (context.Context, context.CancelFunc) {
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-late.Done():
		case <-time.After(grace):
			cancel()
		}
	})
	return late, func() { stop(); cancel() }
}

// write runs statements in one transaction and one round trip, and tells the
// watchers.
func (s *Store) write(ctx context.Context, op string, k stores.Key, list ...statement) ([]*pgconn.Result, error) {
	results, err := s.transact(ctx, list)
	return results, s.wrap(op, k, err)
}

func (s *Store) transact(ctx context.Context, list []statement) ([]*pgconn.Result, error) {
	ctx, cancel, err := s.within(ctx)
	if err != nil {
		return nil, err
	}
	defer cancel()
	if s.opts.ReadOnly {
		return nil, fmt.Errorf("%w: it was opened read-only", stores.ErrReadOnly)
	}
	if !s.prepared.Load() {
		if err := s.prepare(ctx); err != nil {
			return nil, err
		}
	}
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return nil, ended(ctx, err)
	}
	defer conn.Release()
	late, stop := linger(ctx)
	defer stop()

	begin := []statement{
		ask("BEGIN ISOLATION LEVEL READ COMMITTED"),
		ask(fmt.Sprintf("SET LOCAL lock_timeout = %d", s.opts.LockTimeout.Milliseconds())),
	}
	all := append(begin, list...)
	all = append(all, ask("COMMIT"), ask("SELECT pg_notify($1, $2)", channel, s.topic()))
	results, err := s.exchangePrepared(late, conn, all...)
	first, commit := len(begin), len(begin)+len(list)
	if len(results) > commit && results[commit].CommandTag.String() == "COMMIT" {
		s.notify()
		return results[first:commit], nil
	}
	if err == nil {
		err = fmt.Errorf("%w: the server answered COMMIT with %d results", stores.ErrUnknown, len(results))
	}
	if errors.Is(err, stores.ErrInvalid) {
		return nil, err // nothing was sent
	}
	if lost(err) || outdated[refusal(err).Code] {
		s.pool.Reset() // the other connections are like this one
	} else {
		_, _ = s.exchange(late, conn, ask("ROLLBACK")) // else the pool drops the connection
	}
	switch {
	case !lost(err) || late.Err() == nil:
		return nil, outcome(err)
	case pgconn.SafeToRetry(err):
		return nil, ended(ctx, err)
	}
	return nil, fmt.Errorf("%w: %w", stores.ErrUnknown, ended(ctx, err))
}

// outdated are the codes of a connection that a new one is better than: to a
// server that is read-only now, or with statements that the tables no longer fit.
var outdated = map[string]bool{"25006": true, "26000": true, "0A000": true}
