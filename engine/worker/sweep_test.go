package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/memory"
)

// At start everything that a crash cut short is recovered, whatever the point,
// and told with all that a person wants to know.
func TestRecoversAtStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := newFlaky(), newWorld()
		defer s.Close()
		points := []point{afterStart, afterHold, saved(1), recorded("pay", stores.CallDone), saved(2), recorded("send", stores.CallDone)}
		for i, at := range points {
			crash(t, s, w.tickets(), fmt.Sprint("order-", i), at, true)
		}
		sw, log := sweeper(t, s, w.tickets())
		stop := running(t, sw)
		synctest.Wait()
		time.Sleep(time.Second)
		stop()
		for i := range points {
			run := fmt.Sprint("order-", i)
			w.home(t, s, run)
			log.wantMsgs(t, run, "recovered")
		}
		l := log.about("order-1", slog.LevelInfo)[0].attrs
		for name, want := range map[string]string{
			"run": "order-1", "owner": "default", "flow": "tickets", "status": "done", "step": "4", "segment": "2",
			"replayed": "[hold.1]", "rerun": "[]", "unreplayed": "[]",
		} {
			if got := l[name].String(); got != want {
				t.Errorf("%s is %s, want %s", name, got, want)
			}
		}
		if l["duration_ms"].Kind() != slog.KindInt64 {
			t.Errorf("no duration: %v", l)
		}
	})
}

// A lease that lives is left alone, though it was held by a worker that is
// dead; when it has run out, the run is taken.
func TestLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := newFlaky(), newWorld()
		defer s.Close()
		crash(t, s, w.tickets(), "held", afterHold, false) // for 15 s
		sw, log := sweeper(t, s, w.tickets())
		defer running(t, sw)()
		time.Sleep(14 * time.Second)
		if c := latest(t, s, "held"); c.Segment != 1 {
			t.Errorf("a run with a live lease was claimed: segment %d", c.Segment)
		}
		if n := s.times("latest", "held"); n != 2 { // that one and Run's own look before it starts
			t.Errorf("a run that is held was read %d times", n)
		}
		time.Sleep(8 * time.Second) // the lease runs out, and a sweep comes by
		w.home(t, s, "held")
		log.wantMsgs(t, "held", "recovered")
	})
}

// noLeases is a store that cannot tell who works on a run.
type noLeases struct {
	stores.Store
	stores.Lister
}

// A store without leases: a run is taken when it was silent for long enough.
func TestWithoutLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner, w := memory.New(memory.Options{}), newWorld()
		defer inner.Close()
		crash(t, inner, w.tickets(), "quiet", afterHold, true)
		s := noLeases{inner, inner}
		sw, _ := sweeper(t, s, w.tickets(), func(o *Options) { o.Silent = 30 * time.Second })
		defer running(t, sw)()
		time.Sleep(29 * time.Second)
		if got := latest(t, s, "quiet").Segment; got != 1 {
			t.Errorf("a run that was saved 29 s ago is in segment %d", got)
		}
		time.Sleep(8 * time.Second)
		w.home(t, s, "quiet")
	})
}

