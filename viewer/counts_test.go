package viewer

import (
	"context"
	"errors"
	"testing"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/memory"
)

// uncounted is a store that is still counting when it is told to stop.
type uncounted struct {
	*memory.Store
	counting chan struct{}
}

func (u uncounted) Count(ctx context.Context, _ stores.Filter) (stores.Counts, error) {
	u.counting <- struct{}{}
	<-ctx.Done()
	return stores.Counts{}, ctx.Err()
}

// TestPageComesBeforeItsCounts: a page of every tab comes while its store counts.
func TestPageComesBeforeItsCounts(t *testing.T) {
	b := newBench(t)
	b.start("approval", "paused")
	b.crash("tickets", "in doubt")
	store := uncounted{b.store, make(chan struct{})}
	o := b.options()
	o.Formats = Registry{memoryFormat(map[string]stores.Store{"mem": store})}
	s := attach(t, o, "mem")
	ctx, stop := context.WithCancel(t.Context())
	counted := make(chan error)
	go func() {
		_, err := s.Counts(ctx, Query{})
		counted <- err
	}()
	<-store.counting
	for tab, want := range map[Tab]int{TabNeedsYou: 2, TabRunning: 1, TabPaused: 1, TabInDoubt: 1, TabFailed: 0, TabDone: 0, TabAll: 2} {
		if p := get[Page](t)(s.List(t.Context(), Query{Tab: tab})); len(p.Rows) != want || len(p.Problems) != 0 {
			t.Errorf("%s: %d rows, want %d; problems %+v", tab, len(p.Rows), want, p.Problems)
		}
	}
	stop()
	if err := <-counted; !errors.Is(err, context.Canceled) {
		t.Errorf("the counts came with %v", err)
	}
}
