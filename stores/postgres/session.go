package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// session is what is known of one connection of the pool.
type session struct {
	direct   bool                                    // no pooler is between it and its server process
	prepared map[string]*pgconn.StatementDescription // in it, by their text without the store's names
}

const sessionKey = "flowtui"

// greet runs on every new connection of the pool.
func greet(ctx context.Context, conn *pgx.Conn) error {
	direct, _, err := lookAt(ctx, conn.PgConn())
	if err != nil {
		return err
	}
	conn.PgConn().CustomData()[sessionKey] = &session{direct: direct, prepared: map[string]*pgconn.StatementDescription{}}
	return nil
}

// lookAt tells whether a connection leads to one server process for good:
// behind a pooler it is another one than greeted the client. It also tells a
// replica.
func lookAt(ctx context.Context, conn *pgconn.PgConn) (direct, replica bool, err error) {
	results, err := send(ctx, conn, ask(`SELECT pg_backend_pid()::bigint, pg_is_in_recovery()`))
	if err != nil {
		return false, false, err
	}
	var pid int64
	r := &row{}
	err = facts(results[0], r.number("", &pid), r.flag("", &replica))
	return pid == int64(conn.PID()), replica, err
}

// prepare puts the store's names into a statement, and gives it one of its own
// in a session that keeps it, so that the server parses and plans it once and
// says once what comes back. Behind a pooler it has none: there it is parsed each
// time.
func (st *statement) prepare(ctx context.Context, conn *pgconn.PgConn, tables names) error {
	known, ok := conn.CustomData()[sessionKey].(*session)
	if !ok || !known.direct {
		st.sql = tables.sql(st.sql)
		return nil
	}
	if st.prepared = known.prepared[st.sql]; st.prepared != nil {
		return nil
	}
	types := make([]uint32, len(st.args))
	for i, arg := range st.args {
		var err error
		if types[i], _, err = encode(arg); err != nil {
			return err
		}
	}
	description, err := conn.Prepare(ctx, fmt.Sprintf("flowtui_%d", len(known.prepared)), tables.sql(st.sql), types)
	if err != nil {
		return err
	}
	known.prepared[st.sql], st.prepared = description, description
	return nil
}
