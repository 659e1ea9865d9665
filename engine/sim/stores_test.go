package sim

import (
	"errors"
	"flag"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/flowtui/flowtui/internal/teststores"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/memory"
	"github.com/flowtui/flowtui/stores/storetest"
)

// The first thousand seeds on one store:
//
//	go test ./engine/sim -run '^TestSimulationOnStores$/^redis$' -v -timeout 0 -sim.storeseeds 1000 -sim.storefor 1h
var (
	storeSeeds = flag.Int("sim.storeseeds", 0, "how many seeds the simulation runs on each store that does I/O (default 300, 3 with -short or the race detector)")
	storeFor   = flag.Duration("sim.storefor", 4*time.Second, "start no seed on a store after this time")
)

func seedsOnStores() int {
	switch {
	case *storeSeeds > 0:
		return *storeSeeds
	case testing.Short(), raceDetector:
		return 3
	}
	return 300
}

// TestSimulationOnStores runs the simulation on every store that does I/O. Each
// seed must go the same way as on the memory store, turn by turn, and leave the
// same rows; and what the store keeps beside them must agree with them.
func TestSimulationOnStores(t *testing.T) {
	for _, kind := range teststores.Kinds() {
		t.Run(kind, func(t *testing.T) {
			host := teststores.NewHost(t, kind)
			begin := time.Now()
			var next, ran atomic.Int64
			t.Run("seeds", func(t *testing.T) {
				for cpu := range runtime.GOMAXPROCS(0) {
					t.Run(fmt.Sprint(cpu), func(t *testing.T) {
						t.Parallel()
						store := openOn(t, host)
						for !t.Failed() && time.Since(begin) < *storeFor {
							seed := next.Add(1)
							if seed > int64(seedsOnStores()) {
								return
							}
							sameOn(t, host.Kind(), store, uint64(seed))
							ran.Add(1)
						}
					})
				}
			})
			if ran.Load() == 0 && !t.Failed() {
				t.Error("no seed ran")
			}
			t.Logf("%d seeds ran as in memory, in %s", ran.Load(), time.Since(begin).Round(time.Second))
		})
	}
}

func openOn(t *testing.T, host *teststores.Host) teststores.Store {
	t.Helper()
	store, err := host.Fresh().Open(t.Context(), teststores.Kill)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

// sameOn runs one seed on a store that has no run, and on the memory store.
func sameOn(t *testing.T, kind string, store teststores.Store, seed uint64) {
	t.Helper()
	s := simulateReal(t, seed, store)
	if s.bad != "" {
		t.Errorf("seed %d on %s: %s\n%s", seed, kind, s.bad, tail(s.lines(), 40))
		return
	}
	storetest.Check(t, store)
	empty(t, store)
	want := simulate(t, seed)
	if s.fingerprint() == want.fingerprint() {
		return
	}
	a, b := want.lines(), s.lines()
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Errorf("seed %d: turn %d is %q in memory, and %q on %s", seed, i, a[i], b[i], kind)
			return
		}
	}
	t.Errorf("seed %d: %d turns in memory, %d on %s, or other rows", seed, len(a), len(b), kind)
}

// empty deletes the runs of a seed: making a store costs more than the seed.
func empty(t *testing.T, store backend) {
	t.Helper()
	for _, run := range runNames {
		if err := store.Delete(t.Context(), key(run)); err != nil && !errors.Is(err, stores.ErrNotFound) {
			t.Fatal(err)
		}
	}
}

// atOnce is how many operations of one seed can be under way.
const atOnce = 8

// simulateReal runs one seed on a store that does I/O.
func simulateReal(t *testing.T, seed uint64, store backend) *sim {
	t.Helper()
	desks, end := newDesks(atOnce)
	defer end()
	return simulateOn(t, seed, func() backend { return real{store, desks, memory.New(memory.Options{})} })
}
