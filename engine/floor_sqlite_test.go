package engine_test

import (
	"database/sql"
	"testing"

	"github.com/flowtui/flowtui/internal/teststores"
)

// sqliteConn is modernc.org/sqlite by database/sql, with the settings of the
// store.
type sqliteConn struct {
	db *sql.DB
	*sql.Conn
	statements map[string]*sql.Stmt
}

const beginSQLite, endSQLite = "BEGIN IMMEDIATE", "COMMIT"

func bareSQLite(b testing.TB, path string, d teststores.Durability) bare {
	b.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)&_pragma=synchronous("+string(d)+")"+
		"&_pragma=busy_timeout(5000)&_pragma=trusted_schema(0)&_pragma=cell_size_check(1)&_pragma=journal_size_limit(67108864)")
	if err != nil {
		b.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	conn, err := db.Conn(ctx)
	if err != nil {
		b.Fatal(err)
	}
	c := sqliteConn{db, conn, map[string]*sql.Stmt{}}
	c.prepare(b, beginSQLite)
	c.prepare(b, endSQLite)
	return c
}

func (c sqliteConn) prepare(b testing.TB, query string) {
	b.Helper()
	stmt, err := c.PrepareContext(ctx, query)
	if err != nil {
		b.Fatal(err)
	}
	c.statements[query] = stmt
}

func (c sqliteConn) close() {
	c.Conn.Close()
	c.db.Close() // and the statements
}

func (c sqliteConn) commit(list []write) error {
	if _, err := c.statements[beginSQLite].Exec(); err != nil {
		return err
	}
	for _, w := range list {
		if _, err := c.statements[w.query].Exec(w.args...); err != nil {
			return err
		}
	}
	_, err := c.statements[endSQLite].Exec()
	return err
}

func (c sqliteConn) table(t testing.TB, name string) (list [][]any) {
	t.Helper()
	rows, err := c.QueryContext(ctx, "SELECT * FROM "+name)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		list = append(list, values)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}
