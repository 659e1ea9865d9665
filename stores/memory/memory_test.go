package memory_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/memory"
	"github.com/flowtui/flowtui/stores/storetest"
)

func TestConformance(t *testing.T) {
	now := time.Now()
	storetest.Run(t, storetest.Harness{
		Open: func(t *testing.T) stores.Store {
			return memory.New(memory.Options{Clock: func() time.Time { return now }})
		},
		Advance: func(d time.Duration) { now = now.Add(d) },
	})
}

func place(run string) stores.Place {
	return stores.Place{Key: stores.Key{Owner: stores.DefaultOwner, Run: run}, Store: "test", Incarnation: "first"}
}

// TestScenario07LatestIsByStep: the clock went back with every step.
func TestScenario07LatestIsByStep(t *testing.T) {
	s := memory.New(memory.Options{})
	for n := range int64(11) {
		back := func(c *stores.Checkpoint) { c.Time = storetest.Epoch.Add(-time.Duration(n) * time.Minute) }
		if err := s.Save(t.Context(), storetest.Step(place("r"), n, back)); err != nil {
			t.Fatal(err)
		}
	}
	last, err := s.Latest(t.Context(), place("r").Key)
	if err != nil || last.Step != 10 {
		t.Errorf("latest is step %d, %v", last.Step, err)
	}
}

// TestScenario10TwoWritersFromOneParent: one of the two goes on.
func TestScenario10TwoWritersFromOneParent(t *testing.T) {
	s := memory.New(memory.Options{})
	if err := s.Save(t.Context(), storetest.Step(place("r"), 0)); err != nil {
		t.Fatal(err)
	}
	var wins atomic.Int64
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			switch err := s.Save(t.Context(), storetest.Step(place("r"), 1)); {
			case err == nil:
				wins.Add(1)
			case !errors.Is(err, stores.ErrConflict):
				t.Errorf("the loser got %v", err)
			}
		})
	}
	both.Wait()
	if wins.Load() != 1 {
		t.Errorf("%d writers won", wins.Load())
	}
	storetest.Check(t, s)
}
