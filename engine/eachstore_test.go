package engine_test

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/flowtui/flowtui/internal/teststores"
	"github.com/flowtui/flowtui/stores/sqlite"
)

// eachStore runs a test in memory and on a file.
func eachStore(t *testing.T, f func(t *testing.T, s full)) {
	t.Run("memory", func(t *testing.T) { f(t, newStore()) })
	t.Run("sqlite", func(t *testing.T) {
		s, err := sqlite.Open(ctx, t.TempDir()+"/runs.db", sqlite.Options{Create: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		f(t, s)
	})
}

// everyStore is eachStore and, with FLOWTUI_TEST_ALL=1, the other native stores
// too: for what hangs on the store's part of the bargain, which is
// compare-and-set, the numbers of call records, leases and fencing.
func everyStore(t *testing.T, f func(t *testing.T, s full)) {
	eachStore(t, f)
	if os.Getenv("FLOWTUI_TEST_ALL") != "1" {
		return
	}
	for _, kind := range []string{teststores.JSONFile, teststores.Redis, teststores.Postgres} {
		t.Run(kind, func(t *testing.T) {
			s, err := host(t, kind).Fresh().Open(ctx, teststores.Kill)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
			f(t, s)
		})
	}
}

// servers are started by the first test that needs them and end with the
// process.
var servers struct {
	sync.Mutex
	hosts map[string]*teststores.Host
	last  lasting
}

// lasting is a test that ends when all have.
type lasting struct {
	testing.TB
	ends []func()
}

func (l *lasting) Cleanup(end func()) { l.ends = append(l.ends, end) }

func (l *lasting) Errorf(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

func (l *lasting) Error(args ...any) { fmt.Fprintln(os.Stderr, args...) }

func (l *lasting) Logf(string, ...any) {}

func (l *lasting) Helper() {}

func TestMain(m *testing.M) {
	code := m.Run()
	for i := len(servers.last.ends) - 1; i >= 0; i-- {
		servers.last.ends[i]()
	}
	os.Exit(code)
}

// host has room for stores of a kind: a folder of the test's own, or a server
// that the tests share.
func host(t *testing.T, kind string) *teststores.Host {
	t.Helper()
	if kind == teststores.JSONFile {
		return teststores.NewHost(t, kind)
	}
	servers.Lock()
	defer servers.Unlock()
	if servers.hosts[kind] == nil {
		servers.last.TB = t
		h := teststores.NewHost(&servers.last, kind)
		if servers.hosts == nil {
			servers.hosts = map[string]*teststores.Host{}
		}
		servers.hosts[kind] = h
	}
	return servers.hosts[kind]
}
