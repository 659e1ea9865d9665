package engine_test

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/sqlite"
)

// A floor writes what the engine wrote, and does nothing else: as many commits,
// through the same driver (modernc.org/sqlite by database/sql), with the same
// settings, on one connection, by prepared statements, each transaction BEGIN
// IMMEDIATE to COMMIT. The rows are ready before the time is taken, signed and
// encoded: a floor reads nothing, compares nothing, and only hands the columns
// to the driver.

// commit is what a floor does between BEGIN and COMMIT.
type commit func() error

// rowFloor inserts the same rows into the same tables with the same indexes:
// what any program has to do that leaves this database behind.
func rowFloor(b testing.TB, synchronous string, written []any) measured {
	b.Helper()
	path := filepath.Join(b.TempDir(), "rows.db")
	s, err := sqlite.Open(ctx, path, sqlite.Options{Create: true})
	if err != nil {
		b.Fatal(err)
	}
	if err := s.Prepare(ctx); err != nil {
		b.Fatal(err)
	}
	s.Close()
	conn := floorConn(b, path, synchronous)
	tables := floorTables(b, conn)
	var commits []commit
	for _, w := range written {
		commits = append(commits, func() error { return tables.write(w) })
	}
	return measured{path, repeat(b, conn, commits)}
}

// storeFloor hands the same saves and records to the store, one after the other:
// what is missing from it is the engine, which ran the nodes, and encoded,
// linked and signed the rows.
func storeFloor(b testing.TB, synchronous string, written []any) measured {
	b.Helper()
	path := filepath.Join(b.TempDir(), "saves.db")
	s, err := sqlite.Open(ctx, path, sqlite.Options{Create: true, Synchronous: synchronous})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	if err := s.Prepare(ctx); err != nil {
		b.Fatal(err)
	}
	runtime.GC()
	var start time.Time
	for i, w := range written {
		switch w := w.(type) {
		case stores.Save:
			err = s.Save(ctx, w)
		case stores.CallWrite:
			err = s.RecordCall(ctx, w)
		}
		if err != nil {
			b.Fatal(err)
		}
		if i == 0 {
			start = time.Now()
		}
	}
	return measured{path, time.Since(start)}
}

// blobFloor is the most naive one: all bytes of a commit as one blob into one
// table without an index. No list, no history and no call log could be read
// from what it leaves behind.
func blobFloor(b testing.TB, synchronous string, written []any) measured {
	b.Helper()
	path := filepath.Join(b.TempDir(), "blobs.db")
	conn := floorConn(b, path, synchronous)
	if _, err := conn.ExecContext(ctx, "CREATE TABLE t (n INTEGER PRIMARY KEY, payload BLOB)"); err != nil {
		b.Fatal(err)
	}
	insert := prepared(b, conn, "INSERT INTO t (payload) VALUES (?)")
	var commits []commit
	for _, w := range written {
		blob := make([]byte, weight(w))
		commits = append(commits, func() error {
			_, err := insert.Exec(blob)
			return err
		})
	}
	return measured{path, repeat(b, conn, commits)}
}

// weight is how many bytes a commit writes: those of its columns.
func weight(written any) (n int) {
	count := func(args ...any) error {
		n += size(args)
		return nil
	}
	_ = (floorStatements{checkpoint: count, head: count, call: count, event: count, open: count, graph: count}).write(written)
	return n
}

// size is what values weigh as bytes, a number 8.
func size(args []any) (n int) {
	for _, a := range args {
		switch a := a.(type) {
		case string:
			n += len(a)
		case []byte:
			n += len(a)
		default:
			n += 8
		}
	}
	return n
}

func floorConn(b testing.TB, path, synchronous string) *sql.Conn {
	b.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)&_pragma=synchronous("+synchronous+")"+
		"&_pragma=busy_timeout(5000)&_pragma=trusted_schema(0)&_pragma=cell_size_check(1)&_pragma=journal_size_limit(67108864)")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	conn, err := db.Conn(ctx)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conn.Close() })
	return conn
}

func prepared(b testing.TB, conn *sql.Conn, query string) *sql.Stmt {
	b.Helper()
	stmt, err := conn.PrepareContext(ctx, query)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { stmt.Close() })
	return stmt
}

func repeat(b testing.TB, conn *sql.Conn, commits []commit) time.Duration {
	b.Helper()
	begin, end := prepared(b, conn, "BEGIN IMMEDIATE"), prepared(b, conn, "COMMIT")
	runtime.GC()
	var start time.Time
	for i, c := range commits {
		if _, err := begin.Exec(); err != nil {
			b.Fatal(err)
		}
		if err := c(); err != nil {
			b.Fatal(err)
		}
		if _, err := end.Exec(); err != nil {
			b.Fatal(err)
		}
		if i == 0 {
			start = time.Now()
		}
	}
	return time.Since(start)
}

// floorStatements are the writes that the store makes for a Save and a
// CallWrite, as docs/store-format.md describes them.
type floorStatements struct {
	checkpoint, head, call, event, open, graph func(args ...any) error
}

const (
	placeColumns = "owner, run, store, incarnation, "
	stepColumns  = placeColumns + "step, base, segment, kind, flow, digest, status, user, thread, principal, "
	sealColumns  = ", format, key_id, prev, mac, "
)

