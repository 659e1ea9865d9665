package postgres

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/flowtui/flowtui/stores"
)

// The store has every capability.
var _ interface {
	stores.Store
	stores.Lister
	stores.Historian
	stores.EventLog
	stores.Grapher
	stores.Watcher
	stores.Leaser
	stores.Preparer
	stores.Remover
	stores.Importer
	stores.Examiner
	stores.Auditor
} = (*Store)(nil)

// Options configure a store. The zero value opens an existing store for
// reading, and for writing where the role may.
type Options struct {
	ReadOnly    bool          // refuse every write
	Create      bool          // Prepare, or the first write, may make the schema and the tables
	LockTimeout time.Duration // how long a write waits for another writer of its run; 0 means 5 s
}

// Store is a store in one schema of a PostgreSQL database. It is safe for
// concurrent use, also by many processes on many machines.
type Store struct {
	address
	opts Options
	pool *pgxpool.Pool

	life context.Context // ends with Close
	end  context.CancelFunc

	prepared atomic.Bool // the tables are known to be there

	mu       sync.Mutex
	watchers map[chan struct{}]struct{}
	watching sync.WaitGroup
}

// Open attaches to the store that a postgres:// or postgresql:// URL names. Two
// of its parameters are ours: schema (default "flowtui") and prefix of the
// tables; the others are those of libpq and pgxpool. It writes nothing, and
// creates nothing before Prepare or the first write.
func Open(ctx context.Context, spec string, opts Options) (*Store, error) {
	s := &Store{opts: opts, watchers: map[chan struct{}]struct{}{}}
	err := s.attach(ctx, spec)
	if err != nil {
		if s.pool != nil {
			s.pool.Close()
		}
		return nil, s.wrap("open", stores.Key{}, err)
	}
	return s, nil
}

func (s *Store) attach(ctx context.Context, spec string) (err error) {
	if s.address, err = parseAddress(spec); err != nil {
		return err
	}
	switch {
	case s.opts.ReadOnly && s.opts.Create:
		return fmt.Errorf("%w: a store cannot be created read-only", stores.ErrInvalid)
	case s.opts.LockTimeout < 0:
		return fmt.Errorf("%w: lock timeout %s", stores.ErrInvalid, s.opts.LockTimeout)
	case s.opts.LockTimeout == 0:
		s.opts.LockTimeout = 5 * time.Second
	}
	s.life, s.end = context.WithCancel(context.Background())
	// It connects when it is asked to, not before.
	if s.pool, err = pgxpool.NewWithConfig(ctx, s.address.pool); err != nil {
		return err
	}
	found, err := s.inspect(ctx)
	if err != nil {
		return err
	}
	if found.empty() && s.opts.Create {
		return nil
	}
	if err := s.check(ctx, found); err != nil {
		return err
	}
	s.prepared.Store(true)
	return nil
}

// Info implements stores.Store.
func (s *Store) Info(ctx context.Context) (stores.Info, error) {
	info := stores.Info{Format: "postgres", Location: s.location}
	found, err := s.inspect(ctx)
	if err == nil && !(found.empty() && s.opts.Create) {
		err = s.check(ctx, found)
	}
	if err != nil {
		return info, s.wrap("info", stores.Key{}, err)
	}
	info.ID, info.Version = found.id, int(found.version)
	info.Why = s.whyReadOnly(found)
	info.ReadOnly = info.Why != ""
	return info, nil
}

// Close implements stores.Store. Reads under way end; a write under way gets a
// moment to hear how it ended.
func (s *Store) Close() error {
	s.mu.Lock()
	s.end()
	s.mu.Unlock()
	s.watching.Wait()
	s.pool.Close()
	return nil
}

// within is ctx that also ends with the store.
func (s *Store) within(ctx context.Context) (context.Context, context.CancelFunc, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	if s.life.Err() != nil {
		return nil, nil, stores.ErrClosed
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.life, func() { cancel(stores.ErrClosed) })
	return ctx, func() { stop(); cancel(nil) }, nil
}
