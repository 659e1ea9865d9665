package jsonfile

import (
	"context"
	"errors"
	"fmt"
	"os"
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
	stores.Auditor
} = (*Store)(nil)

// Options configure a store. The zero value opens an existing folder for
// reading, and for writing where the permissions allow it.
type Options struct {
	ReadOnly    bool             // refuse every write
	Create      bool             // the first write may make the folder, or use an empty one
	BusyTimeout time.Duration    // how long to wait for another writer; 0 means 5 s
	Clock       func() time.Time // for leases and the creation time; nil means time.Now
}

func (o Options) withDefaults() (Options, error) {
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

// Store is a store in one folder. It is safe for concurrent use, also by many
// processes of one host.
type Store struct {
	path  string // absolute
	opts  Options
	done  chan struct{}   // closed by Close
	turns []chan struct{} // one for each lock, held while this process waits for it and has it
	cache cache
	seen  seen

	// For tests: what is done before each change of the disk, and to make a
	// file durable.
	step func(what string)
	sync func(*os.File) error

	mu       sync.Mutex
	closed   bool
	writing  sync.WaitGroup
	watchers map[chan struct{}]struct{}
}

// Open attaches to the store in a folder. It writes nothing, and creates
// nothing before the first write.
func Open(ctx context.Context, path string, opts Options) (*Store, error) {
	s := &Store{
		path:     path,
		done:     make(chan struct{}),
		turns:    make([]chan struct{}, stripes+2),
		step:     func(string) {},
		sync:     syncFile,
		watchers: map[chan struct{}]struct{}{},
	}
	for i := range s.turns {
		s.turns[i] = make(chan struct{}, 1)
	}
	if err := s.attach(ctx, path, opts); err != nil {
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
	if s.path, err = filepath.Abs(path); err != nil {
		return err
	}
	_, err = s.marker(ctx)
	return err
}

// Info implements stores.Store.
func (s *Store) Info(ctx context.Context) (stores.Info, error) {
	info := stores.Info{Format: "json", Location: s.path, Why: s.whyReadOnly()}
	info.ReadOnly = info.Why != ""
	if err := s.ready(ctx); err != nil {
		return info, s.wrap("info", stores.Key{}, err)
	}
	m, err := s.marker(ctx)
	info.ID, info.Version = m.ID, m.Version
	return info, s.wrap("info", stores.Key{}, err)
}

// whyReadOnly says why nothing can be written, or "". It only asks the system.
func (s *Store) whyReadOnly() string {
	if s.opts.ReadOnly {
		return "it was opened read-only"
	}
	for _, dir := range []string{"", ownersDir, locksDir} {
		switch err := mayWrite(filepath.Join(s.path, dir)); {
		case err == nil, errors.Is(err, os.ErrNotExist): // made by the first write
		default:
			return fmt.Sprintf("no permission to write the folder %s (%v)", filepath.Join(s.path, dir), err)
		}
	}
	return ""
}

// ready refuses calls that come too late.
func (s *Store) ready(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return stores.ErrClosed
	}
	return nil
}

// Close implements stores.Store. It waits for the writes under way.
func (s *Store) Close() error {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.done)
	}
	s.mu.Unlock()
	s.writing.Wait()
	return nil
}
