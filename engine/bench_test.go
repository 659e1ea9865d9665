package engine_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/model"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/internal/teststores"
	"github.com/flowtui/flowtui/stores"
)

// watch tells when the engine was through with the first save and with the last one.
type watch struct {
	teststores.Store
	first, last time.Time
}

func (w *watch) Save(ctx context.Context, s stores.Save) error {
	err := w.Store.Save(ctx, s)
	w.last = time.Now()
	if w.first.IsZero() {
		w.first = w.last
	}
	return err
}

// tape keeps what the engine gave its store to write, commit by commit. That
// takes time too, so it is not in what is measured.
type tape struct {
	teststores.Store
	commits []any // stores.Save or stores.CallWrite
}

func (t *tape) Save(ctx context.Context, s stores.Save) error {
	t.commits = append(t.commits, s)
	return t.Store.Save(ctx, s)
}

func (t *tape) RecordCall(ctx context.Context, w stores.CallWrite) error {
	t.commits = append(t.commits, w) // one at a time: the records of a run are a chain
	return t.Store.RecordCall(ctx, w)
}

// benchCase is a run of so many steps, and what it is counted in.
type benchCase struct {
	name, unit string
	units      int // per step
	steps      int
	flow       func(steps int) *engine.Flow
}

const parallel = 40

var benchCases = []benchCase{
	{"plain", "step", 1, 300, chainOf(engine.NodeFunc(nothing))},
	{"one call", "step", 1, 200, chainOf(engine.Call{Tool: "one"})},
	{"40 parallel calls", "call", parallel, 5, chainOf(engine.NodeFunc(callInParallel))},
	{"loop", "turn", 1, 50, talkative},
}

// chainOf is a flow of as many nodes, so that every superstep runs another one.
func chainOf(n engine.Node) func(int) *engine.Flow {
	return func(steps int) *engine.Flow {
		f := engine.NewFlow("chain")
		for i := range steps {
			f.Node(fmt.Sprint("n", i), n)
			if i > 0 {
				f.Edge(fmt.Sprint("n", i-1), fmt.Sprint("n", i))
			}
		}
		return f
	}
}

// talkative is a tool loop. A turn is a reply of the model with one call, and
// its result: two supersteps.
func talkative(turns int) *engine.Flow {
	replies := make([]model.Message, turns, turns+1)
	for i := range replies {
		replies[i] = wants("one {}")
	}
	return engine.ToolLoop{Model: talks(append(replies, model.Message{Content: "done"})...), MaxSteps: int64(turns) + 1}.Flow()
}

func callInParallel(ctx context.Context, _ engine.State) (engine.State, error) {
	var wg sync.WaitGroup
	errs := make([]error, parallel)
	for i := range parallel {
		wg.Go(func() { _, errs[i] = engine.CallTool(ctx, "one", i) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return nil, nil
}

func toolOne() *tool.Registry {
	return tool.NewRegistry(tool.Tool{Name: "one", Run: func(context.Context, tool.Input) (any, error) { return 1, nil }})
}

func hello() engine.State {
	return engine.State{"messages": []any{map[string]any{"role": "user", "content": "two seats for Hamlet"}}}
}

// ground is where engine and floors write: databases of one kind, whose commits
// survive so much.
type ground struct {
	host *teststores.Host
	teststores.Durability
}

// store is a new one, with its tables.
func (g ground) store(b testing.TB) (teststores.Store, teststores.Place) {
	b.Helper()
	at := g.host.Fresh()
	s, err := at.Open(ctx, g.Durability)
	if err != nil {
		b.Fatal(err)
	}
	if err := s.Prepare(ctx); err != nil {
		b.Fatal(err)
	}
	return s, at
}

// measured is the database that was written, and the time that it took.
type measured struct {
	at   teststores.Place
	time time.Duration
}

// run works on a new store.
func (c benchCase) run(b testing.TB, g ground) measured {
	b.Helper()
	s, at := g.store(b)
	defer s.Close()
	w := &watch{Store: s}
	c.runOn(b, w)
	return measured{at, w.last.Sub(w.first)}
}

// record is what a run writes, and where it was written.
func (c benchCase) record(b testing.TB, g ground) (teststores.Place, []any) {
	b.Helper()
	s, at := g.store(b)
	defer s.Close()
	t := &tape{Store: s}
	c.runOn(b, t)
	return at, t.commits
}

func (c benchCase) runOn(b testing.TB, s teststores.Store) {
	b.Helper()
	r, f := runner(b, s, toolOne()), c.flow(c.steps)
	runtime.GC()
	if _, err := r.Run(ctx, f, engine.Start{Key: key("a"), State: hello()}); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkSupersteps prints what the engine takes per superstep (or call, or
// turn of a tool loop), how many commits that is, and its rate as a share of
// floors: bare loops that write as much in as many commits, two over the same
// driver and one over the same store, measured in the same run. floor_test.go
// says what they do. The last one is the bare store's share of the first floor.
//
// Engine and floors take turns, a few hundred commits each, and each starts
// with a collected heap; a ratio is the median over all rounds, because a disk
// that is shared has moods. The time goes from the end of the first commit to
// the end of the last one: opening a store and starting a run cost the same
// however long the run is.
func BenchmarkSupersteps(b *testing.B) {
	for _, kind := range []string{teststores.SQLite, teststores.Postgres} {
		b.Run(kind, func(b *testing.B) {
			host := teststores.NewHost(b, kind)
			for _, d := range []teststores.Durability{teststores.PowerCut, teststores.Kill} {
				for _, c := range benchCases {
					b.Run(c.name+"/"+string(d), func(b *testing.B) { c.bench(b, ground{host, d}) })
				}
			}
		})
	}
}

func (c benchCase) bench(b *testing.B, g ground) {
	units := float64(c.units * c.steps)
	var spent time.Duration
	_, written := c.record(b, g)
	var ofRows, ofBlobs, ofStore, storeOfRows []float64
	for range b.N {
		ours := c.run(b, g)
		rows := rowFloor(b, g, written)
		blobs := blobFloor(b, g, written)
		saves := storeFloor(b, g, written)
		spent += ours.time
		ofRows = append(ofRows, float64(rows.time)/float64(ours.time))
		ofBlobs = append(ofBlobs, float64(blobs.time)/float64(ours.time))
		ofStore = append(ofStore, float64(saves.time)/float64(ours.time))
		storeOfRows = append(storeOfRows, abreast(b, g, written))
	}
	b.ReportMetric(0, "ns/op") // it would count the floors' time too
	b.ReportMetric(float64(spent.Nanoseconds())/float64(b.N)/units, "ns/"+c.unit)
	b.ReportMetric(float64(len(written))/units, "commits/"+c.unit)
	b.ReportMetric(median(ofRows), "of-floor")
	b.ReportMetric(median(ofBlobs), "of-blob-floor")
	b.ReportMetric(median(ofStore), "of-store")
	b.ReportMetric(median(storeOfRows), "store-of-floor")
}

func median(x []float64) float64 {
	slices.Sort(x)
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}
