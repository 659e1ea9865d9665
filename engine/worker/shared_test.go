package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/sqlite"
)

func openFile(t *testing.T, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(context.Background(), path, sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if err := s.Prepare(context.Background()); err != nil {
		t.Fatal(err)
	}
	return s
}

// Several sweepers, each with its own handle, share fifty crashed runs of one
// SQLite file: every run is done, each of its calls acted once, one sweeper
// recovered it, and all sweepers had a part.
func TestSweepersShareOneFile(t *testing.T) {
	for sweepers := 2; sweepers <= 3; sweepers++ {
		t.Run(fmt.Sprint(sweepers), func(t *testing.T) { shareOneFile(t, sweepers, 50) })
	}
}

func shareOneFile(t *testing.T, sweepers, runs int) {
	path, w := filepath.Join(t.TempDir(), "runs.db"), newWorld()
	s := openFile(t, path)
	for i := range runs {
		at := []point{afterStart, afterHold, saved(1), recorded("pay", stores.CallDone), saved(2)}[i%5]
		crash(t, s, w.tickets(), fmt.Sprint("order-", i), at, true)
	}
	// The first call of each sweeper waits until all have one: none can be too slow.
	var ready sync.WaitGroup
	ready.Add(sweepers)
	logs := make([]*book, sweepers)
	for i := range sweepers {
		tools, first := w.tickets(), sync.OnceFunc(ready.Done)
		gated := tool.NewRegistry()
		for _, name := range ticketTools {
			inner, _ := tools.Get(name)
			do := inner.Run
			inner.Run = func(ctx context.Context, in tool.Input) (any, error) {
				first()
				ready.Wait()
				return do(ctx, in)
			}
			if err := gated.Add(inner); err != nil {
				t.Fatal(err)
			}
		}
		own := openFile(t, path)
		var sw *Sweeper
		sw, logs[i] = sweeper(t, own, gated, func(o *Options) {
			o.Runner, o.Every = runner(t, own, gated, fmt.Sprint("sweeper-", i)), 2*time.Second
		})
		defer running(t, sw)()
	}
	waitFor(t, "all runs", func() bool {
		c, err := s.Count(context.Background(), stores.Filter{Owner: stores.AnyOwner})
		return err == nil && c.ByStatus[stores.StatusDone] == int64(runs)
	})
	shares := make([]int, sweepers)
	for i := range runs {
		run := fmt.Sprint("order-", i)
		w.home(t, s, run)
		if c := latest(t, s, run); c.Segment != 2 {
			t.Errorf("%s was claimed %d times", run, c.Segment-1)
		}
		for j, log := range logs {
			shares[j] += len(log.about(run, slog.LevelInfo))
		}
	}
	total := 0
	for _, n := range shares {
		total += n
		if n == 0 {
			t.Errorf("the shares are %v", shares)
		}
	}
	if total != runs {
		t.Errorf("%d lines about %d runs: losing a race is no news", total, runs)
	}
}

// A decision that somebody stores through another handle is spent, and so is
// what an operator found out about a call in doubt.
func TestAnotherProcessWakesTheWorker(t *testing.T) {
	path, w := filepath.Join(t.TempDir(), "runs.db"), newWorld()
	s, other := openFile(t, path), openFile(t, path)
	tools := tool.NewRegistry(w.tool("hold_seats"), w.tool("charge_card", needsOK), w.tool("email_tickets"))
	operator := runner(t, other, tools, "operator")
	if _, err := operator.Run(t.Context(), tickets(), engine.Start{Key: key("order-9")}); err != nil {
		t.Fatal(err)
	}
	doubt(t, other, w, "doubtful")
	sw, log := sweeper(t, s, tools, func(o *Options) { o.Every = time.Second })
	defer running(t, sw)()
	waitFor(t, "word of the call in doubt", func() bool { return len(log.about("doubtful", slog.LevelWarn)) > 0 })
	notRun(t, other, "doubtful")
	if _, err := operator.Record(t.Context(), key("order-9"), engine.Decide{Type: engine.DecideApprove, By: "ana"}); err != nil {
		t.Fatal(err)
	}
	for _, run := range []string{"doubtful", "order-9"} {
		waitFor(t, run, func() bool { return status(t, other, run) == stores.StatusDone })
		w.home(t, other, run)
	}
}

// An approval and a denial that come at the same instant, while workers spend
// what they find: one of them takes effect, the other one learns so, and the
// run ends as the winner said.
func TestDecisionsRaceWithWorkers(t *testing.T) {
	path, w := filepath.Join(t.TempDir(), "runs.db"), newWorld()
	s := openFile(t, path)
	tools := tool.NewRegistry(w.tool("hold_seats"), w.tool("charge_card", needsOK), w.tool("email_tickets"))
	for i := range 2 {
		own := openFile(t, path)
		sw, _ := sweeper(t, own, tools, func(o *Options) {
			o.Runner, o.Every = runner(t, own, tools, fmt.Sprint("sweeper-", i)), time.Second
		})
		defer running(t, sw)()
	}
	const rounds = 20
	var wg sync.WaitGroup
	for i := range rounds {
		run := fmt.Sprint("order-", i)
		operator := runner(t, s, tools, "operator")
		if _, err := operator.Run(t.Context(), tickets(), engine.Start{Key: key(run)}); err != nil {
			t.Fatal(err)
		}
		wg.Go(func() { decideAtOnce(t, s, w, operator, run) })
	}
	wg.Wait()
}

func decideAtOnce(t *testing.T, s stores.Store, w *world, operator *engine.Runner, run string) {
	verdicts := []string{engine.DecideApprove, engine.DecideDeny}
	errs := make([]error, 2)
	var wg sync.WaitGroup
	for j, v := range verdicts {
		wg.Go(func() {
			_, errs[j] = operator.Record(context.Background(), key(run), engine.Decide{Type: v, By: "op-" + v})
		})
	}
	wg.Wait()
	if (errs[0] == nil) == (errs[1] == nil) {
		t.Errorf("%s: approve: %v; deny: %v", run, errs[0], errs[1])
		return
	}
	waitFor(t, run, func() bool { return status(t, s, run).Final() })
	want, charges, lost := stores.StatusDone, 1, errs[1]
	if errs[0] != nil {
		want, charges, lost = stores.StatusFailed, 0, errs[0]
	}
	if got := status(t, s, run); got != want || w.count(run, "charge_card") != charges {
		t.Errorf("%s: %s after %d charges, want %s after %d", run, got, w.count(run, "charge_card"), want, charges)
	}
	if !errors.Is(lost, engine.ErrCheckpointConflict) {
		t.Errorf("%s: the loser was told %v", run, lost)
	}
}

// An operator who takes a run over at any moment of its recovery gets it, and
// the worker stops, or learns that it has ended or that a call is under way. No
// call acts twice.
func TestTakeoverRacesWithCompletion(t *testing.T) {
	for after := range 40 {
		synctest.Test(t, func(t *testing.T) {
			s, w := newFlaky(), newWorld()
			defer s.Close()
			crash(t, s, w.tickets(), "order-1", afterHold, true)
			s.set(func(string, stores.Key) error { time.Sleep(time.Millisecond); return nil }, nil)
			sw, log := sweeper(t, s, w.tickets())
			stop := running(t, sw)
			time.Sleep(time.Duration(after) * time.Millisecond)
			_, err := runner(t, s, w.tickets(), "olga").Recover(t.Context(), tickets(), key("order-1"), engine.RecoverOptions{Takeover: true, By: "olga"})
			time.Sleep(time.Minute)
			stop()
			for _, name := range ticketTools {
				if n := w.count("order-1", name); n > 1 {
					t.Errorf("after %d ms: %s acted %d times", after, name, n)
				}
			}
			switch got := status(t, s, "order-1"); {
			case got == stores.StatusDone && (err == nil || errors.Is(err, engine.ErrCheckpointConflict) || errors.Is(err, engine.ErrRecoveryNeedsDecision)):
				w.home(t, s, "order-1")
			case got == stores.StatusRunning && errors.Is(err, engine.ErrRecoveryNeedsDecision):
			default:
				t.Errorf("after %d ms: it is %s, the operator was told %v; logged %q", after, got, err, msgs(log.about("order-1", slog.LevelDebug)))
			}
		})
	}
}

// slowRunner counts how often each run is under way at the same time.
type slowRunner struct {
	mu   sync.Mutex
	now  map[string]int
	most int
	runs int
}

func (r *slowRunner) Recover(_ context.Context, _ *engine.Flow, k stores.Key, _ engine.RecoverOptions) (engine.Result, error) {
	r.mu.Lock()
	r.runs++
	r.now[k.Run]++
	r.most = max(r.most, r.now[k.Run])
	r.mu.Unlock()
	time.Sleep(30 * time.Second)
	r.mu.Lock()
	r.now[k.Run]--
	r.mu.Unlock()
	return engine.Result{Key: k}, errors.New("not yet")
}

// One sweeper never works on a run twice at once, though it stays in the list.
func TestNoRunTwiceAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := newFlaky(), newWorld()
		defer s.Close()
		for i := range 3 {
			crash(t, s, w.tickets(), fmt.Sprint("order-", i), afterStart, true)
		}
		r := &slowRunner{now: map[string]int{}}
		sw, _ := sweeper(t, s, nil, func(o *Options) { o.Runner = r })
		stop := running(t, sw)
		time.Sleep(10 * time.Minute)
		stop()
		time.Sleep(time.Minute)
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.most != 1 || r.runs < 9 {
			t.Errorf("%d tries, %d of one run at once", r.runs, r.most)
		}
	})
}
