package redis_test

import (
	"context"
	"errors"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flowtui/flowtui/internal/testservers"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/redis"
	"github.com/flowtui/flowtui/stores/storetest"
)

// as gives the URL for another user, who is made with the rules.
func as(t testing.TB, server *testservers.Server, user string, rules ...any) string {
	t.Helper()
	args := append([]any{"ACL", "SETUSER", user, "reset", "on", ">secret-of-" + user}, rules...)
	must(t, raw(t, server.URL), args...)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(user, "secret-of-"+user)
	return u.String()
}

var everyRun = stores.Filter{Owner: stores.AnyOwner}

// Scenario 49: +@read on the store's keys is enough to see everything, and
// looking changes nothing.
func TestScenario49ReadOnlyUser(t *testing.T) {
	server := testservers.Redis(t)
	admin := create(t, server.URL, "a", "b")
	w := storetest.Step(place("a"), 1)
	w.Graph, w.Events = []byte("graph"), []stores.Event{storetest.Event(place("a"), 1)}
	save(t, admin, w)
	if err := admin.RecordCall(t.Context(), stores.CallWrite{Call: storetest.Record(place("a"), 1, 1)}); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.Acquire(t.Context(), place("a").Key, "worker", time.Hour, false); err != nil {
		t.Fatal(err)
	}
	c := raw(t, server.URL)
	before := dump(t, c)
	s := open(t, as(t, server, "viewer", "~{flowtui}:*", "+@read"), redis.Options{Create: true})
	info, err := s.Info(t.Context())
	if err != nil || !info.ReadOnly || !strings.Contains(info.Why, `"viewer" may not run scripts`) {
		t.Errorf("info is %+v, %v", info, err)
	}
	if mine, theirs := everything(t, s), everything(t, admin); !reflect.DeepEqual(mine, theirs) {
		t.Errorf("the user sees %+v\nthe admin sees %+v", mine, theirs)
	}
	storetest.Check(t, s)
	fails(t, "save", s.Save(t.Context(), storetest.Step(place("b"), 1)), stores.ErrReadOnly, "permission")
	fails(t, "delete", s.Delete(t.Context(), place("b").Key), stores.ErrReadOnly)
	if after := dump(t, c); after != before {
		t.Errorf("looking changed the store:\nbefore %s\nafter  %s", before, after)
	}
}

// everything is what the read methods give.
func everything(t *testing.T, s *redis.Store) []any {
	t.Helper()
	ctx, k := t.Context(), place("a").Key
	page, err1 := s.List(ctx, stores.Query{Filter: everyRun})
	last, err2 := s.Latest(ctx, k)
	steps, err3 := s.History(ctx, k, stores.HistoryQuery{Payload: true})
	calls, err4 := s.Calls(ctx, k, 0)
	events, err5 := s.Events(ctx, k, 0, 0)
	graph, err6 := s.Graph(ctx, "digest")
	lease, err7 := s.Lease(ctx, k)
	counts, err8 := s.Count(ctx, everyRun)
	owners, err9 := s.Owners(ctx)
	orphans, err10 := s.Orphans(ctx, stores.AnyOwner)
	if err := errors.Join(err1, err2, err3, err4, err5, err6, err7, err8, err9, err10); err != nil {
		t.Fatal(err)
	}
	if len(page.Heads) != 2 || len(steps) != 2 || len(calls) != 1 || len(events) != 1 {
		t.Fatalf("%d heads, %d steps, %d calls, %d events", len(page.Heads), len(steps), len(calls), len(events))
	}
	return []any{page, last, steps, calls, events, graph, lease, counts, owners, orphans}
}

