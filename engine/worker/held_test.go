package worker

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

func heldTickets(string) (*engine.Flow, error) { return tickets().HoldOnError(), nil }

// hold leaves a run at a card that is not charged.
func hold(t *testing.T, s stores.Store, w *world, tools *tool.Registry) {
	t.Helper()
	w.do["charge_card"] = func(context.Context, tool.Input) (any, error) { return nil, errors.New("HTTP 500") }
	_, err := runner(t, s, tools, "first").Execute(context.Background(), tickets(), engine.Execution{Key: key("order-7")})
	if !errors.Is(err, engine.ErrHeld) || w.count("order-7", "charge_card") != 1 {
		t.Fatal(err)
	}
}

// A call that failed and is not idempotent never runs again by itself, however
// long workers look at it, and that is told once.
func TestAHeldCallIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := newFlaky(), newWorld()
		defer s.Close()
		hold(t, s, w, w.tickets())
		step := latest(t, s, "order-7").Step
		sw, log := sweeper(t, s, w.tickets(), func(o *Options) { o.Flows = heldTickets })
		defer running(t, sw)()
		other, _ := sweeper(t, s, w.tickets(), func(o *Options) { o.Flows = heldTickets })
		defer running(t, other)()
		time.Sleep(time.Hour)
		if n := w.count("order-7", "charge_card"); n != 1 || latest(t, s, "order-7").Step != step {
			t.Errorf("%d charges, step %d became %d", n, step, latest(t, s, "order-7").Step)
		}
		log.wantMsgs(t, "order-7", "held")
		for _, l := range log.about("order-7", slog.LevelWarn) {
			if _, again := l.attrs["again_ms"]; again {
				t.Errorf("it is said to be tried again: %v", l.attrs)
			}
		}
		w.mu.Lock()
		delete(w.do, "charge_card")
		w.mu.Unlock()
		if _, err := runner(t, s, w.tickets(), "third").Execute(context.Background(), tickets(), engine.Execution{Key: key("order-7")}); err != nil {
			t.Fatal(err)
		}
		if n := w.count("order-7", "charge_card"); n != 2 || status(t, s, "order-7") != stores.StatusDone {
			t.Errorf("%d charges, it is %s", n, status(t, s, "order-7"))
		}
	})
}

// A held call that is idempotent is tried less and less often, also by several
// workers, of which each sees the tries of the others as changes of the run.
func TestAHeldCallThatMayRunAgainBacksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := newFlaky(), newWorld()
		defer s.Close()
		tools := w.tickets(idempotent)
		hold(t, s, w, tools)
		for range 3 {
			sw, _ := sweeper(t, s, tools, func(o *Options) { o.Flows = heldTickets })
			defer running(t, sw)()
		}
		time.Sleep(time.Hour)
		if n := w.count("order-7", "charge_card"); n < 6 || n > 40 { // three workers at once, then 1, 2, 4, … 600 s, at least half of each
			t.Errorf("%d charges in an hour", n)
		}
		w.mu.Lock()
		delete(w.do, "charge_card")
		w.mu.Unlock()
		time.Sleep(15 * time.Minute)
		if status(t, s, "order-7") != stores.StatusDone {
			t.Errorf("it is %s", status(t, s, "order-7"))
		}
	})
}
