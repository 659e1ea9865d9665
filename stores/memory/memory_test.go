package memory_test

import (
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
