package jsonfile

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/internal/rowjson"
)

// leaseFile says who works on a run. It is a hint and is not synced: after a
// power cut nobody works on anything.
type leaseFile struct {
	Holder  string        `json:"holder"`
	Expires rowjson.Stamp `json:"expires"`
}

// lease is the lease of a run, or nil. A file that cannot be read is no lease.
func (s *Store) lease(dir *os.Root, name string) *stores.Lease {
	if dir == nil {
		return nil
	}
	b, err := readSmall(dir, name+leaseExt, 1<<20)
	if err != nil {
		return nil
	}
	var l leaseFile
	if _, err := rowjson.Unseal(bytes.TrimSuffix(b, []byte("\n")), &l); err != nil || l.Holder == "" {
		return nil
	}
	expires := time.Time(l.Expires)
	return &stores.Lease{Holder: l.Holder, Expires: expires, Live: s.opts.Clock().Before(expires)}
}

// Lease implements stores.Leaser.
func (s *Store) Lease(ctx context.Context, k stores.Key) (l *stores.Lease, err error) {
	err = s.read(ctx, "lease", k, func(root *os.Root) error {
		return s.inOwner(root, k.Owner, func(dir *os.Root) error {
			l = s.lease(dir, fileName(k.Run))
			return nil
		})
	})
	return l, err
}

// Acquire implements stores.Leaser.
func (s *Store) Acquire(ctx context.Context, k stores.Key, holder string, ttl time.Duration, force bool) (stores.Lease, error) {
	return s.extend(ctx, "acquire lease", k, holder, ttl, true, func(old *stores.Lease) error {
		if old != nil && old.Live && old.Holder != holder && !force {
			return fmt.Errorf("%w: %s holds the lease until %s", stores.ErrConflict, old.Holder, old.Expires.Format(time.RFC3339))
		}
		return nil
	})
}

// Renew implements stores.Leaser.
func (s *Store) Renew(ctx context.Context, k stores.Key, holder string, ttl time.Duration) (stores.Lease, error) {
	return s.extend(ctx, "renew lease", k, holder, ttl, false, func(old *stores.Lease) error {
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
func (s *Store) extend(ctx context.Context, op string, k stores.Key, holder string, ttl time.Duration, create bool, may func(old *stores.Lease) error) (l stores.Lease, err error) {
	err = stores.CheckLease(k, holder, ttl)
	if err == nil {
		err = rowjson.Text(holder)
	}
	if err != nil {
		return l, s.wrapWrite(op, k, err)
	}
	err = s.writeLease(ctx, op, k, create, func(dir *os.Root, name string) error {
		if err := may(s.lease(dir, name)); err != nil {
			return err
		}
		now := s.opts.Clock()
		l = stores.Lease{Holder: holder, Expires: stores.Micro(now.Add(ttl))}
		l.Live = now.Before(l.Expires)
		b, _, err := rowjson.Seal(leaseFile{holder, rowjson.Stamp(l.Expires)})
		if err != nil {
			return err
		}
		return s.replace(dir, name+leaseExt, b, false)
	})
	if err != nil {
		return stores.Lease{}, err
	}
	return l, nil
}

// Release implements stores.Leaser.
func (s *Store) Release(ctx context.Context, k stores.Key, holder string) error {
	return s.writeLease(ctx, "release lease", k, false, func(dir *os.Root, name string) error {
		if l := s.lease(dir, name); l != nil && l.Holder == holder {
			return dir.Remove(name + leaseExt)
		}
		return nil
	})
}
