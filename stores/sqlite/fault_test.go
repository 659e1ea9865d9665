package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/storetest"
)

func create(t testing.TB, opts Options) *Store {
	t.Helper()
	opts.Create = true
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "runs.db"), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if err := s.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

func placeOf(run string) stores.Place {
	return stores.Place{Key: stores.Key{Owner: stores.DefaultOwner, Run: run}, Store: "test", Incarnation: "first"}
}

// TestEveryConnectionHasTheSettings opens all connections of the read pool at
// once, and looks at the one that writes.
func TestEveryConnectionHasTheSettings(t *testing.T) {
	s := create(t, Options{BusyTimeout: 3 * time.Second})
	src, err := s.acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.release(src)
	want := func(q querier, pragma, want string) {
		t.Helper()
		var got string
		if err := q.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %s, want %s (%v)", pragma, got, want, err)
		}
	}
	for range 4 {
		conn, err := src.db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		want(conn, "busy_timeout", "3000")
		want(conn, "query_only", "1")
		want(conn, "trusted_schema", "0")
		if _, err := conn.ExecContext(t.Context(), "PRAGMA query_only = 0; DELETE FROM runs"); primary(code(err)) != lib.SQLITE_READONLY {
			t.Errorf("a reader could write: %v", err)
		}
	}
	want(s.writer.conn, "busy_timeout", "0") // it waits by itself, see patiently
	want(s.writer.conn, "journal_mode", "wal")
	want(s.writer.conn, "synchronous", "2")
	want(s.writer.conn, "trusted_schema", "0")
	normal := create(t, Options{Synchronous: "NORMAL"})
	want(normal.writer.conn, "synchronous", "1")
}

// TestScenario50DiskFull: a save that finds no room changes nothing, says so, and works
// when there is room again.
func TestScenario50DiskFull(t *testing.T) {
	s := create(t, Options{})
	ctx, p := t.Context(), placeOf("r")
	large := func(c *stores.Checkpoint) { c.Payload = make([]byte, 200_000) }
	if err := s.Save(ctx, storetest.Step(p, 0, large)); err != nil {
		t.Fatal(err)
	}
	if err := s.RecordCall(ctx, stores.CallWrite{Call: storetest.Record(p, 1, 1)}); err != nil {
		t.Fatal(err)
	}
	limit := func(pages int) {
		t.Helper()
		if _, err := s.writer.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA max_page_count = %d", pages)); err != nil {
			t.Fatal(err)
		}
	}
	limit(1) // SQLite takes the present size instead
	done := storetest.Record(p, 1, 2, func(c *stores.Call) {
		c.Ordinal, c.Status, c.Payload = 1, stores.CallDone, make([]byte, 200_000)
	})
	for name, err := range map[string]error{
		"save":   s.Save(ctx, storetest.Step(p, 1, large)),
		"record": s.RecordCall(ctx, stores.CallWrite{Call: done}),
	} {
		if !errors.Is(err, stores.ErrFull) || !strings.Contains(err.Error(), s.file) {
			t.Errorf("%s: got %v, want %v with the path", name, err, stores.ErrFull)
		}
		if e, ok := errors.AsType[*driver.Error](err); !ok || e.Code() != lib.SQLITE_FULL {
			t.Errorf("%s: the driver's error cannot be reached in %v", name, err)
		}
	}
	storetest.Check(t, s)
	h, err := s.Head(ctx, p.Key)
	if err != nil || h.Step != 0 || h.Open != 1 {
		t.Errorf("the call must stay in doubt: %+v, %v", h, err)
	}
	limit(1 << 30)
	if err := s.RecordCall(ctx, stores.CallWrite{Call: done}); err != nil {
		t.Errorf("there is room again: %v", err)
	}
	if err := s.Save(ctx, storetest.Step(p, 1, large)); err != nil {
		t.Errorf("there is room again: %v", err)
	}
	storetest.Check(t, s)
}

// TestBusy: another writer holds the lock for longer than the timeout.
func TestBusy(t *testing.T) {
	s := create(t, Options{})
	other, err := Open(t.Context(), s.file, Options{BusyTimeout: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	step := storetest.Step(placeOf("r"), 0)
	err = s.write(t.Context(), "hold", stores.Key{}, func(tx) error {
		err := other.Save(t.Context(), step)
		if !errors.Is(err, stores.ErrBusy) || !strings.Contains(err.Error(), "nothing was saved") {
			t.Errorf("got %v, want %v", err, stores.ErrBusy)
		}
		// Reading does not wait for a writer.
		_, err = other.List(t.Context(), stores.Query{Filter: stores.Filter{Owner: stores.AnyOwner}})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Save(t.Context(), step); err != nil {
		t.Errorf("the lock is free again: %v", err)
	}
}

// TestWaitObeysContext: neither the wait for another process nor for another
// goroutine outlives its context.
func TestWaitObeysContext(t *testing.T) {
	s := create(t, Options{})
	other, err := Open(t.Context(), s.file, Options{BusyTimeout: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	err = s.write(t.Context(), "hold", stores.Key{}, func(tx) error {
		for _, store := range []*Store{s, other} {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			if err := store.Save(ctx, storetest.Step(placeOf("r"), 0)); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v, want %v", err, context.DeadlineExceeded)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Save(t.Context(), storetest.Step(placeOf("r"), 0)); err != nil {
		t.Errorf("a wait that ended spoiled the connection: %v", err)
	}
}

// TestLostConnection: a writer whose connection breaks opens another one.
func TestLostConnection(t *testing.T) {
	s := create(t, Options{})
	if err := s.Save(t.Context(), storetest.Step(placeOf("r"), 0)); err != nil {
		t.Fatal(err)
	}
	s.writer.conn.Close()
	if err := s.Save(t.Context(), storetest.Step(placeOf("r"), 1)); err == nil {
		t.Error("a save without a connection succeeded")
	}
	if err := s.Save(t.Context(), storetest.Step(placeOf("r"), 1)); err != nil {
		t.Errorf("the next save: %v", err)
	}
}

func TestClasses(t *testing.T) {
	for code, want := range map[int]error{
		lib.SQLITE_BUSY:                  stores.ErrBusy,
		lib.SQLITE_BUSY_SNAPSHOT:         stores.ErrBusy,
		lib.SQLITE_FULL:                  stores.ErrFull,
		lib.SQLITE_READONLY:              stores.ErrReadOnly,
		lib.SQLITE_READONLY_DIRECTORY:    stores.ErrReadOnly,
		lib.SQLITE_CORRUPT_INDEX:         stores.ErrUnreadable,
		lib.SQLITE_NOTADB:                stores.ErrUnreadable,
		lib.SQLITE_CONSTRAINT_PRIMARYKEY: stores.ErrConflict,
		lib.SQLITE_CONSTRAINT_NOTNULL:    stores.ErrInvalid,
		lib.SQLITE_IOERR_READ:            stores.ErrUnavailable,
		lib.SQLITE_ERROR:                 nil,
	} {
		if _, got := class(code); got != want {
			t.Errorf("code %d is %v, want %v", code, got, want)
		}
	}
	if err := commitError(errors.New("the disk failed")); !errors.Is(err, stores.ErrUnknown) {
		t.Errorf("a commit that failed half way: %v", err)
	}
}

func TestMigrationsMatchVersion(t *testing.T) {
	if n := len(migrations()); n != Version {
		t.Errorf("%d migrations for version %d", n, Version)
	}
}
