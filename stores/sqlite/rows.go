package sqlite

import (
	"bytes"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/flowtui/flowtui/stores"
)

// Anybody with a SQLite shell can put anything into any column. A row is
// therefore scanned column by column, and what does not fit is noted as a
// reason instead of failing the whole query.

// row collects the reasons why the row being scanned is bad.
type row struct{ bad string }

func (r *row) note(format string, args ...any) {
	if r.bad == "" {
		r.bad = fmt.Sprintf(format, args...)
	}
}

// column scans one value; it never fails.
type column func(v any)

// Scan implements sql.Scanner.
func (c column) Scan(v any) error { c(v); return nil }

func (r *row) text(name string, p *string) column {
	return func(v any) { *p = r.asText(name, v) }
}

func (r *row) asText(name string, v any) string {
	s, ok := v.(string)
	switch {
	case !ok:
		r.note("%s is %s instead of text", name, typeName(v))
		if b, isBlob := v.([]byte); isBlob {
			s = string(b)
		}
	case !utf8.ValidString(s):
		r.note("%s is not UTF-8", name)
	}
	return s
}

// number scans an integer that is never negative.
func (r *row) number(name string, p *int64) column {
	return func(v any) { *p = r.asNumber(name, v) }
}

func (r *row) asNumber(name string, v any) int64 {
	n, ok := v.(int64)
	switch {
	case !ok:
		r.note("%s is %s instead of an integer", name, typeName(v))
	case n < 0:
		r.note("%s is %d", name, n)
	}
	return n
}

func (r *row) small(name string, p *int) column {
	return func(v any) { *p = int(r.asNumber(name, v)) }
}

func (r *row) flag(name string, p *bool) column {
	return func(v any) {
		n, ok := v.(int64)
		if !ok || n < 0 || n > 1 {
			r.note("%s is neither 0 nor 1", name)
		}
		*p = n == 1
	}
}

// bytes scans a blob. Text is as good: its bytes are what was stored.
func (r *row) bytes(name string, p *[]byte) column {
	return func(v any) {
		switch v := v.(type) {
		case []byte:
			*p = bytes.Clone(v)
		case string:
			*p = []byte(v)
		default:
			r.note("%s is %s instead of bytes", name, typeName(v))
			*p = nil
		}
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
		*p = stores.Status(r.asText("status", v))
		if !p.Valid() {
			r.note("status is %q", *p)
		}
	}
}

func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "NULL"
	case int64:
		return "an integer"
	case float64:
		return "a real"
	case string:
		return "text"
	}
	return "a blob"
}

// collect scans all rows. bind gives the columns that fill *into; finish keeps
// the reason of a bad row. Rows that were read before an error are returned
// with it.
func collect[T any](rows scanner, err error, bind func(r *row, into *T) []any, finish func(into *T, bad string)) ([]T, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var (
		all   []T
		r     row
		into  T
		blank T
		dest  = bind(&r, &into)
	)
	for rows.Next() {
		r.bad, into = "", blank
		if err := rows.Scan(dest...); err != nil {
			return all, err
		}
		finish(&into, r.bad)
		all = append(all, into)
	}
	return all, rows.Err()
}

// one is the first of what collect found, or ErrNotFound.
func one[T any](all []T, err error) (T, error) {
	if len(all) == 0 && err == nil {
		err = stores.ErrNotFound
	}
	if err != nil {
		var none T
		return none, err
	}
	return all[0], nil
}

// The columns of every table start with those of its place and end with those
// of its seal, before the payload.

func (r *row) place(p *stores.Place) []any {
	return []any{r.text("owner", &p.Owner), r.text("run", &p.Run), r.text("store", &p.Store), r.text("incarnation", &p.Incarnation)}
}

func (r *row) seal(s *stores.Seal) []any {
	return []any{r.small("format", &s.Format), r.text("key_id", &s.KeyID), r.bytes("prev", &s.Prev), r.bytes("mac", &s.MAC)}
}

// micro is the stored form of a time.
func micro(t time.Time) int64 { return t.UnixMicro() }

// bit is the stored form of a bool.
func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
