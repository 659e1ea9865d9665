package worker

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

// What is remembered of a run goes when the run goes.
func TestForgetsRunsThatAreGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := newFlaky(), newWorld()
		defer s.Close()
		doubt(t, s, w, "doubtful")
		crash(t, s, w.tickets(), "foreign", afterStart, true, func(o *engine.Start) { o.Identity.Principal = "team-b" })
		sw, _ := sweeper(t, s, w.tickets())
		defer running(t, sw)()
		remembered := func() int {
			sw.mu.Lock()
			defer sw.mu.Unlock()
			return len(sw.runs)
		}
		time.Sleep(time.Minute)
		if n := remembered(); n != 2 {
			t.Errorf("%d runs are remembered, want both", n)
		}
		for _, run := range []string{"doubtful", "foreign"} {
			if err := s.Delete(t.Context(), key(run)); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Minute)
		if n := remembered(); n != 0 {
			t.Errorf("%d runs are remembered that are gone", n)
		}
	})
}

// breaking is a store whose first notices break off, as when a connection is lost.
type breaking struct {
	*flaky
	again bool
}

func (b *breaking) Watch(ctx context.Context) (<-chan struct{}, error) {
	if b.again {
		return b.flaky.Watch(ctx)
	}
	b.again = true
	return silentWatch{}.Watch(ctx)
}

func TestListensAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := &breaking{flaky: newFlaky()}, newWorld()
		defer s.Close()
		sw, _ := sweeper(t, s, w.tickets(), func(o *Options) { o.Every = time.Hour })
		defer running(t, sw)()
		time.Sleep(80 * time.Minute) // it polled once and listens again
		crash(t, s.flaky, w.tickets(), "order-1", afterHold, true)
		time.Sleep(9 * time.Minute)
		w.home(t, s, "order-1")
	})
}

// While a long queue is worked off, the list is read again: what came
// meanwhile is noticed long before the end of the queue.
func TestALongQueueIsNotBlind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := newFlaky(), newWorld()
		defer s.Close()
		for i := range 20 {
			crash(t, s, w.tickets(), fmt.Sprintf("order-%02d", i), afterStart, true)
			time.Sleep(time.Millisecond)
		}
		var order []string
		w.do["charge_card"] = func(_ context.Context, in tool.Input) (any, error) {
			order = append(order, in.Run) // one at a time
			time.Sleep(time.Minute)
			return "charged", nil
		}
		sw, log := sweeper(t, s, w.tickets(), func(o *Options) { o.Concurrency = 1 })
		stop := running(t, sw)
		time.Sleep(150 * time.Second)
		crash(t, s, w.tickets(), "foreign", afterStart, true, func(o *engine.Start) { o.Identity.Principal = "team-b" })
		time.Sleep(2 * time.Minute)
		log.wantMsgs(t, "foreign", "left to others")
		time.Sleep(20 * time.Minute)
		stop()
		if !slices.IsSorted(order) || len(order) != 20 {
			t.Errorf("worked on in the order %v, want the oldest first", order)
		}
	})
}

// Losing a race is no outcome of a sweep.
type loser struct{}

func (loser) Recover(_ context.Context, _ *engine.Flow, k stores.Key, _ engine.RecoverOptions) (engine.Result, error) {
	return engine.Result{}, &engine.Error{Class: engine.ErrCheckpointConflict, Key: k, Reason: "it is being worked on by somebody"}
}

func TestSweepOnceLosesARace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := newFlaky(), newWorld()
		defer s.Close()
		crash(t, s, w.tickets(), "order-1", afterStart, true)
		sw, log := sweeper(t, s, nil, func(o *Options) { o.Runner = loser{} })
		if all, err := sw.Sweep(t.Context()); err != nil || len(all) != 0 {
			t.Errorf("%+v, %v", all, err)
		}
		log.wantMsgs(t, "order-1")
	})
}

// A stop ends one sweep too: it lets go of what is under way and says so.
func TestSweepOnceIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := newFlaky(), newWorld()
		defer s.Close()
		crash(t, s, w.tickets(idempotent), "order-1", afterStart, true)
		w.do["charge_card"] = patient(time.Hour)
		sw, log := sweeper(t, s, w.tickets(idempotent))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		all, err := sw.Sweep(ctx)
		if err == nil || len(all) != 1 || all[0].Err == nil || status(t, s, "order-1") != stores.StatusRunning {
			t.Errorf("%+v, %v; the run is %s", all, err, status(t, s, "order-1"))
		}
		log.wantMsgs(t, "order-1", "left")
	})
}
