package redis

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	client "github.com/redis/go-redis/v9"

	"github.com/flowtui/flowtui/stores"
)

// A lease is kept as its expiry in microseconds and its holder.

func parseLease(v any, now time.Time) *stores.Lease {
	text, ok := v.(string)
	if !ok {
		return nil
	}
	micros, holder, _ := strings.Cut(text, " ")
	l := stores.Lease{Holder: holder, Expires: time.UnixMicro(number(micros)).UTC()}
	l.Live = now.Before(l.Expires)
	return &l
}

// Lease implements stores.Leaser.
func (s *Store) Lease(ctx context.Context, k stores.Key) (*stores.Lease, error) {
	var lease *client.StringCmd
	now, err := s.read(ctx, strict, func(p client.Pipeliner) { lease = p.HGet(ctx, s.keys.leases(), id(k)) })
	if err != nil || errors.Is(lease.Err(), client.Nil) {
		return nil, s.wrap("lease", k, err)
	}
	return parseLease(lease.Val(), now), nil
}

// Acquire implements stores.Leaser.
func (s *Store) Acquire(ctx context.Context, k stores.Key, holder string, ttl time.Duration, force bool) (stores.Lease, error) {
	act := "acquire"
	if force {
		act = "force"
	}
	l, err := s.extend(ctx, act, k, holder, ttl)
	return l, s.wrap("acquire lease", k, err)
}

// Renew implements stores.Leaser.
func (s *Store) Renew(ctx context.Context, k stores.Key, holder string, ttl time.Duration) (stores.Lease, error) {
	l, err := s.extend(ctx, "renew", k, holder, ttl)
	return l, s.wrap("renew lease", k, err)
}

func (s *Store) extend(ctx context.Context, act string, k stores.Key, holder string, ttl time.Duration) (l stores.Lease, err error) {
	if err := stores.CheckLease(k, holder, ttl); err != nil {
		return l, err
	}
	answer, err := s.write(ctx, scripts.lease, k, append(s.target(k), act, holder, ttl.Microseconds())...)
	if err != nil {
		return l, err
	}
	switch {
	case answer[0] == "none":
		return l, fmt.Errorf("%w: nobody has the lease", stores.ErrNotFound)
	case answer[0] == "held" && act == "renew":
		return l, fmt.Errorf("%w: %s has the lease", stores.ErrConflict, answer[1])
	case answer[0] == "held":
		until := time.UnixMicro(number(answer[2])).UTC()
		return l, fmt.Errorf("%w: %s holds the lease until %s", stores.ErrConflict, answer[1], until.Format(time.RFC3339))
	}
	expires, err1 := strconv.ParseInt(answer[1], 10, 64)
	now, err2 := strconv.ParseInt(answer[2], 10, 64)
	if err := errors.Join(err1, err2); err != nil {
		return l, doubt{err}
	}
	return stores.Lease{Holder: holder, Expires: time.UnixMicro(expires).UTC(), Live: now < expires}, nil
}

// Release implements stores.Leaser.
func (s *Store) Release(ctx context.Context, k stores.Key, holder string) error {
	_, err := s.write(ctx, scripts.lease, k, append(s.target(k), "release", holder, 0)...)
	return s.wrap("release lease", k, err)
}
