package worker

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

// What an operator finds out about a call in doubt wakes the worker up.
func TestResolveWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := newFlaky(), newWorld()
		defer s.Close()
		doubt(t, s, w, "doubtful")
		sw, log := sweeper(t, s, w.tickets(), func(o *Options) { o.Every = time.Hour })
		defer running(t, sw)()
		time.Sleep(10 * time.Minute) // the gap between two sweeps is six minutes
		log.wantMsgs(t, "doubtful", "needs a decision")
		notRun(t, s, "doubtful")
		time.Sleep(10 * time.Minute)
		log.wantMsgs(t, "doubtful", "needs a decision", "recovered")
		w.home(t, s, "doubtful")
	})
}

// So does a decision that was stored with nothing being run.
func TestStoredDecisionsAreSpent(t *testing.T) {
	for decision, want := range map[string]stores.Status{engine.DecideApprove: stores.StatusDone, engine.DecideDeny: stores.StatusFailed} {
		synctest.Test(t, func(t *testing.T) {
			s, w := newFlaky(), newWorld()
			defer s.Close()
			tools := tool.NewRegistry(w.tool("hold_seats"), w.tool("charge_card", needsOK), w.tool("email_tickets"))
			first := runner(t, s, tools, "first")
			if _, err := first.Run(t.Context(), tickets(), engine.Start{Key: key("order-9")}); err != nil {
				t.Fatal(err)
			}
			sw, log := sweeper(t, s, tools, func(o *Options) { o.Every = time.Hour })
			defer running(t, sw)()
			time.Sleep(10 * time.Minute)
			log.wantMsgs(t, "order-9")
			if _, err := first.Record(t.Context(), key("order-9"), engine.Decide{Type: decision, By: "ana", Note: "seen"}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Minute)
			log.wantMsgs(t, "order-9", "recovered")
			if got := status(t, s, "order-9"); got != want {
				t.Errorf("%s: the run is %s, want %s", decision, got, want)
			}
			if n := w.count("order-9", "charge_card"); (n == 1) != (want == stores.StatusDone) || n > 1 {
				t.Errorf("%s: the card was charged %d times", decision, n)
			}
		})
	}
}

// silentWatch is a store whose notices break off at once.
type silentWatch struct{ *flaky }

func (silentWatch) Watch(context.Context) (<-chan struct{}, error) {
	ch := make(chan struct{})
	close(ch)
	return ch, nil
}

// unwatched is a store that gives no notices.
type unwatched struct{ full }

// Without notices, or once they break off, a change is found by polling.
func TestPolling(t *testing.T) {
	for name, wrap := range map[string]func(*flaky) full{
		"none":      func(f *flaky) full { return unwatched{f} },
		"broke off": func(f *flaky) full { return silentWatch{f} },
	} {
		synctest.Test(t, func(t *testing.T) {
			inner, w := newFlaky(), newWorld()
			defer inner.Close()
			s := wrap(inner)
			sw, _ := sweeper(t, s, w.tickets())
			defer running(t, sw)()
			time.Sleep(time.Minute)
			if n := inner.times("list", ""); n < 9 || n > 17 { // every 3.75 to 6.25 s
				t.Errorf("%s: listed %d times in a minute", name, n)
			}
			crash(t, s, w.tickets(), "order-1", afterHold, true)
			time.Sleep(7 * time.Second)
			w.home(t, s, "order-1")
		})
	}
}

// A store that changes all the time is not listed for every change.
func TestNoticesAreBundled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := newFlaky(), newWorld()
		defer s.Close()
		sw, _ := sweeper(t, s, w.tickets())
		defer running(t, sw)()
		for range 6000 {
			time.Sleep(10 * time.Millisecond)
			if _, err := s.Acquire(t.Context(), key("busy"), "somebody", time.Minute, true); err != nil {
				t.Fatal(err)
			}
		}
		if n := s.times("list", ""); n < 60 || n > 170 { // every 375 to 625 ms
			t.Errorf("listed %d times in a minute of 6000 changes", n)
		}
	})
}
