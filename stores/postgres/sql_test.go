package postgres_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// plain is the address of the server alone, and what puts the names of the
// store's tables into {table}.
func plain(t testing.TB, address string) (string, *strings.Replacer) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	schema, prefix := q.Get("schema"), q.Get("prefix")
	if schema == "" {
		schema = "flowtui"
	}
	q.Del("schema")
	q.Del("prefix")
	u.RawQuery = strings.ReplaceAll(q.Encode(), "+", "%20")
	pairs := []string{"{schema}", pgx.Identifier{schema}.Sanitize()}
	for _, table := range []string{"meta", "checkpoints", "runs", "calls", "events", "graphs", "leases"} {
		pairs = append(pairs, "{"+table+"}", pgx.Identifier{schema, prefix + table}.Sanitize())
	}
	return u.String(), strings.NewReplacer(pairs...)
}

// rows runs a statement on a connection of its own and returns what it gave.
func rows(t testing.TB, address, sql string, args ...any) [][]any {
	t.Helper()
	list, err := tryRows(t, address, sql, args...)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return list
}

func tryRows(t testing.TB, address, sql string, args ...any) ([][]any, error) {
	t.Helper()
	u, names := plain(t, address)
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, u)
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)
	found, err := conn.Query(ctx, names.Replace(sql), args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(found, func(r pgx.CollectableRow) ([]any, error) { return r.Values() })
}

func execute(t testing.TB, address, sql string, args ...any) {
	t.Helper()
	rows(t, address, sql, args...)
}

// hold runs a statement in a transaction that stays open until the function it
// returns is called.
func hold(t testing.TB, address, sql string, args ...any) (release func()) {
	t.Helper()
	u, names := plain(t, address)
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, u)
	if err != nil {
		t.Fatal(err)
	}
	tx, err := conn.Begin(ctx)
	if err == nil {
		_, err = tx.Exec(ctx, names.Replace(sql), args...)
	}
	if err != nil {
		conn.Close(ctx)
		t.Fatal(err)
	}
	release = sync.OnceFunc(func() { conn.Close(ctx) }) // and the server rolls back
	t.Cleanup(release)
	return release
}

func schemaOf(t testing.TB, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query().Get("schema")
}

// waiting waits until so many sessions of the shared server wait for a lock.
func waiting(t testing.TB, sessions int64) {
	t.Helper()
	eventually(t, fmt.Sprint(sessions, " sessions wait for a lock"), func() bool {
		return rows(t, server(t), `SELECT count(*) FROM pg_locks WHERE NOT granted`)[0][0].(int64) >= sessions
	})
}

// eventually waits until a condition holds.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	end := time.After(30 * time.Second)
	for !holds() {
		select {
		case <-end:
			t.Fatal("waited 30 s until " + what)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// script runs several statements, without arguments.
func script(t testing.TB, address, sql string) {
	t.Helper()
	u, names := plain(t, address)
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, u)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.PgConn().Exec(ctx, names.Replace(sql)).ReadAll(); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}
