package sqlite

import (
	"path/filepath"
	"testing"
	"time"

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

// BenchmarkSave compares a save with the floor: one bare insert of the same
// payload per commit, through the same driver and settings.
func BenchmarkSave(b *testing.B) {
	payload := make([]byte, 2048)
	b.Run("floor", func(b *testing.B) {
		s := populate(b, 1)
		w, err := s.openWriter(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if _, err := w.conn.ExecContext(b.Context(), "PRAGMA synchronous = FULL; CREATE TABLE floor (n INTEGER PRIMARY KEY, payload BLOB)"); err != nil {
			b.Fatal(err)
		}
		n := 0
		for b.Loop() {
			n++
			err := s.transact(b.Context(), func(x tx) error {
				_, err := x.exec(`INSERT INTO floor VALUES (?, ?)`, n, payload)
				return err
			})
			if err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("save", func(b *testing.B) {
		s, err := Open(b.Context(), filepath.Join(b.TempDir(), "runs.db"), Options{Create: true})
		if err != nil {
			b.Fatal(err)
		}
		defer s.Close()
		p := stores.Place{Key: stores.Key{Owner: "owner", Run: "run"}, Store: "store", Incarnation: "first"}
		now := time.Now()
		step := int64(0)
		for b.Loop() {
			c := stores.Checkpoint{Place: p, Step: step, Base: step, Segment: 1, Status: stores.StatusRunning, Time: now, Payload: payload}
			h := stores.Head{Place: p, Step: step, Base: step, Segment: 1, Status: stores.StatusRunning, Created: now, Updated: now}
			now = now.Add(time.Second)
			if err := s.Save(b.Context(), stores.Save{Checkpoint: c, Head: h}); err != nil {
				b.Fatal(err)
			}
			step++
		}
	})
}

// BenchmarkRecordCall records calls of one step, which has more and more.
func BenchmarkRecordCall(b *testing.B) {
	s := create(b, Options{})
	p := placeOf("run")
	if err := s.Save(b.Context(), storetest.Step(p, 0)); err != nil {
		b.Fatal(err)
	}
	n := int64(0)
	for b.Loop() {
		n++
		if err := s.RecordCall(b.Context(), stores.CallWrite{Call: storetest.Record(p, 1, n)}); err != nil {
			b.Fatal(err)
		}
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
