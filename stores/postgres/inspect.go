package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/flowtui/flowtui/stores"
)

// contents is what tells a store from other tables, and what the role may do
// with it. All of it is read from the catalog.
type contents struct {
	database, role, encoding string
	readOnlyServer, replica  bool
	schema, enter, make      bool  // the schema is there; the role may use it; the role may make what is missing
	relations                int64 // in the schema, whatever they are
	tables                   map[string]table
	id                       string
	version                  int64
}

// table is a relation with the name of one of the store's tables.
type table struct {
	kind      string // r is an ordinary table
	read      bool
	missing   string // the first right that writing needs and the role lacks
	hidden    bool   // row security takes rows away
	additions int64  // triggers and rules
	columns   map[string]string
}

// needs are the rights that writing takes. Deleting a run takes one more.
const needs = `CASE WHEN c.relname = $2 || 'meta' THEN ARRAY['SELECT']
	WHEN c.relname = $2 || 'runs' THEN ARRAY['SELECT', 'INSERT', 'UPDATE']
	WHEN c.relname = $2 || 'leases' THEN ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']
	ELSE ARRAY['SELECT', 'INSERT'] END`

const (
	askServer = `SELECT current_database()::text, current_user::text, current_setting('server_encoding'),
			current_setting('transaction_read_only') = 'on', pg_is_in_recovery(), n.oid IS NOT NULL,
			coalesce(has_schema_privilege(n.oid, 'USAGE'), false),
			coalesce(has_schema_privilege(n.oid, 'CREATE'), has_database_privilege(current_database(), 'CREATE')),
			(SELECT count(*) FROM pg_catalog.pg_class AS c WHERE c.relnamespace = n.oid AND c.relkind IN ('r', 'p', 'v', 'm', 'f'))
		FROM (VALUES (1)) AS one LEFT JOIN pg_catalog.pg_namespace AS n ON n.nspname = $1`
	askTables = `SELECT substr(c.relname::text, length($2) + 1), c.relkind::text,
			coalesce(has_table_privilege(c.oid, 'SELECT'), false),
			coalesce((SELECT need FROM pg_catalog.unnest(` + needs + `) AS need WHERE NOT has_table_privilege(c.oid, need) LIMIT 1), ''),
			coalesce(row_security_active(c.oid), false),
			(SELECT count(*) FROM pg_catalog.pg_trigger AS t WHERE t.tgrelid = c.oid AND NOT t.tgisinternal) +
			(SELECT count(*) FROM pg_catalog.pg_rewrite AS w WHERE w.ev_class = c.oid AND c.relkind = 'r')
		FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
		WHERE n.nspname = $1 AND c.relname = ANY (SELECT $2 || name FROM pg_catalog.unnest($3) AS name)`
	askColumns = `SELECT substr(c.relname::text, length($2) + 1), a.attname::text, format_type(a.atttypid, a.atttypmod)
		FROM pg_catalog.pg_attribute AS a JOIN pg_catalog.pg_class AS c ON c.oid = a.attrelid
			JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
		WHERE n.nspname = $1 AND c.relname = ANY (SELECT $2 || name FROM pg_catalog.unnest($3) AS name) AND a.attnum > 0 AND NOT a.attisdropped`
	askMeta   = `SELECT key, value FROM {meta} WHERE key IN ('store', 'version')`
	askOthers = `SELECT n.nspname::text, left(c.relname::text, -4) FROM pg_catalog.pg_class AS c
			JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
		WHERE c.relkind = 'r' AND c.relname LIKE '%meta' AND EXISTS (SELECT FROM pg_catalog.pg_class AS r
			WHERE r.relnamespace = n.oid AND r.relname = left(c.relname::text, -4) || 'checkpoints')
		ORDER BY 1, 2 LIMIT 3`
)

// reader runs statements, on the pool or within a transaction.
type reader func(ctx context.Context, list ...statement) ([]*pgconn.Result, error)

