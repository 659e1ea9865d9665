package storetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/flowtui/flowtui/stores"
)

// Check reports every rule that the rows of a store break: steps, events and
// the call numbers of a segment are without gaps, each head sums up the newest
// checkpoint, and the lists agree with one another.
func Check(t testing.TB, s stores.Store) {
	t.Helper()
	all, ok := s.(All)
	if !ok {
		t.Fatalf("%T lacks a capability: %s", s, missing(s))
	}
	c := checker{TB: t, All: all, ctx: context.Background()}
	heads := c.heads()
	c.lists(heads)
	for _, h := range heads {
		c.run(h)
	}
}

type checker struct {
	testing.TB
	All
	ctx context.Context
}

func (c checker) wrong(k stores.Key, format string, args ...any) {
	c.Helper()
	c.Errorf("broken rule: run %q of %q: %s", k.Run, k.Owner, fmt.Sprintf(format, args...))
}

func (c checker) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatalf("check: %v", err)
	}
}

func (c checker) heads() []stores.Head {
	c.Helper()
	var all []stores.Head
	for cursor := ""; ; {
		page, err := c.List(c.ctx, stores.Query{Filter: stores.Filter{Owner: stores.AnyOwner}, Limit: 50, Cursor: cursor})
		c.must(err)
		all = append(all, page.Heads...)
		if cursor = page.Next; cursor == "" {
			return all
		}
	}
}

func (c checker) lists(heads []stores.Head) {
	c.Helper()
	counts := map[stores.Status]int64{}
	owners := map[string]bool{}
	var open, unfinished int64
	for _, h := range heads {
		counts[h.Status]++
		owners[h.Owner] = true
		if h.Open > 0 {
			open++
		}
		if !h.Status.Final() {
			unfinished++
		}
	}
	n, err := c.Count(c.ctx, stores.Filter{Owner: stores.AnyOwner})
	c.must(err)
	if n.Open != open || !maps.Equal(n.ByStatus, counts) {
		c.Errorf("broken rule: counted %+v, listed %v with %d open", n, counts, open)
	}
	got, err := c.Owners(c.ctx)
	c.must(err)
	if want := slices.Sorted(maps.Keys(owners)); !slices.Equal(got, want) {
		c.Errorf("broken rule: owners are %q, listed %q", got, want)
	}
	list, err := c.ListUnfinished(c.ctx, stores.AnyOwner)
	c.must(err)
	if int64(len(list)) != unfinished {
		c.Errorf("broken rule: %d runs are unfinished, listed %d", len(list), unfinished)
	}
}

func (c checker) run(h stores.Head) {
	c.Helper()
	k := h.Key
	if h.Bad != "" {
		c.wrong(k, "bad head: %s", h.Bad)
	}
	last, err := c.Latest(c.ctx, k)
	c.must(err)
	if want := HeadOf(last); h.Key != want.Key || h.Incarnation != want.Incarnation || h.Step != want.Step || h.Base != want.Base || h.Segment != want.Segment ||
		h.Kind != want.Kind || h.Flow != want.Flow || h.Digest != want.Digest || h.Status != want.Status || h.Identity != want.Identity {
		c.wrong(k, "head %+v does not sum up the newest checkpoint %+v", h, last)
	}
	alone, err := c.Head(c.ctx, k)
	c.must(err)
	if alone.Step != h.Step || alone.Open != h.Open {
		c.wrong(k, "Head and List differ: %+v and %+v", alone, h)
	}
	c.history(last)
	c.log(h)
}

func (c checker) history(last stores.Checkpoint) {
	c.Helper()
	steps, err := c.History(c.ctx, last.Key, stores.HistoryQuery{Limit: 1 << 30})
	c.must(err)
	if int64(len(steps)) != last.Step+1 {
		c.wrong(last.Key, "%d steps are kept, the newest is %d", len(steps), last.Step)
	}
	for i, step := range steps {
		if step.Step != int64(i) || step.Bad != "" || step.Incarnation != last.Incarnation {
			c.wrong(last.Key, "step %d is %+v", i, step)
		}
	}
	if _, err := c.At(c.ctx, last.Key, last.Step+1); !errors.Is(err, stores.ErrNotFound) {
		c.wrong(last.Key, "there is a step after the newest: %v", err)
	}
}

func (c checker) log(h stores.Head) {
	c.Helper()
	calls, err := c.Calls(c.ctx, h.Key, 0)
	c.must(err)
	next := map[int64]int64{}
	for _, r := range calls {
		if next[r.Segment]++; r.N != next[r.Segment] || r.Bad != "" || r.Segment > h.Segment {
			c.wrong(h.Key, "call record %d of segment %d, want number %d of at most segment %d: %s",
				r.N, r.Segment, next[r.Segment], h.Segment, r.Bad)
		}
	}
	if want := stores.OpenCalls(h, calls); h.Open != want {
		c.wrong(h.Key, "%d calls are open, the head says %d", want, h.Open)
	}
	events, err := c.Events(c.ctx, h.Key, 0, 1<<30)
	c.must(err)
	for i, e := range events {
		if e.N != int64(i)+1 || e.Bad != "" {
			c.wrong(h.Key, "event %d is number %d: %s", i+1, e.N, e.Bad)
		}
	}
}
