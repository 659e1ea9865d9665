package teff

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/flowtui/flowtui/stores"
)

// database is a SQLite file. It is opened for every read and closed again, so
// that no handle is in the way of teff.
type database struct {
	file    string
	history bool

	mu     sync.Mutex
	header *os.File // see inWALMode
}

// historical is a database with a history table.
type historical struct{ *database }

// busyTimeout is how long to wait for a writer; teff waits as long.
const busyTimeout = 5 * time.Second

func openSQLite(ctx context.Context, path string) (backend, error) {
	file, err := filepath.Abs(path)
	if err == nil {
		file, err = filepath.EvalSymlinks(file) // the side files are beside the real one
	}
	if err != nil {
		return nil, err
	}
	d := &database{file: file}
	var t tables
	if err := d.read(ctx, func(ctx context.Context, db *sql.DB) error {
		t, err = inspect(ctx, db)
		return err
	}); err != nil {
		_ = d.close()
		return nil, err
	}
	if why := t.strange(); why != "" {
		_ = d.close()
		return nil, fmt.Errorf("%w: looked for the table checkpoints of teff, found %s", stores.ErrNotStore, why)
	}
	if d.history = t.history; d.history {
		return historical{d}, nil
	}
	return d, nil
}

func sniffSQLite(ctx context.Context, path string) (bool, string, error) {
	b, err := openSQLite(ctx, path)
	switch {
	case err == nil:
		return true, "", b.close()
	case primary(err) == lib.SQLITE_NOTADB:
		return false, "", nil // the driver of the program's own stores says what it is
	case errors.Is(err, stores.ErrNotStore):
		return false, strings.TrimPrefix(err.Error(), stores.ErrNotStore.Error()+": "), nil
	}
	return false, "", err
}

func (d *database) location() string { return d.file }

func (d *database) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.header == nil {
		return nil
	}
	err := d.header.Close()
	d.header = nil
	return err
}

func (d *database) name(k stores.Key) stores.Key { return k }

func (d *database) info(ctx context.Context) (stores.Info, error) {
	info := stores.Info{Format: "teff SQLite", Location: d.file}
	if d.history {
		info.Format = "teff SQLite with history"
	}
	var t tables
	copied := ""
	err := d.readNoting(ctx, &copied, func(ctx context.Context, db *sql.DB) (err error) {
		t, err = inspect(ctx, db)
		return err
	})
	if err != nil {
		return info, err
	}
	switch {
	case t.strange() != "":
		return info, fmt.Errorf("%w: looked for the table checkpoints of teff, found %s", stores.ErrNotStore, t.strange())
	case copied != "":
		info.ReadOnly, info.Why = true, copied
	case t.old():
		info.ReadOnly, info.Why = true, "its table is of an older teff, which migrates it when it opens it; until then it is only read"
	case !writable(d.file):
		info.ReadOnly, info.Why = true, "the file or its folder cannot be written"
	}
	return info, nil
}

func (d *database) fingerprint(context.Context) (string, bool, error) {
	s, err := look(d.file)
	if err == nil && s.db.info == nil {
		err = fmt.Errorf("%w: the file is gone", stores.ErrNotFound)
	}
	return s.String(), s.settled(), err
}

// tables are the columns of what is teff's in a database.
type tables struct {
	checkpoints map[string]bool
	history     bool
	others      []string
}

