package teff

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/flowtui/flowtui/stores"
)

// server is a table of a PostgreSQL database.
type server struct {
	pool    *pgxpool.Pool
	place   string // without the password
	table   pgx.Identifier
	history bool  // it writes and reads the history table
	asked   *bool // what the URL says of that, nil for nothing
}

// historicalServer is one with a history table.
type historicalServer struct{ *server }

// connectLimit is how long a connection may take to open when the URL does not
// say it.
const connectLimit = 10 * time.Second

// parseURL takes our parameters out of a URL. Its errors never repeat it: a
// malformed one may have the password anywhere.
func parseURL(location string) (*server, *pgxpool.Config, error) {
	u, err := url.Parse(location)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: the URL cannot be read; characters like / ? # @ : %% in a user or a password are written as %%2F and so on", stores.ErrInvalid)
	}
	s, table := &server{}, defaultTable
	var rest []string
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		name, value, _ := strings.Cut(pair, "=")
		value, err := url.PathUnescape(value)
		if err != nil {
			return nil, nil, fmt.Errorf("%w: what follows the ? of the URL cannot be read", stores.ErrInvalid)
		}
		switch {
		case name == "table":
			table = value
		case name == "history":
			asked, err := strconv.ParseBool(value)
			if err != nil {
				return nil, nil, fmt.Errorf("%w: history %q, there are true and false", stores.ErrInvalid, value)
			}
			s.asked = &asked
		case name == "format" && value != "teff":
			return nil, nil, fmt.Errorf("%w: format %q, there is teff", stores.ErrInvalid, value)
		case name != "format" && pair != "":
			rest = append(rest, pair)
		}
	}
	u.RawQuery = strings.Join(rest, "&")
	if s.table, err = parseTable(table); err != nil {
		return nil, nil, err
	}
	conf, err := pgxpool.ParseConfig(u.String())
	if err != nil {
		return nil, nil, fmt.Errorf("%w: a setting of the URL is not valid", stores.ErrInvalid)
	}
	// One statement is one round trip without a name, so that it does not matter
	// to which server process a pooler gives it.
	conf.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	conf.ConnConfig.RuntimeParams["client_encoding"] = "UTF8"
	if conf.ConnConfig.RuntimeParams["application_name"] == "" {
		conf.ConnConfig.RuntimeParams["application_name"] = "flowtui"
	}
	if !strings.Contains(u.RawQuery, "connect_timeout=") {
		conf.ConnConfig.ConnectTimeout = connectLimit
	}
	s.place = locate(conf.ConnConfig, table, s.asked)
	return s, conf, nil
}

func locate(c *pgx.ConnConfig, table string, history *bool) string {
	u := url.URL{Scheme: "postgres", Path: "/" + c.Database}
	q := url.Values{"format": {"teff"}}
	if strings.HasPrefix(c.Host, "/") {
		q.Set("host", c.Host) // a socket
	} else {
		u.Host = net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port)))
	}
	if c.User != "" {
		u.User = url.User(c.User)
	}
	if table != defaultTable {
		q.Set("table", table)
	}
	if history != nil {
		q.Set("history", strconv.FormatBool(*history))
	}
	u.RawQuery = strings.ReplaceAll(q.Encode(), "+", "%20")
	return u.String()
}

func openPostgres(ctx context.Context, location string) (b backend, err error) {
	s, conf, err := parseURL(location)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil && s.pool != nil {
			s.pool.Close()
		}
	}()
	if s.pool, err = pgxpool.NewWithConfig(ctx, conf); err != nil {
		return nil, s.class(err)
	}
	c, err := s.inspect(ctx)
	if err == nil {
		err = c.check(s)
	}
	if err != nil {
		return nil, &stores.OpError{Op: "open", Store: s.place, Err: s.class(err)}
	}
	if s.history = s.keepsHistory(c); s.history {
		return historicalServer{s}, nil
	}
	return s, nil
}

// sniffPostgres looks for teff's table with the default name. A URL with a
// parameter of our own stores names one of those.
func sniffPostgres(ctx context.Context, location string) (bool, string, error) {
	if _, query, _ := strings.Cut(location, "?"); query != "" {
		if q, err := url.ParseQuery(query); err == nil && (q.Has("schema") || q.Has("prefix")) {
			return false, "", nil
		}
	}
	b, err := openPostgres(ctx, location)
	switch {
	case err == nil:
		return true, "", b.close()
	case errors.Is(err, stores.ErrNotStore):
		return false, "", nil // our own driver says what is there
	}
	return false, "", err
}

// keepsHistory reports whether the history table belongs to this one. There is
// at most one in a database, and nothing in it says whose it is: beside the
// table with teff's own name it is taken for that one's, of any other table the
// URL has to say so, or two stores would write into each other's history.
func (s *server) keepsHistory(c catalog) bool {
	if s.asked != nil {
		return *s.asked
	}
	return c.history && len(s.table) == 1 && s.table[0] == defaultTable
}

func (s *server) location() string             { return s.place }
func (s *server) name(k stores.Key) stores.Key { return k }
func (s *server) sql(text string) string {
	return strings.ReplaceAll(text, "{table}", s.table.Sanitize())
}

