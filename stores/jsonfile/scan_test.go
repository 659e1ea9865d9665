package jsonfile

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
)

func TestEachOfVisitsAllOnce(t *testing.T) {
	for _, n := range []int{0, 1, scanners, 1000} {
		visits := make([]atomic.Int64, n)
		if err := eachOf(t.Context(), n, func(i int) error { visits[i].Add(1); return nil }); err != nil {
			t.Errorf("%d: %v", n, err)
		}
		for i := range visits {
			if visits[i].Load() != 1 {
				t.Errorf("%d of %d was visited %d times", i, n, visits[i].Load())
			}
		}
	}
}

func TestEachOfEnds(t *testing.T) {
	broken := errors.New("broken")
	var visits atomic.Int64
	err := eachOf(t.Context(), 1_000_000, func(int) error { visits.Add(1); return broken })
	if err != broken || visits.Load() > scanners {
		t.Errorf("%v after %d visits", err, visits.Load())
	}
	ctx, stop := context.WithCancel(t.Context())
	visits.Store(0)
	err = eachOf(ctx, 1_000_000, func(int) error { visits.Add(1); stop(); return nil })
	if !errors.Is(err, context.Canceled) || visits.Load() > scanners {
		t.Errorf("%v after %d visits", err, visits.Load())
	}
}
