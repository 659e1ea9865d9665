package redis_test

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	client "github.com/redis/go-redis/v9"

	"github.com/flowtui/flowtui/internal/testservers"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/redis"
	"github.com/flowtui/flowtui/stores/storetest"
)

// spent is what the server did for a client: how often each command, and how
// many bytes it sent.
type spent struct {
	calls map[string]int64
	bytes int64
}

// spend measures f by the server's own counters. Nobody else may use the server.
func spend(t *testing.T, c *client.Client, f func()) spent {
	t.Helper()
	info := func(section string) map[string]string {
		text, err := c.Info(context.Background(), section).Result()
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]string{}
		for line := range strings.Lines(text) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
			out[name] = value
		}
		return out
	}
	sent := func() int64 {
		n, err := strconv.ParseInt(info("stats")["total_net_output_bytes"], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	must(t, c, "CONFIG", "RESETSTAT")
	before := sent()
	f()
	s := spent{calls: map[string]int64{}, bytes: sent() - before}
	for name, value := range info("commandstats") {
		command, ok := strings.CutPrefix(name, "cmdstat_")
		if !ok || command == "info" || command == "config|resetstat" {
			continue
		}
		n, _, _ := strings.Cut(strings.TrimPrefix(value, "calls="), ",")
		calls, err := strconv.ParseInt(n, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		s.calls[command] = calls
	}
	return s
}

// looks are what the list does again and again, on a page of at most 50.
func looks(t *testing.T, s *redis.Store) {
	t.Helper()
	for _, f := range []stores.Filter{
		{Owner: stores.AnyOwner}, {Owner: "default"}, {Owner: stores.AnyOwner, Open: true},
		{Owner: stores.AnyOwner, Statuses: []stores.Status{stores.StatusRunning}},
	} {
		page, err := s.List(t.Context(), stores.Query{Filter: f, Limit: 50})
		if err != nil || !f.Open && len(page.Heads) != 50 {
			t.Errorf("%+v: %d heads, %v", f, len(page.Heads), err)
		}
		if _, err := s.Count(t.Context(), f); err != nil {
			t.Error(err)
		}
	}
	if _, err := s.Head(t.Context(), place("run-7").Key); err != nil {
		t.Error(err)
	}
}

// Scenario 33: a look at a list costs the page. The server is asked for as much
// with 800 runs as with 100, and never to go through its keys.
func TestScenario33ALookCostsThePage(t *testing.T) {
	server := testservers.Redis(t)
	s := create(t, server.URL)
	c := raw(t, server.URL)
	made := 0
	measured := func(runs int) spent {
		for ; made < runs; made++ {
			save(t, s, storetest.Step(place(fmt.Sprint("run-", made)), 0))
		}
		return spend(t, c, func() { looks(t, s) })
	}
	few, many := measured(100), measured(800)
	for command, n := range many.calls {
		if n != few.calls[command] {
			t.Errorf("%s was called %d times with 100 runs, and %d times with 800", command, few.calls[command], n)
		}
	}
	for _, command := range []string{"keys", "scan", "hscan", "sscan", "zscan", "hgetall", "hvals", "hkeys", "smembers"} {
		if many.calls[command] > 0 {
			t.Errorf("a look calls %s", command)
		}
	}
	if many.bytes > few.bytes*5/4 {
		t.Errorf("the server sent %d bytes with 100 runs, and %d with 800", few.bytes, many.bytes)
	}
}

// Scenario 34: no list has the server send state.
func TestScenario34ListsReadNoState(t *testing.T) {
	server := testservers.Redis(t)
	s := create(t, server.URL, "small")
	state := bytes.Repeat([]byte("20 MB of state. "), 20<<20/16)
	save(t, s, storetest.Step(place("large"), 0, func(c *stores.Checkpoint) { c.Payload = state }))
	any := stores.Filter{Owner: stores.AnyOwner}
	c := raw(t, server.URL)
	lists := spend(t, c, func() {
		page, err := s.List(t.Context(), stores.Query{Filter: any})
		if err != nil || len(page.Heads) != 2 {
			t.Errorf("list: %+v, %v", page, err)
		}
		if n, err := s.Count(t.Context(), any); err != nil || n.ByStatus[stores.StatusRunning] != 2 {
			t.Errorf("count: %+v, %v", n, err)
		}
		if h, err := s.Head(t.Context(), place("large").Key); err != nil || h.Step != 0 {
			t.Errorf("head: %+v, %v", h, err)
		}
		if heads, err := s.ListUnfinished(t.Context(), stores.AnyOwner); err != nil || len(heads) != 2 {
			t.Errorf("unfinished: %+v, %v", heads, err)
		}
		steps, err := s.History(t.Context(), place("large").Key, stores.HistoryQuery{})
		if err != nil || len(steps) != 1 || steps[0].Payload != nil || steps[0].Size != int64(len(state)) {
			t.Errorf("history without payload: %d steps, %v", len(steps), err)
		}
	})
	if lists.bytes > 1<<20 {
		t.Errorf("the server sent %d bytes for lists", lists.bytes)
	}
	whole := spend(t, c, func() {
		if last, err := s.Latest(t.Context(), place("large").Key); err != nil || !bytes.Equal(last.Payload, state) {
			t.Errorf("the state came back with %d bytes, %v", len(last.Payload), err)
		}
	})
	if whole.bytes < int64(len(state)) {
		t.Errorf("the server sent %d bytes for %d of state: its counter proves nothing", whole.bytes, len(state))
	}
}
