package engine_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/flowtui/flowtui/internal/teststores"
)

// postgresConn is one connection of pgx. A transaction is one batch, BEGIN and
// COMMIT included, which pgx sends as one pipeline: one round trip.
type postgresConn struct {
	*pgx.Conn
	statements map[string]string // the name of what was prepared
}

const beginPostgres, endPostgres = "BEGIN", "COMMIT"

func barePostgres(b testing.TB, address string, d teststores.Durability) bare {
	b.Helper()
	u, err := url.Parse(address)
	if err != nil {
		b.Fatal(err)
	}
	q := u.Query()
	q.Set("search_path", q.Get("schema"))
	q.Del("schema")
	if d == teststores.Kill {
		q.Set("synchronous_commit", "off")
	}
	u.RawQuery = q.Encode()
	conn, err := pgx.Connect(ctx, u.String())
	if err != nil {
		b.Fatal(err)
	}
	c := postgresConn{conn, map[string]string{}}
	c.prepare(b, beginPostgres)
	c.prepare(b, endPostgres)
	return c
}

func (c postgresConn) prepare(b testing.TB, query string) {
	b.Helper()
	parts := strings.Split(query, "?")
	text := parts[0]
	for i, part := range parts[1:] {
		text += fmt.Sprintf("$%d%s", i+1, part)
	}
	name := fmt.Sprint("floor_", len(c.statements))
	if _, err := c.Prepare(ctx, name, text); err != nil {
		b.Fatal(err)
	}
	c.statements[query] = name
}

func (c postgresConn) close() { c.Close(ctx) }

func (c postgresConn) commit(list []write) error {
	batch := &pgx.Batch{}
	batch.Queue(c.statements[beginPostgres])
	for _, w := range list {
		batch.Queue(c.statements[w.query], w.args...)
	}
	batch.Queue(c.statements[endPostgres])
	return c.SendBatch(ctx, batch).Close()
}

func (c postgresConn) table(t testing.TB, name string) [][]any {
	t.Helper()
	rows, err := c.Query(ctx, "SELECT * FROM "+name)
	if err != nil {
		t.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) ([]any, error) { return r.Values() })
	if err != nil {
		t.Fatal(err)
	}
	return list
}
