package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/flowtui/flowtui/stores"
)

// A crowd is the store that lists are measured on: run i of so many belongs to
// alice (half of them), bob and carol (a quarter each), by i/100 % 4. Of alice's
// and bob's, one run in fifty each is running with an open call, paused and
// failed, by i % 50; all others are done, also all of carol's. Run i was updated
// i milliseconds after 1970, so the newest page has runs of all kinds.
const (
	CrowdOwner  = "CASE i / 100 % 4 WHEN 2 THEN 'bob' WHEN 3 THEN 'carol' ELSE 'alice' END"
	CrowdStatus = "CASE WHEN i / 100 % 4 = 3 THEN 'done' WHEN i % 50 = 0 THEN 'running' WHEN i % 50 = 1 THEN 'paused' WHEN i % 50 = 2 THEN 'failed' ELSE 'done' END"
	CrowdOpen   = "CASE WHEN i / 100 % 4 < 3 AND i % 50 = 0 THEN 1 ELSE 0 END"
)

// crowdPages are the lists that are measured, by the name of their tab, and how
// many heads the first page has.
var crowdPages = []struct {
	name  string
	heads int
	stores.Filter
}{
	{"all", stores.DefaultLimit, stores.Filter{Owner: stores.AnyOwner}},
	{"needs you", stores.DefaultLimit, stores.Filter{Owner: stores.AnyOwner, Statuses: needing}},
	{"running", stores.DefaultLimit, stores.Filter{Owner: stores.AnyOwner, Statuses: needing[:1]}},
	{"paused", stores.DefaultLimit, stores.Filter{Owner: stores.AnyOwner, Statuses: needing[1:2]}},
	{"in doubt", stores.DefaultLimit, stores.Filter{Owner: stores.AnyOwner, Statuses: needing[:1], Open: true}},
	{"failed", stores.DefaultLimit, stores.Filter{Owner: stores.AnyOwner, Statuses: needing[2:]}},
	{"done", stores.DefaultLimit, stores.Filter{Owner: stores.AnyOwner, Statuses: []stores.Status{stores.StatusDone}}},
	{"owner", stores.DefaultLimit, stores.Filter{Owner: "alice"}},
	{"owner, needs you", stores.DefaultLimit, stores.Filter{Owner: "alice", Statuses: needing}},
	{"owner, paused", stores.DefaultLimit, stores.Filter{Owner: "alice", Statuses: needing[1:2]}},
	{"owner, done", stores.DefaultLimit, stores.Filter{Owner: "alice", Statuses: []stores.Status{stores.StatusDone}}},
	{"owner without any, needs you", 0, stores.Filter{Owner: "carol", Statuses: needing}},
	{"owner without any, in doubt", 0, stores.Filter{Owner: "carol", Statuses: needing[:1], Open: true}},
}

var needing = []stores.Status{stores.StatusRunning, stores.StatusPaused, stores.StatusFailed}

// BenchLists prints what the first page of each list costs in crowds of so many
// runs, and how much more in the largest than in the smallest: about 1 for a
// list that costs the page and not the store. The sizes take turns, and what is
// printed is the median. Counting all runs comes last, to compare: it may cost
// the store.
func BenchLists(b *testing.B, sizes []int, fill func(b *testing.B, runs int) stores.Lister) {
	lists := make([]stores.Lister, len(sizes))
	for i, runs := range sizes {
		lists[i] = fill(b, runs)
	}
	for _, p := range crowdPages {
		b.Run(p.name, func(b *testing.B) {
			bySize(b, "page", sizes, func(i int) error {
				page, err := lists[i].List(b.Context(), stores.Query{Filter: p.Filter})
				if err == nil && len(page.Heads) != p.heads {
					err = fmt.Errorf("%d heads of %d runs", len(page.Heads), sizes[i])
				}
				return err
			})
		})
	}
	b.Run("count", func(b *testing.B) {
		bySize(b, "count", sizes, func(i int) error {
			n, err := lists[i].Count(b.Context(), stores.Filter{Owner: stores.AnyOwner})
			total := int64(0)
			for _, runs := range n.ByStatus {
				total += runs
			}
			if err == nil && total != int64(sizes[i]) {
				err = fmt.Errorf("%d of %d runs", total, sizes[i])
			}
			return err
		})
	})
}

