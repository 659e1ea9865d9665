package stores

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// The limits of one page of a list.
const (
	DefaultLimit = 100
	MaxLimit     = 1000
)

// Size is the number of heads to return, or ErrInvalid for a bad Limit.
func (q Query) Size() (int, error) {
	switch {
	case q.Limit == 0:
		return DefaultLimit, nil
	case q.Limit < 0 || q.Limit > MaxLimit:
		return 0, fmt.Errorf("%w: limit %d, it goes from 1 to %d", ErrInvalid, q.Limit, MaxLimit)
	}
	return q.Limit, nil
}

// Matches reports whether the filter selects the run with head h.
func (f Filter) Matches(h Head) bool {
	switch {
	case f.Owner != AnyOwner && f.Owner != h.Owner:
		return false
	case len(f.Statuses) > 0 && !slices.Contains(f.Statuses, h.Status):
		return false
	case f.Open && h.Open == 0:
		return false
	case f.Flow != "" && f.Flow != h.Flow:
		return false
	}
	return strings.Contains(lowerASCII(h.Run), lowerASCII(f.Text))
}

// lowerASCII folds the letters A to Z only, as every database can.
func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, s)
}

// OpenCalls is the value of Head.Open for a run with head h and these call
// records, in any order. A call is named by its node and ordinal. None of it is
// signed or opened here, so it is a bound: of a call that a person resolved, and
// whose old worker said later that it could not keep the result, the payloads tell
// that it is not in doubt.
func OpenCalls(h Head, calls []Call) int64 {
	if h.Status != StatusRunning {
		return 0
	}
	type id struct {
		node    string
		ordinal int64
	}
	newest := map[id]Call{}
	for _, c := range calls {
		if c.Step != h.Base {
			continue
		}
		k := id{c.Node, c.Ordinal}
		old, seen := newest[k]
		if !seen || c.Segment > old.Segment || c.Segment == old.Segment && c.N > old.N {
			newest[k] = c
		}
	}
	var n int64
	for _, c := range newest {
		if c.Open() {
			n++
		}
	}
	return n
}

// Micro is t as a store keeps it: UTC, with a precision of one microsecond.
func Micro(t time.Time) time.Time { return time.UnixMicro(t.UnixMicro()).UTC() }
