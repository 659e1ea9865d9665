package engine_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/sqlite"
)

// counting counts what reaches the store, so that the floor can write as much.
type counting struct {
	*sqlite.Store
	saves, calls, bytes int
}

func (c *counting) Save(ctx context.Context, s stores.Save) error {
	c.saves++
	c.bytes += len(s.Checkpoint.Payload) + len(s.Head.Payload)
	for _, e := range s.Events {
		c.bytes += len(e.Payload)
	}
	return c.Store.Save(ctx, s)
}

func (c *counting) RecordCall(ctx context.Context, w stores.CallWrite) error {
	c.calls++
	c.bytes += len(w.Call.Payload)
	return c.Store.RecordCall(ctx, w)
}

// floor is a bare loop over the same driver: as many commits, as many bytes.
func floor(b *testing.B, synchronous string, commits, bytes int) time.Duration {
	b.Helper()
	path := filepath.Join(b.TempDir(), "floor.db")
	db, err := sql.Open("sqlite", "file:"+path+"?_txlock=immediate&_pragma=journal_mode(WAL)&_pragma=synchronous("+synchronous+")")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE TABLE t (n INTEGER PRIMARY KEY, payload BLOB)"); err != nil {
		b.Fatal(err)
	}
	payload := make([]byte, bytes/commits)
	begin := time.Now()
	for i := range commits {
		tx, err := db.Begin()
		if err != nil {
			b.Fatal(err)
		}
		if _, err := tx.Exec("INSERT INTO t VALUES (?, ?)", i, payload); err != nil {
			b.Fatal(err)
		}
		if err := tx.Commit(); err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(begin)
}

// BenchmarkSupersteps prints the engine's rate as a share of the floor's.
func BenchmarkSupersteps(b *testing.B) {
	const steps = 300
	chain := func(n engine.Node) *engine.Flow {
		f := engine.NewFlow("chain")
		for i := range steps {
			f.Node(fmt.Sprint("n", i), n)
			if i > 0 {
				f.Edge(fmt.Sprint("n", i-1), fmt.Sprint("n", i))
			}
		}
		return f
	}
	one := tool.NewRegistry(tool.Tool{Name: "one", Run: func(context.Context, tool.Input) (any, error) { return 1, nil }})
	for _, synchronous := range []string{"FULL", "NORMAL"} {
		for name, node := range map[string]engine.Node{"plain": engine.NodeFunc(nothing), "one call": engine.Call{Tool: "one"}} {
			b.Run(name+"/"+synchronous, func(b *testing.B) {
				flow := chain(node)
				var engineTime, floorTime time.Duration
				for range b.N {
					s, err := sqlite.Open(ctx, filepath.Join(b.TempDir(), "runs.db"), sqlite.Options{Create: true, Synchronous: synchronous})
					if err != nil {
						b.Fatal(err)
					}
					c := &counting{Store: s}
					begin := time.Now()
					if _, err := runner(b, c, one).Run(ctx, flow, start("a")); err != nil {
						b.Fatal(err)
					}
					engineTime += time.Since(begin)
					s.Close()
					floorTime += floor(b, synchronous, c.saves+c.calls, c.bytes)
					b.ReportMetric(float64(c.saves+c.calls)/steps, "commits/step")
				}
				b.ReportMetric(float64(floorTime)/float64(engineTime), "of-floor")
				b.ReportMetric(float64(engineTime.Nanoseconds())/float64(b.N*steps), "ns/step")
			})
		}
	}
}
