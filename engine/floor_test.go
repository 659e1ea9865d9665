package engine_test

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flowtui/flowtui/internal/teststores"
	"github.com/flowtui/flowtui/stores"
)

// A floor writes what the engine wrote, and does nothing else: as many commits,
// through the same driver with the same settings, on one connection, by prepared
// statements, each transaction BEGIN to COMMIT. The rows are ready before the
// time is taken, signed and encoded: a floor reads nothing, compares nothing,
// and only hands the columns to the driver.

// write is one prepared statement with its arguments.
type write struct {
	query string
	args  []any
}

// bare is a connection of the driver to a database.
type bare interface {
	prepare(b testing.TB, query string)
	// commit does the writes in one transaction, as fast as the driver can.
	commit(list []write) error
	// table reads every row.
	table(t testing.TB, name string) [][]any
	close()
}

func (g ground) bare(b testing.TB, at teststores.Place) bare {
	b.Helper()
	if at.Kind == teststores.Postgres {
		return barePostgres(b, at.At, g.Durability)
	}
	return bareSQLite(b, at.At, g.Durability)
}

// rowFloor inserts the same rows into the same tables with the same indexes:
// what any program has to do that leaves this database behind.
func rowFloor(b testing.TB, g ground, written []any) measured {
	b.Helper()
	conn, at := g.rows(b)
	defer conn.close()
	var commits [][]write
	for _, w := range written {
		commits = append(commits, rowWrites(w))
	}
	return measured{at, repeat(b, conn, commits)}
}

// rows is a new database with the tables of a store, ready for rowWrites.
func (g ground) rows(b testing.TB) (bare, teststores.Place) {
	b.Helper()
	s, at := g.store(b)
	s.Close()
	conn := g.bare(b, at)
	for _, query := range rowQueries {
		conn.prepare(b, query)
	}
	return conn, at
}

// storeFloor hands the same saves and records to the store, one after the other:
// what is missing from it is the engine, which ran the nodes, and encoded,
// linked and signed the rows.
func storeFloor(b testing.TB, g ground, written []any) measured {
	b.Helper()
	s, at := g.store(b)
	defer s.Close()
	runtime.GC()
	var start time.Time
	for i, w := range written {
		if err := hand(s, w); err != nil {
			b.Fatal(err)
		}
		if i == 0 {
			start = time.Now()
		}
	}
	return measured{at, time.Since(start)}
}

func hand(s stores.Store, written any) error {
	switch w := written.(type) {
	case stores.Save:
		return s.Save(ctx, w)
	case stores.CallWrite:
		return s.RecordCall(ctx, w)
	}
	return fmt.Errorf("nothing writes a %T", written)
}

// abreast is the rate of the bare store as a share of the row floor's. They take
// turns commit by commit, so that what else the machine does hits both alike.
func abreast(b testing.TB, g ground, written []any) float64 {
	b.Helper()
	s, _ := g.store(b)
	defer s.Close()
	conn, _ := g.rows(b)
	defer conn.close()
	runtime.GC()
	var ours, floor []float64
	for i, w := range written {
		rows := rowWrites(w)
		start := time.Now()
		err := hand(s, w)
		between := time.Now()
		err = errors.Join(err, conn.commit(rows))
		if err != nil {
			b.Fatal(err)
		}
		if i > 0 {
			ours, floor = append(ours, float64(between.Sub(start))), append(floor, float64(time.Since(between)))
		}
	}
	return median(floor) / median(ours)
}

// blobFloor is the most naive one: all bytes of a commit as one blob into one
// table without an index. No list, no history and no call log could be read from
// what it leaves behind.
func blobFloor(b testing.TB, g ground, written []any) measured {
	b.Helper()
	s, at := g.store(b)
	s.Close()
	const create, insert = "CREATE TABLE t (payload bytea)", "INSERT INTO t (payload) VALUES (?)" // SQLite takes any name of a type
	conn := g.bare(b, at)
	defer conn.close()
	conn.prepare(b, create)
	if err := conn.commit([]write{{query: create}}); err != nil {
		b.Fatal(err)
	}
	conn.prepare(b, insert)
	var commits [][]write
	for _, w := range written {
		commits = append(commits, []write{{insert, []any{make([]byte, weight(w))}}})
	}
	return measured{at, repeat(b, conn, commits)}
}

// weight is how many bytes a commit writes: those of its columns, a number 8.
func weight(written any) (n int) {
	for _, w := range rowWrites(written) {
		for _, a := range w.args {
			switch a := a.(type) {
			case string:
				n += len(a)
			case []byte:
				n += len(a)
			default:
				n += 8
			}
		}
	}
	return n
}

// repeat takes the time from the end of the first commit to that of the last.
func repeat(b testing.TB, conn bare, commits [][]write) time.Duration {
	b.Helper()
	runtime.GC()
	var start time.Time
	for i, c := range commits {
		if err := conn.commit(c); err != nil {
			b.Fatal(err)
		}
		if i == 0 {
			start = time.Now()
		}
	}
	return time.Since(start)
}

const (
	placeColumns = "owner, run, store, incarnation, "
	stepColumns  = placeColumns + `step, base, segment, kind, flow, digest, status, "user", thread, principal, `
	sealColumns  = ", format, key_id, prev, mac, "
	headColumns  = stepColumns + "created, updated" + sealColumns + "open, payload"
)

