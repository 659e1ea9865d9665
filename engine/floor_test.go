package engine_test

import (
	"database/sql"
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
// IMMEDIATE to COMMIT. Statements and values are ready before the time is taken. It reads
// nothing, compares nothing, signs nothing, encodes nothing.

// A commit of a floor is a list of prepared statements with their values.
type statement struct {
	stmt *sql.Stmt
	args []any
}

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
	var commits [][]statement
	for _, w := range written {
		commits = append(commits, tables.commit(w))
	}
	return measured{path, repeat(b, conn, commits)}
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
	var commits [][]statement
	for _, w := range written {
		n := 0
		for _, s := range (floorStatements{}).commit(w) {
			n += size(s.args)
		}
		commits = append(commits, []statement{{insert, []any{make([]byte, n)}}})
	}
	return measured{path, repeat(b, conn, commits)}
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

func repeat(b testing.TB, conn *sql.Conn, commits [][]statement) time.Duration {
	b.Helper()
	begin, commit := prepared(b, conn, "BEGIN IMMEDIATE"), prepared(b, conn, "COMMIT")
	runtime.GC()
	var start time.Time
	for i, c := range commits {
		if _, err := begin.Exec(); err != nil {
			b.Fatal(err)
		}
		for _, s := range c {
			if _, err := s.stmt.Exec(s.args...); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := commit.Exec(); err != nil {
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
	checkpoint, head, call, event, open, graph *sql.Stmt
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
	head := stepColumns + "created, updated" + sealColumns + "open, payload"
	var sets []string
	for _, c := range strings.Split(head, ", ")[2:] {
		sets = append(sets, c+" = excluded."+c)
	}
	return floorStatements{
		checkpoint: prepared(b, conn, insert("checkpoints", stepColumns+"calls, events, time"+sealColumns+"payload")),
		head:       prepared(b, conn, insert("runs", head)+" ON CONFLICT (owner, run) DO UPDATE SET "+strings.Join(sets, ", ")),
		call:       prepared(b, conn, insert("calls", placeColumns+"segment, n, step, node, ordinal, tool, idempotent, status, time"+sealColumns+"payload")),
		event:      prepared(b, conn, insert("events", placeColumns+"n, step, type, time"+sealColumns+"payload")),
		open:       prepared(b, conn, "UPDATE runs SET open = max(0, open + ?) WHERE owner = ? AND run = ?"),
		graph:      prepared(b, conn, "INSERT INTO graphs (digest, graph) VALUES (?, ?) ON CONFLICT DO NOTHING"),
	}
}

func (t floorStatements) commit(written any) (list []statement) {
	add := func(stmt *sql.Stmt, parts ...[]any) { list = append(list, statement{stmt, slices.Concat(parts...)}) }
	switch w := written.(type) {
	case stores.Save:
		c, h := w.Checkpoint, w.Head
		add(t.checkpoint, floorPlace(c.Place), floorStep(c.Step, c.Base, c.Segment, c.Kind, c.Flow, c.Digest, c.Status, c.Identity),
			[]any{c.Calls, c.Events, c.Time.UnixMicro()}, floorSeal(c.Seal), []any{c.Payload})
		for _, r := range w.Calls {
			add(t.call, floorCall(r))
		}
		for _, e := range w.Events {
			add(t.event, floorEvent(e))
		}
		add(t.head, floorPlace(h.Place), floorStep(h.Step, h.Base, h.Segment, h.Kind, h.Flow, h.Digest, h.Status, h.Identity),
			[]any{h.Created.UnixMicro(), h.Updated.UnixMicro()}, floorSeal(h.Seal), []any{0, h.Payload})
		if w.Graph != nil {
			add(t.graph, []any{c.Digest, w.Graph})
		}
	case stores.CallWrite:
		add(t.call, floorCall(w.Call))
		for _, e := range w.Events {
			add(t.event, floorEvent(e))
		}
		open := -1
		if w.Call.Status == stores.CallStarted {
			open = 1
		}
		add(t.open, []any{open, w.Call.Owner, w.Call.Run})
	}
	return list
}

func floorPlace(p stores.Place) []any { return []any{p.Owner, p.Run, p.Store, p.Incarnation} }

func floorStep(step, base, segment int64, kind, flow, digest string, status stores.Status, id stores.Identity) []any {
	return []any{step, base, segment, kind, flow, digest, string(status), id.User, id.Thread, id.Principal}
}

func floorSeal(s stores.Seal) []any {
	return []any{s.Format, s.KeyID, append([]byte{}, s.Prev...), s.MAC}
}

func floorCall(c stores.Call) []any {
	return slices.Concat(floorPlace(c.Place),
		[]any{c.Segment, c.N, c.Step, c.Node, c.Ordinal, c.Tool, c.Idempotent, string(c.Status), c.Time.UnixMicro()},
		floorSeal(c.Seal), []any{c.Payload})
}

func floorEvent(e stores.Event) []any {
	return slices.Concat(floorPlace(e.Place), []any{e.N, e.Step, e.Type, e.Time.UnixMicro()}, floorSeal(e.Seal), []any{e.Payload})
}

// TestFloorLeavesTheSameRows keeps the floor honest: its database holds what
// the engine's does, row by row.
func TestFloorLeavesTheSameRows(t *testing.T) {
	for _, c := range benchCases {
		t.Run(c.name, func(t *testing.T) {
			c.steps = 3
			engineFile, written := c.run(t, "NORMAL")
			floorFile := rowFloor(t, "NORMAL", written)
			for _, table := range []string{"checkpoints", "runs", "calls", "events", "graphs"} {
				want, got := dump(t, engineFile.path, table), dump(t, floorFile.path, table)
				if len(want) == 0 && table != "calls" || !slices.Equal(got, want) {
					t.Errorf("%s: the floor leaves\n%s\nthe engine\n%s", table, strings.Join(got, "\n"), strings.Join(want, "\n"))
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
