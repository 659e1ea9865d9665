package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/flowtui/flowtui/stores"
)

// channel is where writers NOTIFY; what they say there names the store.
const channel = "flowtui"

const (
	pollEvery  = time.Second      // without notices
	checkEvery = 10 * time.Second // with them: one may get lost
	retryFirst = 250 * time.Millisecond
	retryMost  = 15 * time.Second
)

// Watch implements stores.Watcher. Writes through this store are noticed at
// once, those of other processes by NOTIFY or by polling.
func (s *Store) Watch(ctx context.Context) (<-chan struct{}, error) {
	inner, cancel, err := s.within(ctx)
	if err != nil {
		return nil, s.wrap("watch", stores.Key{}, err)
	}
	w := &watch{store: s, ch: make(chan struct{}, 1)}
	err = w.connect(inner) // what is there now is no news
	if inner.Err() != nil {
		w.drop()
		err = ended(inner, err)
		cancel()
		return nil, s.wrap("watch", stores.Key{}, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.life.Err() != nil {
		w.drop()
		cancel()
		return nil, s.wrap("watch", stores.Key{}, stores.ErrClosed)
	}
	s.watchers[w.ch] = struct{}{}
	s.watching.Go(func() {
		defer cancel()
		w.run(inner)
	})
	return w.ch, nil
}

// notify gives every watcher a notice.
func (s *Store) notify() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for ch := range s.watchers {
		give(ch)
	}
}

// give leaves one notice; a second one would say nothing new.
func give(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// watch looks for changes on a connection of its own.
type watch struct {
	store    *Store
	ch       chan struct{}
	conn     *pgconn.PgConn
	listens  bool
	snapshot string
	news     bool // a notice came
}

// connect opens the connection. It listens only where notices arrive: behind a
// pooler the server is another process than the one that greeted us, and a
// replica refuses to.
func (w *watch) connect(ctx context.Context) error {
	conf := w.store.pool.Config().ConnConfig
	conf.OnNotification = func(_ *pgconn.PgConn, n *pgconn.Notification) { w.hear(n) }
	conn, err := pgconn.ConnectConfig(ctx, &conf.Config)
	if err != nil {
		return err
	}
	w.conn, w.listens = conn, false
	direct, replica, err := lookAt(ctx, conn)
	if err != nil {
		return err
	}
	if direct && !replica {
		if _, err := w.ask(ctx, "LISTEN "+pgx.Identifier{channel}.Sanitize()); err != nil {
			return err
		}
		w.listens = true
	}
	_, err = w.changed(ctx)
	return err
}

// hear takes a notice; other stores of the database use the same channel.
func (w *watch) hear(n *pgconn.Notification) {
	w.news = w.news || n.Channel == channel && n.Payload == w.store.topic()
}

func (w *watch) ask(ctx context.Context, sql string) (*pgconn.Result, error) {
	results, err := send(ctx, w.conn, ask(sql))
	if err != nil {
		return nil, err
	}
	return results[0], nil
}

// changed asks whether any transaction of the server has written since it was
// last asked. It reads no table, and it cannot miss one: a transaction counts
// from the moment in which others see what it wrote.
func (w *watch) changed(ctx context.Context) (bool, error) {
	res, err := w.ask(ctx, `SELECT pg_current_snapshot()::text`)
	if err != nil {
		return false, err
	}
	var now string
	if err := facts(res, (&row{}).text("", &now)); err != nil {
		return false, err
	}
	was := w.snapshot
	w.snapshot = now
	return was != now, nil
}

func (w *watch) drop() {
	if w.conn != nil {
		ctx, cancel := context.WithTimeout(context.Background(), grace)
		defer cancel()
		_ = w.conn.Close(ctx)
		w.conn = nil
	}
}

func (w *watch) run(ctx context.Context) {
	defer func() {
		w.drop()
		w.store.mu.Lock()
		defer w.store.mu.Unlock()
		delete(w.store.watchers, w.ch)
		close(w.ch)
	}()
	wait := retryFirst
	for ctx.Err() == nil {
		if w.conn == nil || w.conn.IsClosed() {
			w.drop()
			if w.connect(ctx) != nil {
				w.drop()
				pause(ctx, wait)
				wait = min(2*wait, retryMost)
				continue
			}
			give(w.ch) // there may be news from the time without it
		}
		if err := w.next(ctx); err != nil {
			w.drop()
			continue
		}
		wait = retryFirst
	}
}

// next waits for a notice or for the time to look, and passes on what is new.
func (w *watch) next(ctx context.Context) error {
	w.news = false
	if !w.listens {
		pause(ctx, pollEvery)
	} else {
		soon, cancel := context.WithTimeout(ctx, checkEvery)
		err := w.conn.WaitForNotification(soon)
		cancel()
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		if err == nil {
			if w.news {
				give(w.ch)
			}
			return nil
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	changed, err := w.changed(ctx)
	if changed || w.news {
		give(w.ch)
	}
	return err
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
