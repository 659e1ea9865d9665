package redis_test

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/flowtui/flowtui/internal/testservers"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/redis"
	"github.com/flowtui/flowtui/stores/storetest"
)

// Scenario 49: a typing error is an error, not a new store.
func TestScenario49NothingThere(t *testing.T) {
	server := testservers.Redis(t)
	c := raw(t, server.URL)
	_, err := redis.Open(t.Context(), server.URL, redis.Options{})
	fails(t, "empty database", err, stores.ErrNotFound, "{flowtui}:meta", "the database is empty")
	create(t, server.URL, "r")
	_, err = redis.Open(t.Context(), with(t, server.URL, "prefix", "flowtiu"), redis.Options{})
	fails(t, "mistyped prefix", err, stores.ErrNotFound, "{flowtiu}:meta", "other keys: check the prefix")
	_, err = redis.Open(t.Context(), with(t, server.URL, "db", "1"), redis.Options{})
	fails(t, "another database", err, stores.ErrNotFound)
	_, err = redis.Open(t.Context(), with(t, server.URL, "db", "99"), redis.Options{})
	fails(t, "no such database", err, stores.ErrInvalid, "no database of this number")
	_, err = redis.Open(t.Context(), as(t, server, "stranger", "~other:*", "+@all"), redis.Options{})
	fails(t, "no permission to read", err, stores.ErrUnavailable, "may not read")

	before := dump(t, c)
	s := open(t, with(t, server.URL, "prefix", "later"), redis.Options{Create: true})
	info, err := s.Info(t.Context())
	if err != nil || info.ID != "" || info.Version != 0 || info.ReadOnly {
		t.Errorf("info is %+v, %v", info, err)
	}
	if page, err := s.List(t.Context(), stores.Query{Filter: everyRun}); err != nil || len(page.Heads) != 0 {
		t.Errorf("list is %+v, %v", page, err)
	}
	_, err = s.Latest(t.Context(), place("r").Key)
	fails(t, "latest", err, stores.ErrNotFound)
	if after := dump(t, c); after != before {
		t.Errorf("attaching wrote:\nbefore %s\nafter  %s", before, after)
	}
	save(t, s, storetest.Step(place("r"), 0)) // without Prepare
	if info, err := s.Info(t.Context()); err != nil || info.ID == "" || info.Version != redis.Version {
		t.Errorf("info is %+v, %v", info, err)
	}
}

func TestNotAStore(t *testing.T) {
	server := testservers.Redis(t)
	c := raw(t, server.URL)
	for name, test := range map[string]struct {
		make []any
		want error
		word string
	}{
		"a text":        {[]any{"SET", "{p}:meta", "x"}, stores.ErrUnreadable, "something else"},
		"no version":    {[]any{"HSET", "{p}:meta", "store", "x"}, stores.ErrNotStore, "looked for a version"},
		"odd version":   {[]any{"HSET", "{p}:meta", "version", "new"}, stores.ErrNotStore, `"new"`},
		"newer version": {[]any{"HSET", "{p}:meta", "store", "x", "version", "2"}, stores.ErrTooNew, "version is 2"},
	} {
		must(t, c, "FLUSHDB")
		must(t, c, test.make...)
		_, err := redis.Open(t.Context(), with(t, server.URL, "prefix", "p"), redis.Options{Create: true})
		fails(t, name, err, test.want, test.word)
	}
	// A store that is brought up to date under a worker is not written to.
	must(t, c, "FLUSHDB")
	s := create(t, with(t, server.URL, "prefix", "p"), "r")
	must(t, c, "HSET", "{p}:meta", "version", "2")
	fails(t, "save", s.Save(t.Context(), storetest.Step(place("r"), 1)), stores.ErrTooNew)
	_, err := s.Latest(t.Context(), place("r").Key)
	fails(t, "latest", err, stores.ErrTooNew)
	// Rows without their store's id are not adopted by a new one.
	must(t, c, "DEL", "{p}:meta")
	fresh := open(t, with(t, server.URL, "prefix", "p"), redis.Options{Create: true})
	fails(t, "prepare", fresh.Prepare(t.Context()), stores.ErrUnreadable, "lost its id")
}