func floorTables(b testing.TB, conn *sql.Conn) floorStatements {
	b.Helper()
	insert := func(table, columns string) string {
		n := strings.Count(columns, ",") + 1
		return fmt.Sprintf("INSERT INTO %s (%s) VALUES (?%s)", table, columns, strings.Repeat(", ?", n-1))
	}
	statement := func(query string) func(args ...any) error {
		stmt := prepared(b, conn, query)
		return func(args ...any) error {
			_, err := stmt.Exec(args...)
			return err
		}
	}
	head := stepColumns + "created, updated" + sealColumns + "open, payload"
	var sets []string
	for _, c := range strings.Split(head, ", ")[2:] {
		sets = append(sets, c+" = excluded."+c)
	}
	return floorStatements{
		checkpoint: statement(insert("checkpoints", stepColumns+"calls, events, time"+sealColumns+"payload")),
		head:       statement(insert("runs", head) + " ON CONFLICT (owner, run) DO UPDATE SET " + strings.Join(sets, ", ")),
		call:       statement(insert("calls", placeColumns+"segment, n, step, node, ordinal, tool, idempotent, status, time"+sealColumns+"payload")),
		event:      statement(insert("events", placeColumns+"n, step, type, time"+sealColumns+"payload")),
		open:       statement("UPDATE runs SET open = max(0, open + ?) WHERE owner = ? AND run = ?"),
		graph:      statement("INSERT INTO graphs (digest, graph) VALUES (?, ?) ON CONFLICT DO NOTHING"),
	}
}

func (t floorStatements) write(written any) error {
	switch w := written.(type) {
	case stores.Save:
		return t.save(w)
	case stores.CallWrite:
		open := -1
		if w.Call.Status == stores.CallStarted {
			open = 1
		}
		return errors.Join(t.addCall(w.Call), t.addEvents(w.Events), t.open(open, w.Call.Owner, w.Call.Run))
	}
	return fmt.Errorf("nothing writes a %T", written)
}

func (t floorStatements) save(w stores.Save) error {
	c, h := w.Checkpoint, w.Head
	if err := t.checkpoint(c.Owner, c.Run, c.Store, c.Incarnation, c.Step, c.Base, c.Segment, c.Kind, c.Flow, c.Digest, string(c.Status),
		c.User, c.Thread, c.Principal, c.Calls, c.Events, c.Time.UnixMicro(), c.Format, c.KeyID, blob(c.Prev), c.MAC, c.Payload); err != nil {
		return err
	}
	for _, r := range w.Calls {
		if err := t.addCall(r); err != nil {
			return err
		}
	}
	if err := t.addEvents(w.Events); err != nil {
		return err
	}
	if w.Graph != nil {
		if err := t.graph(c.Digest, w.Graph); err != nil {
			return err
		}
	}
	return t.head(h.Owner, h.Run, h.Store, h.Incarnation, h.Step, h.Base, h.Segment, h.Kind, h.Flow, h.Digest, string(h.Status),
		h.User, h.Thread, h.Principal, h.Created.UnixMicro(), h.Updated.UnixMicro(), h.Format, h.KeyID, blob(h.Prev), h.MAC, 0, h.Payload)
}

func (t floorStatements) addCall(c stores.Call) error {
	return t.call(c.Owner, c.Run, c.Store, c.Incarnation, c.Segment, c.N, c.Step, c.Node, c.Ordinal, c.Tool, c.Idempotent, string(c.Status),
		c.Time.UnixMicro(), c.Format, c.KeyID, blob(c.Prev), c.MAC, c.Payload)
}

func (t floorStatements) addEvents(events []stores.Event) error {
	for _, e := range events {
		if err := t.event(e.Owner, e.Run, e.Store, e.Incarnation, e.N, e.Step, e.Type, e.Time.UnixMicro(),
			e.Format, e.KeyID, blob(e.Prev), e.MAC, e.Payload); err != nil {
			return err
		}
	}
	return nil
}

// blob keeps NULL out of columns that do not take it.
func blob(b []byte) []byte { return append([]byte{}, b...) }

// TestFloorLeavesTheSameRows keeps the floor honest: its database holds what
// the engine's does, row by row.
func TestFloorLeavesTheSameRows(t *testing.T) {
	for _, c := range benchCases {
		t.Run(c.name, func(t *testing.T) {
			c.steps = 3
			engineFile, written := c.run(t, "NORMAL")
			floorFile, storeFile := rowFloor(t, "NORMAL", written), storeFloor(t, "NORMAL", written)
			for _, table := range []string{"checkpoints", "runs", "calls", "events", "graphs"} {
				want, got := dump(t, engineFile.path, table), dump(t, floorFile.path, table)
				if len(want) == 0 && table != "calls" || !slices.Equal(got, want) {
					t.Errorf("%s: the floor leaves\n%s\nthe engine\n%s", table, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
				if got := dump(t, storeFile.path, table); !slices.Equal(got, want) {
					t.Errorf("%s: the store leaves\n%s\nthe engine\n%s", table, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			}
		})
	}
}

func dump(t *testing.T, path, table string) (lines []string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query("SELECT * FROM " + table)
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
		lines = append(lines, fmt.Sprintf("%q", values))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(lines)
	return lines
}
