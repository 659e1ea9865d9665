package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/storetest"
)

// BenchmarkWrites: the floor inserts one row per commit, by a statement that is
// prepared once, with the same driver.
func BenchmarkWrites(b *testing.B) {
	address := fresh(b, server(b))
	s := create(b, address)
	execute(b, address, `CREATE TABLE {schema}.floor (n bigserial PRIMARY KEY, content bytea)`)
	conn, sql := dial(b, address, `INSERT INTO {schema}.floor (content) VALUES ($1)`)
	storetest.BenchWrites(b, s, func(b *testing.B, row []byte) error {
		_, err := conn.Exec(b.Context(), sql, row)
		return err
	})
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
