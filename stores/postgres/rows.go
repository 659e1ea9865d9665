package postgres

import (
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/flowtui/flowtui/stores"
)

// Anybody who may alter the tables can put anything into any column. A row is
// therefore read column by column, and what does not fit is noted as a reason
// instead of failing the whole query.

// row collects the reasons why the row being read is bad.
type row struct{ bad string }

func (r *row) note(format string, args ...any) {
	if r.bad == "" {
		r.bad = fmt.Sprintf(format, args...)
	}
}

// column takes one value; it never fails.
type column func(v any)

func (r *row) text(name string, p *string) column {
	return func(v any) {
		s, ok := v.(string)
		if !ok {
			r.note("%s is %s instead of text", name, typeName(v))
		}
		*p = s
	}
}

// number takes an integer that is never negative.
func (r *row) number(name string, p *int64) column {
	return func(v any) {
		n, ok := v.(int64)
		switch {
		case !ok:
			r.note("%s is %s instead of an integer", name, typeName(v))
		case n < 0:
			r.note("%s is %d", name, n)
		}
		*p = n
	}
}

func (r *row) small(name string, p *int) column {
	return func(v any) {
		var n int64
		r.number(name, &n)(v)
		*p = int(n)
	}
}

func (r *row) flag(name string, p *bool) column {
	return func(v any) {
		b, ok := v.(bool)
		if !ok {
			r.note("%s is %s instead of a boolean", name, typeName(v))
		}
		*p = b
	}
}

func (r *row) bytes(name string, p *[]byte) column {
	return func(v any) {
		b, ok := v.([]byte)
		if !ok {
			r.note("%s is %s instead of bytes", name, typeName(v))
		}
		*p = b
	}
}

// The years that a time can be shown in.
var (
	minTime = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
	maxTime = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro() - 1
)

func (r *row) time(name string, p *time.Time) column {
	return func(v any) {
		n, ok := v.(int64)
		switch {
		case !ok:
			r.note("%s is %s instead of an integer", name, typeName(v))
		case n < minTime || n > maxTime:
			r.note("%s is out of range", name)
			n = 0
		}
		*p = time.UnixMicro(n).UTC()
	}
}

func (r *row) status(p *stores.Status) column {
	return func(v any) {
		var s string
		r.text("status", &s)(v)
		*p = stores.Status(s)
		if !p.Valid() {
			r.note("status is %q", s)
		}
	}
}

func typeName(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case int64:
		return "an integer"
	case bool:
		return "a boolean"
	case string:
		return "text"
	case foreign:
		return fmt.Sprintf("of a type (%d)", v.oid)
	}
	return "bytes"
}

// collect reads all rows of a result. bind gives the columns that fill *into;
// finish keeps the reason of a bad row.
func collect[T any](res *pgconn.Result, bind func(r *row, into *T) []column, finish func(into *T, bad string)) []T {
	var (
		all   []T
		r     row
		into  T
		blank T
		dest  = bind(&r, &into)
	)
	for _, values := range res.Rows {
		r.bad, into = "", blank
		for i, take := range dest {
			if i >= len(values) {
				take(nil)
				continue
			}
			take(decode(res.FieldDescriptions[i].DataTypeOID, values[i]))
		}
		finish(&into, r.bad)
		all = append(all, into)
	}
	return all
}

// one is the first of what collect found, or ErrNotFound.
func one[T any](all []T) (T, error) {
	if len(all) == 0 {
		var none T
		return none, stores.ErrNotFound
	}
	return all[0], nil
}

// facts reads the first row of a result whose columns are of known types.
func facts(res *pgconn.Result, dest ...column) error {
	if len(res.Rows) == 0 {
		return fmt.Errorf("%w: the server sent no row", stores.ErrUnreadable)
	}
	for i, take := range dest {
		take(decode(res.FieldDescriptions[i].DataTypeOID, res.Rows[0][i]))
	}
	return nil
}

// The columns of every table start with those of its place and end with those
// of its seal, before the payload.

func (r *row) place(p *stores.Place) []column {
	return []column{r.text("owner", &p.Owner), r.text("run", &p.Run), r.text("store", &p.Store), r.text("incarnation", &p.Incarnation)}
}

func (r *row) seal(s *stores.Seal) []column {
	return []column{r.small("format", &s.Format), r.text("key_id", &s.KeyID), r.bytes("prev", &s.Prev), r.bytes("mac", &s.MAC)}
}

func placeArgs(p stores.Place) []any { return []any{p.Owner, p.Run, p.Store, p.Incarnation} }

func sealArgs(s stores.Seal) []any {
	return []any{int64(s.Format), s.KeyID, blob(s.Prev), blob(s.MAC)}
}

// blob keeps nil, which is sent as NULL, out of columns that are NOT NULL.
func blob(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// micro is the stored form of a time.
func micro(t time.Time) int64 { return t.UnixMicro() }
