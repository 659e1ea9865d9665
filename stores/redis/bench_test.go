package redis_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/flowtui/flowtui/internal/testservers"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/storetest"
)

// BenchmarkSave compares a save with the least that could be done: one round
// trip with the same bytes.
func BenchmarkSave(b *testing.B) {
	server := testservers.Redis(b)
	s := create(b, server.URL)
	c := raw(b, server.URL)
	payload := make([]byte, 2048)
	w := func(n int64) stores.Save {
		w := storetest.Step(place("r"), n, func(c *stores.Checkpoint) { c.Payload = payload })
		w.Events = []stores.Event{storetest.Event(place("r"), n+1)}
		return w
	}
	save(b, s, w(0))
	n := int64(0)
	start := time.Now()
	for b.Loop() {
		n++
		save(b, s, w(n))
	}
	ours := time.Since(start)
	start = time.Now()
	for i := range n {
		must(b, c, "HSET", "floor", fmt.Sprint("s", i), "header header header", fmt.Sprint("p", i), payload, "head", payload[:700], fmt.Sprint("e", i), payload[:400])
	}
	b.ReportMetric(float64(time.Since(start))/float64(ours), "floor/ours")
}

// BenchmarkList reads the first page of many runs.
func BenchmarkList(b *testing.B) {
	const runs, writers = 100_000, 16
	s := create(b, testservers.Redis(b).URL)
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			for n := i; n < runs; n += writers {
				w := storetest.Step(place(fmt.Sprint("run ", n)), 0)
				w.Head.Updated = storetest.Epoch.Add(time.Duration(n) * time.Second)
				if err := s.Save(b.Context(), w); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	for name, q := range map[string]stores.Query{
		"first page": {Filter: everyRun},
		"by owner":   {Filter: stores.Filter{Owner: stores.DefaultOwner, Statuses: []stores.Status{stores.StatusRunning}}},
		"by flow":    {Filter: stores.Filter{Owner: stores.AnyOwner, Flow: "flow"}},
		"by text":    {Filter: stores.Filter{Owner: stores.AnyOwner, Text: "run 77"}},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if page, err := s.List(b.Context(), q); err != nil || len(page.Heads) != 100 {
					b.Fatalf("%d heads, %v", len(page.Heads), err)
				}
			}
		})
	}
	b.Run("count", func(b *testing.B) {
		for b.Loop() {
			if n, err := s.Count(b.Context(), everyRun); err != nil || n.ByStatus[stores.StatusRunning] != runs {
				b.Fatalf("%+v, %v", n, err)
			}
		}
	})
}
