package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"

	"github.com/flowtui/flowtui/stores"
)

// tx is a write transaction. It uses the driver's connection itself, inside of
// sql.Conn.Raw: what database/sql does around a statement (locks, copies of its
// arguments) is a good part of what a short one costs.
type tx struct {
	ctx  context.Context // cannot end
	w    *writer
	conn any // the driver's connection
	own  *effect
}

func (t tx) prepare(query string) (*prepared, error) {
	if st, ok := t.w.statements[query]; ok {
		st.n = 0
		return st, nil
	}
	stmt, err := t.conn.(driver.ConnPrepareContext).PrepareContext(t.ctx, query)
	if err != nil {
		return nil, err
	}
	st := &prepared{stmt: stmt}
	t.w.statements[query] = st
	return st, nil
}

func (t tx) exec(query string, args ...any) (driver.Result, error) {
	st, err := t.prepare(query)
	if err == nil {
		err = st.values(args)
	}
	if err != nil {
		return nil, err
	}
	return st.exec(t.ctx)
}

func (t tx) run(query string, args ...any) error {
	_, err := t.exec(query, args...)
	return err
}

// insert writes exactly one row: an insert that a trigger swallowed must not
// count as kept.
func (t tx) insert(st *prepared) error {
	res, err := st.exec(t.ctx)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n != 1 {
		return errors.Join(fmt.Errorf("%w: %d rows were written instead of 1", stores.ErrUnreadable, n), err)
	}
	return nil
}

func (t tx) query(query string, args ...any) (scanner, error) {
	st, err := t.prepare(query)
	if err == nil {
		err = st.values(args)
	}
	if err != nil {
		return nil, err
	}
	rows, err := st.query(t.ctx)
	if err != nil {
		return nil, err
	}
	return &found{rows: rows, values: make([]driver.Value, len(rows.Columns()))}, nil
}

// rollback ends a failed transaction. Its own error says nothing: after some
// failures SQLite has rolled back by itself.
func (t tx) rollback() {
	t.w.forget()
	_ = t.run("ROLLBACK")
}

// scanner is what *sql.Rows and found have in common.
type scanner interface {
	Next() bool
	Scan(into ...any) error
	Err() error
	Close() error
}

// found are the rows of a query within a transaction.
type found struct {
	rows   driver.Rows
	values []driver.Value
	err    error
}

func (f *found) Next() bool {
	f.err = f.rows.Next(f.values)
	return f.err == nil
}

func (f *found) Err() error {
	if errors.Is(f.err, io.EOF) {
		return nil
	}
	return f.err
}

func (f *found) Close() error { return f.rows.Close() }

// Scan needs columns, or integers and flags that the query itself computes.
func (f *found) Scan(into ...any) error {
	if len(into) != len(f.values) {
		return fmt.Errorf("sqlite: %d columns were read into %d places", len(f.values), len(into))
	}
	for i, v := range f.values {
		if c, ok := into[i].(column); ok {
			c(v)
			continue
		}
		n, ok := v.(int64)
		switch p := into[i].(type) {
		case *int64:
			*p = n
		case *bool:
			*p = n != 0
		default:
			ok = false
		}
		if !ok {
			return fmt.Errorf("sqlite: column %d is %s, which does not go into a %T", i+1, typeName(v), into[i])
		}
	}
	return nil
}
