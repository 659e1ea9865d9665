package redis_test

import (
	"bytes"
	"context"
	"errors"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	client "github.com/redis/go-redis/v9"

	"github.com/flowtui/flowtui/internal/testproxy"
	"github.com/flowtui/flowtui/internal/testservers"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/redis"
	"github.com/flowtui/flowtui/stores/storetest"
)

func place(run string) stores.Place {
	return stores.Place{Key: stores.Key{Owner: stores.DefaultOwner, Run: run}, Store: "test", Incarnation: "first"}
}

// create makes a store with the runs, each at step 0.
func create(t testing.TB, rawURL string, runs ...string) *redis.Store {
	t.Helper()
	s := open(t, rawURL, redis.Options{Create: true})
	if err := s.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, run := range runs {
		save(t, s, storetest.Step(place(run), 0))
	}
	return s
}

func save(t testing.TB, s stores.Store, w stores.Save) {
	t.Helper()
	if err := s.Save(t.Context(), w); err != nil {
		t.Fatal(err)
	}
}

func fails(t testing.TB, what string, err error, class error, words ...string) {
	t.Helper()
	if !errors.Is(err, class) {
		t.Errorf("%s: got %v, want an error that is %q", what, err, class)
		return
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%s: %v does not say %q", what, err, word)
		}
	}
}

// through gives the URL of a server behind a proxy.
func through(t testing.TB, server *testservers.Server) (*testproxy.Proxy, string) {
	t.Helper()
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	p := testproxy.New(t, u.Host)
	u.Host = p.Addr
	return p, u.String()
}

// A write whose request or reply is lost is unknown, and is not sent again.
func TestScenario03LostReplies(t *testing.T) {
	server := testservers.Redis(t)
	for name, c := range map[string]struct {
		fault testproxy.Fault
		done  bool
	}{
		"lost request": {testproxy.LoseRequest, false},
		"lost reply":   {testproxy.LoseReply, true},
		"silence":      {testproxy.Silence, true},
	} {
		t.Run(name, func(t *testing.T) {
			proxy, address := through(t, server)
			prefix := strings.ReplaceAll(name, " ", "-")
			s := create(t, with(t, address, "read_timeout", "300ms", "prefix", prefix), "r", "other")
			// The server knows the scripts already.
			warm := stores.CallWrite{Call: storetest.Record(place("other"), 1, 1)}
			if err := s.RecordCall(t.Context(), warm); err != nil {
				t.Fatal(err)
			}
			var sent atomic.Int64
			proxy.Fault(func(request []byte) testproxy.Fault {
				if !bytes.Contains(request, []byte("evalsha")) && !bytes.Contains(request, []byte("eval\r\n")) {
					return testproxy.None
				}
				sent.Add(1)
				return c.fault
			})
			w := storetest.Step(place("r"), 1)
			w.Events = []stores.Event{storetest.Event(place("r"), 1)}
			fails(t, "save", s.Save(t.Context(), w), stores.ErrUnknown, `"r"`, "look at the run")
			record := stores.CallWrite{Call: storetest.Record(place("r"), 1, 1)}
			fails(t, "record", s.RecordCall(t.Context(), record), stores.ErrUnknown)
			if n := sent.Load(); n != 2 {
				t.Errorf("2 writes were sent %d times", n)
			}
			proxy.Fault(nil)
			last, err := s.Latest(t.Context(), place("r").Key)
			if err != nil || last.Step == 1 != c.done {
				t.Errorf("latest is step %d, %v; done: %v", last.Step, err, c.done)
			}
			calls, err := s.Calls(t.Context(), place("r").Key, 0)
			if err != nil || len(calls) == 1 != c.done {
				t.Errorf("%d call records, %v; done: %v", len(calls), err, c.done)
			}
			storetest.Check(t, s)
		})
	}
}

