package redis

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"slices"
	"time"

	client "github.com/redis/go-redis/v9"

	"github.com/flowtui/flowtui/stores"
)

const (
	// grace is how long a write that was sent may outlive its context: to know
	// the outcome is worth more than to return at once.
	grace = time.Second
	// redirects bounds how often a cluster is asked again who serves the slot.
	redirects = 10
	// settle is the pause before that, and what ends together is kept apart by it.
	settle = 100 * time.Millisecond
)

// Quiet keeps the client library from printing to standard error, for programs
// that own the terminal. It holds for the whole process.
func Quiet() { client.SetLogger(quiet{}) }

type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

func timeout(d time.Duration) time.Duration {
	if d <= 0 {
		return 5 * time.Second
	}
	return d
}

// dialer marks the errors of connections that were never made.
func dialer(limit time.Duration, secure *tls.Config) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		ctx, stop := context.WithTimeout(ctx, limit)
		defer stop()
		plain := &net.Dialer{KeepAlive: 30 * time.Second}
		dial := plain.DialContext
		if secure != nil {
			dial = (&tls.Dialer{NetDialer: plain, Config: secure}).DialContext
		}
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, dialError{err}
		}
		return conn, nil
	}
}

// node is the client of the server that has the store's slot. A cluster's own
// client would send a write again after a lost reply.
func (s *Store) node(ctx context.Context) (*client.Client, error) {
	switch c := s.client.(type) {
	case *client.ClusterClient:
		node, err := c.MasterForKey(ctx, s.keys.meta())
		if err != nil && ctx.Err() == nil {
			err = dialError{err}
		}
		return node, err
	case *client.Client:
		return c, nil
	}
	return nil, stores.ErrClosed
}

// moved reports whether the slot is elsewhere now, which a cluster's client then
// finds out. The server has done nothing.
func (s *Store) moved(ctx context.Context, err error) bool {
	c, clustered := s.client.(*client.ClusterClient)
	if !clustered || !isReply(err, "MOVED") && !isReply(err, "CLUSTERDOWN") {
		return false
	}
	c.ReloadState(ctx)
	select {
	case <-ctx.Done():
	case <-time.After(settle):
	}
	return true
}

// await runs f and stops waiting for it some time after ctx ends. f then goes on
// by itself until the connection's own timeout, and nobody looks at its result.
func await[T any](ctx context.Context, after time.Duration, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := f()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
	}
	timer := time.NewTimer(after)
	defer timer.Stop()
	select {
	case r := <-done:
		return r.value, r.err
	case <-timer.C:
		var none T
		return none, ctx.Err()
	}
}

// outlive is a context that ends a little after ctx, so that it is not the
// connection that reports the end of ctx, and frees the connection then.
func outlive(ctx context.Context) (context.Context, context.CancelFunc) {
	free := context.WithoutCancel(ctx)
	if deadline, ok := ctx.Deadline(); ok {
		return context.WithDeadline(free, deadline.Add(settle))
	}
	return free, func() {}
}

// strictness says what read does with commands that the server refuses.
type strictness bool

const (
	strict  strictness = true  // fail
	lenient strictness = false // leave them to the caller, who looks at each
)

// read sends commands in one round trip and returns the store's clock. It fails
// unless they were answered by the store that was attached. It is done a second
// time when a connection turns out to be dead.
func (s *Store) read(ctx context.Context, how strictness, build func(p client.Pipeliner)) (now time.Time, err error) {
	for try := 0; ; try++ {
		if err := s.usable(ctx); err != nil {
			return now, err
		}
		now, err = s.readOnce(ctx, how, build)
		_, answered := errors.AsType[client.Error](err)
		_, undialled := errors.AsType[dialError](err)
		_, gone := errors.AsType[goneError](err)
		netErr, network := errors.AsType[net.Error](err)
		slow := network && netErr.Timeout()
		switch {
		case err == nil, ctx.Err() != nil:
			return now, err
		case s.moved(ctx, err) && try < redirects:
		case answered, undialled, gone, slow, try > 0, !connectionFailed(err):
			return now, err
		}
	}
}

// connectionFailed tells an error of the connection from one of the contract.
func connectionFailed(err error) bool {
	_, class := class(err)
	return errors.Is(class, stores.ErrUnavailable)
}

func (s *Store) readOnce(ctx context.Context, how strictness, build func(p client.Pipeliner)) (now time.Time, err error) {
	node, err := s.node(ctx)
	if err != nil {
		return now, err
	}
	p := node.Pipeline()
	meta := p.HMGet(ctx, s.keys.meta(), "store", "version")
	build(p)
	var clock *client.TimeCmd
	if s.mayAskTime() {
		clock = p.Time(ctx)
	}
	cmds, err := await(ctx, 0, func() ([]client.Cmder, error) {
		wire, stop := outlive(ctx)
		defer stop()
		return p.Exec(wire)
	})
	// What fails before the commands are sent, like logging in, is no command's error.
	if err != nil && !slices.ContainsFunc(cmds, func(c client.Cmder) bool { return c.Err() != nil }) {
		return now, err
	}
	for _, cmd := range cmds {
		err := cmd.Err()
		if _, answered := errors.AsType[client.Error](err); err != nil && !answered {
			return now, err
		}
	}
	if err := meta.Err(); err != nil {
		return now, err
	}
	if err := s.same(meta.Val()); err != nil {
		return now, err
	}
	now = s.clock(clock)
	for _, cmd := range cmds {
		err := cmd.Err()
		if how == strict && err != nil && cmd != client.Cmder(clock) && !errors.Is(err, client.Nil) {
			return now, err
		}
	}
	return now, nil
}

// clock is the server's time, or this machine's if the user may not ask for it.
func (s *Store) clock(answer *client.TimeCmd) time.Time {
	if answer != nil && answer.Err() == nil {
		return answer.Val().UTC()
	}
	if answer != nil && isReply(answer.Err(), "NOPERM") {
		s.mu.Lock()
		s.noTime = true
		s.mu.Unlock()
	}
	return time.Now().UTC()
}

func (s *Store) mayAskTime() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.noTime
}
