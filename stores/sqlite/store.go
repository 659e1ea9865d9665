package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"time"

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
} = (*Store)(nil)

// Options configure a store. The zero value opens an existing file for
// reading, and for writing where the permissions allow it.
type Options struct {
	ReadOnly    bool             // refuse every write
	Create      bool             // the first write may create the file
	Synchronous string           // "FULL" (default): a save survives a power cut; "NORMAL": a crash of the process
	BusyTimeout time.Duration    // how long to wait for another writer; 0 means 5 s
	Clock       func() time.Time // for leases and the creation time; nil means time.Now
}

func (o Options) withDefaults() (Options, error) {
	if o.Synchronous == "" {
		o.Synchronous = "FULL"
	}
	if o.Synchronous != "FULL" && o.Synchronous != "NORMAL" {
		return o, fmt.Errorf("%w: synchronous is FULL or NORMAL, not %q", stores.ErrInvalid, o.Synchronous)
	}
	if o.ReadOnly && o.Create {
		return o, fmt.Errorf("%w: a store cannot be created read-only", stores.ErrInvalid)
	}
	if o.BusyTimeout < 0 {
		return o, fmt.Errorf("%w: busy timeout %s", stores.ErrInvalid, o.BusyTimeout)
	}
	if o.BusyTimeout == 0 {
		o.BusyTimeout = 5 * time.Second
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	return o, nil
}

// Store is a store in one SQLite file. It is safe for concurrent use, also by
// many processes.
type Store struct {
	file string // absolute, links followed
	opts Options
	done chan struct{} // closed by Close

	turn chan struct{} // held while writing

	mu       sync.Mutex
	closed   bool
	writer   *writer // nil before the first write
	source   *source // nil before the first read
	watchers map[chan struct{}]struct{}
}

// Open attaches to the store in a file. It writes nothing, and creates nothing
// before the first write.
func Open(ctx context.Context, path string, opts Options) (*Store, error) {
	s := &Store{
		file:     path,
		done:     make(chan struct{}),
		turn:     make(chan struct{}, 1),
		watchers: map[chan struct{}]struct{}{},
	}
	err := s.attach(ctx, path, opts)
	if err != nil {
		return nil, s.wrap("open", stores.Key{}, err)
	}
	return s, nil
}

func (s *Store) attach(ctx context.Context, path string, opts Options) (err error) {
	if s.opts, err = opts.withDefaults(); err != nil {
		return err
	}
	if path == "" || strings.ContainsRune(path, 0) {
		return fmt.Errorf("%w: path %q", stores.ErrInvalid, path)
	}
	if s.file, err = resolve(path); err != nil {
		return err
	}
	now, err := look(s.file)
	switch {
	case err != nil:
		return err
	case now.db.info != nil && now.db.info.IsDir():
		return fmt.Errorf("%w: looked for a SQLite file, found a folder", stores.ErrNotStore)
	case now.db.info != nil && !now.db.info.Mode().IsRegular():
		return fmt.Errorf("%w: looked for a SQLite file, found a %s", stores.ErrNotStore, now.db.info.Mode().Type())
	case now.db.info == nil && !s.opts.Create:
		return fmt.Errorf("%w: no such file", stores.ErrNotFound)
	case now.db.info == nil:
		if folder, err := traceOf(filepath.Dir(s.file)); err != nil || folder.info == nil {
			return fmt.Errorf("%w: there is no folder %s", stores.ErrNotFound, filepath.Dir(s.file))
		}
	case now.db.size == 0 && !s.opts.Create:
		return fmt.Errorf("%w: looked for a SQLite file, found an empty file", stores.ErrNotStore)
	}
	src, err := s.acquire(ctx)
	if err != nil {
		return err
	}
	s.release(src)
	return nil
}

// Info implements stores.Store.
func (s *Store) Info(ctx context.Context) (stores.Info, error) {
	info := stores.Info{Format: "sqlite", Location: s.file}
	info.Why = s.whyReadOnly()
	info.ReadOnly = info.Why != ""
	err := s.read(ctx, "info", stores.Key{}, func(ctx context.Context, db *sql.DB) error {
		info.ID, info.Version = "", 0
		err := db.QueryRowContext(ctx, `SELECT m.value, v.user_version
			FROM meta AS m, pragma_user_version AS v WHERE m.key = 'store'`).Scan(&info.ID, &info.Version)
		if errors.Is(err, sql.ErrNoRows) {
			return nil // nothing was written yet
		}
		return err
	})
	return info, err
}

// whyReadOnly says why nothing can be written, or "". It only asks the system.
func (s *Store) whyReadOnly() string {
	if s.opts.ReadOnly {
		return "it was opened read-only"
	}
	switch err := mayWrite(s.file); {
	case errors.Is(err, fs.ErrNotExist) && s.opts.Create:
	case err != nil:
		return fmt.Sprintf("no permission to write the file (%v)", err)
	}
	folder := mayWrite(filepath.Dir(s.file))
	if folder == nil {
		return ""
	}
	// Without the folder a writer can still go on with side files that exist.
	if mayWrite(s.file+"-wal") != nil || mayWrite(s.file+"-shm") != nil {
		return fmt.Sprintf("no permission to write the folder %s (%v)", filepath.Dir(s.file), folder)
	}
	return ""
}

// Close implements stores.Store. When this was the last user of the file, only
// the main file stays.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	close(s.done)
	s.replace(nil)
	s.mu.Unlock()

	s.turn <- struct{}{} // wait for the write under way; there will be no other
	defer func() { <-s.turn }()
	s.mu.Lock()
	w := s.writer
	s.writer = nil
	s.mu.Unlock()
	if w == nil {
		return nil
	}
	return s.wrap("close", stores.Key{}, w.close())
}
