package redis

import (
	"context"
	"errors"
	"net"
	"time"

	client "github.com/redis/go-redis/v9"

	"github.com/flowtui/flowtui/stores"
)

const (
	// pollEvery is how often a watcher looks at the number of changes while it
	// hears of none, because this user may not subscribe or the connection broke.
	pollEvery = 500 * time.Millisecond
	// listenFor is how long it trusts its subscription before it looks all the same.
	listenFor = 5 * time.Second
	// subscribeEvery is how often it tries to subscribe again.
	subscribeEvery = 10 * time.Second
)

// Watch implements stores.Watcher. Each change is published.
func (s *Store) Watch(ctx context.Context) (<-chan struct{}, error) {
	before, err := s.changes(ctx) // what is there now is no news
	if err != nil {
		return nil, s.wrap("watch", stores.Key{}, err)
	}
	w := &watch{store: s, ch: make(chan struct{}, 1), seen: before}
	go w.run(ctx)
	return w.ch, nil
}

// changes is the number of changes so far. It need not grow: after a failover it
// may be less.
func (s *Store) changes(ctx context.Context) (string, error) {
	var cmd *client.StringCmd
	if _, err := s.read(ctx, strict, func(p client.Pipeliner) { cmd = p.HGet(ctx, s.keys.meta(), "changes") }); err != nil {
		return "", err
	}
	return cmd.Val(), nil
}

// watch tells one watcher.
type watch struct {
	store *Store
	ch    chan struct{}
	seen  string
	lost  bool // the store could not be read when it was looked at last
}

func (w *watch) run(ctx context.Context) {
	ctx, stop := context.WithCancel(ctx)
	defer close(w.ch)
	defer stop()
	heard := make(chan struct{}, 1)
	listening := make(chan bool, 1)
	go w.listen(ctx, heard, listening)
	every := pollEvery
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.store.done:
			return
		case <-heard:
			w.look(ctx)
		case on := <-listening:
			every = pollEvery
			if on {
				every = listenFor
			}
			tick.Reset(every)
			w.look(ctx) // what happened in between
		case <-tick.C:
			w.look(ctx)
		}
	}
}

// look gives a notice if anything has changed; that the store cannot be read any
// more, or can be read again, is a change too.
func (w *watch) look(ctx context.Context) {
	now, err := w.store.changes(ctx)
	switch lost := err != nil; {
	case ctx.Err() != nil:
		return
	case lost != w.lost, !lost && now != w.seen:
		w.lost = lost
		give(w.ch)
	}
	if err == nil {
		w.seen = now
	}
}

// listen subscribes, and again when that ends, until ctx does.
func (w *watch) listen(ctx context.Context, heard chan struct{}, listening chan<- bool) {
	say := func(on bool) {
		select {
		case listening <- on:
		case <-ctx.Done():
		case <-w.store.done:
		}
	}
	for {
		w.subscription(ctx, heard, func() { say(true) })
		say(false)
		select {
		case <-ctx.Done():
			return
		case <-w.store.done:
			return
		case <-time.After(subscribeEvery):
		}
	}
}

// subscription passes on what is published until the connection fails.
func (w *watch) subscription(ctx context.Context, heard chan struct{}, works func()) {
	sub := w.store.client.Subscribe(ctx, w.store.keys.changes())
	defer func() { _ = sub.Close() }()
	end := context.AfterFunc(ctx, func() { _ = sub.Close() })
	defer end()
	silent := false
	for {
		msg, err := sub.ReceiveTimeout(ctx, listenFor)
		if netErr, ok := errors.AsType[net.Error](err); ok && netErr.Timeout() && !silent {
			silent = true // nothing was published: is the connection still there?
			err = sub.Ping(ctx)
			if err == nil {
				continue
			}
		}
		if err != nil {
			return
		}
		silent = false
		switch msg.(type) {
		case *client.Subscription:
			works()
		case *client.Message:
			give(heard)
		}
	}
}

// give leaves one notice; a second one would say nothing new.
func give(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}
