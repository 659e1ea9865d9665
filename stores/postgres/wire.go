package postgres

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/flowtui/flowtui/stores"
)

// Arguments go out and values come back in the binary format, with their types
// said by the client. So a statement needs no round trip to be described and
// leaves nothing in the session, and bytes are sent as they are.

// statement is SQL with its arguments: int64, bool, string, []byte, or slices
// of these. A nil []byte is NULL.
type statement struct {
	sql      string
	args     []any
	prepared *pgconn.StatementDescription // nil unless it was
}

func ask(sql string, args ...any) statement { return statement{sql: sql, args: args} }

const (
	binaryFormat = 1
	maxMessage   = 1<<30 - 1<<20 // the rest is for what is around the values
)

// appendTo adds the statement to a batch.
func (s statement) appendTo(b *pgconn.Batch) error {
	values := make([][]byte, len(s.args))
	types := make([]uint32, len(s.args))
	size := 0
	for i, arg := range s.args {
		var err error
		if types[i], values[i], err = encode(arg); err != nil {
			return err
		}
		size += len(values[i])
	}
	if size > maxMessage {
		return fmt.Errorf("%w: %d bytes in one write, PostgreSQL takes less than 1 GB", stores.ErrInvalid, size)
	}
	if s.prepared != nil {
		b.ExecStatement(s.prepared, values, []int16{binaryFormat}, []int16{binaryFormat})
		return nil
	}
	b.ExecParams(s.sql, values, types, []int16{binaryFormat}, []int16{binaryFormat})
	return nil
}

func encode(arg any) (oid uint32, value []byte, err error) {
	switch v := arg.(type) {
	case int64:
		return pgtype.Int8OID, binary.BigEndian.AppendUint64(nil, uint64(v)), nil
	case bool:
		return pgtype.BoolOID, []byte{bit(v)}, nil
	case string:
		if !utf8.ValidString(v) || strings.ContainsRune(v, 0) {
			return 0, nil, fmt.Errorf("%w: the text %.100q is not UTF-8 or has a NUL character", stores.ErrInvalid, v)
		}
		return pgtype.TextOID, append([]byte{}, v...), nil
	case []byte:
		return pgtype.ByteaOID, v, nil
	case []int64:
		return array(pgtype.Int8ArrayOID, v)
	case []bool:
		return array(pgtype.BoolArrayOID, v)
	case []string:
		return array(pgtype.TextArrayOID, v)
	case [][]byte:
		return array(pgtype.ByteaArrayOID, v)
	}
	return 0, nil, fmt.Errorf("cannot send a %T", arg)
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// array encodes a slice as an array of one dimension without NULLs.
func array[T any](oid uint32, list []T) (uint32, []byte, error) {
	var none T
	element, _, err := encode(any(none))
	if err != nil {
		return 0, nil, err
	}
	head := func(words ...uint32) (b []byte) {
		for _, w := range words {
			b = binary.BigEndian.AppendUint32(b, w)
		}
		return b
	}
	if len(list) == 0 {
		return oid, head(0, 0, element), nil
	}
	b := head(1, 0, element, uint32(len(list)), 1)
	for _, v := range list {
		_, value, err := encode(any(v))
		if err != nil {
			return 0, nil, err
		}
		b = binary.BigEndian.AppendUint32(b, uint32(len(value)))
		b = append(b, value...)
	}
	return oid, b, nil
}

// foreign is a value of a type that no column of a store has.
type foreign struct{ oid uint32 }

// decode gives nil, int64, bool, string, []byte or foreign.
func decode(oid uint32, value []byte) any {
	if value == nil {
		return nil
	}
	switch {
	case oid == pgtype.Int8OID && len(value) == 8:
		return int64(binary.BigEndian.Uint64(value))
	case oid == pgtype.Int4OID && len(value) == 4:
		return int64(int32(binary.BigEndian.Uint32(value)))
	case oid == pgtype.BoolOID && len(value) == 1:
		return value[0] != 0
	case oid == pgtype.TextOID:
		return string(value)
	case oid == pgtype.ByteaOID:
		return value
	}
	return foreign{oid}
}

// send runs statements in one round trip and returns their results; with an
// error, those that came before it.
func send(ctx context.Context, conn *pgconn.PgConn, list ...statement) ([]*pgconn.Result, error) {
	var b pgconn.Batch
	for _, st := range list {
		if err := st.appendTo(&b); err != nil {
			return nil, err
		}
	}
	return conn.ExecBatch(ctx, &b).ReadAll()
}
