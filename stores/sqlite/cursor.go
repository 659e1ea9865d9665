package sqlite

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"

	"github.com/flowtui/flowtui/stores"
)

// cursor is the place of the last head of a page: updated, owner and run as
// SQLite keeps them, which after tampering may be of any type.
type cursor [3]any

// wire is one value of a cursor.
type wire struct {
	Integer *int64  `json:"i,omitempty"`
	Real    *uint64 `json:"r,omitempty"` // its bits, because JSON has no infinity
	Text    []byte  `json:"t,omitempty"` // bytes, because it may not be UTF-8
	Blob    []byte  `json:"b,omitempty"`
}

func (c cursor) String() string {
	var w [3]wire
	for i, v := range c {
		switch v := v.(type) {
		case int64:
			w[i].Integer = &v
		case float64:
			bits := math.Float64bits(v)
			w[i].Real = &bits
		case string:
			w[i].Text = []byte(v)
		case []byte:
			w[i].Blob = v
		}
	}
	b, _ := json.Marshal(w) // a struct of numbers and bytes always marshals
	return base64.RawURLEncoding.EncodeToString(b)
}

// parseCursor returns nil for the first page.
func parseCursor(s string) (*cursor, error) {
	if s == "" {
		return nil, nil
	}
	var w []wire
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err == nil {
		err = json.Unmarshal(b, &w)
	}
	if err != nil || len(w) != 3 {
		return nil, fmt.Errorf("%w: cursor %q", stores.ErrInvalid, s)
	}
	var c cursor
	for i, v := range w {
		switch {
		case v.Integer != nil:
			c[i] = *v.Integer
		case v.Real != nil:
			c[i] = math.Float64frombits(*v.Real)
		case v.Blob != nil:
			c[i] = v.Blob
		default:
			c[i] = string(v.Text)
		}
	}
	return &c, nil
}

// keep copies a value that the driver may use again.
func keep(v any) any {
	if b, ok := v.([]byte); ok {
		return bytes.Clone(b)
	}
	return v
}

// comparePlaces is the order of lists: newest update, then owner, then run.
func comparePlaces(a, b [3]any) int {
	return cmp.Or(compareValues(b[0], a[0]), compareValues(a[1], b[1]), compareValues(a[2], b[2]))
}

// compareValues is SQLite's order: numbers, then text, then blobs.
func compareValues(a, b any) int {
	if n := cmp.Compare(rank(a), rank(b)); n != 0 {
		return n
	}
	switch a := a.(type) {
	case int64:
		if b, ok := b.(int64); ok {
			return cmp.Compare(a, b)
		}
		return cmp.Compare(float64(a), b.(float64))
	case float64:
		if b, ok := b.(int64); ok {
			return cmp.Compare(a, float64(b))
		}
		return cmp.Compare(a, b.(float64))
	case string:
		return cmp.Compare(a, b.(string))
	case []byte:
		return bytes.Compare(a, b.([]byte))
	}
	return 0
}

func rank(v any) int {
	switch v.(type) {
	case int64, float64:
		return 1
	case string:
		return 2
	case []byte:
		return 3
	}
	return 0
}
