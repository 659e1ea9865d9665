package redis_test

import (
	"fmt"
	"testing"

	client "github.com/redis/go-redis/v9"

	"github.com/flowtui/flowtui/internal/testservers"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/storetest"
)

// standings are where a run may stand, nil for no run.
func standings(numbers ...int64) []*stores.Checkpoint {
	all := []*stores.Checkpoint{nil}
	for _, step := range numbers {
		for _, segment := range numbers[1:] {
			for _, st := range []stores.Status{stores.StatusRunning, stores.StatusPaused, stores.StatusDone, stores.StatusFailed} {
				all = append(all, &stores.Checkpoint{Place: place("r"), Step: step, Segment: segment, Status: st})
			}
		}
	}
	return all
}

// stand puts the run r where last says.
func stand(t *testing.T, c *client.Client, last *stores.Checkpoint) {
	t.Helper()
	must(t, c, "DEL", runKey("r"))
	must(t, c, "HDEL", "{flowtui}:index", "7:default:r")
	if last != nil {
		must(t, c, "HSET", runKey("r"), "step", last.Step, "segment", last.Segment, "base", 0,
			"status", string(last.Status), "incarnation", last.Incarnation)
	}
}

func show(c *stores.Checkpoint) string {
	if c == nil {
		return "no run"
	}
	return fmt.Sprintf("step %d, segment %d, %s, %s", c.Step, c.Segment, c.Status, c.Incarnation)
}

// The rules of the contract are in Go; the scripts repeat them. Both agree on
// every pair of standings, also where Lua's numbers lose digits.
func TestScriptsKeepTheContractsRules(t *testing.T) {
	server := testservers.Redis(t)
	s := create(t, server.URL)
	c := raw(t, server.URL)
	for _, numbers := range [][]int64{{0, 1, 2}, {9, 10, 11}, {1<<53 - 1, 1 << 53, 1<<53 + 1, 1<<53 + 2}} {
		for _, last := range standings(numbers...) {
			for _, next := range standings(numbers...) {
				if next == nil {
					continue
				}
				for _, life := range []string{"first", "second"} {
					p := place("r")
					p.Incarnation = life
					follows(t, s, c, last, storetest.Step(p, next.Step, status(next.Status), func(c *stores.Checkpoint) {
						c.Segment, c.Base = next.Segment, 0
					}))
				}
			}
			for _, segment := range numbers[1:] {
				for _, st := range []stores.CallStatus{stores.CallStarted, stores.CallDone, stores.CallResolved} {
					for _, life := range []string{"first", "second"} {
						p := place("r")
						p.Incarnation = life
						records(t, s, c, last, storetest.Record(p, segment, 1, func(c *stores.Call) { c.Status = st }))
					}
				}
			}
		}
	}
}

func follows(t *testing.T, s stores.Store, c *client.Client, last *stores.Checkpoint, w stores.Save) {
	t.Helper()
	stand(t, c, last)
	want, got := w.Checkpoint.Follows(last), s.Save(t.Context(), w)
	if (want == nil) != (got == nil) {
		t.Errorf("%s after %s: the rule says %v, the store %v", show(&w.Checkpoint), show(last), want, got)
	} else if want != nil {
		fails(t, show(&w.Checkpoint), got, stores.ErrConflict, want.Error())
	}
}

func records(t *testing.T, s stores.Store, c *client.Client, last *stores.Checkpoint, r stores.Call) {
	t.Helper()
	stand(t, c, last)
	want, got := r.MayRecord(last), s.RecordCall(t.Context(), stores.CallWrite{Call: r})
	if (want == nil) != (got == nil) {
		t.Errorf("a record of segment %d, %s, %s when the run is at %s: the rule says %v, the store %v",
			r.Segment, r.Status, r.Incarnation, show(last), want, got)
	} else if want != nil {
		class := stores.ErrConflict
		if last == nil {
			class = stores.ErrNotFound
		}
		fails(t, "record", got, class, want.Error())
	}
}

// Numbers and times beyond 2^53 come back with every digit, in their order.
func TestGreatNumbers(t *testing.T) {
	server := testservers.Redis(t)
	s := create(t, server.URL, "r")
	c := raw(t, server.URL)
	const great = int64(1)<<53 + 1
	p := place("r")
	must(t, c, "HSET", runKey("r"), "step", great-1, "segment", great-1)
	save(t, s, storetest.Step(p, great, func(c *stores.Checkpoint) {
		c.Segment, c.Base, c.Calls, c.Events = great, great, great, great
	}))
	for n := range int64(2) {
		r := storetest.Record(p, great, great+n, func(c *stores.Call) { c.Step, c.Ordinal = great, 1 })
		if n == 1 {
			r.Status = stores.CallDone
		}
		w := stores.CallWrite{Call: r, Events: []stores.Event{storetest.Event(p, great+n)}}
		if err := s.RecordCall(t.Context(), w); err != nil {
			t.Fatal(err)
		}
		h, err := s.Head(t.Context(), p.Key)
		if err != nil || h.Open != 1-n || h.Step != great || h.Segment != great {
			t.Errorf("head is %+v, %v", h, err)
		}
	}
	last, err := s.Latest(t.Context(), p.Key)
	if err != nil || last.Step != great || last.Segment != great || last.Calls != great || last.Events != great {
		t.Errorf("latest is %+v, %v", last, err)
	}
	for since, want := range map[int64]int{0: 2, great: 2, great + 1: 0, 1<<63 - 1: 0} {
		calls, err := s.Calls(t.Context(), p.Key, since)
		if err != nil || len(calls) != want || want == 2 && (calls[0].N != great || calls[1].N != great+1) {
			t.Errorf("calls since %d are %+v, %v", since, calls, err)
		}
	}
	for after, want := range map[int64]int{0: 2, great - 1: 2, great: 1, great + 1: 0, 1<<63 - 1: 0} {
		events, err := s.Events(t.Context(), p.Key, after, 0)
		if err != nil || len(events) != want {
			t.Errorf("events after %d are %+v, %v", after, events, err)
		}
	}
	steps, err := s.History(t.Context(), p.Key, stores.HistoryQuery{From: great})
	if err != nil || len(steps) != 1 || steps[0].Step != great {
		t.Errorf("history is %+v, %v", steps, err)
	}
}
