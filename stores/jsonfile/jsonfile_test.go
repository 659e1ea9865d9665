package jsonfile_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/jsonfile"
	"github.com/flowtui/flowtui/stores/storetest"
)

func open(t testing.TB, path string, opts jsonfile.Options) *jsonfile.Store {
	t.Helper()
	s, err := jsonfile.Open(t.Context(), path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestConformance(t *testing.T) {
	start := time.Now()
	now := start
	clock := func() time.Time { return now }
	var path string
	storetest.Run(t, storetest.Harness{
		Open: func(t *testing.T) stores.Store {
			path = filepath.Join(t.TempDir(), "store")
			return open(t, path, jsonfile.Options{Create: true, Clock: clock})
		},
		Reopen: func(t *testing.T, s stores.Store) stores.Store {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			return open(t, path, jsonfile.Options{Clock: clock})
		},
		Advance: func(d time.Duration) { now = now.Add(d) },
	})
}
