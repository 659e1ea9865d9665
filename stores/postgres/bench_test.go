package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/postgres"
	"github.com/flowtui/flowtui/stores/storetest"
)

// BenchmarkSave saves one step after the other, with an event each. The floor
// commits the same bytes with the same driver, and compares nothing.
func BenchmarkSave(b *testing.B) {
	payload := make([]byte, 1024)
	b.Run("store", func(b *testing.B) {
		s := create(b, fresh(b, server(b)))
		p, n := place("run"), int64(0)
		for b.Loop() {
			w := storetest.Step(p, n, func(c *stores.Checkpoint) { c.Payload = payload })
			n++
			w.Events = []stores.Event{storetest.Event(p, n)}
			if err := s.Save(b.Context(), w); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("floor", func(b *testing.B) {
		address := fresh(b, server(b))
		create(b, address)
		execute(b, address, `CREATE TABLE {schema}.floor (n bigint PRIMARY KEY, checkpoint bytea, head bytea, event bytea)`)
		conn, sql := dial(b, address, `INSERT INTO {schema}.floor VALUES ($1, $2, $3, $4)`)
		row := make([]byte, 300) // what a row has beside its payload
		checkpoint := append(append([]byte{}, payload...), row...)
		n := int64(0)
		for b.Loop() {
			n++
			if _, err := conn.Exec(b.Context(), sql, n, checkpoint, row, row); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkRecordCall records calls of one superstep, which has more and more.
func BenchmarkRecordCall(b *testing.B) {
	s := create(b, fresh(b, server(b)))
	p := place("run")
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

// BenchmarkList reads the first page of 100,000 runs, and one in the middle.
func BenchmarkList(b *testing.B) {
	s, _ := populate(b, 100_000)
	any := stores.Filter{Owner: stores.AnyOwner}
	for name, f := range map[string]stores.Filter{"all": any, "paused": {Owner: stores.AnyOwner, Statuses: []stores.Status{stores.StatusPaused}}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				page, err := s.List(b.Context(), stores.Query{Filter: f})
				if err != nil || len(page.Heads) != stores.DefaultLimit {
					b.Fatal(len(page.Heads), err)
				}
			}
		})
	}
}

// dial opens a connection of its own to the store at the address.
func dial(t testing.TB, address, sql string) (*pgx.Conn, string) {
	t.Helper()
	u, names := plain(t, address)
	conn, err := pgx.Connect(t.Context(), u)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		conn.Close(ctx)
	})
	return conn, names.Replace(sql)
}

// populate inserts heads only, straight into the table. One run in a hundred
// is open, and status, owner and flow take turns.
func populate(t testing.TB, n int) (*postgres.Store, string) {
	t.Helper()
	address := fresh(t, server(t))
	s := create(t, address)
	execute(t, address, `INSERT INTO {runs} (owner, run, store, incarnation, step, base, segment, kind, flow, digest, status,
			"user", thread, principal, created, updated, format, key_id, prev, mac, open, payload)
		SELECT 'owner' || (i % 10), 'run ' || i, 'store', 'first', 1, 1, 1, 'step', 'flow' || (i % 7), 'digest',
			CASE i % 4 WHEN 0 THEN 'running' WHEN 1 THEN 'paused' WHEN 2 THEN 'done' ELSE 'failed' END,
			'', '', '', i, i * 1000, 1, 'key', repeat('m', 32)::bytea, repeat('m', 32)::bytea, (i % 100 = 0)::int, repeat('p', 200)::bytea
		FROM generate_series(0, $1 - 1) AS i`, n)
	execute(t, address, `INSERT INTO {leases} SELECT owner, run, 'worker', updated FROM {runs} WHERE step % 3 = 1`)
	for _, table := range []string{"runs", "leases"} {
		execute(t, address, "ANALYZE {"+table+"}")
	}
	return s, address
}
