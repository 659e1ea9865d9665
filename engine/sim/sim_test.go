package sim

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/seal"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/memory"
)

// A million seeds, one seed with its trace, and as many as fit into an hour:
//
//	go test ./engine/sim -run '^TestSimulation$' -timeout 0 -sim.seeds 1000000
//	go test ./engine/sim -run '^TestSimulation$' -v -sim.seed 4711
//	go test ./engine/sim -run '^TestSimulation$' -v -timeout 0 -sim.seeds 1000000000 -sim.for 1h
var (
	seedCount = flag.Int("sim.seeds", 0, "how many seeds the simulation runs (default 2000, 200 with -short, a quarter of that with the race detector)")
	oneSeed   = flag.Uint64("sim.seed", 0, "run only this seed, and print what happened")
	runFor    = flag.Duration("sim.for", 0, "start no seed after this time")
)

func seeds() int {
	n := 2000
	switch {
	case *seedCount > 0:
		return *seedCount
	case testing.Short():
		n = 200
	}
	if raceDetector { // each seed costs ten times as much
		n /= 4
	}
	return n
}

// keys sign all rows. Making a key costs more than a small simulation.
var keys = func() *seal.Keyring {
	k, err := seal.NewKey([]byte("use-a-secret-from-your-vault-32b"))
	if err != nil {
		panic(err)
	}
	return seal.NewKeyring(k)
}()

// TestSimulation runs many seeds, on every processor.
func TestSimulation(t *testing.T) {
	if *oneSeed != 0 {
		s := simulate(t, *oneSeed)
		t.Logf("seed %d, flow %+v\n%s\n%s", s.seed, s.flow, strings.Join(s.lines(), "\n"), strings.Join(s.stored(), "\n"))
		if s.bad != "" {
			t.Errorf("seed %d: %s", s.seed, s.bad)
		}
		return
	}
	defer debug.SetGCPercent(debug.SetGCPercent(800)) // seeds are small and leave nothing behind
	begin := time.Now()
	var next, ran atomic.Int64
	t.Run("seeds", func(t *testing.T) {
		for cpu := range runtime.GOMAXPROCS(0) {
			t.Run(fmt.Sprint(cpu), func(t *testing.T) {
				t.Parallel()
				for !t.Failed() && (*runFor == 0 || time.Since(begin) < *runFor) {
					seed := next.Add(1)
					if seed > int64(seeds()) {
						return
					}
					s := simulate(t, uint64(seed))
					ran.Add(1)
					if s.bad != "" {
						next.Store(int64(seeds()))
						t.Errorf("seed %d: %s\nrun it again with -sim.seed %d\n%s", seed, s.bad, seed, tail(s.lines(), 40))
					}
				}
			})
		}
	})
	t.Logf("%d seeds ran", ran.Load())
}

