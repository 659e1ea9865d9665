package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

var (
	simSeeds = flag.Int("sim.seeds", 0, "how many seeds the simulation runs (default 1500, 150 with -short)")
	simSeed  = flag.Uint64("sim.seed", 0, "run only this seed")
)

// The simulation runs random flows over a store whose operations fail in every
// way that matters to a worker, with workers that die, stall and wake up again
// after another one took over, and an operator who tells the truth about calls
// in doubt. In the end the run must be as if nothing had happened.
//
//	go test ./engine -run TestSimulation -sim.seeds 1000000
//	go test ./engine -run TestSimulation -sim.seed 4711
func TestSimulation(t *testing.T) {
	seeds := *simSeeds
	if seeds == 0 {
		seeds = 1500
		if testing.Short() {
			seeds = 150
		}
	}
	if *simSeed != 0 {
		newSim(t, *simSeed).run()
		return
	}
	for seed := uint64(1); seed <= uint64(seeds) && !t.Failed(); seed++ {
		newSim(t, seed).run()
	}
}

// incident is what happens to one worker, at its nth store operation.
type incident int

const (
	nothingHappens incident = iota
	diesBefore              // the operation does not reach the store, nor does any later one
	diesAfter               // it does, the worker never learns
	replyLost               // it does, the worker gets an error and lives
	neverArrived            // it does not, the worker gets the same error and lives
	stalls                  // the worker stops before it and goes on when another has taken over
	incidents
)

// sim is one seed: a flow, a world, a store.
type sim struct {
	t      *testing.T
	seed   uint64
	rng    *rand.Rand
	flow   func() *engine.Flow
	store  full
	mu     sync.Mutex
	hits   map[string]int // effects by tool and arguments
	tools  *tool.Registry
	asleep []*simWorker
	trace  []string
}

func newSim(t *testing.T, seed uint64) *sim {
	s := &sim{t: t, seed: seed, rng: rand.New(rand.NewPCG(seed, 1)), store: newStore(), hits: map[string]int{}}
	s.tools = tool.NewRegistry(s.tool("once"), s.tool("again", idempotent), s.tool("asks", needsOK))
	s.flow = s.draw()
	return s
}

// tool acts on the world: its effect is counted, its result depends on nothing
// but its arguments.
func (s *sim) tool(name string, change ...func(*tool.Tool)) tool.Tool {
	t := tool.Tool{Name: name, Run: func(_ context.Context, in tool.Input) (any, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.hits[name+" "+string(in.Args)]++
		return truth(name, string(in.Args)), nil
	}}
	for _, c := range change {
		c(&t)
	}
	return t
}

func truth(name, args string) string { return name + " did " + args }

// draw makes a random flow: a chain of rounds, each one node or several side by
// side, of calls, questions and code, now and then in a loop.
func (s *sim) draw() func() *engine.Flow {
	type node struct {
		id, kind string
		calls    int
	}
	var rounds [][]node
	for r := range 1 + s.rng.IntN(3) {
		var round []node
		for i := range 1 + s.rng.IntN(3)*s.rng.IntN(2) {
			kind := []string{"once", "once", "again", "asks", "question", "code"}[s.rng.IntN(6)]
			round = append(round, node{fmt.Sprintf("n%d_%d", r, i), kind, 1 + s.rng.IntN(2)})
		}
		rounds = append(rounds, round)
	}
	loops := s.rng.IntN(3) == 0
	return func() *engine.Flow {
		f := engine.NewFlow("sim").Node("start", engine.NodeFunc(func(_ context.Context, st engine.State) (engine.State, error) {
			n, _ := st["round"].(json.Number)
			i, _ := n.Int64()
			return engine.State{"round": i + 1}, nil
		}))
		before := []string{"start"}
		for _, round := range rounds {
			var ids []string
			for _, n := range round {
				f.Node(n.id, simNode(n.id, n.kind, n.calls))
				ids = append(ids, n.id)
			}
			for _, b := range before {
				f.Edge(b, ids...)
			}
			before = ids
		}
		if loops {
			again := engine.Condition{Text: "round<2", Test: func(st engine.State) (bool, error) {
				i, err := st["round"].(json.Number).Int64()
				return i < 2, err
			}}
			f.When(before[0], again, "start")
		}
		return f
	}
}

