package storetest

import (
	"errors"
	"time"

	"github.com/flowtui/flowtui/stores"
)

var leaseCases = []testCase{
	{"who gets it", leaseTable},
	{"shown in heads", leaseInHeads},
	{"bad arguments", leaseArguments},
}

// leaseTable does one thing after another to one run's lease.
func leaseTable(s *suite) {
	k := s.steps("r", 0).Key
	acquire := func(holder string, force bool) func() (stores.Lease, error) {
		return func() (stores.Lease, error) { return s.Acquire(s.ctx, k, holder, time.Minute, force) }
	}
	renew := func(holder string) func() (stores.Lease, error) {
		return func() (stores.Lease, error) { return s.Renew(s.ctx, k, holder, time.Minute) }
	}
	release := func(holder string) func() (stores.Lease, error) {
		return func() (stores.Lease, error) { return stores.Lease{}, s.Release(s.ctx, k, holder) }
	}
	wait := func(d time.Duration) func() (stores.Lease, error) {
		return func() (stores.Lease, error) { s.h.Advance(d); return stores.Lease{}, nil }
	}
	for _, c := range []struct {
		name   string
		do     func() (stores.Lease, error)
		want   error
		holder string // afterwards, "" for no lease
		live   bool
	}{
		{"nobody renews", renew("a"), stores.ErrNotFound, "", false},
		{"a acquires", acquire("a", false), nil, "a", true},
		{"a acquires again", acquire("a", false), nil, "a", true},
		{"b cannot", acquire("b", false), stores.ErrConflict, "a", true},
		{"b cannot renew", renew("b"), stores.ErrConflict, "a", true},
		{"b releases nothing", release("b"), nil, "a", true},
		{"half of it passes", wait(40 * time.Second), nil, "a", true},
		{"a renews", renew("a"), nil, "a", true},
		{"half of it passes again", wait(40 * time.Second), nil, "a", true},
		{"it expires", wait(30 * time.Second), nil, "a", false},
		{"late a renews, nobody took it", renew("a"), nil, "a", true},
		{"it expires again", wait(2 * time.Minute), nil, "a", false},
		{"b acquires", acquire("b", false), nil, "b", true},
		{"a lost it", renew("a"), stores.ErrConflict, "b", true},
		{"a forces", acquire("a", true), nil, "a", true},
		{"b lost it", renew("b"), stores.ErrConflict, "a", true},
		{"a releases", release("a"), nil, "", false},
		{"a releases again", release("a"), nil, "", false},
		{"b acquires at once", acquire("b", false), nil, "b", true},
	} {
		got, err := c.do()
		if !errors.Is(err, c.want) {
			s.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
		l, err := s.Lease(s.ctx, k)
		s.ok(err)
		if l == nil {
			l = &stores.Lease{}
		}
		if l.Holder != c.holder || l.Live != c.live {
			s.Errorf("%s: lease is %+v, want holder %q, live %v", c.name, *l, c.holder, c.live)
		}
		if got.Holder != "" && got != *l {
			s.Errorf("%s: returned %+v, stored %+v", c.name, got, *l)
		}
	}
}

func leaseInHeads(s *suite) {
	k := s.steps("r", 0).Key
	s.steps("free", 0)
	_, err := s.Acquire(s.ctx, k, "worker", time.Minute, false)
	s.ok(err)
	check := func(live bool) {
		s.Helper()
		page, err := s.List(s.ctx, stores.Query{Filter: anyRun})
		s.ok(err)
		unfinished, err := s.ListUnfinished(s.ctx, stores.AnyOwner)
		s.ok(err)
		head, err := s.Head(s.ctx, k)
		s.ok(err)
		for _, h := range append(append(page.Heads, unfinished...), head) {
			if held := h.Lease != nil; held != (h.Run == "r") || held && (h.Lease.Holder != "worker" || h.Lease.Live != live) {
				s.Errorf("lease of %s is %+v, want live %v", h.Run, h.Lease, live)
			}
		}
	}
	check(true)
	s.h.Advance(2 * time.Minute)
	check(false)
}

func leaseArguments(s *suite) {
	k := s.steps("r", 0).Key
	for _, do := range []func() (stores.Lease, error){
		func() (stores.Lease, error) { return s.Acquire(s.ctx, k, "", time.Minute, false) },
		func() (stores.Lease, error) { return s.Acquire(s.ctx, k, "a", 0, true) },
		func() (stores.Lease, error) { return s.Acquire(s.ctx, stores.Key{}, "a", time.Minute, false) },
		func() (stores.Lease, error) { return s.Renew(s.ctx, k, "a", -time.Minute) },
	} {
		_, err := do()
		s.fails(err, stores.ErrInvalid)
	}
}
