package postgres_test

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// rows runs a statement on a connection of its own, with {table} for the tables
// of the store at the address, and returns what it gave.
func rows(t testing.TB, address, sql string, args ...any) [][]any {
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
	u.RawQuery = q.Encode()
	pairs := []string{"{schema}", pgx.Identifier{schema}.Sanitize()}
	for _, table := range []string{"meta", "checkpoints", "runs", "calls", "events", "graphs", "leases"} {
		pairs = append(pairs, "{"+table+"}", pgx.Identifier{schema, prefix + table}.Sanitize())
	}
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, u.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	found, err := conn.Query(ctx, strings.NewReplacer(pairs...).Replace(sql), args...)
	if err != nil {
		t.Fatal(err)
	}
	list, err := pgx.CollectRows(found, func(r pgx.CollectableRow) ([]any, error) { return r.Values() })
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return list
}

func execute(t testing.TB, address, sql string, args ...any) {
	t.Helper()
	rows(t, address, sql, args...)
}
