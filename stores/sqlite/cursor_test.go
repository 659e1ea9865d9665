package sqlite

import (
	"math"
	"reflect"
	"testing"
)

// TestCursorKeepsTypes: a page may end at a row that somebody spoiled.
func TestCursorKeepsTypes(t *testing.T) {
	for _, c := range []cursor{
		{int64(7), "owner", "run"},
		{int64(math.MinInt64), "a\xffb", "é\x1b"},
		{1.5, "", "run"},
		{math.Inf(-1), []byte{0, 1}, []byte("run")},
		{"text", "1", "2"},
	} {
		got, err := parseCursor(c.String())
		if err != nil || !reflect.DeepEqual(*got, c) {
			t.Errorf("%#v became %#v, %v", c, got, err)
		}
	}
}

// FuzzCursor: a cursor comes from outside. It is refused or usable.
func FuzzCursor(f *testing.F) {
	f.Add("")
	f.Add("W10")
	f.Add(cursor{int64(7), "owner", "run"}.String())
	f.Fuzz(func(t *testing.T, s string) {
		c, err := parseCursor(s)
		if err != nil || c == nil {
			return
		}
		again, err := parseCursor(c.String())
		if err != nil || comparePlaces(*c, *again) != 0 {
			t.Errorf("%q became %#v, then %#v, %v", s, c, again, err)
		}
	})
}
