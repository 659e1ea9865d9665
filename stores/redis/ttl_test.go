package redis_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	client "github.com/redis/go-redis/v9"

	"github.com/flowtui/flowtui/internal/testservers"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/redis"
	"github.com/flowtui/flowtui/stores/storetest"
)

const hour = time.Hour

func status(st stores.Status) func(*stores.Checkpoint) {
	return func(c *stores.Checkpoint) { c.Status = st }
}

func runKey(run string) string { return "{flowtui}:run:7:default:" + run }

// expires is when the server says that a run's key ends, zero for never. The
// store must say the same: it adds what is left to the server's time.
func expires(t *testing.T, s *redis.Store, c *client.Client, run string) time.Time {
	t.Helper()
	got, ok, err := s.Expires(t.Context(), place(run).Key)
	if err != nil {
		t.Fatal(err)
	}
	ms, err := c.Do(t.Context(), "PEXPIRETIME", runKey(run)).Int64()
	if err != nil {
		t.Fatal(err)
	}
	if ms == -1 {
		if ok {
			t.Errorf("%s expires at %v, its key does not", run, got)
		}
		return time.Time{}
	}
	at := time.UnixMilli(ms)
	if !ok || got.Sub(at).Abs() > time.Minute {
		t.Errorf("%s expires at %v, its key at %v", run, got, at)
	}
	return at
}

// clock is the server's time.
func clock(t *testing.T, c *client.Client) time.Time {
	t.Helper()
	now, err := c.Time(t.Context()).Result()
	if err != nil {
		t.Fatal(err)
	}
	return now.Truncate(time.Millisecond)
}

