package teff

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/flowtui/flowtui/stores"
)

// Options configure a store.
type Options struct {
	ReadOnly bool // refuse every write
}

// Store is a store of teff. It is safe for concurrent use.
type Store struct {
	b    backend
	opts Options

	mu      sync.Mutex // of the three below
	index   *index
	seen    string // fingerprint of the store that index is of
	settled bool

	closed chan struct{}
	once   sync.Once
}

// HistoryStore is a store that keeps every iteration.
type HistoryStore struct {
	*Store
	h historian
}

var (
	_ stores.Lister    = (*Store)(nil)
	_ stores.Watcher   = (*Store)(nil)
	_ stores.Historian = (*HistoryStore)(nil)
)

// backend is where rows are kept. Keys go in and come out as the store writes
// them, see [backend.name].
type backend interface {
	info(ctx context.Context) (stores.Info, error)
	// name is the key under which the store keeps a run.
	name(k stores.Key) stores.Key
	// fingerprint changes with the rows. While it is not settled, they may change
	// without it, because time stamps are coarse.
	fingerprint(ctx context.Context) (print string, settled bool, err error)
	rows(ctx context.Context) ([]record, error)
	row(ctx context.Context, k stores.Key) (record, error)
	// replace writes changes, see stores.Answerer.
	replace(ctx context.Context, list []change) error
	close() error
}

// historian is a backend with a history table.
type historian interface {
	// steps are rows of a run by iteration, from on, at most limit.
	steps(ctx context.Context, k stores.Key, from int64, limit int) ([]record, error)
}

func newStore(b backend, o Options) stores.Store {
	s := &Store{b: b, opts: o, closed: make(chan struct{})}
	if h, ok := b.(historian); ok {
		return &HistoryStore{s, h}
	}
	return s
}

// wrap says what failed, of which run, and where.
func (s *Store) wrap(op string, k stores.Key, err error) error {
	if err == nil {
		return nil
	}
	if _, told := errors.AsType[*stores.OpError](err); told {
		return err
	}
	e := &stores.OpError{Op: op, Key: k, Err: err}
	if l, ok := s.b.(interface{ location() string }); ok {
		e.Store = l.location()
	}
	return e
}

func (s *Store) open() error {
	select {
	case <-s.closed:
		return stores.ErrClosed
	default:
		return nil
	}
}

// Info implements stores.Store.
func (s *Store) Info(ctx context.Context) (stores.Info, error) {
	if err := s.open(); err != nil {
		return stores.Info{}, s.wrap("info", stores.Key{}, err)
	}
	info, err := s.b.info(ctx)
	if s.opts.ReadOnly {
		info.ReadOnly, info.Why = true, "it was opened read-only"
	}
	return info, s.wrap("info", stores.Key{}, err)
}

// all is the index as of now.
func (s *Store) all(ctx context.Context) (*index, error) {
	if err := errors.Join(s.open(), ctx.Err()); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now, settled, err := s.b.fingerprint(ctx)
	if err != nil {
		return nil, err
	}
	if s.index != nil && s.settled && now == s.seen {
		return s.index, nil
	}
	rows, err := s.b.rows(ctx)
	if err != nil {
		return nil, err
	}
	s.index, s.seen, s.settled = newIndex(rows), now, settled
	if c, ok := s.b.(interface{ closed() map[string]error }); ok {
		s.index.closed = c.closed()
	}
	return s.index, nil
}

// List implements stores.Lister. Where the runs of an owner cannot be listed, it
// returns those of the others together with the error.
func (s *Store) List(ctx context.Context, q stores.Query) (stores.Page, error) {
	size, err := q.Size()
	if err != nil {
		return stores.Page{}, s.wrap("list", stores.Key{}, err)
	}
	after, err := parseCursor(q.Cursor)
	if err != nil {
		return stores.Page{}, s.wrap("list", stores.Key{}, err)
	}
	x, err := s.all(ctx)
	if err != nil {
		return stores.Page{}, s.wrap("list", stores.Key{}, err)
	}
	f := s.filter(q.Filter)
	return x.page(f, after, size), s.wrap("list", stores.Key{}, x.closedTo(f))
}

// filter selects by the owner's name as the store writes it.
func (s *Store) filter(f stores.Filter) stores.Filter {
	if f.Owner != stores.AnyOwner {
		f.Owner = s.b.name(stores.Key{Owner: f.Owner}).Owner
	}
	return f
}

// Count implements stores.Lister.
func (s *Store) Count(ctx context.Context, f stores.Filter) (stores.Counts, error) {
	x, err := s.all(ctx)
	if err != nil {
		return stores.Counts{}, s.wrap("count", stores.Key{}, err)
	}
	return x.count(s.filter(f)), nil
}

// Owners implements stores.Lister. Folders of files have names from which an
// owner cannot always be told, see the page on teff.
func (s *Store) Owners(ctx context.Context) ([]string, error) {
	x, err := s.all(ctx)
	if err != nil {
		return nil, s.wrap("owners", stores.Key{}, err)
	}
	return x.owners(), nil
}