// A write that was sent outlives its context for a moment; a read ends with it.
func TestContextsEnd(t *testing.T) {
	proxy, address := through(t, testservers.Redis(t))
	s := create(t, address, "r")
	proxy.Fault(func(request []byte) testproxy.Fault {
		if bytes.Contains(request, []byte("hello")) {
			return testproxy.None
		}
		return testproxy.Silence
	})
	for name, do := range map[string]func(context.Context) error{
		"latest": func(ctx context.Context) error { _, err := s.Latest(ctx, place("r").Key); return err },
		"list":   func(ctx context.Context) error { _, err := s.List(ctx, stores.Query{}); return err },
		"save":   func(ctx context.Context) error { return s.Save(ctx, storetest.Step(place("r"), 1)) },
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		err := do(ctx)
		cancel()
		fails(t, name, err, context.DeadlineExceeded)
		if errors.Is(err, stores.ErrUnknown) != (name == "save") {
			t.Errorf("%s: %v", name, err)
		}
	}
	proxy.Fault(nil)
	proxy.Cut()
	if last, err := s.Latest(t.Context(), place("r").Key); err != nil || last.Step != 1 {
		t.Errorf("latest is step %d, %v", last.Step, err)
	}
}

// A reply that comes late is waited for, although the context has ended.
func TestSlowReplyIsKnown(t *testing.T) {
	proxy, address := through(t, testservers.Redis(t))
	s := create(t, address, "r")
	proxy.Delay(200 * time.Millisecond)
	ctx, cancel := context.WithCancel(t.Context())
	proxy.Fault(func([]byte) testproxy.Fault { cancel(); return testproxy.None })
	if err := s.Save(ctx, storetest.Step(place("r"), 1)); err != nil {
		t.Errorf("save: %v", err)
	}
}

// A connection that broke while nobody used it costs a reader nothing.
func TestDeadConnectionsAreReplaced(t *testing.T) {
	proxy, address := through(t, testservers.Redis(t))
	s := create(t, address, "r")
	for range 3 {
		proxy.Cut()
		if _, err := s.Latest(t.Context(), place("r").Key); err != nil {
			t.Errorf("latest: %v", err)
		}
	}
}

// Nothing was sent to a server that is not there.
func TestServerStopped(t *testing.T) {
	server := testservers.Redis(t)
	s := create(t, server.URL, "r")
	server.Stop()
	for range 3 {
		fails(t, "save", s.Save(t.Context(), storetest.Step(place("r"), 1)), stores.ErrUnavailable, "nothing was sent")
		_, err := s.Latest(t.Context(), place("r").Key)
		fails(t, "latest", err, stores.ErrUnavailable)
	}
	_, err := redis.Open(t.Context(), server.URL, redis.Options{})
	fails(t, "open", err, stores.ErrUnavailable)
	u, _ := url.Parse(server.URL)
	if password, _ := u.User.Password(); strings.Contains(err.Error(), password) {
		t.Errorf("the password is in %v", err)
	}
}

func TestPause(t *testing.T) {
	server := testservers.Redis(t)
	s := create(t, with(t, server.URL, "read_timeout", "300ms"), "r")
	server.Pause()
	_, err := s.Latest(t.Context(), place("r").Key)
	fails(t, "latest", err, stores.ErrUnavailable)
	fails(t, "save", s.Save(t.Context(), storetest.Step(place("r"), 1)), stores.ErrUnknown)
	server.Resume()
	// The server does what it was sent before it was paused.
	last, err := s.Latest(t.Context(), place("r").Key)
	if err != nil || last.Step > 1 {
		t.Errorf("latest is step %d, %v", last.Step, err)
	}
	save(t, s, storetest.Step(place("r"), last.Step+1))
	storetest.Check(t, s)
}

