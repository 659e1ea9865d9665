package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/flowtui/flowtui/stores"
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

// crowd is a store of so many list entries, see [storetest.BenchLists], a third
// of which somebody works on.
func crowd(b *testing.B, runs int) stores.Lister {
	b.Helper()
	address := fresh(b, server(b))
	s := create(b, address)
	execute(b, address, `INSERT INTO {runs} (owner, run, store, incarnation, step, base, segment, kind, flow, digest, status,
			"user", thread, principal, created, updated, format, key_id, prev, mac, open, payload)
		SELECT `+storetest.CrowdOwner+`, 'order-' || i, 'store', 'incarnation-' || i, 3, 3, 1, 'flow', 'flow' || (i % 7), 'digest',
			`+storetest.CrowdStatus+`, 'user', 'thread', 'principal', i * 1000, i * 1000, 1, '99c5d88348d58d1c',
			repeat('m', 32)::bytea, repeat('m', 32)::bytea, `+storetest.CrowdOpen+`, repeat('p', 200)::bytea
		FROM generate_series(0, $1 - 1) AS i`, runs)
	execute(b, address, `INSERT INTO {leases} SELECT owner, run, 'worker', updated FROM {runs} WHERE updated % 3 = 0`)
	for _, table := range []string{"runs", "leases"} { // as autovacuum does soon
		execute(b, address, "VACUUM ANALYZE {"+table+"}")
	}
	return s
}

func BenchmarkList(b *testing.B) { storetest.BenchLists(b, []int{10_000, 100_000, 1_000_000}, crowd) }

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