func TestPasswords(t *testing.T) {
	server := testservers.Redis(t)
	s := create(t, as(t, server, "worker", "~{flowtui}:*", "+@all", "&*"))
	info, err := s.Info(t.Context())
	if err != nil || strings.Contains(info.Location, "secret") || !strings.Contains(info.Location, "worker@") {
		t.Errorf("location is %s, %v", info.Location, err)
	}
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword("worker", "wrong-secret")
	_, err = redis.Open(t.Context(), u.String(), redis.Options{})
	fails(t, "wrong password", err, stores.ErrUnavailable, "the user or the password is wrong")
	u.User = nil
	_, err2 := redis.Open(t.Context(), u.String(), redis.Options{})
	fails(t, "no password", err2, stores.ErrUnavailable, "wants a password")
	if strings.Contains(err.Error()+err2.Error(), "secret") {
		t.Errorf("the password is in %v or %v", err, err2)
	}
}

// A URL that cannot be used is refused before anything is sent, and nothing of
// it is repeated that could be a password.
func TestBadURLs(t *testing.T) {
	notCert := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(notCert, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, raw := range []string{
		"postgres://u:SECRET@h/d", "redis://u:SEC/RET@h", "redis://:SECRET%zz@h", "redis://h:SECRET/0",
		"redis://u:SECRET@h/db", "redis://u:SECRET@h/0/1", "redis://u:SECRET@h?prefix=", "redis://u:SECRET@h?prefix={x}",
		"redis://u:SECRET@h?prefix=a*", "redis://u:SECRET@h?prefix=a%20b", "redis://u:SECRET@h?prefix=-a",
		"redis://u:SECRET@h?prefix=" + strings.Repeat("a", 65), "redis://u:SECRET@h?ttl=-1", "redis://u:SECRET@h?ttl=soon",
		"redis://u:SECRET@h?ttl=1us", "redis://u:SECRET@h?typo=1", "redis://u:SECRET@h?insecure=true",
		"redis://u:SECRET@h?ca=x", "rediss://u:SECRET@h?skip_verify=true", "rediss://u:SECRET@h?insecure=perhaps",
		"rediss://u:SECRET@h?ca=/no/such/file", "rediss://u:SECRET@h?ca=" + url.QueryEscape(notCert),
		"rediss://u:SECRET@h?cert=/no/such/file", "redis+sentinel://u:SECRET@h", "redis+cluster://u:SECRET@h?addr=x",
		"redis://u:SECRET@h?%zz",
	} {
		_, err := redis.Open(t.Context(), raw, redis.Options{})
		fails(t, raw, err, stores.ErrInvalid)
		if err != nil && strings.Contains(err.Error(), "SEC") {
			t.Errorf("%v repeats the password", err)
		}
	}
	if _, err := redis.Open(t.Context(), "redis://h", redis.Options{ReadOnly: true, Create: true}); err == nil {
		t.Error("a read-only store was created")
	}
	for location, want := range map[string]bool{
		"redis://h": true, "rediss+cluster://h": true, "redis+sentinel://h": true, "redis+unix:///x": true,
		"redis:x": false, "postgres://h": false, "redis": false, "redis.db": false, "": false,
	} {
		if redis.IsURL(location) != want {
			t.Errorf("%q: %v", location, !want)
		}
	}
}

// Two workers make the same store at once: it gets one id.
func TestPrepareAtOnce(t *testing.T) {
	server := testservers.Redis(t)
	ids := make([]string, 20)
	var all sync.WaitGroup
	for i := range ids {
		all.Go(func() {
			s, err := redis.Open(t.Context(), server.URL, redis.Options{Create: true})
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			if err := s.Prepare(t.Context()); err != nil {
				t.Error(err)
			}
			info, err := s.Info(t.Context())
			if err != nil {
				t.Error(err)
			}
			ids[i] = info.ID
		})
	}
	all.Wait()
	for _, id := range ids {
		if id == "" || id != ids[0] {
			t.Errorf("ids are %q", ids)
		}
	}
}

// Scenario 40: stores of two prefixes on one server, of which one starts like
// the other, and names that look like keys.
func TestScenario40PrefixesAndNames(t *testing.T) {
	server := testservers.Redis(t)
	prefixes := []string{"a", "a:b", "a:b:run", "A", "a.b"}
	names := []string{"b:run:1:x", "{a}:meta", "*", "[a]", "\\", "1:x:y", ":", "run"}
	stored := map[string]*redis.Store{}
	for _, prefix := range prefixes {
		stored[prefix] = create(t, with(t, server.URL, "prefix", prefix))
	}
	for _, prefix := range prefixes {
		for i, run := range names {
			p := place(run)
			p.Owner = names[(i+1)%len(names)]
			if p.Owner == stores.AnyOwner {
				p.Owner = "star"
			}
			save(t, stored[prefix], storetest.Step(p, 0, func(c *stores.Checkpoint) { c.Payload = []byte(prefix + run); c.Flow = run }))
		}
	}
	for _, prefix := range prefixes {
		s := stored[prefix]
		page, err := s.List(t.Context(), stores.Query{Filter: everyRun})
		if err != nil || len(page.Heads) != len(names) {
			t.Errorf("%s lists %d runs, %v", prefix, len(page.Heads), err)
		}
		for _, h := range page.Heads {
			if last, err := s.Latest(t.Context(), h.Key); err != nil || string(last.Payload) != prefix+h.Run {
				t.Errorf("%s: %q is %q, %v", prefix, h.Key, last.Payload, err)
			}
			one, err := s.List(t.Context(), stores.Query{Filter: stores.Filter{Owner: h.Owner, Flow: h.Flow}})
			if err != nil || len(one.Heads) != 1 || one.Heads[0].Key != h.Key {
				t.Errorf("%s: by owner and flow %q: %+v, %v", prefix, h.Key, one.Heads, err)
			}
		}
		storetest.Check(t, s)
	}
	for _, h := range mustList(t, stored["a"]) {
		if err := stored["a"].Delete(t.Context(), h.Key); err != nil {
			t.Error(err)
		}
	}
	left, err := raw(t, server.URL).Keys(t.Context(), "{a}:*").Result()
	if err != nil || strings.Join(left, " ") != "{a}:meta" {
		t.Errorf("of a deleted store's runs there is %q, %v", left, err)
	}
	if n := len(mustList(t, stored["a:b"])); n != len(names) {
		t.Errorf("the other store has %d runs", n)
	}
}

func mustList(t *testing.T, s stores.Lister) []stores.Head {
	t.Helper()
	page, err := s.List(t.Context(), stores.Query{Filter: everyRun, Limit: stores.MaxLimit})
	if err != nil {
		t.Fatal(err)
	}
	return page.Heads
}

// What JSON cannot hold is refused, not changed.
func TestTextsThatAreNotUTF8(t *testing.T) {
	s := create(t, testservers.Redis(t).URL, "r")
	w := storetest.Step(place("r"), 1, func(c *stores.Checkpoint) { c.Flow = "a\xffb" })
	fails(t, "save", s.Save(t.Context(), w), stores.ErrInvalid, "not UTF-8")
	r := storetest.Record(place("r"), 1, 1, func(c *stores.Call) { c.Node = "\xfe" })
	fails(t, "record", s.RecordCall(t.Context(), stores.CallWrite{Call: r}), stores.ErrInvalid)
	save(t, s, storetest.Step(place("r"), 1, func(c *stores.Checkpoint) { c.Flow = "<&>\u2028\x00\"" }))
	if last, err := s.Latest(t.Context(), place("r").Key); err != nil || last.Flow != "<&>\u2028\x00\"" {
		t.Errorf("flow is %q, %v", last.Flow, err)
	}
	storetest.Check(t, s)
}
