package worker

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

// A run that cannot be recovered for a reason that may pass is tried again,
// less and less often, and the others are not held up by it.
func TestARunBacksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := newFlaky(), newWorld()
		defer s.Close()
		crash(t, s, w.tickets(), "busy", afterHold, true)
		crash(t, s, w.tickets(), "fine", afterHold, true)
		var mu sync.Mutex
		var tries []time.Time
		s.set(func(op string, k stores.Key) error {
			if op == "save" && k.Run == "busy" {
				mu.Lock()
				defer mu.Unlock()
				tries = append(tries, time.Now())
				return &stores.OpError{Op: op, Key: k, Class: stores.ErrBusy}
			}
			return nil
		}, nil)
		sw, log := sweeper(t, s, w.tickets())
		defer running(t, sw)()
		time.Sleep(time.Second)
		w.home(t, s, "fine")
		time.Sleep(time.Hour)
		mu.Lock()
		if len(tries) < 12 || len(tries) > 24 { // 1, 2, 4, … 512 s, then 600 s, at least half of each
			t.Errorf("%d tries in an hour", len(tries))
		}
		for i := 1; i < len(tries); i++ {
			whole := min(time.Second<<min(i-1, 20), 10*time.Minute)
			if gap := tries[i].Sub(tries[i-1]); gap < whole/2 || gap > whole+time.Second {
				t.Errorf("wait %d was %s, want %s to %s", i, gap, whole/2, whole)
			}
		}
		mu.Unlock()
		log.wantMsgs(t, "busy", "not recovered") // the same is not told again and again
		if n := log.about("busy", slog.LevelWarn)[0].attrs["tries"].Int64(); n != 1 {
			t.Errorf("told at try %d", n)
		}
		s.set(nil, nil)
		time.Sleep(11 * time.Minute)
		w.home(t, s, "busy")
		log.wantMsgs(t, "busy", "not recovered", "recovered")
		sw.mu.Lock()
		defer sw.mu.Unlock()
		if len(sw.runs) != 0 {
			t.Errorf("what is done is still remembered: %v", sw.runs)
		}
	})
}

// When somebody changed the run, its back-off is over.
func TestAChangeEndsTheBackOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := newFlaky(), newWorld()
		defer s.Close()
		tools := tool.NewRegistry(w.tool("hold_seats"), w.tool("charge_card", needsOK), w.tool("email_tickets"))
		first := runner(t, s, tools, "first")
		crash(t, s, tools, "order-9", afterHold, true)
		s.set(func(op string, k stores.Key) error {
			if op == "save" {
				return stores.ErrBusy
			}
			return nil
		}, nil)
		sw, _ := sweeper(t, s, tools, func(o *Options) { o.Runner = runner(t, s, tools, "sweeper") })
		defer running(t, sw)()
		time.Sleep(10 * time.Hour) // now it waits for five to ten minutes
		s.set(nil, nil)
		if _, err := first.Recover(t.Context(), tickets(), key("order-9"), engine.RecoverOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := first.Record(t.Context(), key("order-9"), engine.Decide{Type: engine.DecideApprove, By: "ana"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		w.home(t, s, "order-9")
	})
}

// A tool that is not on this machine is no failure of the run. Each try claims
// it, so there are few of them; when the tool comes, the run goes on.
func TestAToolThatIsNotHere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := newFlaky(), newWorld()
		defer s.Close()
		crash(t, s, w.tickets(), "order-1", afterHold, true)
		here := tool.NewRegistry(w.tool("hold_seats"), w.tool("email_tickets"))
		sw, log := sweeper(t, s, here)
		defer running(t, sw)()
		time.Sleep(4 * time.Hour)
		c := latest(t, s, "order-1")
		if c.Status != stores.StatusRunning || c.Segment < 20 || c.Segment > 60 {
			t.Errorf("after four hours it is %s in segment %d", c.Status, c.Segment)
		}
		if err := here.Add(w.tool("charge_card")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(11 * time.Minute)
		w.home(t, s, "order-1")
		log.wantMsgs(t, "order-1", "not recovered", "recovered")
	})
}

// A run that ends every worker that claims it is tried less and less often,
// though no worker lives to remember it: the stored rows tell.
func TestARunThatEndsItsWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := newFlaky(), newWorld()
		defer s.Close()
		crash(t, s, w.tickets(idempotent), "deadly", afterStart, true)
		for range 8 {
			d := &dying{full: s, at: recorded("hold", stores.CallStarted), freed: true}
			if _, err := runner(t, d, w.tickets(idempotent), "gone").Recover(t.Context(), tickets(), key("deadly"), engine.RecoverOptions{}); err == nil {
				t.Fatal("it did not die")
			}
		}
		sw, log := sweeper(t, s, w.tickets(idempotent))
		defer running(t, sw)()
		time.Sleep(63 * time.Second)
		if got := latest(t, s, "deadly").Segment; got != 9 {
			t.Errorf("it was claimed again within a minute: segment %d", got)
		}
		log.wantMsgs(t, "deadly", "postponed")
		time.Sleep(70 * time.Second) // 128 s is the whole wait after eight claims
		w.home(t, s, "deadly")
		log.wantMsgs(t, "deadly", "postponed", "recovered")
	})
}

