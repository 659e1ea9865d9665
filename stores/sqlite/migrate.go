package sqlite

import (
	"context"
	"crypto/rand"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"time"

	"github.com/flowtui/flowtui/stores"
)

// applicationID marks a SQLite file as a flowtui store ("flwt").
const applicationID = 0x666c7774

// Version is the schema version that this package writes, and the newest that
// it reads. It is the number of migrations, kept in PRAGMA user_version.
const Version = 1

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrations returns the scripts in order; the n-th leads to version n.
func migrations() []string {
	names, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil || len(names) != Version {
		panic(fmt.Sprintf("sqlite: %d migrations for version %d", len(names), Version))
	}
	scripts := make([]string, 0, Version)
	for i, name := range names {
		if want := fmt.Sprintf("%04d_", i+1); path.Base(name)[:len(want)] != want {
			panic("sqlite: migration out of order: " + name)
		}
		b, err := migrationFiles.ReadFile(name)
		if err != nil {
			panic(err)
		}
		scripts = append(scripts, string(b))
	}
	return scripts
}

// migrate brings the tables to Version, within the caller's transaction, and
// gives a new store its id.
func migrate(ctx context.Context, q querier, now time.Time) error {
	found, err := inspect(q.QueryContext(ctx, selectContents))
	if err != nil {
		return err
	}
	if !found.empty() {
		if err := found.check(); err != nil {
			return err
		}
	}
	if found.version == Version {
		return nil
	}
	for _, script := range migrations()[found.version:] {
		if _, err := q.ExecContext(ctx, script); err != nil {
			return err
		}
	}
	marks := fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, Version)
	if _, err := q.ExecContext(ctx, marks); err != nil {
		return err
	}
	if found.version > 0 {
		return nil
	}
	id := make([]byte, 16)
	rand.Read(id) // never fails, see crypto/rand
	_, err = q.ExecContext(ctx, `INSERT INTO meta (key, value) VALUES ('store', ?), ('created', ?)`,
		hex.EncodeToString(id), now.UnixMicro())
	return err
}

// contents is what tells a store from another database.
type contents struct {
	application int64
	version     int64
	tables      int64
	meta        bool // the table that every store has
	triggers    int64
	names       string // of its first tables
}

const selectContents = `SELECT
	(SELECT application_id FROM pragma_application_id),
	(SELECT user_version FROM pragma_user_version),
	(SELECT count(*) FROM sqlite_schema),
	EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'meta'),
	(SELECT count(*) FROM sqlite_schema WHERE type IN ('trigger', 'view')),
	(SELECT group_concat(name, ', ') FROM (SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name LIMIT 3))`

// inspect reads the row of selectContents.
func inspect(rows scanner, err error) (c contents, _ error) {
	if err != nil {
		return c, err
	}
	defer rows.Close()
	if rows.Next() {
		err = rows.Scan(&c.application, &c.version, &c.tables, &c.meta, &c.triggers, column(func(v any) { c.names, _ = v.(string) }))
	}
	return c, errors.Join(err, rows.Err())
}

// empty reports a database that nobody uses yet.
func (c contents) empty() bool { return c == contents{} }

// check says why c is not a store that this package can read.
func (c contents) check() error {
	switch {
	case c.empty():
		return fmt.Errorf("%w: it is an empty SQLite database", stores.ErrNotStore)
	case c.application != applicationID:
		return fmt.Errorf("%w: looked for a SQLite file with application id %#x, found application id %#x and %d tables and indexes (%.60s)",
			stores.ErrNotStore, applicationID, c.application, c.tables, c.names)
	case c.version > Version:
		return fmt.Errorf("%w: its schema is version %d, this program reads up to version %d; use a flowtui that knows version %d",
			stores.ErrTooNew, c.version, Version, c.version)
	case c.triggers > 0: // they would change or swallow what is written
		return fmt.Errorf("%w: it has %d triggers or views, which a store never has; somebody has added them", stores.ErrUnreadable, c.triggers)
	case c.version < 1 || !c.meta:
		return fmt.Errorf("%w: it has the application id of a store, but no tables (schema version %d)", stores.ErrNotStore, c.version)
	}
	return nil
}
