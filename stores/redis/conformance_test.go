package redis_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/flowtui/flowtui/internal/testproxy"
	"github.com/flowtui/flowtui/internal/testservers"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/redis"
	"github.com/flowtui/flowtui/stores/storetest"
)

func TestConformance(t *testing.T) {
	server := testservers.Redis(t)
	storetest.Run(t, harness(t, server.URL, server.URL, func(open func() (stores.Store, error)) (stores.Store, error) { return open() }))
}

// harness is of a server that stores reach by address, and the test by direct.
func harness(t *testing.T, address, direct string, use func(open func() (stores.Store, error)) (stores.Store, error)) storetest.Harness {
	t.Helper()
	c := raw(t, direct)
	prefix := ""
	attach := func(t *testing.T, opts redis.Options) stores.Store {
		s, err := use(func() (stores.Store, error) { return redis.Open(t.Context(), with(t, address, "prefix", prefix), opts) })
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	return storetest.Harness{
		Open: func(t *testing.T) stores.Store {
			prefix = rand.Text()
			return attach(t, redis.Options{Create: true})
		},
		Reopen: func(t *testing.T, s stores.Store) stores.Store {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			return attach(t, redis.Options{})
		},
		// The server's clock cannot be moved: its leases are, the other way.
		Advance: func(d time.Duration) {
			key := "{" + prefix + "}:leases"
			leases, err := c.HGetAll(context.Background(), key).Result()
			if err != nil {
				t.Fatal(err)
			}
			for run, lease := range leases {
				micros, holder, _ := strings.Cut(lease, " ")
				n, err := strconv.ParseInt(micros, 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				must(t, c, "HSET", key, run, fmt.Sprintf("%d %s", n-d.Microseconds(), holder))
			}
		},
	}
}

// every says that whole suites run, and not a part of them.
func every() bool { return os.Getenv("FLOWTUI_TEST_ALL") == "1" }

// runOnFailing is the suite on a server that fails.
func runOnFailing(t *testing.T, h storetest.Harness) {
	t.Helper()
	if !every() {
		h.Groups = storetest.Short()
		t.Logf("only the groups %q: FLOWTUI_TEST_ALL=1 runs them all", h.Groups)
	}
	storetest.Run(t, h)
}

// TestConformanceThroughAProxy that loses requests or replies, cuts connections
// or is slow: every rule of the contract holds.
func TestConformanceThroughAProxy(t *testing.T) {
	server := testservers.Redis(t)
	for i, mood := range testproxy.Moods() {
		t.Run(string(mood), func(t *testing.T) {
			p, address := through(t, server)
			oneIn := 100
			if !every() {
				oneIn = 25
			}
			faults := p.Moody(mood, uint64(i), oneIn)
			met := &storetest.Trouble{}
			runOnFailing(t, harness(t, address, server.URL, met.Open))
			t.Logf("%d faults, %d unknown outcomes, %d times unavailable", faults(), met.Unknown(), met.Unavailable())
			switch {
			case faults() == 0, mood == testproxy.LosesReplies && met.Unknown() == 0,
				mood != testproxy.Delays && met.Unknown()+met.Unavailable() == 0:
				t.Error("no operation met a fault: this test proves nothing")
			}
		})
	}
}

// TestConformanceWhileTheServerRestarts, stopped and killed by turns while the
// store is used. The server keeps on disk what it has acknowledged.
func TestConformanceWhileTheServerRestarts(t *testing.T) {
	server := testservers.RedisWith(t, "appendonly yes", "appendfsync always")
	met := &storetest.Trouble{Every: 500, Interrupt: func(n int64) {
		if n%2 == 0 {
			server.Kill()
		}
		server.Restart(t)
	}}
	h := harness(t, server.URL, server.URL, met.Open)
	advance := h.Advance
	h.Advance = func(d time.Duration) { met.Wait(); advance(d) }
	runOnFailing(t, h)
	met.Wait()
	t.Logf("%d restarts, %d unknown outcomes, %d times unavailable", met.Interruptions(), met.Unknown(), met.Unavailable())
	if met.Interruptions() == 0 || met.Unavailable() == 0 {
		t.Error("the server was never away: this test proves nothing")
	}
}
