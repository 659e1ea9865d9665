package stores_test

import (
	"errors"
	"io/fs"
	"testing"
	"time"

	"github.com/flowtui/flowtui/stores"
)

func TestQuerySize(t *testing.T) {
	for limit, want := range map[int]int{0: stores.DefaultLimit, 1: 1, stores.MaxLimit: stores.MaxLimit} {
		if got, err := (stores.Query{Limit: limit}).Size(); got != want || err != nil {
			t.Errorf("limit %d gives %d, %v", limit, got, err)
		}
	}
	for _, limit := range []int{-1, stores.MaxLimit + 1} {
		if _, err := (stores.Query{Limit: limit}).Size(); !errors.Is(err, stores.ErrInvalid) {
			t.Errorf("limit %d: got %v, want %v", limit, err, stores.ErrInvalid)
		}
	}
}

func TestFilterMatches(t *testing.T) {
	h := stores.Head{Place: place, Status: stores.StatusRunning, Flow: "tickets", Open: 1}
	h.Run = "Ticket-7é"
	for name, c := range map[string]struct {
		f    stores.Filter
		want bool
	}{
		"zero filter":     {stores.Filter{}, false},
		"any owner":       {stores.Filter{Owner: stores.AnyOwner}, true},
		"owner":           {stores.Filter{Owner: "o"}, true},
		"another owner":   {stores.Filter{Owner: "p"}, false},
		"status":          {stores.Filter{Owner: "o", Statuses: []stores.Status{stores.StatusDone, stores.StatusRunning}}, true},
		"another status":  {stores.Filter{Owner: "o", Statuses: []stores.Status{stores.StatusDone}}, false},
		"open":            {stores.Filter{Owner: "o", Open: true}, true},
		"flow":            {stores.Filter{Owner: "o", Flow: "tickets"}, true},
		"part of a flow":  {stores.Filter{Owner: "o", Flow: "ticket"}, false},
		"text":            {stores.Filter{Owner: "o", Text: "KET-7"}, true},
		"text, not ASCII": {stores.Filter{Owner: "o", Text: "É"}, false},
		"a wildcard":      {stores.Filter{Owner: "o", Text: "%"}, false},
	} {
		if got := c.f.Matches(h); got != c.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

func TestOpenCalls(t *testing.T) {
	call := func(segment, n int64, status stores.CallStatus) stores.Call {
		return stores.Call{Segment: segment, N: n, Step: 5, Node: "a", Ordinal: 1, Status: status}
	}
	h := stores.Head{Status: stores.StatusRunning, Step: 6, Base: 5}
	for name, c := range map[string]struct {
		calls []stores.Call
		want  int64
	}{
		"none":                        {nil, 0},
		"started":                     {[]stores.Call{call(1, 1, stores.CallStarted)}, 1},
		"out of order":                {[]stores.Call{call(1, 2, stores.CallDone), call(1, 1, stores.CallStarted)}, 0},
		"the newest segment decides":  {[]stores.Call{call(1, 9, stores.CallDone), call(2, 1, stores.CallStarted)}, 1},
		"unrecordable":                {[]stores.Call{call(1, 1, stores.CallUnrecordable)}, 1},
		"another superstep's":         {[]stores.Call{{Segment: 1, N: 1, Step: 6, Status: stores.CallStarted}}, 0},
		"idempotent":                  {[]stores.Call{{Segment: 1, N: 1, Step: 5, Idempotent: true, Status: stores.CallStarted}}, 0},
		"two calls of different name": {[]stores.Call{call(1, 1, stores.CallStarted), {Segment: 1, N: 2, Step: 5, Node: "b", Ordinal: 1, Status: stores.CallStarted}}, 2},
	} {
		if got := stores.OpenCalls(h, c.calls); got != c.want {
			t.Errorf("%s: got %d, want %d", name, got, c.want)
		}
	}
	h.Status = stores.StatusPaused
	if got := stores.OpenCalls(h, []stores.Call{call(1, 1, stores.CallStarted)}); got != 0 {
		t.Errorf("a paused run has %d open calls", got)
	}
}

func TestMicro(t *testing.T) {
	in := time.Date(2026, 1, 2, 3, 4, 5, 999_999_999, time.FixedZone("", 3600))
	if got, want := stores.Micro(in), time.Date(2026, 1, 2, 2, 4, 5, 999_999_000, time.UTC); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if !stores.Micro(time.Time{}).IsZero() {
		t.Error("the zero time is not zero any more")
	}
}

func TestOpError(t *testing.T) {
	err := error(&stores.OpError{
		Op: "save", Store: "x.db", Key: stores.Key{Owner: "alice", Run: "r"},
		Class: stores.ErrFull, Err: fs.ErrPermission, Why: "nothing was saved",
	})
	if want := `save "r" of "alice" in x.db: disk is full: nothing was saved: permission denied`; err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
	if !errors.Is(err, stores.ErrFull) || !errors.Is(err, fs.ErrPermission) || errors.Is(err, stores.ErrBusy) {
		t.Error("the class or the cause cannot be reached")
	}
	plain := &stores.OpError{Op: "info", Key: stores.Key{Owner: stores.DefaultOwner, Run: "r"}}
	if want := `info "r"`; plain.Error() != want {
		t.Errorf("got %s, want %s", plain, want)
	}
}
