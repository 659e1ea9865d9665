package postgres_test

import (
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/flowtui/flowtui/internal/testservers"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/postgres"
	"github.com/flowtui/flowtui/stores/storetest"
)

// shared is the server that most tests use, each with schemas of its own. It
// starts with the first of them and ends with the process.
var shared struct {
	sync.Once
	server *testservers.Server
	schema atomic.Int64
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

var lasts lasting

func TestMain(m *testing.M) {
	storetest.Rival(rival)
	postgres.SetNewStore(func(t *testing.T) *postgres.Store { return create(t, fresh(t, server(t))) })
	code := m.Run()
	for i := len(lasts.ends) - 1; i >= 0; i-- {
		lasts.ends[i]()
	}
	os.Exit(code)
}

// server is the shared server's URL.
func server(t testing.TB) string {
	t.Helper()
	shared.Do(func() {
		lasts.TB = t
		shared.server = testservers.Postgres(&lasts)
	})
	if shared.server == nil {
		testservers.Postgres(t) // says why there is none
	}
	return shared.server.URL
}

// with adds parameters to a URL.
func with(t testing.TB, address string, pairs ...string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	for i := 0; i < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	u.RawQuery = strings.ReplaceAll(q.Encode(), "+", "%20")
	return u.String()
}

// fresh is the URL of a schema that is not there yet.
func fresh(t testing.TB, address string) string {
	t.Helper()
	return with(t, address, "schema", fmt.Sprintf("Store-%d", shared.schema.Add(1)))
}

func open(t testing.TB, address string, opts postgres.Options) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), address, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// create opens a new store and makes its tables.
func create(t testing.TB, address string) *postgres.Store {
	t.Helper()
	s := open(t, address, postgres.Options{Create: true})
	if err := s.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

func place(run string) stores.Place {
	return stores.Place{Key: stores.Key{Owner: stores.DefaultOwner, Run: run}, Store: "test", Incarnation: "first"}
}