func (s *server) close() error {
	s.pool.Close()
	return nil
}

// catalog is what a server says of teff's tables.
type catalog struct {
	database, role, encoding string
	readOnly, replica        bool
	found, ordinary, right   bool // there is a relation, it is a table, the role may read it
	missing                  string
	columns                  map[string]string
	history                  bool
}

func (s *server) inspect(ctx context.Context) (c catalog, err error) {
	columns, history := "", ""
	err = s.pool.QueryRow(ctx, `SELECT current_database()::text, current_user::text, current_setting('server_encoding'),
			current_setting('transaction_read_only') = 'on', pg_is_in_recovery(), t.oid IS NOT NULL, coalesce(t.relkind IN ('r', 'p'), false),
			coalesce(has_table_privilege(t.oid, 'SELECT'), false),
			coalesce((SELECT need FROM unnest(ARRAY['INSERT', 'UPDATE']) AS need WHERE NOT has_table_privilege(t.oid, need) LIMIT 1), ''),
			coalesce((SELECT string_agg(attname || ' ' || format_type(atttypid, atttypmod), E'\n') FROM pg_attribute WHERE attrelid = t.oid AND attnum > 0 AND NOT attisdropped), ''),
			coalesce((SELECT string_agg(attname || ' ' || format_type(atttypid, atttypmod), E'\n') FROM pg_attribute WHERE attrelid = h.oid AND attnum > 0 AND NOT attisdropped), '')
		FROM (VALUES (1)) AS one LEFT JOIN pg_class AS t ON t.oid = to_regclass($1) LEFT JOIN pg_class AS h ON h.oid = to_regclass($2)`,
		s.table.Sanitize(), historyTable).Scan(&c.database, &c.role, &c.encoding, &c.readOnly, &c.replica, &c.found, &c.ordinary, &c.right, &c.missing, &columns, &history)
	c.columns = typesIn(columns)
	h := typesIn(history)
	c.history = h["owner"] == "text" && h["checkpoint_id"] == "text" && h["iteration"] == "integer" && h["state"] == "jsonb" && h["next_node_id"] == "text"
	return c, err
}

func typesIn(text string) map[string]string {
	types := map[string]string{}
	for line := range strings.SplitSeq(text, "\n") {
		name, kind, _ := strings.Cut(line, " ")
		types[name] = kind
	}
	return types
}

// tableColumns are teff's. Its iteration may be wider in a table that was made
// by hand.
var tableColumns = map[string][]string{
	"owner": {"text"}, "checkpoint_id": {"text"}, "state": {"jsonb"}, "next_node_id": {"text"}, "iteration": {"integer", "bigint"},
	"updated_at": {"double precision"},
}

// check says why there is no table of teff's.
func (c catalog) check(s *server) error {
	name := s.table.Sanitize()
	switch {
	case !c.found:
		return fmt.Errorf("%w: looked for the table %s of teff in the database %q, found none; another name is given with ?format=teff&table=NAME", stores.ErrNotStore, name, c.database)
	case !c.ordinary:
		return fmt.Errorf("%w: %s is no table", stores.ErrNotStore, name)
	case c.encoding != "UTF8":
		return fmt.Errorf("%w: the database keeps text as %s", stores.ErrUnreadable, c.encoding)
	}
	for col, types := range tableColumns {
		if got := c.columns[col]; got != types[0] && got != types[len(types)-1] {
			return fmt.Errorf("%w: looked for the table %s of teff, found one in which %s is %s, not %s", stores.ErrNotStore, name, col, orMissing(got), types[0])
		}
	}
	if s.asked != nil && *s.asked && !c.history {
		return fmt.Errorf("%w: the URL says history=true, and there is no table %s of teff in the database %q", stores.ErrNotStore, historyTable, c.database)
	}
	if !c.right {
		return fmt.Errorf("%w: the role %q may not read %s; GRANT SELECT lets it", stores.ErrUnreadable, c.role, name)
	}
	return nil
}

func orMissing(s string) string {
	if s == "" {
		return "missing"
	}
	return s
}

func (s *server) info(ctx context.Context) (stores.Info, error) {
	info := stores.Info{Format: "teff PostgreSQL", Location: s.place}
	if s.history {
		info.Format = "teff PostgreSQL with history"
	}
	c, err := s.inspect(ctx)
	if err == nil {
		err = c.check(s)
	}
	if err != nil {
		return info, s.class(err)
	}
	switch {
	case c.replica:
		info.Why = "the server is a replica"
	case c.readOnly:
		info.Why = "the server is set read-only (default_transaction_read_only)"
	case c.missing != "":
		info.Why = fmt.Sprintf("the role %q has no right to %s on %s", c.role, c.missing, s.table.Sanitize())
	}
	info.ReadOnly = info.Why != ""
	return info, nil
}

// fingerprint names the transactions that are seen: it reads no table and
// misses no change, but those of other tables change it too.
func (s *server) fingerprint(ctx context.Context) (print string, settled bool, err error) {
	err = s.pool.QueryRow(ctx, `SELECT txid_current_snapshot()::text`).Scan(&print)
	return print, true, s.class(err)
}

