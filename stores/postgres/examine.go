package postgres

import (
	"context"
	"fmt"

	"github.com/flowtui/flowtui/stores"
)

const (
	askState = `SELECT {now}, current_setting('server_version'), pg_is_in_recovery(), pg_backend_pid()::bigint,
		current_setting('synchronous_commit'), current_setting('fsync'), current_user::text`
	askSize = `SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_catalog.pg_class AS c
		JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
		WHERE n.nspname = $1 AND c.relname = ANY (SELECT $2 || name FROM pg_catalog.unnest($3) AS name)`
)

// Examine implements stores.Examiner.
func (s *Store) Examine(ctx context.Context) (stores.Examination, error) {
	e, err := s.examine(ctx)
	return e, s.wrap("examine", stores.Key{}, err)
}

func (s *Store) examine(ctx context.Context) (e stores.Examination, err error) {
	ctx, cancel, err := s.within(ctx)
	if err != nil {
		return e, err
	}
	defer cancel()
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return e, ended(ctx, err)
	}
	defer conn.Release()
	results, err := s.exchange(ctx, conn, ask(askState), ask(askSize, s.schema, s.prefix, tableNames))
	if err != nil {
		return e, ended(ctx, err)
	}
	var version, commit, fsync, role string
	var replica bool
	var pid int64
	r := &row{}
	err = facts(results[0], r.time("clock", &e.Clock), r.text("", &version), r.flag("", &replica), r.number("", &pid),
		r.text("", &commit), r.text("", &fsync), r.text("", &role))
	if err == nil {
		err = facts(results[1], r.number("", &e.Bytes))
	}
	if err != nil {
		return e, err
	}
	server := "primary"
	if replica {
		server = "replica: it can be read, and shows what has arrived"
	}
	path := "direct"
	if pid != int64(conn.Conn().PgConn().PID()) {
		path = "through a pooler: changes are looked for once a second"
	}
	e.Facts = []stores.Fact{
		{Name: "server", Value: "PostgreSQL " + version + ", " + server},
		{Name: "connection", Value: path},
		{Name: "role", Value: fmt.Sprintf("%q", role)},
		{Name: "schema", Value: fmt.Sprintf("%q, tables with the prefix %q", s.schema, s.prefix)},
		durable("synchronous_commit", commit), durable("fsync", fsync),
	}
	return e, nil
}

// durable tells a setting under which a crash loses what was acknowledged.
func durable(name, value string) stores.Fact {
	f := stores.Fact{Name: name, Value: value}
	if value == "off" {
		f.Problem = "a crash of the server can lose what was acknowledged, and a call then runs again: set " + name + " to on"
	}
	return f
}
