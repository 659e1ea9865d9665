package worker

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/stores"
)

// The wait doubles from try to try up to its cap, and chance takes at most half
// of it away.
func TestBackoff(t *testing.T) {
	for _, c := range []struct {
		tries int
		whole time.Duration
	}{
		{1, time.Second}, {2, 2 * time.Second}, {3, 4 * time.Second}, {5, 16 * time.Second}, {9, 256 * time.Second},
		{10, 512 * time.Second}, {11, 10 * time.Minute}, {12, 10 * time.Minute}, {1_000_000, 10 * time.Minute},
	} {
		for r, want := range map[float64]time.Duration{0: c.whole / 2, 0.5: c.whole * 3 / 4, 1: c.whole} {
			if got := backoff(time.Second, 10*time.Minute, c.tries, r); got != want {
				t.Errorf("try %d, chance %g: wait %s, want %s", c.tries, r, got, want)
			}
		}
	}
}

func TestJitterStaysNearAndSpreads(t *testing.T) {
	s := &Sweeper{}
	for r, want := range map[float64]time.Duration{0: 3750 * time.Millisecond, 0.5: 5 * time.Second, 1: 6250 * time.Millisecond} {
		s.random = func() float64 { return r }
		if got := s.jitter(5 * time.Second); got != want {
			t.Errorf("chance %g: %s, want %s", r, got, want)
		}
	}
}

// A slow store is asked less often, and a run that is due ends the pause.
func TestPause(t *testing.T) {
	s := &Sweeper{o: Options{Every: 5 * time.Second}, random: func() float64 { return 0.5 }}
	for _, c := range []struct {
		took, next, gap, rest time.Duration
	}{
		{0, 0, 500 * time.Millisecond, 4500 * time.Millisecond},
		{100 * time.Millisecond, 0, time.Second, 4 * time.Second},
		{2 * time.Second, 0, 20 * time.Second, 0},
		{0, time.Hour, 500 * time.Millisecond, 4500 * time.Millisecond},
		{0, -time.Hour, 500 * time.Millisecond, 0},
	} {
		var next time.Time
		if c.next != 0 {
			next = time.Now().Add(c.next)
		}
		if got := s.pause(c.took, next); got != (pause{c.gap, c.rest}) {
			t.Errorf("list took %s, next run due in %s: %+v, want gap %s and rest %s", c.took, c.next, got, c.gap, c.rest)
		}
	}
}

func TestWhatAnErrorMeans(t *testing.T) {
	of := func(class error) error { return fmt.Errorf("around it: %w", &engine.Error{Class: class}) }
	for _, c := range []struct {
		err   error
		msg   string
		again bool
	}{
		{of(engine.ErrRecoveryNeedsDecision), "needs a decision", false},
		{of(engine.ErrCheckpointStoreCorrupt), "does not verify", true},
		{of(engine.ErrFlow), "does not fit the flow", false},
		{of(engine.ErrCheckpointConflict), faster, true},
		{of(engine.ErrCheckpointNotFound), faster, true},
		{stores.ErrConflict, faster, true},
		{of(engine.ErrRefused), "not recovered", true},
		{of(engine.ErrUnavailable), "not recovered", true}, // a model
		{of(engine.ErrHeld), "held", true},                 // a node that may work later
		{stores.ErrBusy, "not recovered", true},
		{stores.ErrNotFound, "not recovered", true}, // the store is gone: no run says so
		{stores.ErrUnavailable, "not recovered", true},
		{stores.ErrUnknown, "not recovered", true},
		{errors.New("anything"), "not recovered", true},
	} {
		if got := troubleOf(c.err); got.msg != c.msg || (got.retry > 0) != c.again {
			t.Errorf("%v: %q, first wait %s; want %q, again %t", c.err, got.msg, got.retry, c.msg, c.again)
		}
	}
}

func TestOptions(t *testing.T) {
	s, _ := sweeper(t, newFlaky(), nil)
	if got, want := s.o, (Options{Owner: stores.AnyOwner, Concurrency: 4, Every: 5 * time.Second, Grace: 10 * time.Second, Silent: time.Minute}); got.Owner != want.Owner ||
		got.Concurrency != want.Concurrency || got.Every != want.Every || got.Grace != want.Grace || got.Silent != want.Silent {
		t.Errorf("defaults are %+v", got)
	}
	for name, o := range map[string]Options{
		"nothing":              {},
		"no flows":             {Runner: s.o.Runner, Store: s.o.Store},
		"negative concurrency": {Runner: s.o.Runner, Store: s.o.Store, Flows: onlyTickets, Concurrency: -1},
		"negative every":       {Runner: s.o.Runner, Store: s.o.Store, Flows: onlyTickets, Every: -1},
	} {
		if _, err := New(o); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