// inspect sees the catalog at one moment: somebody may be making the store.
func (s *Store) inspect(ctx context.Context) (contents, error) {
	return s.inspectBy(ctx, func(ctx context.Context, list ...statement) ([]*pgconn.Result, error) {
		list = slices.Concat([]statement{ask("BEGIN ISOLATION LEVEL REPEATABLE READ")}, list, []statement{ask("COMMIT")})
		results, err := s.read(ctx, list...)
		if err != nil {
			return nil, err
		}
		return results[1 : len(results)-1], nil
	})
}

func (s *Store) inspectBy(ctx context.Context, read reader) (c contents, err error) {
	where := []any{s.schema, s.prefix, tableNames}
	results, err := read(ctx, ask(askServer, where[:1]...), ask(askTables, where...), ask(askColumns, where...))
	if err != nil {
		return c, err
	}
	r := &row{}
	err = facts(results[0], r.text("", &c.database), r.text("", &c.role), r.text("", &c.encoding),
		r.flag("", &c.readOnlyServer), r.flag("", &c.replica), r.flag("", &c.schema), r.flag("", &c.enter), r.flag("", &c.make),
		r.number("", &c.relations))
	if err != nil {
		return c, err
	}
	c.tables = map[string]table{}
	type named struct {
		name string
		table
	}
	for _, t := range collect(results[1], func(r *row, t *named) []column {
		return []column{r.text("", &t.name), r.text("", &t.kind), r.flag("", &t.read), r.text("", &t.missing), r.flag("", &t.hidden), r.number("", &t.additions)}
	}, func(t *named, _ string) { t.columns = map[string]string{} }) {
		c.tables[t.name] = t.table
	}
	for _, col := range collect(results[2], func(r *row, col *[3]string) []column {
		return []column{r.text("", &col[0]), r.text("", &col[1]), r.text("", &col[2])}
	}, func(*[3]string, string) {}) {
		if t, ok := c.tables[col[0]]; ok {
			t.columns[col[1]] = col[2]
		}
	}
	if meta, ok := c.tables["meta"]; ok && c.enter && meta.read && meta.columns["key"] == "text" && meta.columns["value"] == "text" {
		err = s.readMeta(ctx, read, &c)
	}
	return c, err
}

func (s *Store) readMeta(ctx context.Context, read reader, c *contents) error {
	results, err := read(ctx, ask(askMeta))
	if err != nil {
		return err
	}
	for _, pair := range collect(results[0], func(r *row, p *[2]string) []column {
		return []column{r.text("", &p[0]), r.text("", &p[1])}
	}, func(*[2]string, string) {}) {
		switch pair[0] {
		case "store":
			c.id = pair[1]
		case "version":
			if c.version, err = strconv.ParseInt(pair[1], 10, 64); err != nil {
				return fmt.Errorf("%w: its schema version is %q", stores.ErrUnreadable, pair[1])
			}
		}
	}
	return nil
}

// empty reports that none of the store's tables is there.
func (c contents) empty() bool { return len(c.tables) == 0 }

