package storetest

import (
	"context"
	"time"

	"github.com/flowtui/flowtui/stores"
)

func (s *retrying) Info(ctx context.Context) (stores.Info, error) {
	return insist(s, func() (stores.Info, error) { return s.All.Info(ctx) })
}

func (s *retrying) Examine(ctx context.Context) (stores.Examination, error) {
	return insist(s, func() (stores.Examination, error) { return s.All.Examine(ctx) })
}

func (s *retrying) Latest(ctx context.Context, k stores.Key) (stores.Checkpoint, error) {
	return insist(s, func() (stores.Checkpoint, error) { return s.All.Latest(ctx, k) })
}

func (s *retrying) At(ctx context.Context, k stores.Key, step int64) (stores.Checkpoint, error) {
	return insist(s, func() (stores.Checkpoint, error) { return s.All.At(ctx, k, step) })
}

func (s *retrying) History(ctx context.Context, k stores.Key, q stores.HistoryQuery) ([]stores.Checkpoint, error) {
	return insist(s, func() ([]stores.Checkpoint, error) { return s.All.History(ctx, k, q) })
}

func (s *retrying) Calls(ctx context.Context, k stores.Key, since int64) ([]stores.Call, error) {
	return insist(s, func() ([]stores.Call, error) { return s.All.Calls(ctx, k, since) })
}

func (s *retrying) Events(ctx context.Context, k stores.Key, after int64, limit int) ([]stores.Event, error) {
	return insist(s, func() ([]stores.Event, error) { return s.All.Events(ctx, k, after, limit) })
}

func (s *retrying) Graph(ctx context.Context, digest string) ([]byte, error) {
	return insist(s, func() ([]byte, error) { return s.All.Graph(ctx, digest) })
}

func (s *retrying) ListUnfinished(ctx context.Context, owner string) ([]stores.Head, error) {
	return insist(s, func() ([]stores.Head, error) { return s.All.ListUnfinished(ctx, owner) })
}

func (s *retrying) List(ctx context.Context, q stores.Query) (stores.Page, error) {
	return insist(s, func() (stores.Page, error) { return s.All.List(ctx, q) })
}

func (s *retrying) Count(ctx context.Context, f stores.Filter) (stores.Counts, error) {
	return insist(s, func() (stores.Counts, error) { return s.All.Count(ctx, f) })
}

func (s *retrying) Head(ctx context.Context, k stores.Key) (stores.Head, error) {
	return insist(s, func() (stores.Head, error) { return s.All.Head(ctx, k) })
}

func (s *retrying) Owners(ctx context.Context) ([]string, error) {
	return insist(s, func() ([]string, error) { return s.All.Owners(ctx) })
}

func (s *retrying) Orphans(ctx context.Context, owner string) ([]stores.Key, error) {
	return insist(s, func() ([]stores.Key, error) { return s.All.Orphans(ctx, owner) })
}

func (s *retrying) Watch(ctx context.Context) (<-chan struct{}, error) {
	return insist(s, func() (<-chan struct{}, error) { return s.All.Watch(ctx) })
}

func (s *retrying) Lease(ctx context.Context, k stores.Key) (*stores.Lease, error) {
	return insist(s, func() (*stores.Lease, error) { return s.All.Lease(ctx, k) })
}

func (s *retrying) Acquire(ctx context.Context, k stores.Key, holder string, ttl time.Duration, force bool) (stores.Lease, error) {
	return insist(s, func() (stores.Lease, error) { return s.All.Acquire(ctx, k, holder, ttl, force) })
}

func (s *retrying) Renew(ctx context.Context, k stores.Key, holder string, ttl time.Duration) (stores.Lease, error) {
	return insist(s, func() (stores.Lease, error) { return s.All.Renew(ctx, k, holder, ttl) })
}