func inspect(ctx context.Context, db *sql.DB) (t tables, err error) {
	rows, err := db.QueryContext(ctx, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name`)
	if err != nil {
		return t, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return t, err
		}
		t.others = append(t.others, name)
	}
	if err := rows.Err(); err != nil {
		return t, err
	}
	if t.checkpoints, err = columnsOf(ctx, db, "checkpoints"); err != nil {
		return t, err
	}
	history, err := columnsOf(ctx, db, "checkpoint_history")
	t.history = has(history, "owner", "checkpoint_id", "iteration", "state", "next_node_id")
	return t, err
}

func columnsOf(ctx context.Context, db *sql.DB, table string) (map[string]bool, error) {
	rows, err := db.QueryContext(ctx, `SELECT name FROM pragma_table_info(?)`, table)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	cols := map[string]bool{}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		cols[name] = true
	}
	return cols, rows.Err()
}

func has(cols map[string]bool, names ...string) bool {
	for _, n := range names {
		if !cols[n] {
			return false
		}
	}
	return true
}

// strange says what is there when it is no table of teff's.
func (t tables) strange() string {
	switch {
	case has(t.checkpoints, "checkpoint_id", "state", "next_node_id", "iteration"):
		return ""
	case len(t.checkpoints) > 0:
		return "a table of that name with other columns"
	case len(t.others) == 0:
		return "a SQLite file without tables"
	}
	return "a SQLite file with the tables " + clip(strings.Join(t.others, ", "), 200)
}

// old reports one of the layouts that teff migrates.
func (t tables) old() bool { return !has(t.checkpoints, "owner", "updated_at") }

func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// selectRows reads the three layouts of the table as the newest one.
func (t tables) selectRows() string {
	owner, updated := "owner", "updated_at"
	if !t.checkpoints["owner"] {
		owner = "'" + stores.DefaultOwner + "'"
	}
	if !t.checkpoints["updated_at"] {
		updated = "NULL"
	}
	return "SELECT * FROM (SELECT " + owner + " AS owner, checkpoint_id, state, next_node_id, iteration, " + updated + " AS updated_at FROM checkpoints)"
}

func scanRows(rows *sql.Rows, keep bool) ([]record, error) {
	defer rows.Close()
	var list []record
	for rows.Next() {
		var c columns
		if err := rows.Scan(&c.owner, &c.id, &c.state, &c.next, &c.iteration, &c.updated); err != nil {
			return nil, err
		}
		list = append(list, c.record(keep)) // an index holds no states
	}
	return list, rows.Err()
}

func (d *database) rows(ctx context.Context) (list []record, err error) {
	err = d.read(ctx, func(ctx context.Context, db *sql.DB) error {
		t, err := inspect(ctx, db)
		if err != nil {
			return err
		}
		rows, err := db.QueryContext(ctx, t.selectRows())
		if err != nil {
			return err
		}
		list, err = scanRows(rows, false)
		return err
	})
	return list, err
}

func (d *database) row(ctx context.Context, k stores.Key) (r record, err error) {
	err = d.read(ctx, func(ctx context.Context, db *sql.DB) error {
		t, err := inspect(ctx, db)
		if err != nil {
			return err
		}
		rows, err := db.QueryContext(ctx, t.selectRows()+" WHERE owner = ? AND checkpoint_id = ?", k.Owner, k.Run)
		if err != nil {
			return err
		}
		list, err := scanRows(rows, true)
		if err == nil && len(list) == 0 {
			err = stores.ErrNotFound
		}
		if err == nil {
			r = list[0]
		}
		return err
	})
	return r, err
}

func (h historical) steps(ctx context.Context, k stores.Key, from int64, limit int) (list []record, err error) {
	err = h.read(ctx, func(ctx context.Context, db *sql.DB) error {
		rows, err := db.QueryContext(ctx, `SELECT owner, checkpoint_id, state, next_node_id, iteration, NULL FROM checkpoint_history
			WHERE owner = ? AND checkpoint_id = ? AND iteration >= ? ORDER BY iteration LIMIT ?`, k.Owner, k.Run, from, limit)
		if err != nil {
			return err
		}
		list, err = scanRows(rows, true)
		return err
	})
	return list, err
}

// dsn names a file so that no character of its path is taken for syntax.
func dsn(file string, options url.Values) string {
	p := filepath.ToSlash(file)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p // C:/x becomes /C:/x
	}
	// A store is somebody else's file: trust neither its schema nor its cells.
	options["_pragma"] = append(options["_pragma"], fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()), "trusted_schema(0)", "cell_size_check(1)")
	return (&url.URL{Scheme: "file", Path: p}).String() + "?" + options.Encode()
}

// primary is SQLite's code without what is added to it, 0 for other errors.
func primary(err error) int { return code(err) & 0xff }

func code(err error) int {
	if e, ok := errors.AsType[*driver.Error](err); ok {
		return e.Code()
	}
	return 0
}

// writable reports whether this user may change a file and put a journal
// beside it. It asks and tries nothing.
func writable(file string) bool { return mayWrite(file) && mayWrite(filepath.Dir(file)) }