func simNode(id, kind string, calls int) engine.Node {
	return engine.NodeFunc(func(ctx context.Context, st engine.State) (engine.State, error) {
		out := engine.State{}
		switch kind {
		case "code":
			out[id] = fmt.Sprint("code in round ", st["round"])
		case "question":
			v, err := engine.Ask(ctx, engine.Question{Key: id, Prompt: "?"})
			if err != nil {
				return nil, err
			}
			out[id] = v
		default:
			for i := range calls {
				v, err := engine.CallTool(ctx, kind, map[string]any{"node": id, "n": i, "round": st["round"]})
				if err != nil {
					return nil, err
				}
				out[fmt.Sprint(id, ".", i)] = v
			}
		}
		return out, nil
	})
}

// simWorker is one process's way to the store.
type simWorker struct {
	full
	s     *sim
	what  incident
	at    int
	mu    sync.Mutex
	n     int
	dead  bool
	wake  chan struct{}
	slept chan struct{}
	done  chan error
}

func (w *simWorker) op(write bool, do func() error) error {
	w.mu.Lock()
	w.n++
	hit, dead := w.n == w.at, w.dead
	if hit && (w.what == diesBefore || w.what == diesAfter) {
		w.dead = true
	}
	w.mu.Unlock()
	switch {
	case dead:
		return errCrash
	case !hit || w.what == nothingHappens:
		return do()
	}
	switch w.what {
	case stalls:
		close(w.slept)
		<-w.wake
		return do()
	case diesBefore:
		return errCrash
	case neverArrived:
		return errReply
	case replyLost:
		if !write {
			return errReply
		}
		return errors.Join(errReply, do())
	}
	_ = do()
	return errCrash
}

func (w *simWorker) Save(ctx context.Context, s stores.Save) error {
	return w.op(true, func() error { return w.full.Save(ctx, s) })
}

func (w *simWorker) RecordCall(ctx context.Context, c stores.CallWrite) error {
	return w.op(true, func() error { return w.full.RecordCall(ctx, c) })
}

func (w *simWorker) Latest(ctx context.Context, k stores.Key) (c stores.Checkpoint, err error) {
	err = w.op(false, func() error { c, err = w.full.Latest(ctx, k); return err })
	return c, err
}

func (w *simWorker) Calls(ctx context.Context, k stores.Key, since int64) (rows []stores.Call, err error) {
	err = w.op(false, func() error { rows, err = w.full.Calls(ctx, k, since); return err })
	return rows, err
}

// work lets a worker with an incident loose on the run.
func (s *sim) work(what incident) error {
	w := &simWorker{full: s.store, s: s, what: what, at: 1 + s.rng.IntN(40), wake: make(chan struct{}), slept: make(chan struct{}), done: make(chan error, 1)}
	s.trace = append(s.trace, fmt.Sprintf("worker: incident %d at operation %d", what, w.at))
	r := runner(s.t, w, s.tools)
	go func() {
		_, err := r.Recover(ctx, s.flow(), key("a"), engine.RecoverOptions{Takeover: true, By: "olga"})
		if errors.Is(err, engine.ErrCheckpointNotFound) {
			_, err = r.Run(ctx, s.flow(), engine.Start{Key: key("a"), State: engine.State{"round": 0}})
		}
		w.done <- err
	}()
	select {
	case err := <-w.done:
		return err
	case <-w.slept:
		s.asleep = append(s.asleep, w)
		return nil
	case <-time.After(20 * time.Second):
		s.fail("a worker hangs")
		return nil
	}
}

// wakeUp lets a stalled worker go on: it is a zombie now, or it simply was slow.
func (s *sim) wakeUp() {
	for _, w := range s.asleep {
		close(w.wake)
		select {
		case err := <-w.done:
			s.trace = append(s.trace, fmt.Sprintf("zombie ended: %v", err))
		case <-time.After(20 * time.Second):
			s.fail("a zombie hangs")
		}
	}
	s.asleep = nil
}