// check says why c is not a store that this package can read.
func (s *Store) check(ctx context.Context, c contents) error {
	switch {
	case c.empty():
		return s.notThere(ctx, c)
	case !c.enter:
		return fmt.Errorf("%w: the role %q may not use the schema %q; GRANT USAGE ON SCHEMA lets it", stores.ErrUnreadable, c.role, s.schema)
	}
	meta, ok := c.tables["meta"]
	switch {
	case ok && !meta.read:
		return fmt.Errorf("%w: the role %q may not read %s; GRANT SELECT ON ALL TABLES IN SCHEMA lets it", stores.ErrUnreadable, c.role, s.quoted("meta"))
	case !ok || c.id == "":
		return fmt.Errorf("%w: looked for the tables of a store, found %s of others; give the store a schema or a prefix of its own",
			stores.ErrNotStore, s.listed(c.names()))
	case c.version > Version:
		return fmt.Errorf("%w: its schema is version %d, this program reads up to version %d; use a flowtui that knows version %d",
			stores.ErrTooNew, c.version, Version, c.version)
	case c.version < 1:
		return fmt.Errorf("%w: its schema version is %d", stores.ErrUnreadable, c.version)
	case c.encoding != "UTF8":
		return fmt.Errorf("%w: the database keeps text as %s, a store needs UTF8", stores.ErrUnreadable, c.encoding)
	}
	for _, name := range tableNames {
		if err := s.checkTable(c, name); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) checkTable(c contents, name string) error {
	t, ok := c.tables[name]
	full := s.quoted(name)
	switch {
	case !ok:
		return fmt.Errorf("%w: looked for the table %s, found %s", stores.ErrUnreadable, full, s.listed(c.names()))
	case t.kind != "r":
		return fmt.Errorf("%w: %s is no ordinary table (relkind %s)", stores.ErrUnreadable, full, t.kind)
	case t.additions > 0: // they would change or swallow what is written
		return fmt.Errorf("%w: %s has %d triggers or rules, which a store never has; somebody has added them", stores.ErrUnreadable, full, t.additions)
	case t.hidden: // what cannot be seen would be taken for missing
		return fmt.Errorf("%w: row security hides rows of %s from the role %q", stores.ErrUnreadable, full, c.role)
	}
	for _, col := range tableColumns[name] {
		want := columnTypes[col]
		if want == "" {
			want = "text"
		}
		if got := t.columns[col]; got != want {
			if got == "" {
				got = "missing"
			}
			return fmt.Errorf("%w: the column %s of %s is %s instead of %s", stores.ErrUnreadable, col, full, got, want)
		}
	}
	return nil
}

// notThere says what was looked for, what was found, and where a store is.
func (s *Store) notThere(ctx context.Context, c contents) error {
	found := fmt.Sprintf("a schema with %d other tables", c.relations)
	if !c.schema {
		found = "no such schema"
	}
	why := fmt.Sprintf("looked for the tables of a store in the schema %q of the database %q, found %s", s.schema, c.database, found)
	if s.prefix != "" {
		why = fmt.Sprintf("looked for the tables of a store with the prefix %q in the schema %q of the database %q, found %s", s.prefix, s.schema, c.database, found)
	}
	results, err := s.read(ctx, ask(askOthers))
	if err != nil {
		return errors.Join(fmt.Errorf("%w: %s", stores.ErrNotFound, why), err)
	}
	var others []string
	for _, o := range collect(results[0], func(r *row, p *[2]string) []column {
		return []column{r.text("", &p[0]), r.text("", &p[1])}
	}, func(*[2]string, string) {}) {
		other := fmt.Sprintf("schema=%s", o[0])
		if o[1] != "" {
			other += "&prefix=" + o[1]
		}
		others = append(others, other)
	}
	if len(others) > 0 {
		why += "; there is something like a store at " + strings.Join(others, " and ")
	}
	return fmt.Errorf("%w: %s", stores.ErrNotFound, why)
}

func (c contents) names() []string {
	var list []string
	for _, name := range tableNames {
		if _, ok := c.tables[name]; ok {
			list = append(list, name)
		}
	}
	return list
}

func (s *Store) listed(tables []string) string {
	list := slices.Clone(tables)
	for i, t := range list {
		list[i] = s.quoted(t)
	}
	return strings.Join(list, ", ")
}

// whyReadOnly says why nothing can be written, or "".
func (s *Store) whyReadOnly(c contents) string {
	switch {
	case s.opts.ReadOnly:
		return "it was opened read-only"
	case c.replica:
		return "the server is a replica"
	case c.readOnlyServer:
		return "the server is set read-only (default_transaction_read_only)"
	case c.empty() && !c.make:
		return fmt.Sprintf("the role %q may not make the tables", c.role)
	}
	for _, name := range c.names() {
		if right := c.tables[name].missing; right != "" {
			return fmt.Sprintf("the role %q has no right to %s on %s", c.role, right, s.quoted(name))
		}
	}
	return ""
}
