package sqlite

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/storetest"
)

// crowd is a store of so many list entries, see [storetest.BenchLists].
func crowd(b *testing.B, runs int) stores.Lister {
	b.Helper()
	s := create(b, Options{Synchronous: "NORMAL"})
	err := s.write(b.Context(), "populate", stores.Key{}, func(x tx) error {
		return x.run(`WITH RECURSIVE i (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM i WHERE i < ? - 1)
			INSERT INTO runs (`+headColumns+`)
			SELECT `+storetest.CrowdOwner+`, 'order-' || i, 'store', 'incarnation-' || i, 3, 3, 1, 'flow', 'flow' || (i % 7), 'digest',
				`+storetest.CrowdStatus+`, 'user', 'thread', 'principal', i * 1000, i * 1000, 1, '99c5d88348d58d1c', zeroblob(32), zeroblob(32),
				`+storetest.CrowdOpen+`, zeroblob(200) FROM i`, runs)
	})
	if err != nil {
		b.Fatal(err)
	}
	return s
}

func BenchmarkList(b *testing.B) { storetest.BenchLists(b, []int{10_000, 100_000, 1_000_000}, crowd) }

// BenchmarkWrites: the floor inserts one row per commit into a table without an
// index, through the same driver with the same settings.
func BenchmarkWrites(b *testing.B) {
	for _, synchronous := range []string{"FULL", "NORMAL"} {
		b.Run(synchronous, func(b *testing.B) {
			db, err := sql.Open("sqlite", "file:"+filepath.Join(b.TempDir(), "floor.db")+
				"?_pragma=journal_mode(WAL)&_pragma=synchronous("+synchronous+")&_pragma=journal_size_limit(67108864)")
			if err != nil {
				b.Fatal(err)
			}
			defer db.Close()
			db.SetMaxOpenConns(1)
			if _, err := db.ExecContext(b.Context(), "CREATE TABLE floor (n INTEGER PRIMARY KEY, row BLOB)"); err != nil {
				b.Fatal(err)
			}
			insert, err := db.PrepareContext(b.Context(), "INSERT INTO floor (row) VALUES (?)")
			if err != nil {
				b.Fatal(err)
			}
			storetest.BenchWrites(b, create(b, Options{Synchronous: synchronous}), func(b *testing.B, row []byte) error {
				_, err := insert.ExecContext(b.Context(), row)
				return err
			})
		})
	}
}

// BenchmarkHistory opens a run of 10,000 steps, without their payloads.
func BenchmarkHistory(b *testing.B) {
	s := create(b, Options{Synchronous: "NORMAL"})
	p := placeOf("run")
	err := s.write(b.Context(), "populate", stores.Key{}, func(t tx) error {
		for n := range int64(10_000) {
			c := storetest.Step(p, n, func(c *stores.Checkpoint) { c.Payload = make([]byte, 8192) }).Checkpoint
			if err := addCheckpoint(t, c); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := s.History(b.Context(), p.Key, stores.HistoryQuery{Limit: 10_000}); err != nil {
			b.Fatal(err)
		}
	}
}
