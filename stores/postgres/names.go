package postgres

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/flowtui/flowtui/stores"
)

// DefaultSchema is the schema of a store whose URL names none.
const DefaultSchema = "flowtui"

// maxName is what PostgreSQL keeps of a name, in bytes; it cuts the rest off
// without an error, and two names would become one.
const maxName = 63

// tableNames are the tables of a store, without their prefix.
var tableNames = []string{"meta", "checkpoints", "runs", "calls", "events", "graphs", "leases"}

var indexNames = []string{"runs_updated", "runs_status", "runs_owner", "runs_flow", "runs_open", "calls_step"}

// names turns {table} in a statement into the quoted name of a table.
type names struct {
	schema, prefix string
	replace        *strings.Replacer
}

func newNames(schema, prefix string) (names, error) {
	n := names{schema: schema, prefix: prefix}
	if err := validName("schema", schema, schema); err != nil {
		return n, err
	}
	if strings.HasPrefix(schema, "pg_") {
		return n, fmt.Errorf("%w: schema %q: the server keeps names with pg_ for itself", stores.ErrInvalid, schema)
	}
	pairs := []string{"{schema}", pgx.Identifier{schema}.Sanitize(), "{now}", now}
	for _, t := range tableNames {
		if err := validName("prefix", prefix, prefix+t); err != nil {
			return n, err
		}
		pairs = append(pairs, "{"+t+"}", pgx.Identifier{schema, prefix + t}.Sanitize())
	}
	for _, i := range indexNames {
		if err := validName("prefix", prefix, prefix+i); err != nil {
			return n, err
		}
		pairs = append(pairs, "{"+i+"}", pgx.Identifier{prefix + i}.Sanitize())
	}
	n.replace = strings.NewReplacer(pairs...)
	return n, nil
}

// validName checks what a part of a name that was given makes of the name.
func validName(what, given, name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%w: the %s is empty", stores.ErrInvalid, what)
	case len(name) > maxName:
		return fmt.Errorf("%w: %s %q makes the name %q of %d bytes, the server keeps %d", stores.ErrInvalid, what, given, name, len(name), maxName)
	case !utf8.ValidString(name) || strings.ContainsRune(name, 0):
		return fmt.Errorf("%w: %s %q is not UTF-8 or has a NUL character", stores.ErrInvalid, what, given)
	}
	return nil
}

// now is the server's clock in microseconds.
const now = `(extract(epoch FROM clock_timestamp()) * 1000000::numeric)::bigint`

func (n names) sql(text string) string { return n.replace.Replace(text) }

// topic is what a NOTIFY on the channel says to tell this store from others.
func (n names) topic() string { return n.schema + "." + n.prefix }

func (n names) quoted(table string) string {
	return pgx.Identifier{n.schema, n.prefix + table}.Sanitize()
}