// A server that comes back empty has lost the store; it is no empty store.
func TestRestartedEmpty(t *testing.T) {
	server := testservers.Redis(t)
	s := create(t, server.URL, "r")
	server.Restart(t)
	k := place("r").Key
	do := map[string]func() error{
		"latest":  func() error { _, err := s.Latest(t.Context(), k); return err },
		"head":    func() error { _, err := s.Head(t.Context(), k); return err },
		"list":    func() error { _, err := s.List(t.Context(), stores.Query{}); return err },
		"calls":   func() error { _, err := s.Calls(t.Context(), k, 0); return err },
		"at":      func() error { _, err := s.At(t.Context(), k, 0); return err },
		"lease":   func() error { _, err := s.Lease(t.Context(), k); return err },
		"expires": func() error { _, _, err := s.Expires(t.Context(), k); return err },
		"info":    func() error { _, err := s.Info(t.Context()); return err },
		"prepare": func() error { return s.Prepare(t.Context()) },
		"step 0":  func() error { return s.Save(t.Context(), storetest.Step(place("new"), 0)) },
		"step 1":  func() error { return s.Save(t.Context(), storetest.Step(place("r"), 1)) },
		"record": func() error {
			return s.RecordCall(t.Context(), stores.CallWrite{Call: storetest.Record(place("r"), 1, 1)})
		},
		"delete":  func() error { return s.Delete(t.Context(), k) },
		"acquire": func() error { _, err := s.Acquire(t.Context(), k, "w", time.Minute, false); return err },
	}
	for name, f := range do {
		err := f()
		fails(t, name, err, stores.ErrUnavailable, "the store is gone")
		if errors.Is(err, stores.ErrNotFound) || errors.Is(err, stores.ErrUnknown) {
			t.Errorf("%s: %v", name, err)
		}
	}
	c := raw(t, server.URL)
	if n := must(t, c, "DBSIZE"); n != int64(0) {
		t.Errorf("%v keys were made", n)
	}
	// Nor is another store that was made at the same place.
	create(t, server.URL, "r")
	for name, f := range do {
		fails(t, name, f(), stores.ErrUnavailable, "the store is gone")
	}
	if n, err := raw(t, server.URL).HGet(t.Context(), "{flowtui}:run:7:default:r", "step").Result(); err != nil || n != "0" {
		t.Errorf("the other store's run is at step %s, %v", n, err)
	}
}

// The server forgets scripts when it is told to, and when it is restarted.
func TestScriptFlush(t *testing.T) {
	server := testservers.Redis(t)
	s := create(t, server.URL, "r")
	c := raw(t, server.URL)
	must(t, c, "SCRIPT", "FLUSH")
	save(t, s, storetest.Step(place("r"), 1))
	must(t, c, "SCRIPT", "FLUSH")
	if _, err := s.Acquire(t.Context(), place("r").Key, "w", time.Minute, false); err != nil {
		t.Error(err)
	}
	storetest.Check(t, s)
}

// Scenario 50: a server that is full refuses a whole save, and lets room be made.
func TestScenario50Full(t *testing.T) {
	server := testservers.Redis(t)
	s := create(t, server.URL, "r", "old")
	c := raw(t, server.URL)
	before := dump(t, c)
	must(t, c, "CONFIG", "SET", "maxmemory", "1mb")
	w := storetest.Step(place("r"), 1)
	w.Events = []stores.Event{storetest.Event(place("r"), 1)}
	fails(t, "save", s.Save(t.Context(), w), stores.ErrFull, "nothing was saved")
	fails(t, "record", s.RecordCall(t.Context(), stores.CallWrite{Call: storetest.Record(place("r"), 1, 1)}), stores.ErrFull)
	if after := dump(t, c); after != before {
		t.Errorf("something was written:\nbefore %s\nafter  %s", before, after)
	}
	if err := s.Delete(t.Context(), place("old").Key); err != nil {
		t.Errorf("delete: %v", err)
	}
	must(t, c, "CONFIG", "SET", "maxmemory", "0")
	save(t, s, w)
	storetest.Check(t, s)
}

// dump is all that a database holds, in a stable order.
func dump(t testing.TB, c *client.Client) string {
	t.Helper()
	script := `local out = {}
		local keys = redis.call('KEYS', '*')
		table.sort(keys)
		for _, key in ipairs(keys) do
			local kind, rows = redis.call('TYPE', key).ok, nil
			if kind == 'hash' then
				local all = redis.call('HGETALL', key)
				rows = {}
				for i = 1, #all, 2 do rows[#rows + 1] = all[i] .. '=' .. all[i + 1] end
				table.sort(rows)
			elseif kind == 'zset' then
				rows = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
			else
				rows = {redis.call('DUMP', key)}
			end
			out[#out + 1] = key .. ' (' .. kind .. ', ' .. redis.call('PTTL', key) .. '): ' .. table.concat(rows, ', ')
		end
		return table.concat(out, '\n')`
	v, err := c.Eval(context.Background(), script, nil).Text()
	if err != nil {
		t.Fatal(err)
	}
	return v
}