// Head implements stores.Lister.
func (s *Store) Head(ctx context.Context, k stores.Key) (stores.Head, error) {
	x, err := s.all(ctx)
	if err != nil {
		return stores.Head{}, s.wrap("head", k, err)
	}
	i, ok := x.byKey[s.b.name(k)]
	if !ok {
		return stores.Head{}, s.wrap("head", k, stores.ErrNotFound)
	}
	return copyHead(x.heads[i]), nil
}

// ListUnfinished implements stores.Store.
func (s *Store) ListUnfinished(ctx context.Context, owner string) ([]stores.Head, error) {
	x, err := s.all(ctx)
	if err != nil {
		return nil, s.wrap("list unfinished", stores.Key{}, err)
	}
	f := s.filter(stores.Filter{Owner: owner, Statuses: []stores.Status{stores.StatusRunning, stores.StatusPaused}})
	heads := x.page(f, nil, len(x.heads)+1).Heads
	slices.Reverse(heads)
	return heads, nil
}

// Latest implements stores.Store.
func (s *Store) Latest(ctx context.Context, k stores.Key) (stores.Checkpoint, error) {
	if err := errors.Join(s.open(), ctx.Err()); err != nil {
		return stores.Checkpoint{}, s.wrap("latest", k, err)
	}
	r, err := s.b.row(ctx, s.b.name(k))
	return r.checkpoint(), s.wrap("latest", k, err)
}

// Calls implements stores.Store: teff keeps no log of calls.
func (s *Store) Calls(ctx context.Context, k stores.Key, _ int64) ([]stores.Call, error) {
	return nil, s.wrap("calls", k, errors.Join(s.open(), ctx.Err()))
}

// errForeign refuses what only native rows can say.
var errForeign = fmt.Errorf("%w: a store of teff takes no rows but teff's", stores.ErrReadOnly)

// Save implements stores.Store; it refuses.
func (s *Store) Save(_ context.Context, v stores.Save) error {
	return s.wrap("save", v.Checkpoint.Key, errForeign)
}

// RecordCall implements stores.Store; it refuses.
func (s *Store) RecordCall(_ context.Context, w stores.CallWrite) error {
	return s.wrap("record call", w.Call.Key, errForeign)
}

// Delete implements stores.Store; it refuses: teff itself deletes its runs.
func (s *Store) Delete(_ context.Context, k stores.Key) error {
	return s.wrap("delete", k, errForeign)
}

// Close implements stores.Store.
func (s *Store) Close() (err error) {
	s.once.Do(func() {
		close(s.closed)
		err = s.b.close()
	})
	return err
}

// History implements stores.Historian. The rows are those of teff's history
// table, which may lag one behind the run and may hold steps of an earlier turn.
func (s *HistoryStore) History(ctx context.Context, k stores.Key, q stores.HistoryQuery) ([]stores.Checkpoint, error) {
	const most = 1000
	if err := errors.Join(s.open(), ctx.Err()); err != nil {
		return nil, s.wrap("history", k, err)
	}
	limit := q.Limit
	if limit <= 0 {
		limit = most
	}
	rows, err := s.h.steps(ctx, s.b.name(k), q.From, limit)
	list := make([]stores.Checkpoint, 0, len(rows))
	for _, r := range rows {
		c := r.checkpoint()
		if !q.Payload {
			c.Payload = nil
		}
		list = append(list, c)
	}
	return list, s.wrap("history", k, err)
}

// At implements stores.Historian.
func (s *HistoryStore) At(ctx context.Context, k stores.Key, step int64) (stores.Checkpoint, error) {
	rows, err := s.History(ctx, k, stores.HistoryQuery{From: step, Limit: 1, Payload: true})
	if err == nil && (len(rows) == 0 || rows[0].Step != step) {
		err = s.wrap("at", k, stores.ErrNotFound)
	}
	if err != nil {
		return stores.Checkpoint{}, err
	}
	return rows[0], nil
}

// pollEvery is how often a watcher looks for changes.
const pollEvery = time.Second

// Watch implements stores.Watcher by looking: teff leaves no notices.
func (s *Store) Watch(ctx context.Context) (<-chan struct{}, error) {
	if err := errors.Join(s.open(), ctx.Err()); err != nil {
		return nil, s.wrap("watch", stores.Key{}, err)
	}
	ch := make(chan struct{}, 1)
	go s.watch(ctx, ch)
	return ch, nil
}

func (s *Store) watch(ctx context.Context, ch chan<- struct{}) {
	defer close(ch)
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	last := s.look(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.closed:
			return
		case <-tick.C:
		}
		if now := s.look(ctx); now != last {
			last = now
			select {
			case ch <- struct{}{}:
			default: // a second notice would say nothing new
			}
		}
	}
}

// look is what a watcher compares.
func (s *Store) look(ctx context.Context) string {
	now, _, err := s.b.fingerprint(ctx)
	if err != nil {
		return "error: " + err.Error()
	}
	return now
}