// The writes that the store makes for a Save and a CallWrite, as
// docs/store-format.md describes them.
var (
	insertCheckpoint = insertInto("checkpoints", stepColumns+"calls, events, time"+sealColumns+"payload")
	upsertHead       = insertInto("runs", headColumns) + " ON CONFLICT (owner, run) DO UPDATE SET " + everyExcluded(headColumns)
	insertCall       = insertInto("calls", placeColumns+"segment, n, step, node, ordinal, tool, idempotent, status, time"+sealColumns+"payload")
	insertEvent      = insertInto("events", placeColumns+"n, step, type, time"+sealColumns+"payload")
	countOpen        = "UPDATE runs SET open = open + ? WHERE owner = ? AND run = ?"
	insertGraph      = insertInto("graphs", "digest, graph") + " ON CONFLICT DO NOTHING"

	rowQueries = []string{insertCheckpoint, upsertHead, insertCall, insertEvent, countOpen, insertGraph}
)

func insertInto(table, columns string) string {
	return fmt.Sprintf("INSERT INTO %s (%s) VALUES (?%s)", table, columns, strings.Repeat(", ?", strings.Count(columns, ",")))
}

// everyExcluded sets all columns but the two of the key.
func everyExcluded(columns string) string {
	var sets []string
	for _, c := range strings.Split(columns, ", ")[2:] {
		sets = append(sets, c+" = excluded."+c)
	}
	return strings.Join(sets, ", ")
}

func rowWrites(written any) []write {
	switch w := written.(type) {
	case stores.Save:
		return saveWrites(w)
	case stores.CallWrite:
		open := int64(-1)
		if w.Call.Status == stores.CallStarted {
			open = 1
		}
		return slices.Concat([]write{callWrite(w.Call)}, eventWrites(w.Events), []write{{countOpen, []any{open, w.Call.Owner, w.Call.Run}}})
	}
	panic(fmt.Sprintf("nothing writes a %T", written))
}

func saveWrites(w stores.Save) []write {
	c, h := w.Checkpoint, w.Head
	list := []write{{insertCheckpoint, []any{c.Owner, c.Run, c.Store, c.Incarnation, c.Step, c.Base, c.Segment, c.Kind, c.Flow, c.Digest, string(c.Status),
		c.User, c.Thread, c.Principal, c.Calls, c.Events, c.Time.UnixMicro(), int64(c.Format), c.KeyID, blob(c.Prev), c.MAC, c.Payload}}}
	for _, r := range w.Calls {
		list = append(list, callWrite(r))
	}
	list = append(list, eventWrites(w.Events)...)
	if w.Graph != nil {
		list = append(list, write{insertGraph, []any{c.Digest, w.Graph}})
	}
	return append(list, write{upsertHead, []any{h.Owner, h.Run, h.Store, h.Incarnation, h.Step, h.Base, h.Segment, h.Kind, h.Flow, h.Digest, string(h.Status),
		h.User, h.Thread, h.Principal, h.Created.UnixMicro(), h.Updated.UnixMicro(), int64(h.Format), h.KeyID, blob(h.Prev), h.MAC, int64(0), h.Payload}})
}

func callWrite(c stores.Call) write {
	return write{insertCall, []any{c.Owner, c.Run, c.Store, c.Incarnation, c.Segment, c.N, c.Step, c.Node, c.Ordinal, c.Tool, c.Idempotent, string(c.Status),
		c.Time.UnixMicro(), int64(c.Format), c.KeyID, blob(c.Prev), c.MAC, c.Payload}}
}

func eventWrites(events []stores.Event) (list []write) {
	for _, e := range events {
		list = append(list, write{insertEvent, []any{e.Owner, e.Run, e.Store, e.Incarnation, e.N, e.Step, e.Type, e.Time.UnixMicro(),
			int64(e.Format), e.KeyID, blob(e.Prev), e.MAC, e.Payload}})
	}
	return list
}

// blob keeps NULL out of columns that do not take it.
func blob(b []byte) []byte { return append([]byte{}, b...) }

// TestFloorLeavesTheSameRows keeps the floor honest: its database holds what
// the engine's does, row by row.
func TestFloorLeavesTheSameRows(t *testing.T) {
	kinds := []string{teststores.SQLite}
	if os.Getenv("FLOWTUI_TEST_ALL") == "1" {
		kinds = append(kinds, teststores.Postgres)
	}
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			g := ground{teststores.NewHost(t, kind), teststores.Kill}
			for _, c := range benchCases {
				t.Run(c.name, func(t *testing.T) {
					c.steps = 3
					ours, written := c.record(t, g)
					sameRows(t, g, "floor", ours, rowFloor(t, g, written).at)
					sameRows(t, g, "store", ours, storeFloor(t, g, written).at)
				})
			}
		})
	}
}

func sameRows(t *testing.T, g ground, name string, ours, floor teststores.Place) {
	t.Helper()
	one, other := g.bare(t, ours), g.bare(t, floor)
	defer one.close()
	defer other.close()
	for _, table := range []string{"checkpoints", "runs", "calls", "events", "graphs"} {
		want, got := lines(one.table(t, table)), lines(other.table(t, table))
		if len(want) == 0 && table != "calls" || !slices.Equal(got, want) {
			t.Errorf("%s: the %s leaves\n%s\nthe engine\n%s", table, name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func lines(rows [][]any) (list []string) {
	for _, r := range rows {
		list = append(list, fmt.Sprintf("%q", r))
	}
	slices.Sort(list)
	return list
}
