package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/flowtui/flowtui/stores"
)

// lease reads the holder, the expiry, and whether it is live; all three may be
// missing.
func (r *row) lease(p **stores.Lease) []column {
	return []column{
		func(v any) {
			if *p = nil; v != nil {
				*p = &stores.Lease{}
				r.text("lease holder", &(*p).Holder)(v)
			}
		},
		func(v any) {
			if *p != nil {
				r.time("lease expiry", &(*p).Expires)(v)
			}
		},
		func(v any) {
			if *p != nil {
				(*p).Live, _ = v.(bool)
			}
		},
	}
}

func scanLease(res *pgconn.Result) *stores.Lease {
	all := collect(res, func(r *row, l **stores.Lease) []column { return r.lease(l) }, func(**stores.Lease, string) {})
	if len(all) == 0 {
		return nil
	}
	return all[0]
}

const (
	selectLease = `SELECT holder, expires, expires > {now} FROM {leases} WHERE owner = $1 AND run = $2`
	// Whoever waited for another one to get the lease is judged by what is there
	// then, and the time starts to run when it is given.
	acquireLease = `INSERT INTO {leases} AS l (owner, run, holder, expires) VALUES ($1, $2, $3, {now} + $4)
		ON CONFLICT (owner, run) DO UPDATE SET holder = excluded.holder, expires = {now} + $4
			WHERE l.holder = excluded.holder OR l.expires <= {now} OR $5
		RETURNING holder, expires, expires > {now}`
	renewLease = `UPDATE {leases} SET expires = {now} + $4 WHERE owner = $1 AND run = $2 AND holder = $3
		RETURNING holder, expires, expires > {now}`
)

// Lease implements stores.Leaser.
func (s *Store) Lease(ctx context.Context, k stores.Key) (*stores.Lease, error) {
	res, err := s.query(ctx, "lease", k, selectLease, k.Owner, k.Run)
	if err != nil {
		return nil, err
	}
	return scanLease(res), nil
}

// Acquire implements stores.Leaser.
func (s *Store) Acquire(ctx context.Context, k stores.Key, holder string, ttl time.Duration, force bool) (stores.Lease, error) {
	return s.extend(ctx, "acquire lease", k, holder, ttl, acquireLease, force)
}

// Renew implements stores.Leaser.
func (s *Store) Renew(ctx context.Context, k stores.Key, holder string, ttl time.Duration) (stores.Lease, error) {
	return s.extend(ctx, "renew lease", k, holder, ttl, renewLease)
}

// extend gives holder the lease, or says who has it.
func (s *Store) extend(ctx context.Context, op string, k stores.Key, holder string, ttl time.Duration, sql string, more ...any) (stores.Lease, error) {
	if err := stores.CheckLease(k, holder, ttl); err != nil {
		return stores.Lease{}, s.wrap(op, k, err)
	}
	args := append([]any{k.Owner, k.Run, holder, ttl.Microseconds()}, more...)
	results, err := s.write(ctx, op, k, ask(sql, args...), ask(selectLease, args[:2]...))
	if errors.Is(err, stores.ErrUnknown) {
		// Whether this or an earlier write gave it to holder is all the same.
		if now, readErr := s.Lease(ctx, k); readErr == nil && now != nil && now.Live && now.Holder == holder {
			return *now, nil
		}
	}
	if err != nil {
		return stores.Lease{}, err
	}
	given, now := scanLease(results[0]), scanLease(results[1])
	switch {
	case given != nil:
		return *given, nil
	case now == nil:
		err = fmt.Errorf("%w: nobody has the lease", stores.ErrNotFound)
	default:
		err = fmt.Errorf("%w: %s holds the lease until %s", stores.ErrConflict, now.Holder, now.Expires.Format(time.RFC3339))
	}
	return stores.Lease{}, s.wrap(op, k, err)
}

// Release implements stores.Leaser.
func (s *Store) Release(ctx context.Context, k stores.Key, holder string) error {
	_, err := s.write(ctx, "release lease", k,
		ask(`DELETE FROM {leases} WHERE owner = $1 AND run = $2 AND holder = $3`, k.Owner, k.Run, holder))
	return err
}
