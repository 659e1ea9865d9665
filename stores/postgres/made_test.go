package postgres_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/postgres"
	"github.com/flowtui/flowtui/stores/storetest"
)

// TestReadWhileMade: who reads a store of which the tables are being made finds
// no run yet, or the first one, and is never told that a table is gone.
func TestReadWhileMade(t *testing.T) {
	for range 20 {
		s := open(t, fresh(t, server(t)), postgres.Options{Create: true})
		var made atomic.Bool
		var readers sync.WaitGroup
		for range 4 {
			readers.Go(func() {
				for !made.Load() {
					_, err := s.Latest(t.Context(), place("r").Key)
					_, err2 := s.Events(t.Context(), place("r").Key, 0, 0)
					if err != nil && !errors.Is(err, stores.ErrNotFound) || err2 != nil {
						t.Errorf("latest: %v; events: %v", err, err2)
						return
					}
				}
			})
		}
		err := s.Save(t.Context(), storetest.Step(place("r"), 0))
		made.Store(true)
		readers.Wait()
		if err != nil {
			t.Fatal(err)
		}
	}
}
