package memory

import (
	"context"
	"fmt"
	"time"

	"github.com/flowtui/flowtui/stores"
)

// Acquire implements stores.Leaser.
func (s *Store) Acquire(ctx context.Context, k stores.Key, holder string, ttl time.Duration, force bool) (l stores.Lease, err error) {
	err = s.do(ctx, "acquire lease", k, func() error {
		if err := stores.CheckLease(k, holder, ttl); err != nil {
			return err
		}
		if old := s.lease(k); old != nil && old.Live && old.Holder != holder && !force {
			return fmt.Errorf("%w: %s holds the lease until %s", stores.ErrConflict, old.Holder, old.Expires.Format(time.RFC3339))
		}
		l = s.extend(k, holder, ttl)
		return nil
	})
	return l, err
}

// Renew implements stores.Leaser.
func (s *Store) Renew(ctx context.Context, k stores.Key, holder string, ttl time.Duration) (l stores.Lease, err error) {
	err = s.do(ctx, "renew lease", k, func() error {
		if err := stores.CheckLease(k, holder, ttl); err != nil {
			return err
		}
		old, ok := s.leases[k]
		switch {
		case !ok:
			return fmt.Errorf("%w: nobody has the lease", stores.ErrNotFound)
		case old.Holder != holder:
			return fmt.Errorf("%w: %s has the lease", stores.ErrConflict, old.Holder)
		}
		l = s.extend(k, holder, ttl)
		return nil
	})
	return l, err
}

func (s *Store) extend(k stores.Key, holder string, ttl time.Duration) stores.Lease {
	s.leases[k] = stores.Lease{Holder: holder, Expires: stores.Micro(s.clock().Add(ttl))}
	s.notify()
	return *s.lease(k)
}

// Release implements stores.Leaser.
func (s *Store) Release(ctx context.Context, k stores.Key, holder string) error {
	return s.do(ctx, "release lease", k, func() error {
		if s.leases[k].Holder == holder {
			delete(s.leases, k)
			s.notify()
		}
		return nil
	})
}

// Lease implements stores.Leaser.
func (s *Store) Lease(ctx context.Context, k stores.Key) (l *stores.Lease, err error) {
	err = s.do(ctx, "lease", k, func() error {
		l = s.lease(k)
		return nil
	})
	return l, err
}

func (s *Store) lease(k stores.Key) *stores.Lease {
	l, ok := s.leases[k]
	if !ok {
		return nil
	}
	l.Live = s.clock().Before(l.Expires)
	return &l
}
