package sqlite_test

import (
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/sqlite"
	"github.com/flowtui/flowtui/stores/storetest"
)

func open(t testing.TB, path string, opts sqlite.Options) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestConformance(t *testing.T) {
	var ahead atomic.Int64 // of the clock that leases are measured by
	opts := sqlite.Options{Create: true, Clock: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }}
	paths := map[stores.Store]string{}
	storetest.Run(t, storetest.Harness{
		Open: func(t *testing.T) stores.Store {
			path := filepath.Join(t.TempDir(), "runs.db")
			s := open(t, path, opts)
			paths[s] = path
			return s
		},
		Reopen: func(t *testing.T, s stores.Store) stores.Store {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			return open(t, paths[s], sqlite.Options{Clock: opts.Clock})
		},
		Advance: func(d time.Duration) { ahead.Add(int64(d)) },
	})
}
