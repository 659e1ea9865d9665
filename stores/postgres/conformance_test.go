package postgres_test

import (
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/flowtui/flowtui/internal/testproxy"
	"github.com/flowtui/flowtui/internal/testservers"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/postgres"
	"github.com/flowtui/flowtui/stores/storetest"
)

// every says that whole suites run, and not a part of them.
func every() bool { return os.Getenv("FLOWTUI_TEST_ALL") == "1" }

// failing is the suite on a server that fails: the store goes to address, and
// time passes on the server itself, by direct.
func failing(t *testing.T, met *storetest.Trouble, address, direct string) {
	t.Helper()
	addresses := map[stores.Store]string{}
	var last string
	attach := func(t *testing.T, at string, opts postgres.Options) stores.Store {
		s, err := met.Open(func() (stores.Store, error) { return postgres.Open(t.Context(), at, opts) })
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		addresses[s], last = at, at
		return s
	}
	h := storetest.Harness{
		Open: func(t *testing.T) stores.Store {
			return attach(t, fresh(t, address), postgres.Options{Create: true})
		},
		Reopen: func(t *testing.T, s stores.Store) stores.Store {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			return attach(t, addresses[s], postgres.Options{})
		},
		Advance: func(d time.Duration) {
			met.Wait()
			execute(t, with(t, direct, "schema", schemaOf(t, last)), `UPDATE {leases} SET expires = expires - $1`, d.Microseconds())
		},
	}
	if !every() {
		h.Groups = storetest.Short()
		t.Logf("only the groups %q: FLOWTUI_TEST_ALL=1 runs them all", h.Groups)
	}
	storetest.Run(t, h)
}

// TestConformanceThroughAProxy that loses requests or replies, cuts connections
// or is slow: every rule of the contract holds.
func TestConformanceThroughAProxy(t *testing.T) {
	u, err := url.Parse(server(t))
	if err != nil {
		t.Fatal(err)
	}
	for i, mood := range testproxy.Moods() {
		t.Run(string(mood), func(t *testing.T) {
			p := testproxy.New(t, u.Host)
			behind := *u
			behind.Host = p.Addr
			oneIn := 100
			if !every() {
				oneIn = 25
			}
			faults := p.Moody(mood, uint64(i), oneIn)
			met := &storetest.Trouble{}
			failing(t, met, behind.String(), u.String())
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
// store is used.
func TestConformanceWhileTheServerRestarts(t *testing.T) {
	own := testservers.Postgres(t)
	beat := int64(2500)
	if !every() {
		beat = 500
	}
	met := &storetest.Trouble{Every: beat, Interrupt: func(n int64) {
		if n%2 == 0 {
			own.Kill()
		}
		own.Restart(t)
	}}
	failing(t, met, own.URL, own.URL)
	met.Wait()
	t.Logf("%d restarts, %d unknown outcomes, %d times unavailable", met.Interruptions(), met.Unknown(), met.Unavailable())
	if met.Interruptions() == 0 || met.Unavailable() == 0 {
		t.Error("the server was never away: this test proves nothing")
	}
}
