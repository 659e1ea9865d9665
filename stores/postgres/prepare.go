package postgres

import (
	"context"
	"crypto/rand"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/flowtui/flowtui/stores"
)

// Version is the schema version that this package writes, and the newest that
// it reads. It is kept in the table meta.
const Version = 1

//go:embed migrations/*.sql
var migrationFiles embed.FS

// ddl returns the statements that make the tables of Version.
func ddl() ([]string, error) {
	names, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	var list []string
	for _, name := range names {
		text, err := migrationFiles.ReadFile(name)
		if err != nil {
			return nil, err
		}
		for part := range strings.SplitSeq(string(text), ";\n") {
			if part = strings.TrimSpace(part); part != "" {
				list = append(list, part)
			}
		}
	}
	return list, nil
}

// Prepare implements stores.Preparer. A store that is there already is not
// written to.
func (s *Store) Prepare(ctx context.Context) error {
	inner, cancel, err := s.within(ctx)
	if err != nil {
		return s.wrap("prepare", stores.Key{}, err)
	}
	defer cancel()
	if s.opts.ReadOnly {
		return s.wrap("prepare", stores.Key{}, fmt.Errorf("%w: it was opened read-only", stores.ErrReadOnly))
	}
	return s.wrap("prepare", stores.Key{}, s.prepare(inner))
}

func (s *Store) prepare(ctx context.Context) error {
	found, err := s.inspect(ctx)
	if err != nil {
		return err
	}
	switch {
	case !found.empty() || !s.opts.Create:
		err = s.check(ctx, found)
	case s.whyReadOnly(found) != "":
		err = fmt.Errorf("%w: %s", stores.ErrReadOnly, s.whyReadOnly(found))
	case found.encoding != "UTF8":
		err = fmt.Errorf("%w: the database keeps text as %s, a store needs UTF8", stores.ErrInvalid, found.encoding)
	default:
		err = s.makeTables(ctx)
	}
	if err == nil {
		s.prepared.Store(true)
	}
	return err
}

// makeTables is one transaction. Of several processes that try, one makes the
// tables and the others wait for it and find them there.
func (s *Store) makeTables(ctx context.Context) (err error) {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return ended(ctx, err)
	}
	defer conn.Release() // drops a connection whose transaction is open
	within := func(ctx context.Context, list ...statement) ([]*pgconn.Result, error) {
		results, err := s.exchange(ctx, conn, list...)
		return results, ended(ctx, err)
	}
	// The names of two stores may have one number; then they wait for nothing.
	_, err = within(ctx, ask("BEGIN ISOLATION LEVEL READ COMMITTED"),
		ask("SELECT pg_advisory_xact_lock(hashtextextended($1, 0::bigint))", channel+" "+s.topic()))
	if err != nil {
		return err
	}
	found, err := s.inspectBy(ctx, within)
	if err == nil {
		if found.empty() {
			err = s.createAll(ctx, within, !found.schema)
		} else {
			err = s.check(ctx, found)
		}
	}
	if err != nil {
		_, undone := within(context.WithoutCancel(ctx), ask("ROLLBACK"))
		return errors.Join(err, undone)
	}
	if _, err = within(ctx, ask("COMMIT")); err != nil {
		return outcome(err)
	}
	return nil
}

func (s *Store) createAll(ctx context.Context, within reader, schema bool) error {
	parts, err := ddl()
	if err != nil {
		return err
	}
	var list []statement
	if schema {
		list = append(list, ask("CREATE SCHEMA {schema}"))
	}
	for _, part := range parts {
		list = append(list, ask(part))
	}
	id := make([]byte, 16)
	rand.Read(id) // never fails, see crypto/rand
	list = append(list, ask(`INSERT INTO {meta} (key, value) VALUES ('store', $1), ('version', $2), ('created', ({now})::text)`,
		hex.EncodeToString(id), strconv.Itoa(Version)))
	_, err = within(ctx, list...)
	return err
}
