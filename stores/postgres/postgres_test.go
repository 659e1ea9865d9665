package postgres_test

import (
	"testing"
	"time"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/postgres"
	"github.com/flowtui/flowtui/stores/storetest"
)

// TestConformance runs the suite on a server of its own clock: time passes by
// moving the leases back.
func TestConformance(t *testing.T) {
	conformance(t, server(t))
}

func conformance(t *testing.T, address string) {
	addresses := map[stores.Store]string{}
	var last string
	storetest.Run(t, storetest.Harness{
		Open: func(t *testing.T) stores.Store {
			last = fresh(t, address)
			s := open(t, last, postgres.Options{Create: true})
			addresses[s] = last
			return s
		},
		Reopen: func(t *testing.T, s stores.Store) stores.Store {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			return open(t, addresses[s], postgres.Options{})
		},
		Advance: func(d time.Duration) {
			execute(t, with(t, server(t), "schema", schemaOf(t, last)), `UPDATE {leases} SET expires = expires - $1`, d.Microseconds())
		},
	})
}
