package worker

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

// How calls under way take a stop.
func patient(d time.Duration) tool.Func {
	return func(ctx context.Context, _ tool.Input) (any, error) {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(d):
			return "did it", nil
		}
	}
}

func deaf(d time.Duration) tool.Func {
	return func(context.Context, tool.Input) (any, error) {
		time.Sleep(d)
		return "did it", nil
	}
}

// A stop in the middle of a call: the run may finish within the grace period,
// then it is cut short. It is recoverable or done, and never failed; the lease
// is given back unless the call still runs.
func TestStopInTheMiddleOfACall(t *testing.T) {
	for _, c := range []struct {
		name   string
		call   tool.Func
		grace  time.Duration
		takes  time.Duration // the stop
		status stores.Status
		record stores.CallStatus // newest one of charge_card
		msgs   []string
		lease  bool
	}{
		{"finishes within the grace", patient(5 * time.Second), 10 * time.Second, 4 * time.Second, stores.StatusDone, stores.CallDone, []string{"recovered"}, false},
		{"takes longer", patient(time.Hour), 10 * time.Second, 10 * time.Second, stores.StatusRunning, stores.CallStarted, []string{"left"}, false},
		{"without a grace", patient(time.Hour), -1, 0, stores.StatusRunning, stores.CallStarted, []string{"left"}, false},
		{"does not listen, and returns", deaf(14 * time.Second), 10 * time.Second, 13 * time.Second, stores.StatusRunning, stores.CallDone, []string{"left"}, false},
		{"does not listen for long", deaf(time.Hour), 10 * time.Second, 15 * time.Second, stores.StatusRunning, stores.CallStarted, []string{"left"}, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, w := newFlaky(), newWorld()
			defer s.Close()
			crash(t, s, w.tickets(), "order-1", afterHold, true)
			w.do["charge_card"] = c.call
			sw, log := sweeper(t, s, w.tickets(), func(o *Options) { o.Grace = c.grace })
			stop := running(t, sw)
			time.Sleep(time.Second)
			if w.count("order-1", "charge_card") != 1 {
				t.Fatalf("%s: the call is not under way", c.name)
			}
			begin := time.Now()
			stop()
			if took := time.Since(begin); took != c.takes {
				t.Errorf("%s: the stop took %s, want %s", c.name, took, c.takes)
			}
			if got := status(t, s, "order-1"); got != c.status {
				t.Errorf("%s: the run is %s, want %s", c.name, got, c.status)
			}
			calls, err := s.Calls(t.Context(), key("order-1"), 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range engine.FoldCalls(calls) {
				if x.Node == "pay" && (x.Status != c.record || x.Failed) {
					t.Errorf("%s: the call is %s, failed %t; want %s", c.name, x.Status, x.Failed, c.record)
				}
			}
			if l, err := s.Lease(t.Context(), key("order-1")); err != nil || (l != nil && l.Live) != c.lease {
				t.Errorf("%s: the lease is %+v, %v", c.name, l, err)
			}
			log.wantMsgs(t, "order-1", c.msgs...)
			for _, l := range log.about("order-1", slog.LevelInfo) {
				if at := l.attrs["at"]; l.msg == "left" && (at.String() != "[pay]" || l.attrs["segment"].Int64() != 2) {
					t.Errorf("%s: left at %s, %+v", c.name, at, l.attrs)
				}
			}
			time.Sleep(time.Hour) // let go of deaf calls
		})
	}
}

// A stop between two calls, and one of a run that waits for a person.
func TestStopBetweenCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := newFlaky(), newWorld()
		defer s.Close()
		tools := tool.NewRegistry(w.tool("hold_seats"), w.tool("charge_card", needsOK), w.tool("email_tickets"))
		if _, err := runner(t, s, tools, "first").Run(t.Context(), tickets(), engine.Start{Key: key("paused")}); err != nil {
			t.Fatal(err)
		}
		looping := engine.NewFlow("looping").MaxSupersteps(1_000_000).
			Node("on", engine.NodeFunc(func(context.Context, engine.State) (engine.State, error) {
				time.Sleep(10 * time.Millisecond)
				return nil, nil
			})).Edge("on", "on")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := runner(t, s, nil, "first").Run(ctx, looping, engine.Start{Key: key("looping")}); err == nil {
			t.Fatal("it ended")
		}
		sw, log := sweeper(t, s, tools, func(o *Options) {
			o.Flows = func(name string) (*engine.Flow, error) {
				if name == "looping" {
					return looping, nil
				}
				return onlyTickets(name)
			}
		})
		stop := running(t, sw)
		time.Sleep(time.Second)
		stop()
		c := latest(t, s, "looping")
		if c.Status != stores.StatusRunning || c.Segment != 2 {
			t.Errorf("the run is %s in segment %d", c.Status, c.Segment)
		}
		if left := log.about("looping", slog.LevelWarn); len(left) != 1 || left[0].attrs["step"].Int64() != c.Step {
			t.Errorf("logged %+v, the run is at step %d", left, c.Step)
		}
		if got := status(t, s, "paused"); got != stores.StatusPaused {
			t.Errorf("the paused one is %s", got)
		}
		log.wantMsgs(t, "", "started", "stopping", "stopped")
	})
}

// Whatever stops the worker is told, and a store that is down then keeps it
// from nothing.
func TestStopWhileTheStoreIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := newFlaky(), newWorld()
		defer s.Close()
		crash(t, s, w.tickets(idempotent), "order-1", afterHold, true)
		w.do["charge_card"] = patient(time.Hour)
		sw, log := sweeper(t, s, w.tickets(idempotent))
		stop := running(t, sw)
		time.Sleep(time.Second)
		s.set(down, nil)
		stop()
		s.set(nil, nil)
		if got := status(t, s, "order-1"); got != stores.StatusRunning {
			t.Errorf("the run is %s", got)
		}
		log.wantMsgs(t, "order-1", "left")
		for _, l := range log.about("", slog.LevelInfo) {
			if l.msg == "stopping" && (l.attrs["why"].String() != "told to" || l.attrs["under_way"].Int64() != 1) {
				t.Errorf("logged %+v", l.attrs)
			}
		}
		again, _ := sweeper(t, s, w.tickets(idempotent))
		delete(w.do, "charge_card")
		if _, err := again.Sweep(t.Context()); err != nil || status(t, s, "order-1") != stores.StatusDone {
			t.Errorf("it cannot be recovered: %v, %s", err, status(t, s, "order-1"))
		}
	})
}