// The columns of a row. Lists get of the state only the question and a digest.
const (
	selectWhole = `SELECT owner, checkpoint_id, state::text, next_node_id, iteration::bigint, updated_at, md5(state::text), octet_length(state::text) FROM {table}`
	selectBrief = `SELECT owner, checkpoint_id, CASE WHEN jsonb_typeof(state) <> 'object' THEN 'null' WHEN state->'` + interruptKey + `' IS NULL THEN '{}'
			ELSE jsonb_build_object('` + interruptKey + `', state->'` + interruptKey + `')::text END,
		next_node_id, iteration::bigint, updated_at, md5(state::text), octet_length(state::text) FROM {table}`
	selectSteps = `SELECT owner, checkpoint_id, state::text, next_node_id, iteration::bigint, NULL::double precision, md5(state::text), octet_length(state::text)
		FROM ` + historyTable + ` WHERE owner = $1 AND checkpoint_id = $2 AND iteration >= $3 ORDER BY iteration LIMIT $4`
)

func (s *server) query(ctx context.Context, keep bool, sql string, args ...any) ([]record, error) {
	rows, err := s.pool.Query(ctx, s.sql(sql), args...)
	if err != nil {
		return nil, s.class(err)
	}
	list, err := collectRecords(rows, keep)
	return list, s.class(err)
}

func collectRecords(rows pgx.Rows, keep bool) ([]record, error) {
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (record, error) {
		var owner, id, state, sum string
		var next *string
		var iteration, size int64
		var updated *float64
		if err := row.Scan(&owner, &id, &state, &next, &iteration, &updated, &sum, &size); err != nil {
			return record{}, err
		}
		c := columns{owner: owner, id: id, state: state, iteration: iteration}
		stamp := math.NaN()
		if next != nil {
			c.next = *next
		}
		if updated != nil {
			c.updated, stamp = *updated, *updated
		}
		r := c.record(keep)
		r.size = size
		r.digest = sha256.Sum256(fmt.Appendf(nil, "%s %q %t %d %x", sum, orEmpty(next), next != nil, iteration, math.Float64bits(stamp)))
		return r, nil
	})
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func (s *server) rows(ctx context.Context) ([]record, error) {
	return s.query(ctx, false, selectBrief)
}

func (s *server) row(ctx context.Context, k stores.Key) (record, error) {
	if !storable(k) {
		return record{}, stores.ErrNotFound
	}
	list, err := s.query(ctx, true, selectWhole+` WHERE owner = $1 AND checkpoint_id = $2`, k.Owner, k.Run)
	if err == nil && len(list) == 0 {
		err = stores.ErrNotFound
	}
	if err != nil {
		return record{}, err
	}
	return list[0], nil
}

// storable reports a key that the server's text can hold.
func storable(k stores.Key) bool {
	_, okOwner := text(k.Owner)
	_, okRun := text(k.Run)
	return okOwner && okRun && !strings.ContainsRune(k.Owner+k.Run, 0)
}

func (h historicalServer) steps(ctx context.Context, k stores.Key, from int64, limit int) ([]record, error) {
	if !storable(k) || from > math.MaxInt32 {
		return nil, nil
	}
	return h.query(ctx, true, selectSteps, k.Owner, k.Run, from, limit)
}

// class gives an error of the server or the network its class.
func (s *server) class(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) && !isConnect(err) {
		return err
	}
	for _, known := range []error{stores.ErrNotStore, stores.ErrUnreadable, stores.ErrInvalid, stores.ErrNotFound, stores.ErrUnavailable, stores.ErrConflict, stores.ErrReadOnly, stores.ErrUnknown, stores.ErrBusy, stores.ErrFull} {
		if errors.Is(err, known) {
			return err
		}
	}
	e, told := errors.AsType[*pgconn.PgError](err)
	if !told {
		return fmt.Errorf("%w: %w", stores.ErrUnavailable, err)
	}
	switch {
	case e.Code == "42501":
		return fmt.Errorf("%w: the role lacks a right: %w", stores.ErrUnreadable, err)
	case e.Code == "25006":
		return fmt.Errorf("%w: %w", stores.ErrReadOnly, err)
	case e.Code == "53100":
		return fmt.Errorf("%w: %w", stores.ErrFull, err)
	case e.Code == "40001", e.Code == "40P01", e.Code == "55P03", e.Code == "57014":
		return fmt.Errorf("%w: %w", stores.ErrBusy, err)
	case strings.HasPrefix(e.Code, "08"), strings.HasPrefix(e.Code, "28"), strings.HasPrefix(e.Code, "53"), strings.HasPrefix(e.Code, "57"), e.Code == "3D000":
		return fmt.Errorf("%w: %w", stores.ErrUnavailable, err)
	}
	return fmt.Errorf("%w: %w", stores.ErrUnreadable, err)
}

func isConnect(err error) bool {
	_, is := errors.AsType[*pgconn.ConnectError](err)
	return is
}
