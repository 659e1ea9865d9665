package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/flowtui/flowtui/stores"
)

// holder and expiry scan the two columns of a lease that may be missing.
func (r *row) holder(p **stores.Lease) column {
	return func(v any) {
		if *p = nil; v != nil {
			*p = &stores.Lease{}
			r.text("lease holder", &(*p).Holder)(v)
		}
	}
}

func (r *row) expiry(p **stores.Lease, now time.Time) column {
	return func(v any) {
		if *p != nil {
			r.time("lease expiry", &(*p).Expires)(v)
			(*p).Live = now.Before((*p).Expires)
		}
	}
}

const selectLease = `SELECT holder, expires FROM leases WHERE owner = ? AND run = ?`

func (s *Store) scanLease(rows scanner, err error) (*stores.Lease, error) {
	now := s.opts.Clock()
	l, err := one(collect(rows, err, func(r *row, l **stores.Lease) []any {
		return []any{r.holder(l), r.expiry(l, now)}
	}, func(**stores.Lease, string) {}))
	if errors.Is(err, stores.ErrNotFound) {
		return nil, nil
	}
	return l, err
}

// Lease implements stores.Leaser.
func (s *Store) Lease(ctx context.Context, k stores.Key) (l *stores.Lease, err error) {
	err = s.read(ctx, "lease", k, func(ctx context.Context, db *sql.DB) error {
		l, err = s.scanLease(db.QueryContext(ctx, selectLease, k.Owner, k.Run))
		return err
	})
	return l, err
}

// Acquire implements stores.Leaser.
func (s *Store) Acquire(ctx context.Context, k stores.Key, holder string, ttl time.Duration, force bool) (stores.Lease, error) {
	return s.extend(ctx, "acquire lease", k, holder, ttl, func(old *stores.Lease) error {
		if old != nil && old.Live && old.Holder != holder && !force {
			return fmt.Errorf("%w: %s holds the lease until %s", stores.ErrConflict, old.Holder, old.Expires.Format(time.RFC3339))
		}
		return nil
	})
}

// Renew implements stores.Leaser.
func (s *Store) Renew(ctx context.Context, k stores.Key, holder string, ttl time.Duration) (stores.Lease, error) {
	return s.extend(ctx, "renew lease", k, holder, ttl, func(old *stores.Lease) error {
		switch {
		case old == nil:
			return fmt.Errorf("%w: nobody has the lease", stores.ErrNotFound)
		case old.Holder != holder:
			return fmt.Errorf("%w: %s has the lease", stores.ErrConflict, old.Holder)
		}
		return nil
	})
}

// extend gives holder the lease if may agrees with the one that is there.
func (s *Store) extend(ctx context.Context, op string, k stores.Key, holder string, ttl time.Duration, may func(old *stores.Lease) error) (l stores.Lease, err error) {
	if err := stores.CheckLease(k, holder, ttl); err != nil {
		return l, s.wrap(op, k, err)
	}
	err = s.write(ctx, op, k, func(t tx) error {
		old, err := s.scanLease(t.query(selectLease, k.Owner, k.Run))
		if err != nil {
			return err
		}
		if err := may(old); err != nil {
			return err
		}
		now := s.opts.Clock()
		l = stores.Lease{Holder: holder, Expires: stores.Micro(now.Add(ttl))}
		l.Live = now.Before(l.Expires)
		_, err = t.exec(`INSERT INTO leases (owner, run, holder, expires) VALUES (?, ?, ?, ?)
			ON CONFLICT (owner, run) DO UPDATE SET holder = excluded.holder, expires = excluded.expires`,
			k.Owner, k.Run, holder, micro(l.Expires))
		return err
	})
	if err != nil {
		return stores.Lease{}, err
	}
	return l, nil
}

// Release implements stores.Leaser.
func (s *Store) Release(ctx context.Context, k stores.Key, holder string) error {
	return s.write(ctx, "release lease", k, func(t tx) error {
		_, err := t.exec(`DELETE FROM leases WHERE owner = ? AND run = ? AND holder = ?`, k.Owner, k.Run, holder)
		return err
	})
}
