package sqlite

import (
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	_ "modernc.org/sqlite" // registers the driver
)

// Every setting is part of the data source name, so that every connection of
// a pool has it: a PRAGMA sent by Exec reaches one connection only.

type settings struct {
	mode        string // SQLite's own open mode: ro, rw, rwc
	immutable   bool   // the file does not change, so take no lock and make no side file
	busy        time.Duration
	synchronous string // write handle only
}

func (o settings) dsn(file string) string {
	q := url.Values{}
	q.Set("mode", o.mode)
	if o.immutable {
		q.Set("immutable", "1")
	}
	pragmas := []string{
		fmt.Sprintf("busy_timeout(%d)", o.busy.Milliseconds()),
		// A store is somebody else's file: trust neither its schema nor its cells.
		"trusted_schema(0)",
		"cell_size_check(1)",
	}
	if o.mode == "ro" {
		pragmas = append(pragmas, "query_only(1)")
	} else {
		pragmas = append(pragmas, "synchronous("+o.synchronous+")",
			// Without a limit the -wal file stays as large as it ever was.
			"journal_size_limit(67108864)")
	}
	q["_pragma"] = pragmas
	return fileURI(file) + "?" + q.Encode()
}

// fileURI names a file so that no character of its path is taken for syntax.
func fileURI(file string) string {
	p := filepath.ToSlash(file)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p // C:/x becomes /C:/x
	}
	return (&url.URL{Scheme: "file", Path: p}).String()
}

func (o settings) open(file string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", o.dsn(file))
	if err != nil {
		return nil, err
	}
	if o.mode == "ro" {
		// An idle reader lets go of the file soon, so that the last writer can
		// remove its side files.
		db.SetMaxOpenConns(4)
		db.SetConnMaxIdleTime(2 * time.Second)
	} else {
		db.SetMaxOpenConns(1)
	}
	return db, nil
}
