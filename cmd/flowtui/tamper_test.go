package main

import (
	"context"
	"database/sql"
	"os"

	"github.com/rogpeppe/go-internal/testscript"
	_ "modernc.org/sqlite" // a hand that is not ours
)

// tamper changes a store behind the program's back: tamper DB SQL
func tamper(ts *testscript.TestScript, _ bool, args []string) {
	db, err := sql.Open("sqlite", ts.MkAbs(args[0]))
	ts.Check(err)
	defer db.Close()
	_, err = db.ExecContext(context.Background(), args[1])
	ts.Check(err)
}

// spoil writes over the first page of a table, as a failing disk would: spoil DB TABLE
func spoil(ts *testscript.TestScript, _ bool, args []string) {
	file := ts.MkAbs(args[0])
	db, err := sql.Open("sqlite", file)
	ts.Check(err)
	var page, size int64
	err = db.QueryRowContext(context.Background(), `SELECT s.rootpage, p.page_size FROM sqlite_schema AS s, pragma_page_size AS p WHERE s.name = ?`, args[1]).Scan(&page, &size)
	ts.Check(err)
	ts.Check(db.Close())
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	ts.Check(err)
	garbage := make([]byte, size)
	for i := range garbage {
		garbage[i] = 0xa5
	}
	_, err = f.WriteAt(garbage, (page-1)*size)
	ts.Check(err)
	ts.Check(f.Close())
}
