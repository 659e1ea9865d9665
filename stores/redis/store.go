package redis

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	client "github.com/redis/go-redis/v9"

	"github.com/flowtui/flowtui/stores"
)

// Version is the schema version that this package writes.
const Version = 1

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
	stores.Expirer
} = (*Store)(nil)

// Options configure a store. The zero value opens an existing store for
// reading, and for writing where the server allows it.
type Options struct {
	ReadOnly bool // refuse every write
	Create   bool // the first write may create the store
}

// Store is a store in Redis. It is safe for concurrent use, also by many
// processes.
type Store struct {
	conf   config
	opts   Options
	keys   keys
	client client.UniversalClient
	done   chan struct{} // closed by Close

	mu      sync.Mutex
	closed  bool
	id      string // "" while the store is not known to exist
	refused string // why the last write was refused to this user, "" if it was not
	noTime  bool   // this user may not ask the server for its time
}

// Open attaches to the store that a URL names. It writes nothing, and creates
// nothing before the first write.
func Open(ctx context.Context, rawURL string, opts Options) (*Store, error) {
	s := &Store{opts: opts, done: make(chan struct{})}
	var err error
	if s.conf, err = parseURL(rawURL); err == nil && opts.ReadOnly && opts.Create {
		err = fmt.Errorf("%w: a store cannot be created read-only", stores.ErrInvalid)
	}
	if err != nil {
		return nil, s.wrap("open", stores.Key{}, err)
	}
	s.keys = newKeys(s.conf.prefix)
	s.client = s.conf.connect()
	if _, err := s.read(ctx, strict, func(client.Pipeliner) {}); err != nil {
		err = s.wrap("open", stores.Key{}, s.lookAround(ctx, err))
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// lookAround says more about a store that was not found.
func (s *Store) lookAround(ctx context.Context, err error) error {
	if !errors.Is(err, stores.ErrNotFound) {
		return err
	}
	node, nodeErr := s.node(ctx)
	if nodeErr != nil {
		return err
	}
	switch n, sizeErr := node.DBSize(ctx).Result(); {
	case sizeErr != nil:
		return err
	case n == 0:
		return fmt.Errorf("%w; the database is empty", err)
	default:
		return fmt.Errorf("%w; the database has %d other keys: check the prefix and the database number", err, n)
	}
}

// same fails unless meta, the answer to store and version, is that of the store
// that was attached. A store that is not there yet may be created.
func (s *Store) same(meta []any) error {
	id, _ := meta[0].(string)
	version, hasVersion := meta[1].(string)
	s.mu.Lock()
	defer s.mu.Unlock()
	if id == "" && !hasVersion {
		switch {
		case s.id != "":
			return goneError{"the store is gone: " + s.keys.meta() + " is not there any more; the server was emptied, or restarted without its data"}
		case !s.opts.Create:
			return fmt.Errorf("%w: looked for the hash %s", stores.ErrNotFound, s.keys.meta())
		}
		return nil
	}
	switch n, err := strconv.Atoi(version); {
	case err != nil || n < 1:
		return fmt.Errorf("%w: looked for a version in the hash %s, found %q", stores.ErrNotStore, s.keys.meta(), version)
	case n > Version:
		return fmt.Errorf("%w: its schema version is %d, this program knows %d", stores.ErrTooNew, n, Version)
	case s.id != "" && id != s.id:
		return goneError{fmt.Sprintf("the store is gone: %s has the store %q now, this one was %q", s.keys.meta(), id, s.id)}
	}
	s.id = id
	return nil
}

// known is the store's id, "" while it is not known to exist.
func (s *Store) known() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.id
}

// usable fails if the store was closed or the context has ended.
func (s *Store) usable(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return stores.ErrClosed
	}
	return ctx.Err()
}

// Info implements stores.Store.
func (s *Store) Info(ctx context.Context) (stores.Info, error) {
	info := stores.Info{Format: "redis", Location: s.conf.location}
	var hello, script *client.Cmd
	_, err := s.read(ctx, lenient, func(p client.Pipeliner) {
		hello = p.Do(ctx, "HELLO")
		script = p.EvalSha(ctx, noScript, nil)
	})
	if err != nil {
		return info, s.wrap("info", stores.Key{}, err)
	}
	if info.ID = s.known(); info.ID != "" {
		info.Version = Version
	}
	info.Why = s.whyReadOnly(hello, script)
	info.ReadOnly = info.Why != ""
	return info, nil
}

// noScript is the digest of no script: who may run scripts is told that there is
// none, without anything being run.
const noScript = "0000000000000000000000000000000000000000"

// whyReadOnly says why nothing can be written, or "".
func (s *Store) whyReadOnly(hello, script *client.Cmd) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.opts.ReadOnly:
		return "it was opened read-only"
	case role(hello) == "replica" || role(hello) == "slave":
		return "the server is a replica"
	case isReply(script.Err(), "NOPERM"):
		return fmt.Sprintf("the user %q may not run scripts", s.user())
	case isReply(script.Err(), "ERR unknown command"):
		return "the server runs no scripts"
	}
	return s.refused
}

func (s *Store) user() string {
	if s.conf.user == "" {
		return "default"
	}
	return s.conf.user
}

// role is the server's, from its answer to HELLO: a map, or a list of keys and
// values.
func role(hello *client.Cmd) string {
	switch v := hello.Val().(type) {
	case map[any]any:
		role, _ := v["role"].(string)
		return role
	case []any:
		for i := 0; i+1 < len(v); i += 2 {
			if v[i] == "role" {
				role, _ := v[i+1].(string)
				return role
			}
		}
	}
	return ""
}

// Prepare implements stores.Preparer.
func (s *Store) Prepare(ctx context.Context) error {
	return s.wrap("prepare", stores.Key{}, s.prepare(ctx))
}

func (s *Store) prepare(ctx context.Context) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	if s.opts.ReadOnly {
		return fmt.Errorf("%w: it was opened read-only", stores.ErrReadOnly)
	}
	_, err := s.read(ctx, strict, func(client.Pipeliner) {})
	if err != nil || s.known() != "" {
		return err
	}
	random := make([]byte, 16)
	rand.Read(random) // never fails, see crypto/rand
	answer, err := s.run(ctx, scripts.prepare, []string{s.keys.meta()},
		s.keys.prefix, hex.EncodeToString(random), time.Now().UnixMicro())
	if err != nil {
		return err
	}
	if answer[0] == "rows" {
		return fmt.Errorf("%w: %s is there, but %s is not: the store lost its id", stores.ErrUnreadable, answer[1], s.keys.meta())
	}
	return s.same([]any{answer[1], answer[2]})
}

// Close implements stores.Store.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	close(s.done)
	s.mu.Unlock()
	return s.wrap("close", stores.Key{}, s.client.Close())
}
