package redis_test

import (
	"fmt"
	"testing"
	"time"

	client "github.com/redis/go-redis/v9"

	"github.com/flowtui/flowtui/internal/testservers"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/storetest"
)

// BenchmarkWrites: the floor sets one field of a hash per commit, in one round
// trip of the same client.
func BenchmarkWrites(b *testing.B) {
	server := testservers.Redis(b)
	c := raw(b, server.URL)
	n := 0
	storetest.BenchWrites(b, create(b, server.URL), func(b *testing.B, row []byte) error {
		n++
		return c.HSet(b.Context(), "floor", n, row).Err()
	})
}

// BenchmarkList reads pages of 100,000 runs. The floor gets as many hashes as a
// page has by their names, in one pipeline of the same client.
func BenchmarkList(b *testing.B) {
	const runs = 100_000
	server := testservers.Redis(b)
	s := create(b, server.URL)
	must(b, raw(b, server.URL), "CONFIG", "SET", "save", "")
	for n := range runs {
		w := storetest.Step(place(fmt.Sprint("run ", n)), 0, func(c *stores.Checkpoint) { c.Status = []stores.Status{stores.StatusRunning, stores.StatusPaused}[n%2] })
		w.Head.Updated = storetest.Epoch.Add(time.Duration(n) * time.Second)
		save(b, s, w)
	}
	c := raw(b, server.URL)
	for n := range stores.DefaultLimit {
		must(b, c, "HSET", fmt.Sprint("floor ", n), "head", make([]byte, 700), "open", 0)
	}
	for name, f := range map[string]stores.Filter{
		"all":           everyRun,
		"paused":        {Owner: stores.AnyOwner, Statuses: []stores.Status{stores.StatusPaused}},
		"owner":         {Owner: stores.DefaultOwner},
		"owner, paused": {Owner: stores.DefaultOwner, Statuses: []stores.Status{stores.StatusPaused}},
		"flow":          {Owner: stores.AnyOwner, Flow: "flow"},
		"text":          {Owner: stores.AnyOwner, Text: "run 77"},
	} {
		b.Run(name, func(b *testing.B) {
			storetest.BenchAgainst(b, "page", 1, func() error {
				page, err := s.List(b.Context(), stores.Query{Filter: f})
				if err == nil && len(page.Heads) != stores.DefaultLimit {
					err = fmt.Errorf("%d heads", len(page.Heads))
				}
				return err
			}, storetest.Floor{Name: "floor", Do: func() error {
				_, err := c.Pipelined(b.Context(), func(p client.Pipeliner) error {
					for n := range stores.DefaultLimit {
						p.HGetAll(b.Context(), fmt.Sprint("floor ", n))
					}
					return nil
				})
				return err
			}})
		})
	}
	b.Run("count", func(b *testing.B) {
		for b.Loop() {
			if n, err := s.Count(b.Context(), everyRun); err != nil || n.ByStatus[stores.StatusRunning] != runs/2 {
				b.Fatalf("%+v, %v", n, err)
			}
		}
	})
}