func tail(lines []string, n int) string {
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// stored is what the model has of the runs, for people.
func (s *sim) stored() []string {
	var out []string
	for _, name := range runNames[:s.mix.runs] {
		r := s.run(name)
		for i, b := range r.bodies {
			line := fmt.Sprintf("run %s step %d, base %d, segment %d, %s at %v", name, i, r.rows[i].Base, r.rows[i].Segment, r.rows[i].Status, b.Frontier)
			for _, w := range b.Waiting {
				line += " waits for " + w.ID
			}
			for _, d := range b.Decisions {
				line += fmt.Sprintf(" %s %s by %s", d.Type, d.ID, d.By)
			}
			out = append(out, line)
		}
	}
	return out
}

// simulate runs one seed on the memory store.
func simulate(t *testing.T, seed uint64) *sim {
	t.Helper()
	return simulateOn(t, seed, func() backend { return memory.New(memory.Options{}) })
}

// simulateOn runs one seed in a bubble with a clock of its own, on the store that
// is opened in there.
func simulateOn(t *testing.T, seed uint64, open func() backend) *sim {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	s := &sim{seed: seed, rng: rng, mix: newMix(rng), flow: drawFlow(rng), model: newModel(), seen: map[string]int{}}
	synctest.Test(t, func(t *testing.T) {
		s.store = open()
		s.trouble()
		s.settle()
		s.finish()
		s.abort()
	})
	return s
}

func (s *sim) failed() bool {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bad != ""
}

// trouble lets workers and operators act on the runs while things go wrong.
func (s *sim) trouble() {
	after := 0 // turns since all has ended: zombies still act
	for s.turns < s.mix.turns && after < 50 && !s.failed() {
		s.populate()
		s.turn()
		if s.allFinal() {
			after++
		}
	}
}

func (s *sim) allFinal() bool {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range runNames[:s.mix.runs] {
		if !s.run(name).final() {
			return false
		}
	}
	return true
}

// populate replaces dead workers, and now and then lets operators look at a run.
func (s *sim) populate() {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	awake := 0
	for _, a := range s.actors {
		if a.until <= s.turns {
			awake++
		}
	}
	if len(s.actors) > s.mix.workers+4 {
		return
	}
	if awake < s.mix.workers && s.rng.IntN(4) == 0 {
		s.spawn("worker", (*actor).work)
	}
	if len(s.runs) > 0 && s.rng.IntN(s.mix.operators) == 0 {
		for range 1 + s.rng.IntN(3)/2 {
			s.spawn("operator", (*actor).operate)
		}
	}
}

// settle ends the trouble: who still lives goes on to the end of what he does.
func (s *sim) settle() {
	s.mu.Lock()
	for _, a := range append([]*actor(nil), s.actors...) {
		if a.until > s.turns && s.rng.IntN(2) == 0 {
			s.kill(a)
		}
	}
	s.calm = true
	s.mu.Unlock()
	s.drain()
}

// drain waits until every actor has come to its end.
func (s *sim) drain() {
	for end := s.turns + 20_000; s.alive() > 0 && !s.failed(); {
		if s.turn(); s.turns > end {
			s.report("an actor does not come to an end")
		}
	}
}

// finish lets one undisturbed worker and a truthful operator bring the runs to
// their ends, and judges those.
func (s *sim) finish() {
	for _, run := range runNames[:s.mix.runs] {
		for try := 0; !s.failed() && !s.run(run).final(); try++ {
			if try == 60 {
				s.report("run %q does not come to an end: %s at step %d", run, s.run(run).last().Status, s.run(run).last().Step)
				return
			}
			s.pause(time.Minute)
			if (s.born+1)%3 == 0 { // not every tool can be started there
				s.born++
			}
			s.spawn("calm", func(a *actor) { a.bringOn(run) })
			s.drain()
		}
	}
	s.free = true
	for _, run := range runNames[:s.mix.runs] {
		s.judge(run)
	}
}

// bringOn is one round of the undisturbed worker, who is a truthful operator too.
func (a *actor) bringOn(run string) {
	p, err := engine.MakePlan(a.ctx, a.store, keys, key(run))
	if err == nil {
		for i, w := range p.Body.Waiting {
			last := i == len(p.Body.Waiting)-1
			p.Version = "" // each decision makes a new one
			a.decide(p, w, last)
			if last {
				return
			}
		}
		for _, c := range p.InDoubt {
			if p, err = engine.MakePlan(a.ctx, a.store, keys, key(run)); err == nil {
				a.resolve(p, c)
			}
		}
	}
	a.recover(run, engine.RecoverOptions{})
}

// judge compares a run that has ended with how it had to end, and its rows with
// what was acknowledged.
func (s *sim) judge(run string) {
	if s.failed() {
		return
	}
	a := s.newActor("judge")
	r := s.run(run)
	rows, err := s.store.History(a.ctx, key(run), allSteps)
	if err != nil || !sameRows(r.rows, rows) {
		s.report("run %q: an acknowledged save is not in the store (%v)", run, err)
	}
	rep, err := engine.Verify(a.ctx, a.store, keys, key(run))
	if err != nil || rep.Verdict != engine.Verified {
		s.report("run %q is %s in the end: %v %v", run, rep.Verdict, rep.Findings, err)
	}
	last := r.bodies[len(r.bodies)-1]
	s.saw("run ends "+string(r.last().Status), true)
	s.saw("a person's no ends a run", last.Error != nil && last.Error.Denied != nil)
	if bad := mispaired(last.State); bad != "" {
		s.report("run %q: %s", run, bad)
	}
	got := ending{status: r.last().Status, state: withoutDrift(canonical(last.State))}
	if last.Error != nil {
		got.message, got.node, got.denied = last.Error.Message, last.Error.Node, last.Error.Denied != nil
	}
	want, err := s.flow.foretell(r, got.node)
	if err != nil || got != want {
		maps.DeleteFunc(r.failed, func(told callID, _ bool) bool { return r.late[told] })
		want, err = s.flow.foretell(r, got.node)
	}
	if err != nil {
		s.report("run %q ended %s, which cannot be: %v", run, r.last().Status, err)
		return
	}
	if got != want {
		s.report("run %q ended as\n%+v\nundisturbed it ends as\n%+v", run, got, want)
	}
}

// happenings are what a simulation must meet to prove something.
var happenings = []string{
	"run ends done", "run ends failed", "a person's no ends a run", "decision approve", "decision deny", "decision answer",
	"claim", "claim over a live lease", "claim permits calls in doubt to run again", "call replayed", "call unreplayed",
	"call tried again after a hold", "attempt failed", "call in a container", "call of a tool loop",
	"call done", "call failed", "call pending", "call unrecordable", "call resolved", "call did not start",
	"outcome of a worker that was cut off", "start refused to a worker that was cut off", "save lost a race",
	"operator says it ran", "operator says it did not run", "operator lost a race", "operator acts on an old look", "run deleted", "person asked while the call waits",
}

var allSteps = stores.HistoryQuery{Limit: 100_000}

// TestSameSeedSameTrace: a seed that fails must fail again. The race detector's
// runtime wakes goroutines in a random order, and two of one worker that wake
// together then sometimes part another way: traces are compared without it (make
// sim), what must happen in them is looked for with it too.
func TestSameSeedSameTrace(t *testing.T) {
	seen := map[string]int{}
	for seed := uint64(1); seed <= 100; seed++ {
		first, second := simulate(t, seed), simulate(t, seed)
		if !raceDetector && first.fingerprint() != second.fingerprint() {
			a, b := first.lines(), second.lines()
			for i := range min(len(a), len(b)) {
				if a[i] != b[i] {
					t.Errorf("seed %d went two ways, at turn %d: %q and %q", seed, i, a[i], b[i])
					break
				}
			}
			t.Fatalf("seed %d went two ways: %d and %d turns", seed, len(a), len(b))
		}
		for what, n := range first.seen {
			seen[what] += n
		}
	}
	for _, what := range slices.Concat(fateNames[1:sleeps], happenings) {
		if seen[what] == 0 {
			t.Errorf("it never happens: %s", what)
		}
	}
	t.Log(seen)
}
