package postgres_test

import (
	"context"
	"net/url"
	"strings"
	"testing"

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
	u.RawQuery = q.Encode()
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