// A user without the permission to subscribe hears of changes all the same, and
// so does everybody when a writer may not publish.
func TestWatchWithoutChannels(t *testing.T) {
	server := testservers.Redis(t)
	create(t, server.URL, "r")
	viewer := open(t, as(t, server, "viewer", "~{flowtui}:*", "+@read"), redis.Options{})
	ch, err := viewer.Watch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	writer := open(t, as(t, server, "writer", "~{flowtui}:*", "+@all"), redis.Options{})
	for step := range int64(3) {
		save(t, writer, storetest.Step(place("r"), step+1))
		select {
		case <-ch:
		case <-time.After(10 * time.Second):
			t.Fatal("no notice")
		}
	}
}

// The permissions that the documentation names are enough.
func TestDocumentedPermissions(t *testing.T) {
	server := testservers.Redis(t)
	writer := as(t, server, "writer", "~{flowtui}:*", "&{flowtui}:*", "+@read", "+@write", "+@scripting", "+time", "+publish")
	s := create(t, with(t, writer, "ttl", "1h"), "r", "other")
	w := storetest.Step(place("r"), 1)
	w.Graph, w.Events = []byte("graph"), []stores.Event{storetest.Event(place("r"), 1)}
	save(t, s, w)
	if info, err := s.Info(t.Context()); err != nil || info.ReadOnly {
		t.Errorf("info is %+v, %v", info, err)
	}
	if _, err := s.Acquire(t.Context(), place("r").Key, "w", time.Minute, false); err != nil {
		t.Error(err)
	}
	if err := s.RecordCall(t.Context(), stores.CallWrite{Call: storetest.Record(place("r"), 1, 1)}); err != nil {
		t.Error(err)
	}
	if err := s.Delete(t.Context(), place("other").Key); err != nil {
		t.Error(err)
	}
	viewer := open(t, as(t, server, "viewer", "~{flowtui}:*", "&{flowtui}:*", "+@read", "+time", "+subscribe"), redis.Options{})
	if _, err := viewer.Watch(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := raw(t, server.URL)
	waitFor(t, func() bool {
		n, err := c.PubSubNumSub(t.Context(), "{flowtui}:changes").Result()
		return err == nil && n["{flowtui}:changes"] == 1
	})
	storetest.Check(t, viewer)
}

// A user who lacks one command of a script changes nothing at all.
func TestMissingPermissionIsAllOrNothing(t *testing.T) {
	server := testservers.Redis(t)
	create(t, server.URL, "r")
	c := raw(t, server.URL)
	for _, command := range []string{"hset", "hdel", "zadd", "zrem", "persist", "pexpireat", "del", "hget", "zcard", "time"} {
		s := open(t, with(t, as(t, server, "writer", "~{flowtui}:*", "+@all", "-"+command), "ttl", "1h"), redis.Options{})
		before := rows(dump(t, c))
		w := storetest.Step(place("r"), 1)
		w.Events = []stores.Event{storetest.Event(place("r"), 1)}
		err := s.Save(t.Context(), w)
		fails(t, "without "+command, err, stores.ErrReadOnly, "nothing was changed")
		err = s.RecordCall(t.Context(), stores.CallWrite{Call: storetest.Record(place("r"), 1, 1)})
		fails(t, "without "+command, err, stores.ErrReadOnly)
		if after := rows(dump(t, c)); after != before {
			t.Errorf("without %s:\nbefore %s\nafter  %s", command, before, after)
		}
		info, err := s.Info(t.Context())
		if command != "hget" && (err != nil || !info.ReadOnly || !strings.Contains(info.Why, "may not write")) {
			t.Errorf("without %s: info is %+v, %v", command, info, err)
		}
	}
}

// rows leaves out the number of changes, which may count a refused one.
func rows(dump string) string {
	lines := strings.Split(dump, "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "{flowtui}:meta ") })
	return strings.Join(lines, "\n")
}

// A permission that was given later is noticed.
func TestPermissionComesBack(t *testing.T) {
	server := testservers.Redis(t)
	create(t, server.URL, "r")
	s := open(t, as(t, server, "writer", "~{flowtui}:*", "+@all", "-zadd"), redis.Options{})
	fails(t, "save", s.Save(t.Context(), storetest.Step(place("r"), 1)), stores.ErrReadOnly)
	must(t, raw(t, server.URL), "ACL", "SETUSER", "writer", "+zadd")
	save(t, s, storetest.Step(place("r"), 1))
	if info, err := s.Info(t.Context()); err != nil || info.ReadOnly {
		t.Errorf("info is %+v, %v", info, err)
	}
}

func TestOpenedReadOnly(t *testing.T) {
	server := testservers.Redis(t)
	create(t, server.URL, "r")
	s := open(t, server.URL, redis.Options{ReadOnly: true})
	if info, err := s.Info(t.Context()); err != nil || !info.ReadOnly || info.Why == "" {
		t.Errorf("info is %+v, %v", info, err)
	}
	before := dump(t, raw(t, server.URL))
	fails(t, "prepare", s.Prepare(t.Context()), stores.ErrReadOnly)
	fails(t, "save", s.Save(t.Context(), storetest.Step(place("r"), 1)), stores.ErrReadOnly)
	fails(t, "delete", s.Delete(t.Context(), place("r").Key), stores.ErrReadOnly)
	_, err := s.Acquire(t.Context(), place("r").Key, "w", time.Hour, true)
	fails(t, "acquire", err, stores.ErrReadOnly)
	if after := dump(t, raw(t, server.URL)); after != before {
		t.Errorf("before %s\nafter  %s", before, after)
	}
}

// Scenario 47: the roles of two servers are switched under a store.
func TestScenario47Failover(t *testing.T) {
	first, second := testservers.Redis(t), testservers.Redis(t)
	s := create(t, first.URL, "r")
	a, b := raw(t, first.URL), raw(t, second.URL)
	follow(t, second.URL, first.URL)
	waitFor(t, func() bool {
		n, err := b.HGet(t.Context(), "{flowtui}:run:7:default:r", "step").Result()
		return err == nil && n == "0"
	})

	replica := open(t, second.URL, redis.Options{})
	info, err := replica.Info(t.Context())
	if err != nil || !info.ReadOnly || info.Why != "the server is a replica" {
		t.Errorf("info of the replica is %+v, %v", info, err)
	}
	fails(t, "save to the replica", replica.Save(t.Context(), storetest.Step(place("r"), 1)), stores.ErrReadOnly, "replica")

	must(t, b, "REPLICAOF", "NO", "ONE")
	follow(t, first.URL, second.URL)
	fails(t, "save to the former primary", s.Save(t.Context(), storetest.Step(place("r"), 1)), stores.ErrReadOnly, "replica")
	if _, err := s.Latest(t.Context(), place("r").Key); err != nil {
		t.Errorf("reading goes on: %v", err)
	}
	save(t, replica, storetest.Step(place("r"), 1))
	if info, err := replica.Info(t.Context()); err != nil || info.ReadOnly {
		t.Errorf("info of the new primary is %+v, %v", info, err)
	}
	waitFor(t, func() bool { last, err := s.Latest(t.Context(), place("r").Key); return err == nil && last.Step == 1 })

	must(t, a, "REPLICAOF", "NO", "ONE")
	save(t, s, storetest.Step(place("r"), 2))
	storetest.Check(t, s)
}

// follow makes one server the replica of another.
func follow(t *testing.T, replica, primary string) {
	t.Helper()
	u, err := url.Parse(primary)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	c := raw(t, replica)
	must(t, c, "CONFIG", "SET", "masterauth", password)
	must(t, c, "CONFIG", "SET", "repl-diskless-sync-delay", "0")
	must(t, raw(t, primary), "CONFIG", "SET", "repl-diskless-sync-delay", "0")
	must(t, c, "REPLICAOF", u.Hostname(), u.Port())
}

func waitFor(t testing.TB, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("waited 20 s")
		}
	}
}