// decide does what operators do: approve, answer, and tell the truth about
// calls in doubt. Whoever stalls might still act, so he is woken first.
func (s *sim) decide() {
	p, err := engine.MakePlan(ctx, s.store, testKeys(s.t), key("a"))
	if err != nil {
		return
	}
	r := runner(s.t, s.store, s.tools)
	for _, w := range p.Body.Waiting {
		d := engine.Decide{Type: engine.DecideApprove, ID: w.ID, By: "ana"}
		if w.Type == engine.WaitInterrupt {
			d.Type, d.Value = engine.DecideAnswer, json.RawMessage(fmt.Sprintf("%q", "answer to "+w.Key))
		}
		if _, err := r.Record(ctx, key("a"), d); err != nil && !errors.Is(err, engine.ErrCheckpointConflict) {
			s.fail("decision: %v", err)
		}
		s.trace = append(s.trace, "decided "+w.ID)
		if s.rng.IntN(2) == 0 {
			return // the others later
		}
	}
	for _, c := range p.InDoubt {
		res := engine.Resolution{Call: c.ID, By: "olga", NotRun: true, Takeover: true}
		s.mu.Lock()
		ran := s.hits[c.Tool+" "+string(c.Args)] > 0
		s.mu.Unlock()
		if ran {
			res.NotRun, res.Result = false, json.RawMessage(fmt.Sprintf("%q", truth(c.Tool, string(c.Args))))
		}
		if err := r.Resolve(ctx, key("a"), res); err != nil {
			s.fail("resolution of %s: %v", c.ID, err)
		}
		s.trace = append(s.trace, fmt.Sprintf("resolved %s, ran: %v", c.ID, ran))
	}
}

func (s *sim) run() {
	want := s.undisturbed()
	for range 3 + s.rng.IntN(8) {
		_ = s.work(incident(s.rng.IntN(int(incidents))))
		if s.rng.IntN(3) > 0 {
			s.wakeUp()
			s.decide()
		}
	}
	s.wakeUp()
	for range 60 { // and then nothing more happens
		s.decide()
		_ = s.work(nothingHappens)
		if c, err := s.store.Latest(ctx, key("a")); err == nil && c.Status.Final() {
			break
		}
	}
	s.judge(want)
}

// undisturbed is how the run ends when nothing happens.
func (s *sim) undisturbed() string {
	calm := &sim{t: s.t, seed: s.seed, rng: rand.New(rand.NewPCG(s.seed, 2)), store: newStore(), hits: map[string]int{}, flow: s.flow}
	calm.tools = tool.NewRegistry(calm.tool("once"), calm.tool("again", idempotent), calm.tool("asks", needsOK))
	for range 60 {
		_ = calm.work(nothingHappens)
		calm.decide()
		if c, err := calm.store.Latest(ctx, key("a")); err == nil && c.Status.Final() {
			break
		}
	}
	c, b := mustLatest(s.t, calm.store, "a")
	if c.Status != stores.StatusDone {
		s.fail("undisturbed it ends %s: %+v", c.Status, b.Error)
	}
	return string(b.State)
}

// judge is the model of what must hold.
func (s *sim) judge(want string) {
	c, b := mustLatest(s.t, s.store, "a")
	if c.Status != stores.StatusDone || string(b.State) != want {
		s.fail("it ends %s with\n%s\nwant\n%s", c.Status, b.State, want)
	}
	for call, n := range s.hits {
		if n > 1 && !strings.HasPrefix(call, "again") {
			s.fail("%s acted %d times", call, n)
		}
	}
	rep, err := engine.Verify(ctx, s.store, testKeys(s.t), key("a"))
	if err != nil || rep.Verdict != engine.Verified {
		s.fail("it is %s: %+v, %v", rep.Verdict, rep.Findings, err)
	}
}

func (s *sim) fail(format string, args ...any) {
	s.t.Helper()
	s.t.Fatalf("seed %d: %s\n%s\n%s", s.seed, fmt.Sprintf(format, args...), strings.Join(s.trace, "\n"), callListOf(s.store))
}

func callListOf(s full) string {
	rows, _ := s.Calls(ctx, key("a"), 0)
	var out []string
	for _, r := range rows {
		out = append(out, fmt.Sprintf("%d.%d step %d %s %s", r.Segment, r.N, r.Step, engine.CallID(r.Node, r.Ordinal), r.Status))
	}
	return strings.Join(out, "\n")
}