// Pauses and decisions are saved in the same superstep, and are no such claims.
func TestDecisionsAreNotPostponed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := newFlaky(), newWorld()
		defer s.Close()
		flow := engine.NewFlow("tickets").Node("many", engine.NodeFunc(func(ctx context.Context, _ engine.State) (engine.State, error) {
			for range 4 {
				if _, err := engine.CallTool(ctx, "charge_card", nil); err != nil {
					return nil, err
				}
			}
			return nil, nil
		}))
		tools := tool.NewRegistry(w.tool("charge_card", needsOK))
		first := runner(t, s, tools, "first")
		if _, err := first.Run(t.Context(), flow, engine.Start{Key: key("many")}); err != nil {
			t.Fatal(err)
		}
		sw, log := sweeper(t, s, tools, func(o *Options) { o.Flows = func(string) (*engine.Flow, error) { return flow, nil } })
		defer running(t, sw)()
		for range 4 {
			if _, err := first.Record(t.Context(), key("many"), engine.Decide{Type: engine.DecideApprove, By: "ana"}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * time.Second)
		}
		if got := status(t, s, "many"); got != stores.StatusDone {
			t.Errorf("it is %s after four decisions", got)
		}
		log.wantMsgs(t, "many", "recovered", "recovered", "recovered", "recovered")
	})
}

// The store is down when the worker starts, and again in the middle of
// recovering a hundred runs: nobody is stranded, and no run is blamed.
func TestOutages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := newFlaky(), newWorld()
		defer s.Close()
		const runs = 100
		for i := range runs {
			crash(t, s, w.tickets(idempotent), fmt.Sprint("order-", i), []point{afterStart, afterHold, saved(2)}[i%3], true)
		}
		for _, name := range ticketTools {
			w.do[name] = func(context.Context, tool.Input) (any, error) {
				time.Sleep(10 * time.Millisecond)
				return "did it", nil
			}
		}
		s.set(down, nil)
		sw, log := sweeper(t, s, w.tickets(idempotent))
		stop := running(t, sw)
		time.Sleep(time.Hour)
		if n := s.times("list", ""); n < 100 || n > 250 { // every 15 to 30 s in the end
			t.Errorf("asked %d times in an hour", n)
		}
		log.wantMsgs(t, "", "started", "store does not answer")
		s.set(nil, nil)
		waitFor(t, "the first runs", func() bool { return status(t, s, "order-3") == stores.StatusDone })
		time.Sleep(200 * time.Millisecond)
		s.set(down, nil)
		time.Sleep(20 * time.Second)
		s.set(nil, nil)
		time.Sleep(3 * time.Minute)
		stop()
		for i := range runs {
			run := fmt.Sprint("order-", i)
			if c := latest(t, s, run); c.Status != stores.StatusDone {
				t.Errorf("%s is %s", run, c.Status)
			}
			if r, err := engine.Verify(context.Background(), s, testKeys(t), key(run)); err != nil || r.Verdict != engine.Verified {
				t.Errorf("%s is %s, %v", run, r.Verdict, err)
			}
		}
		if got := msgs(log.about("", slog.LevelInfo)); fmt.Sprint(got) != fmt.Sprint([]string{
			"started", "store does not answer", "store answers again", "store does not answer", "store answers again", "stopping", "stopped",
		}) {
			t.Errorf("logged %q", got)
		}
	})
}

// Replies are lost and operations fail at random for a while. In the end every
// run is done or needs a decision for a call that really is open, and no tool
// that may not run again did.
func TestAFlakyStore(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			s, w := newFlaky(), newWorld()
			defer s.Close()
			for i := range 12 {
				crash(t, s, w.tickets(), fmt.Sprint("order-", i), []point{afterStart, afterHold, saved(2)}[i%3], true)
			}
			chance := rand.New(rand.NewPCG(seed, 1))
			var mu sync.Mutex
			sometimes := func(op string, k stores.Key) error {
				mu.Lock()
				defer mu.Unlock()
				if chance.IntN(12) == 0 {
					return down(op, k)
				}
				return nil
			}
			s.set(sometimes, sometimes)
			sw, log := sweeper(t, s, w.tickets())
			stop := running(t, sw)
			time.Sleep(time.Minute)
			s.set(nil, nil)
			time.Sleep(30 * time.Minute)
			stop()
			for i := range 12 {
				run := fmt.Sprint("order-", i)
				for _, name := range ticketTools {
					if n := w.count(run, name); n > 1 {
						t.Errorf("seed %d: %s: %s acted %d times", seed, run, name, n)
					}
				}
				switch c := latest(t, s, run); c.Status {
				case stores.StatusDone:
					w.home(t, s, run)
				case stores.StatusRunning:
					p, err := engine.MakePlan(context.Background(), s, testKeys(t), key(run))
					if err != nil || len(p.InDoubt) != 1 || p.Lease != nil {
						t.Errorf("seed %d: %s was stranded: in doubt %v, lease %v, %v", seed, run, p.InDoubt, p.Lease, err)
					}
					if told := log.about(run, slog.LevelWarn); told[len(told)-1].msg != "needs a decision" {
						t.Errorf("seed %d: %s: logged %q", seed, run, msgs(told))
					}
				default:
					t.Errorf("seed %d: %s is %s", seed, run, c.Status)
				}
			}
		})
	}
}