// A run expires ttl after its last write, whatever it is, and never while it is
// paused. Reading changes nothing of that.
func TestTTLIsFromTheLastWrite(t *testing.T) {
	server := testservers.Redis(t)
	s := create(t, with(t, server.URL, "ttl", "3600"))
	c := raw(t, server.URL)
	k, p := place("r").Key, place("r")
	write := func(what string, do func() error) {
		t.Helper()
		before := clock(t, c)
		if err := do(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		after := clock(t, c)
		if at := expires(t, s, c, "r"); at.Before(before.Add(hour)) || at.After(after.Add(hour)) {
			t.Errorf("%s from %v to %v: expires at %v", what, before, after, at)
		}
	}
	write("first save", func() error { return s.Save(t.Context(), storetest.Step(p, 0)) })
	time.Sleep(5 * time.Millisecond)
	write("call record", func() error { return s.RecordCall(t.Context(), stores.CallWrite{Call: storetest.Record(p, 1, 1)}) })
	time.Sleep(5 * time.Millisecond)
	write("lease", func() error { _, err := s.Acquire(t.Context(), k, "w", time.Minute, false); return err })

	at := expires(t, s, c, "r")
	time.Sleep(5 * time.Millisecond)
	storetest.Check(t, s)
	if now := expires(t, s, c, "r"); !now.Equal(at) {
		t.Errorf("reading moved the end from %v to %v", at, now)
	}

	save(t, s, storetest.Step(p, 1, status(stores.StatusPaused)))
	if at := expires(t, s, c, "r"); !at.IsZero() {
		t.Errorf("a paused run expires at %v", at)
	}
	if err := s.RecordCall(t.Context(), stores.CallWrite{Call: storetest.Record(p, 1, 2)}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Renew(t.Context(), k, "w", time.Minute); err != nil {
		t.Fatal(err)
	}
	if at := expires(t, s, c, "r"); !at.IsZero() {
		t.Errorf("a paused run expires at %v after a call record and a lease", at)
	}
	write("resumed", func() error { return s.Save(t.Context(), storetest.Step(p, 2)) })
	write("done", func() error { return s.Save(t.Context(), storetest.Step(p, 3, status(stores.StatusDone))) })

	_, _, err := s.Expires(t.Context(), place("other").Key)
	fails(t, "another run", err, stores.ErrNotFound)
}

// Without a ttl, and with 0, nothing expires.
func TestNoTTL(t *testing.T) {
	server := testservers.Redis(t)
	create(t, with(t, server.URL, "ttl", "1h"), "r")
	c := raw(t, server.URL)
	for step, ttl := range []string{"0", ""} {
		s := open(t, with(t, server.URL, "ttl", ttl), redis.Options{})
		save(t, s, storetest.Step(place("r"), int64(step)+1))
		if at := expires(t, s, c, "r"); !at.IsZero() {
			t.Errorf("ttl=%s: expires at %v", ttl, at)
		}
	}
}

// pass lets time pass for runs: their keys and their index records end earlier.
func pass(t *testing.T, c *client.Client, runs ...string) {
	t.Helper()
	for _, run := range runs {
		key, id := runKey(run), "7:default:"+run
		at, err := c.Do(t.Context(), "PEXPIRETIME", key).Int64()
		if err != nil || at < 0 {
			t.Fatalf("%s does not expire: %d, %v", run, at, err)
		}
		past := time.Now().Add(-time.Second).UnixMilli()
		record, err := c.HGet(t.Context(), "{flowtui}:index", id).Result()
		if err != nil || !strings.Contains(record, fmt.Sprint(at)) {
			t.Fatalf("the index record of %s is %q, its key expires at %d: %v", run, record, at, err)
		}
		must(t, c, "HSET", "{flowtui}:index", id, strings.Replace(record, fmt.Sprint(at), fmt.Sprint(past), 1))
		must(t, c, "ZADD", "{flowtui}:expiring", past, id)
		must(t, c, "PEXPIREAT", key, past)
	}
}

// An expired run is gone as a whole, from every list and count at once, and from
// the indexes with the next save.
func TestExpiredRunsAreGone(t *testing.T) {
	server := testservers.Redis(t)
	s := create(t, with(t, server.URL, "ttl", "1h"), "a", "b", "kept")
	hers := place("x")
	hers.Owner = "alice"
	save(t, s, storetest.Step(hers, 0))
	for _, run := range []string{"a", "kept"} {
		if err := s.RecordCall(t.Context(), stores.CallWrite{Call: storetest.Record(place(run), 1, 1)}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Acquire(t.Context(), place("a").Key, "w", time.Minute, false); err != nil {
		t.Fatal(err)
	}
	c := raw(t, server.URL)
	pass(t, c, "a", "b")
	viewer := open(t, server.URL, redis.Options{ReadOnly: true})
	for _, f := range []stores.Filter{
		everyRun, {Owner: stores.DefaultOwner}, {Owner: stores.AnyOwner, Flow: "flow"}, {Owner: stores.AnyOwner, Open: true},
		{Owner: stores.DefaultOwner, Flow: "flow"}, {Owner: stores.AnyOwner, Text: "A"}, {Owner: stores.DefaultOwner, Open: true, Flow: "flow"},
	} {
		page, err := viewer.List(t.Context(), stores.Query{Filter: f})
		if err != nil {
			t.Fatal(err)
		}
		open := int64(0)
		for _, h := range page.Heads {
			if h.Run == "a" || h.Run == "b" || h.Bad != "" {
				t.Errorf("%+v lists %+v", f, h)
			}
			if h.Open > 0 {
				open++
			}
		}
		n, err := viewer.Count(t.Context(), f)
		if err != nil || n.ByStatus[stores.StatusRunning] != int64(len(page.Heads)) || n.Open != open {
			t.Errorf("%+v counts %+v and lists %d with %d open, %v", f, n, len(page.Heads), open, err)
		}
	}
	for _, read := range []func() error{
		func() error { _, err := viewer.Latest(t.Context(), place("a").Key); return err },
		func() error { _, err := viewer.Head(t.Context(), place("a").Key); return err },
		func() error { _, err := viewer.At(t.Context(), place("a").Key, 0); return err },
		func() error { _, _, err := viewer.Expires(t.Context(), place("a").Key); return err },
		func() error {
			return s.RecordCall(t.Context(), stores.CallWrite{Call: storetest.Record(place("a"), 1, 1)})
		},
		func() error { return s.Delete(t.Context(), place("a").Key) },
	} {
		fails(t, "an expired run", read(), stores.ErrNotFound)
	}
	storetest.Check(t, viewer)

	save(t, s, storetest.Step(place("kept"), 1)) // and sweeps
	left := dump(t, c)
	for _, gone := range []string{"7:default:a", "7:default:b", "default\x00a", "default\x00b"} {
		if strings.Contains(left, gone) {
			t.Errorf("%q is still in %s", gone, left)
		}
	}
	storetest.Check(t, s)

	save(t, s, storetest.Step(place("a"), 0)) // the id may be used again
	pass(t, c, "a")
	save(t, s, storetest.Step(place("a"), 0)) // also before anybody has swept
	storetest.Check(t, s)
}

// An owner whose runs have all expired is no owner any more.
func TestExpiredOwner(t *testing.T) {
	server := testservers.Redis(t)
	s := create(t, with(t, server.URL, "ttl", "1h"), "a")
	hers := place("x")
	hers.Owner = "alice"
	save(t, s, storetest.Step(hers, 0))
	pass(t, raw(t, server.URL), "a")
	if owners, err := s.Owners(t.Context()); err != nil || len(owners) != 1 || owners[0] != "alice" {
		t.Errorf("owners are %q, %v", owners, err)
	}
	storetest.Check(t, s)
}

// Somebody let an expiring run live longer by hand: sweeping leaves it alone.
func TestPersistedByHand(t *testing.T) {
	server := testservers.Redis(t)
	s := create(t, with(t, server.URL, "ttl", "1h"), "a", "b", "c")
	c := raw(t, server.URL)
	past := time.Now().Add(-time.Second).UnixMilli()
	must(t, c, "PERSIST", runKey("a"))
	must(t, c, "ZADD", "{flowtui}:expiring", past, "7:default:a", past, "7:default:b")
	save(t, s, storetest.Step(place("c"), 1)) // and sweeps
	if got := len(mustList(t, s)); got != 3 {
		t.Errorf("%d runs are listed", got)
	}
	if at := expires(t, s, c, "a"); !at.IsZero() {
		t.Errorf("it expires at %v", at)
	}
	if n, err := c.ZCount(t.Context(), "{flowtui}:expiring", "-inf", fmt.Sprint(time.Now().UnixMilli())).Result(); err != nil || n != 0 {
		t.Errorf("%d runs are to be swept, %v", n, err)
	}
	storetest.Check(t, s)
}

// Scenario 4: a ttl was set by hand on the key of a paused run. The remaining
// time can be seen before; after that the run is shown as incomplete, never as
// ended or as not paused, and nothing is written to it.
func TestScenario04TTLByHand(t *testing.T) {
	server := testservers.Redis(t)
	s := create(t, server.URL, "r", "other")
	k := place("r").Key
	save(t, s, storetest.Step(place("r"), 1, status(stores.StatusPaused)))
	c := raw(t, server.URL)
	must(t, c, "EXPIRE", runKey("r"), 3600)
	if at := expires(t, s, c, "r"); at.IsZero() {
		t.Error("the ttl cannot be seen")
	}
	if h, err := s.Head(t.Context(), k); err != nil || h.Bad != "" || h.Status != stores.StatusPaused {
		t.Errorf("before: %+v, %v", h, err)
	}
	must(t, c, "PEXPIRE", runKey("r"), 1)
	waitFor(t, func() bool { n, err := c.Exists(t.Context(), runKey("r")).Result(); return err == nil && n == 0 })
	incomplete(t, s, stores.StatusPaused)
	if err := s.Delete(t.Context(), k); err != nil {
		t.Errorf("delete: %v", err)
	}
	if got := len(mustList(t, s)); got != 1 {
		t.Errorf("%d runs are listed", got)
	}
	save(t, s, storetest.Step(place("r"), 0))
	storetest.Check(t, s)
}

// incomplete fails unless the run r, which has lost its rows, is told to have.
func incomplete(t *testing.T, s *redis.Store, was stores.Status) {
	t.Helper()
	k := place("r").Key
	last, err := s.Latest(t.Context(), k)
	if err != nil || !strings.Contains(last.Bad, "rows of the run are gone") {
		t.Errorf("latest is %+v, %v", last, err)
	}
	steps, err := s.History(t.Context(), k, stores.HistoryQuery{})
	if err != nil || len(steps) != 1 || steps[0].Bad != last.Bad {
		t.Errorf("history is %+v, %v", steps, err)
	}
	for _, f := range []stores.Filter{everyRun, {Owner: stores.DefaultOwner, Flow: "flow", Statuses: []stores.Status{was}}} {
		page, err := s.List(t.Context(), stores.Query{Filter: f})
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, h := range page.Heads {
			if h.Key == k {
				found = h.Bad != "" && h.Status == was && h.Flow == "flow"
			}
		}
		if !found {
			t.Errorf("%+v lists %+v", f, page.Heads)
		}
	}
	fails(t, "step 0", s.Save(t.Context(), storetest.Step(place("r"), 0)), stores.ErrUnreadable, "gone", "delete the run")
	fails(t, "step 2", s.Save(t.Context(), storetest.Step(place("r"), 2)), stores.ErrUnreadable)
	err = s.RecordCall(t.Context(), stores.CallWrite{Call: storetest.Record(place("r"), 1, 9)})
	fails(t, "record", err, stores.ErrUnreadable)
}

// The same when the key was deleted, or evicted, before its time.
func TestScenario04KeyDeleted(t *testing.T) {
	server := testservers.Redis(t)
	s := create(t, with(t, server.URL, "ttl", "1h"), "r", "other")
	must(t, raw(t, server.URL), "DEL", runKey("r"))
	incomplete(t, s, stores.StatusRunning)
	other, err := s.Latest(t.Context(), place("other").Key)
	if err != nil || other.Bad != "" {
		t.Errorf("the other run is %+v, %v", other, err)
	}
}

// The index of a run was lost, not the run: it is found as an orphan, and is
// back in the lists after its next save.
func TestScenario04IndexLost(t *testing.T) {
	for name, lose := range map[string][]any{
		"index record": {"HDEL", "{flowtui}:index", "7:default:r"},
		"index":        {"DEL", "{flowtui}:index"},
		"sorted set":   {"DEL", "{flowtui}:status:running"},
	} {
		server := testservers.Redis(t)
		s := create(t, server.URL, "r")
		c := raw(t, server.URL)
		must(t, c, lose...)
		last, err := s.Latest(t.Context(), place("r").Key)
		if err != nil || last.Bad != "" {
			t.Errorf("%s: latest is %+v, %v", name, last, err)
		}
		orphans, err := s.Orphans(t.Context(), stores.AnyOwner)
		if err != nil || len(orphans) != 1 || orphans[0] != place("r").Key {
			t.Errorf("%s: orphans are %v, %v", name, orphans, err)
		}
		if orphans, err := s.Orphans(t.Context(), "alice"); err != nil || len(orphans) != 0 {
			t.Errorf("%s: orphans of another owner are %v, %v", name, orphans, err)
		}
		if err := s.RecordCall(t.Context(), stores.CallWrite{Call: storetest.Record(place("r"), 1, 1)}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		save(t, s, storetest.Step(place("r"), 1))
		if orphans, err := s.Orphans(t.Context(), stores.AnyOwner); err != nil || len(orphans) != 0 {
			t.Errorf("%s: orphans are left: %v, %v", name, orphans, err)
		}
		if heads := mustList(t, s); len(heads) != 1 || heads[0].Step != 1 {
			t.Errorf("%s: listed %+v", name, heads)
		}
	}
}
