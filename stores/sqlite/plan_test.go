package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/storetest"
)

// populate inserts heads only, straight into the table. One run in a hundred
// is open, and status, owner and flow take turns.
func populate(t testing.TB, n int) *Store {
	t.Helper()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "runs.db"), Options{Create: true, Synchronous: "NORMAL"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	err = s.write(t.Context(), "populate", stores.Key{}, func(x tx) error {
		_, err := x.exec(`WITH RECURSIVE i (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM i WHERE i < ? - 1)
			INSERT INTO runs (`+headColumns+`)
			SELECT 'owner' || (i % 10), 'run ' || i, 'store', 'first', 1, 1, 1, 'step', 'flow' || (i % 7), 'digest',
				CASE i % 4 WHEN 0 THEN 'running' WHEN 1 THEN 'paused' WHEN 2 THEN 'done' ELSE 'failed' END,
				'', '', '', i, i * 1000, 1, 'key', zeroblob(32), zeroblob(32), i % 100 = 0, zeroblob(200) FROM i`, n)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// listedBy are the ways to list that must not cost more than a page.
var listedBy = map[string]stores.Filter{
	"all":     {Owner: stores.AnyOwner},
	"status":  {Owner: stores.AnyOwner, Statuses: []stores.Status{stores.StatusPaused}},
	"owner":   {Owner: "owner3"},
	"flow":    {Owner: stores.AnyOwner, Flow: "flow3"},
	"open":    {Owner: stores.AnyOwner, Open: true},
	"several": {Owner: "owner4", Flow: "flow3", Statuses: []stores.Status{stores.StatusRunning}, Open: true},
}

// TestListWalksAnIndex: no list sorts or reads the whole table, neither for
// the first page nor for a later one.
func TestListWalksAnIndex(t *testing.T) {
	s := populate(t, 1000)
	for name, f := range listedBy {
		for _, after := range []*cursor{nil, {int64(500_000), "owner3", "run 3"}} {
			query, args := pageQuery(f, statuses(f)[0], after, 101)
			plan := explain(t, s, query, args...)
			if strings.Contains(plan, "TEMP B-TREE") || strings.Contains(plan, "SCAN r\n") {
				t.Errorf("%s: the plan is\n%s", name, plan)
			}
			if seeks := strings.Contains(plan, "SEARCH r USING INDEX"); after != nil && !seeks {
				t.Errorf("%s: a later page does not seek to its place:\n%s", name, plan)
			}
			if strings.Contains(plan, "checkpoints") {
				t.Errorf("%s: the list reads checkpoints:\n%s", name, plan)
			}
		}
	}
}

// TestCallLogUsesItsIndex: neither reading the calls of the last step nor
// recording one more depends on how many calls the run has.
func TestCallLogUsesItsIndex(t *testing.T) {
	s := create(t, Options{})
	plan := explain(t, s, `SELECT status FROM calls INDEXED BY calls_step
		WHERE owner = 'o' AND run = 'r' AND step = 1 AND node = 'n' AND ordinal = 1 ORDER BY segment DESC, n DESC LIMIT 1`)
	if strings.Contains(plan, "TEMP B-TREE") || !strings.Contains(plan, "ordinal=?") {
		t.Errorf("the newest record of a call is found by\n%s", plan)
	}
	plan = explain(t, s, `SELECT status FROM calls INDEXED BY calls_step WHERE owner = 'o' AND run = 'r' AND step >= 1`)
	if !strings.Contains(plan, "step>?") {
		t.Errorf("the calls of the last steps are found by\n%s", plan)
	}
}

func explain(t testing.TB, s *Store, query string, args ...any) string {
	t.Helper()
	var plan strings.Builder
	err := s.read(t.Context(), "explain", stores.Key{}, func(ctx context.Context, db *sql.DB) error {
		rows, err := db.QueryContext(ctx, "EXPLAIN QUERY PLAN "+query, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id, parent, unused int
			var detail string
			if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
				return err
			}
			plan.WriteString(detail + "\n")
		}
		return rows.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	return plan.String()
}

// BenchmarkFirstPage prints what a page costs; it should not grow with the store.
func BenchmarkFirstPage(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		s := populate(b, n)
		for name, f := range listedBy {
			b.Run(fmt.Sprintf("runs=%d/by=%s", n, name), func(b *testing.B) {
				for b.Loop() {
					if _, err := s.List(b.Context(), stores.Query{Filter: f}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		b.Run(fmt.Sprintf("runs=%d/count", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Count(b.Context(), stores.Filter{Owner: stores.AnyOwner}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

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