// What is not for this worker is told once, however often it is swept, and
// costs nothing more than the list.
func TestToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := newFlaky(), newWorld()
		defer s.Close()
		doubt(t, s, w, "doubtful")
		crash(t, s, w.tickets(), "foreign", afterStart, true, func(o *engine.Start) { o.Identity.Principal = "team-b" })
		crash(t, s, w.tickets(), "own", afterStart, true, func(o *engine.Start) { o.Identity = stores.Identity{User: "ann", Principal: "team-a"} })
		if _, err := runner(t, s, w.tickets(needsOK), "first").Run(context.Background(), tickets(), engine.Start{Key: key("paused")}); err != nil {
			t.Fatal(err)
		}
		other := engine.NewFlow("other").Node("x", engine.Call{Tool: "nowhere"})
		if _, err := runner(t, s, nil, "first").Run(context.Background(), other, engine.Start{Key: key("unknown")}); !errors.Is(err, engine.ErrRefused) {
			t.Fatal(err)
		}
		changed := engine.NewFlow("tickets").Node("hold", engine.Call{Tool: "nowhere"})
		if _, err := runner(t, s, nil, "first").Run(context.Background(), changed, engine.Start{Key: key("changed")}); !errors.Is(err, engine.ErrRefused) {
			t.Fatal(err)
		}
		sw, log := sweeper(t, s, w.tickets(), func(o *Options) { o.Principals = []string{"team-a"} })
		stop := running(t, sw)
		time.Sleep(time.Second)
		reads := map[string]int{}
		for _, run := range []string{"doubtful", "foreign", "unknown", "changed", "paused"} {
			reads[run] = s.times("latest", run) + s.times("head", run)
		}
		time.Sleep(3 * time.Hour)
		stop()
		for run, before := range reads {
			if n := s.times("latest", run) + s.times("head", run); n != before {
				t.Errorf("%s was read %d times more in three hours", run, n-before)
			}
		}
		log.wantMsgs(t, "doubtful", "needs a decision")
		log.wantMsgs(t, "foreign", "left to others")
		log.wantMsgs(t, "unknown", "left to others")
		log.wantMsgs(t, "changed", "does not fit the flow")
		log.wantMsgs(t, "paused")
		w.home(t, s, "own")
		if c := latest(t, s, "own"); c.User != "ann" || c.Principal != "team-a" {
			t.Errorf("the run went on as %+v", c.Identity)
		}
		if hint := log.about("doubtful", slog.LevelWarn)[0].attrs["hint"].String(); hint == "" {
			t.Error("no word on what to do about a call in doubt")
		}
	})
}

// No more runs are under way than there are places, and a run that takes its
// time holds up no other.
func TestConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := newFlaky(), newWorld()
		defer s.Close()
		for i := range 20 {
			crash(t, s, w.tickets(), fmt.Sprint("order-", i), afterStart, true)
		}
		var mu sync.Mutex
		now, most := 0, 0
		w.do["charge_card"] = func(ctx context.Context, in tool.Input) (any, error) {
			mu.Lock()
			now++
			most = max(most, now)
			mu.Unlock()
			wait := time.Second
			if in.Run == "order-0" {
				wait = time.Hour
			}
			time.Sleep(wait)
			mu.Lock()
			now--
			mu.Unlock()
			return "charged", nil
		}
		sw, _ := sweeper(t, s, w.tickets(), func(o *Options) { o.Concurrency = 3 })
		stop := running(t, sw)
		time.Sleep(time.Minute)
		for i := 1; i < 20; i++ {
			w.home(t, s, fmt.Sprint("order-", i))
		}
		mu.Lock()
		if most != 3 {
			t.Errorf("%d runs were under way at a time, want 3", most)
		}
		mu.Unlock()
		if got := status(t, s, "order-0"); got != stores.StatusRunning {
			t.Errorf("the slow one is %s", got)
		}
		time.Sleep(time.Hour)
		w.home(t, s, "order-0")
		stop()
	})
}

// One sweep does what is there and says what became of it.
func TestSweepOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := newFlaky(), newWorld()
		defer s.Close()
		crash(t, s, w.tickets(), "a", afterHold, true)
		crash(t, s, w.tickets(), "held", afterHold, false)
		doubt(t, s, w, "doubtful")
		sw, _ := sweeper(t, s, w.tickets())
		all, err := sw.Sweep(t.Context())
		got := map[string]bool{}
		for _, o := range all {
			got[o.Head.Run] = o.Err == nil
		}
		if err != nil || len(all) != 2 || !got["a"] || got["doubtful"] {
			t.Errorf("%v, %v", got, err)
		}
		w.home(t, s, "a")
		s.set(down, nil)
		if _, err := sw.Sweep(t.Context()); !errors.Is(err, stores.ErrUnavailable) {
			t.Errorf("a store that is down: %v", err)
		}
	})
}
