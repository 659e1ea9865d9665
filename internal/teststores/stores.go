package teststores

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/flowtui/flowtui/internal/testservers"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/jsonfile"
	"github.com/flowtui/flowtui/stores/postgres"
	"github.com/flowtui/flowtui/stores/redis"
	"github.com/flowtui/flowtui/stores/sqlite"
)

// The native stores that other processes can open. Only the memory store is
// missing.
const (
	SQLite   = "sqlite"
	JSONFile = "jsonfile"
	Redis    = "redis"
	Postgres = "postgres"
)

// Kinds lists them.
func Kinds() []string { return []string{SQLite, JSONFile, Redis, Postgres} }

// Store is what every native store can do.
type Store interface {
	stores.Store
	stores.Lister
	stores.Auditor
	stores.Historian
	stores.EventLog
	stores.Grapher
	stores.Leaser
	stores.Preparer
	stores.Remover
	stores.Importer
	stores.Watcher
	stores.Examiner
}

// Host has room for any number of stores of one kind.
type Host struct {
	kind   string
	folder string
	server string // URL
	stores atomic.Int64
}

// NewHost makes a host that lasts as long as the test, which is skipped when a
// server that it needs is not installed.
func NewHost(t testing.TB, kind string) *Host {
	t.Helper()
	h := &Host{kind: kind}
	switch kind {
	case SQLite, JSONFile:
		h.folder = t.TempDir()
	case Redis:
		redis.Quiet()
		h.server = testservers.Redis(t).URL
	case Postgres:
		h.server = testservers.Postgres(t).URL
	default:
		t.Fatalf("there is no kind of store %q", kind)
	}
	return h
}

// Kind is the kind of the host's stores.
func (h *Host) Kind() string { return h.kind }

// Fresh returns the place of a store that is not there yet. Any process can
// open it while the host lasts.
func (h *Host) Fresh() Place {
	name := fmt.Sprint("store-", h.stores.Add(1))
	p := Place{Kind: h.kind}
	switch h.kind {
	case SQLite:
		p.At = filepath.Join(h.folder, name+".db")
	case JSONFile:
		p.At = filepath.Join(h.folder, name)
	case Redis:
		p.At = with(h.server, "prefix", name)
	case Postgres:
		p.At = with(h.server, "schema", name)
	}
	return p
}

func with(address, key, value string) string {
	separator := "?"
	if strings.Contains(address, "?") {
		separator = "&"
	}
	return address + separator + key + "=" + url.QueryEscape(value)
}

// Place is where a store is: a path or a URL.
type Place struct{ Kind, At string }

// Durability is how much a save that returned survives: a power cut, or no more
// than a kill of the process, which is faster. JSON files always survive both,
// and a Redis server of a test neither its own end.
type Durability string

const (
	PowerCut Durability = "FULL"
	Kill     Durability = "NORMAL"
)

// Open opens the store that is there, or that the first write makes.
func (p Place) Open(ctx context.Context, d Durability) (Store, error) {
	switch p.Kind {
	case SQLite:
		return sqlite.Open(ctx, p.At, sqlite.Options{Create: true, Synchronous: string(d)})
	case JSONFile:
		return jsonfile.Open(ctx, p.At, jsonfile.Options{Create: true})
	case Redis:
		redis.Quiet()
		return redis.Open(ctx, p.At, redis.Options{Create: true})
	case Postgres:
		address := p.At
		if d == Kill {
			address = with(address, "synchronous_commit", "off")
		}
		return postgres.Open(ctx, address, postgres.Options{Create: true})
	}
	return nil, fmt.Errorf("%w: there is no kind of store %q", stores.ErrInvalid, p.Kind)
}