func bySize(b *testing.B, unit string, sizes []int, do func(i int) error) {
	times := make([][]float64, len(sizes))
	for range b.N {
		for i := range sizes {
			start := time.Now()
			if err := do(i); err != nil {
				b.Fatal(err)
			}
			times[i] = append(times[i], float64(time.Since(start)))
		}
	}
	b.ReportMetric(0, "ns/op") // it would add the sizes up
	for i, runs := range sizes {
		b.ReportMetric(Median(times[i]), fmt.Sprintf("ns/%s@%d", unit, runs))
	}
	b.ReportMetric(Median(times[len(sizes)-1])/Median(times[0]), "of-smallest")
}

// Floor does the least that any program would have to do over the same client.
type Floor struct {
	Name string // of its metric: of-Name
	Do   func() error
}

// BenchAgainst prints what each of b.N turns of ours takes, per unit, and its
// rate as a share of each floor's, measured in the same run. They take turns, so
// that what else the machine does hits all; what is printed is the median, and
// the median time of a turn of ours is returned.
func BenchAgainst(b *testing.B, unit string, units int, ours func() error, floors ...Floor) time.Duration {
	timed := func(f func() error) float64 {
		start := time.Now()
		if err := f(); err != nil {
			b.Fatal(err)
		}
		return float64(time.Since(start))
	}
	var times []float64
	ratios := make([][]float64, len(floors))
	for range b.N {
		took := timed(ours)
		times = append(times, took)
		for i, floor := range floors {
			ratios[i] = append(ratios[i], timed(floor.Do)/took)
		}
	}
	b.ReportMetric(0, "ns/op") // it would count the floors too
	b.ReportMetric(Median(times)/float64(units), "ns/"+unit)
	for i, floor := range floors {
		b.ReportMetric(Median(ratios[i]), "of-"+floor.Name)
	}
	return time.Duration(Median(times))
}

// Median is the middle value, or the mean of the two in the middle.
func Median(list []float64) float64 {
	slices.Sort(list)
	return (list[(len(list)-1)/2] + list[len(list)/2]) / 2
}

// What a row has beside its payload: its columns, 32 bytes each for two MACs.
const columns = 300

// commitsPerTurn is how many commits the store and the floor make before the
// other one goes on.
const commitsPerTurn = 20

// BenchWrites prints what a save takes (a step of one run with 2 KB of state and
// an event) and what a call takes (its started and its done record, one commit
// each), and their rates as shares of the floor's: as many commits of as many
// bytes, which nothing could be read back from by anything but their order.
func BenchWrites(b *testing.B, s stores.Store, floor func(b *testing.B, row []byte) error) {
	runs := 0
	another := func() stores.Place { // a benchmark is run several times, with more and more turns
		runs++
		return stores.Place{Key: stores.Key{Owner: stores.DefaultOwner, Run: fmt.Sprint("run ", runs)}, Store: "store", Incarnation: "first"}
	}
	payload := make([]byte, 2048)
	step := func(p stores.Place, n int64) stores.Save {
		w := Step(p, n, func(c *stores.Checkpoint) { c.Payload = payload })
		w.Events = []stores.Event{Event(p, n+1)}
		return w
	}
	bare := func(b *testing.B, row []byte) Floor {
		return Floor{"floor", func() error { return repeat(func() error { return floor(b, row) }) }}
	}
	b.Run("save", func(b *testing.B) {
		p := another()
		n := int64(0)
		w := step(p, 0)
		row := make([]byte, 3*columns+len(payload)+len(w.Head.Payload)+len(w.Events[0].Payload))
		BenchAgainst(b, "save", commitsPerTurn, func() error {
			return repeat(func() error {
				n++
				return s.Save(b.Context(), step(p, n-1))
			})
		}, bare(b, row))
	})
	b.Run("call", func(b *testing.B) {
		p := another()
		if err := s.Save(b.Context(), step(p, 0)); err != nil {
			b.Fatal(err)
		}
		n := int64(0)
		row := make([]byte, columns+len(Record(p, 1, 1).Payload))
		BenchAgainst(b, "call", commitsPerTurn/2, func() error {
			return repeat(func() error {
				n++
				return s.RecordCall(b.Context(), stores.CallWrite{Call: Record(p, 1, n, func(c *stores.Call) {
					c.Ordinal = (n + 1) / 2
					if n%2 == 0 {
						c.Status = stores.CallDone
					}
				})})
			})
		}, bare(b, row))
	})
}

func repeat(f func() error) error {
	for range commitsPerTurn {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}
