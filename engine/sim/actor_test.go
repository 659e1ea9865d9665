package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/stores"
)

// actor is one process: a worker or an operator.
type actor struct {
	sim    *sim
	id     int
	name   string
	rng    *rand.Rand // its own choices, made in its own order
	ctx    context.Context
	stop   context.CancelCauseFunc
	store  gated
	runner *engine.Runner
	skew   time.Duration
	port   bool // it can ask a person while a call waits

	// Guarded by sim.mu.
	dead     bool
	until    int // stalled until this turn
	sessions map[string]*session
	words    int // decisions that it tried to make
}

// session is one call of the engine by an actor, as far as it is about one run.
type session struct {
	who        *actor
	run        string
	takeover   bool            // it may work on a run that somebody holds
	unattended bool            // of a recovery of all runs
	rerun      bool            // an operator permitted to run calls in doubt again
	faults     int             // what it met, but for lost replies, which it must see through
	over       bool            // another session wrote to the run after it did
	deleted    bool            // its run was deleted under it
	saving     bool            // it tried to save
	meant      map[string]bool // calls in doubt when it last looked before it saved
	claimed    bool            // it saved a claim
	finished   map[callAt]bool // calls that were finished when it began
	open       map[string]bool // calls in doubt that it may run again
	started    map[string]begun
	ran        map[callAt]bool // what it ran in this superstep
	agreed     map[string]bool // calls that a person approved while they waited
	logged     map[string]bool // calls of which the yes is logged: this worker was not cut off meanwhile
	acting     map[string]bool // calls that it started and whose effect may still come
	returned   map[callAt]bool // outcomes that it was given and must offer to the store
	offered    map[callAt]bool
}

func (s *sim) newActor(role string) *actor {
	s.born++
	a := &actor{sim: s, id: s.born, name: fmt.Sprintf("%s%d", role, s.born), rng: rand.New(rand.NewPCG(s.seed, uint64(s.born)<<8))}
	a.ctx, a.stop = context.WithCancelCause(context.Background())
	a.store = gated{s.store, a}
	a.skew = time.Duration(a.rng.IntN(1201)-600) * time.Second
	ids := rand.New(rand.NewPCG(s.seed, uint64(s.born)<<8+1))
	var mu sync.Mutex
	var approver engine.Approver
	if a.port = a.rng.IntN(4) == 0; a.port {
		approver = a.approve
	}
	r, err := engine.New(engine.Config{
		Approver: approver,
		Store:    a.store, Keys: keys, Tools: a.tools(), Worker: a.name, Events: func(e stores.Event) { s.told(a, e) },
		Clock: func() time.Time { return time.Now().Add(a.skew) },
		IDs: func() string {
			mu.Lock()
			defer mu.Unlock()
			return fmt.Sprintf("%016x%016x", ids.Uint64(), ids.Uint64())
		},
	})
	if err != nil {
		panic(err)
	}
	a.runner = r
	return a
}

// spawn lets an actor loose.
func (s *sim) spawn(role string, live func(*actor)) {
	a := s.newActor(role)
	s.actors = append(s.actors, a)
	go func() {
		live(a)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.actors = slices.DeleteFunc(s.actors, func(b *actor) bool { return a == b })
	}()
}

// begin and end enclose a call of the engine.
func (a *actor) begin(o engine.RecoverOptions, runs ...string) {
	s := a.sim
	s.mu.Lock()
	defer s.mu.Unlock()
	a.sessions = map[string]*session{}
	for _, run := range runs {
		a.sessions[run] = &session{
			who: a, run: run, takeover: o.Takeover, rerun: o.RerunInDoubt, unattended: o.Unattended, finished: s.run(run).finished(), open: map[string]bool{}, started: map[string]begun{}, ran: map[callAt]bool{},
			agreed: map[string]bool{}, logged: map[string]bool{}, acting: map[string]bool{}, returned: map[callAt]bool{}, offered: map[callAt]bool{},
		}
	}
}

func (a *actor) end() map[string]*session {
	a.sim.mu.Lock()
	defer a.sim.mu.Unlock()
	old := a.sessions
	a.sessions = nil
	return old
}

// disturb notes a fault that the sessions of a run met, or all sessions.
func (a *actor) disturb(run string) {
	a.sim.mu.Lock()
	defer a.sim.mu.Unlock()
	for _, x := range a.sessions {
		if run == "" || run == x.run {
			x.faults++
		}
	}
}

func (a *actor) idle() bool { return a.pass(a.ctx, idling, "idle") == goes && a.ctx.Err() == nil }

// work is a worker's life.
func (a *actor) work() {
	for range 1 + a.rng.IntN(5) {
		if !a.idle() || a.sim.isCalm() {
			return
		}
		run := a.anyRun()
		switch n := a.rng.IntN(20); {
		case n < 12:
			a.recover(run, engine.RecoverOptions{Takeover: n < 3, RerunInDoubt: n == 3})
		case n < 16:
			a.recoverAll(engine.RecoverOptions{Takeover: n == 12})
		default:
			if p, err := engine.MakePlan(a.ctx, a.store, keys, key(run)); err == nil && len(p.Body.Waiting) > 0 {
				a.decide(p, p.Body.Waiting[a.rng.IntN(len(p.Body.Waiting))], true)
			}
		}
	}
}

func (s *sim) isCalm() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calm
}

func (a *actor) anyRun() string { return runNames[a.rng.IntN(a.sim.mix.runs)] }

var runNames = []string{"a", "b"}

func key(run string) stores.Key { return stores.Key{Owner: stores.DefaultOwner, Run: run} }

// recover brings a run on, and starts it when it is not there.
func (a *actor) recover(run string, o engine.RecoverOptions) {
	a.begin(o, run)
	res, err := a.runner.Recover(a.ctx, a.flow(), key(run), o)
	if errors.Is(err, engine.ErrCheckpointNotFound) {
		res, err = a.runner.Run(a.ctx, a.flow(), engine.Start{Key: key(run), State: a.sim.flow.initial(run)})
	}
	a.sim.concluded(a.end()[run], res, err)
}

func (a *actor) recoverAll(o engine.RecoverOptions) {
	seen := o
	seen.Unattended = true
	a.begin(seen, runNames[:a.sim.mix.runs]...)
	all, err := a.runner.RecoverAll(a.ctx, stores.DefaultOwner, func(string) (*engine.Flow, error) { return a.flow(), nil }, o)
	sessions := a.end()
	for _, run := range slices.Sorted(maps.Keys(sessions)) {
		if one, met := all[key(run)]; met {
			a.sim.concluded(sessions[run], one.Result, one.Err)
		} else if err != nil {
			a.sim.concluded(sessions[run], engine.Result{}, err)
		}
	}
}

// operate is an operator's life: one look, one action.
func (a *actor) operate() {
	if !a.idle() {
		return
	}
	run := a.anyRun()
	p, err := engine.MakePlan(a.ctx, a.store, keys, key(run))
	switch {
	case err != nil:
		return
	case a.sim.mix.deletes && a.rng.IntN(3) == 0:
		_ = a.store.Delete(a.ctx, key(run)) // whatever comes of it
		return
	case errors.Is(p.Blocked, engine.ErrCheckpointStoreCorrupt):
		a.sim.report("an operator is told that the run does not verify: %v", p.Blocked)
		return
	}
	if a.rng.IntN(2) == 0 && !a.idle() { // a look at the screen that takes long
		return
	}
	switch w := p.Body.Waiting; {
	case p.Action == engine.PlanResume && len(w) > 0:
		a.decide(p, w[a.rng.IntN(len(w))], a.rng.IntN(4) == 0)
	case len(p.InDoubt) > 0 && a.rng.IntN(4) == 0:
		a.recover(run, engine.RecoverOptions{RerunInDoubt: true, By: a.name, Takeover: a.rng.IntN(3) == 0, Version: p.Version})
	case len(p.InDoubt) > 0:
		a.resolve(p, p.InDoubt[a.rng.IntN(len(p.InDoubt))])
	case a.rng.IntN(3) == 0:
		a.recover(run, engine.RecoverOptions{By: a.name})
	default:
		rep, err := engine.Verify(a.ctx, a.store, keys, key(run))
		if err == nil && rep.Verdict != engine.Verified {
			a.sim.report("a verification beside the workers finds %s: %v", rep.Verdict, rep.Findings)
		}
	}
}

// decide approves, denies or answers what was seen to be open.
func (a *actor) decide(p engine.Plan, w engine.Waiting, resume bool) {
	run := p.Key.Run
	a.words++
	d := engine.Decide{Type: engine.DecideApprove, ID: w.ID, By: fmt.Sprintf("%s.%d", a.name, a.words), Note: "because"}
	if w.Type == engine.WaitInterrupt {
		d.Type, d.Value = engine.DecideAnswer, json.RawMessage(fmt.Sprintf("%q", w.Choices[a.rng.IntN(len(w.Choices))]))
	} else if a.rng.IntN(4) == 0 {
		d.Type = engine.DecideDeny
	}
	if a.rng.IntN(2) == 0 {
		d.Version = p.Version
	}
	a.begin(engine.RecoverOptions{}, run)
	var res engine.Result
	var err error
	if resume {
		res, err = a.runner.Resume(a.ctx, a.flow(), key(run), d)
	} else {
		res, err = a.runner.Record(a.ctx, key(run), d)
	}
	x := a.end()[run]
	a.sim.decidedBy(x, p, d, err, resume)
	if resume {
		a.sim.concluded(x, res, err)
	} else {
		a.sim.concluded(x, engine.Result{}, err)
	}
}

// resolve tells the truth about a call in doubt, if the truth can no longer change.
func (a *actor) resolve(p engine.Plan, c engine.CallInfo) {
	ran, known := a.sim.truth(p.Key.Run, c)
	if !known {
		return
	}
	r := engine.Resolution{Call: c.ID, By: a.name, NotRun: true, Version: p.Version, Takeover: a.rng.IntN(2) == 0}
	if ran {
		r.NotRun, r.Result = false, json.RawMessage(fmt.Sprintf("%q", result(c.Tool, c.Args)))
	}
	a.begin(engine.RecoverOptions{}, p.Key.Run)
	err := a.runner.Resolve(a.ctx, p.Key, r)
	x := a.end()[p.Key.Run]
	a.sim.noteTruth(ran, err)
	if err == nil && !x.deleted && !a.sim.isResolved(p.Key.Run, c, a.name) {
		a.sim.report("%s was told that call %s is resolved, and nothing is stored", a.name, c.ID)
	}
	if errors.Is(err, stores.ErrConflict) {
		err = nil // the log grew under it five times
	}
	a.sim.concluded(x, engine.Result{}, err)
}

// concluded checks what a session was told in the end.
func (s *sim) concluded(x *session, res engine.Result, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x.who.dead || x.deleted && !errors.Is(err, engine.ErrCheckpointStoreCorrupt) {
		return
	}
	switch {
	case err == nil:
		s.checkResult(x, res)
	case errors.Is(err, engine.ErrCheckpointStoreCorrupt):
		s.violate("%s is told that the run does not verify: %v", x.who.name, err)
	case x.faults > 0 || x.who.ctx.Err() != nil:
	case errors.Is(err, engine.ErrHeld) && s.flow.holds:
	case errors.Is(err, errLost):
		s.violate("a lost reply was not looked up by %s: %v", x.who.name, err)
	case errors.Is(err, engine.ErrCheckpointConflict), errors.Is(err, engine.ErrRecoveryNeedsDecision),
		errors.Is(err, engine.ErrRefused), errors.Is(err, engine.ErrCheckpointNotFound):
	default:
		s.violate("%s met an error without a fault: %v", x.who.name, err)
	}
	s.checkOutcomes(x)
}

// checkResult compares what a caller was told with what is stored.
func (s *sim) checkResult(x *session, res engine.Result) {
	r := s.run(x.run)
	if res.Status == "" {
		return
	}
	if res.Step < 0 || res.Step >= int64(len(r.rows)) {
		s.violate("%s was told of step %d, which is not stored", x.who.name, res.Step)
		return
	}
	row := r.rows[res.Step]
	if row.Status != res.Status || row.Segment != res.Segment {
		s.violate("%s was told that step %d is %s in segment %d, stored is %s in %d", x.who.name, res.Step, res.Status, res.Segment, row.Status, row.Segment)
	}
	if got, want := canonical(res.State), canonical(r.bodies[res.Step].State); got != want {
		s.violate("%s was told another state of step %d than the stored one: %s, %s", x.who.name, res.Step, got, want)
	}
}

// checkOutcomes: what a tool answered to a living worker is in the log.
func (s *sim) checkOutcomes(x *session) {
	for at := range x.returned {
		switch {
		case !x.offered[at]:
			s.violate("the outcome of call %s was dropped by %s", at, x.who.name)
		case x.faults == 0 && !s.run(x.run).ended[at]:
			s.violate("the outcome of call %s of %s is not in the log", at, x.who.name)
		}
	}
}

// toldWhen is the end of "ana approved pay.1 at 12:30:00".
var toldWhen = regexp.MustCompile(`(approved|denied|answered|resolved|recovered) .* ?at \d\d:\d\d:\d\d`)

// decidedBy checks what who decided was told.
func (s *sim) decidedBy(x *session, p engine.Plan, d engine.Decide, err error, resume bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, stored := s.run(x.run).decidedBy[d.By]
	s.saw("operator lost a race", !stored && errors.Is(err, engine.ErrCheckpointConflict))
	s.saw("operator acts on an old look", !stored && d.Version != "" && err != nil && strings.Contains(err.Error(), "changed since you looked"))
	switch {
	case x.deleted:
	case stored && d.Version != "" && at != p.Checkpoint.Step+1:
		s.violate("%s acted on step %d having seen step %d, although that was asked to fail", x.who.name, at, p.Checkpoint.Step)
	case err == nil && !stored:
		s.violate("%s was told that the decision is taken, and it is not stored", x.who.name)
	case !resume && stored && errors.Is(err, engine.ErrCheckpointConflict):
		s.violate("%s decided, and was told that somebody else did: %v", x.who.name, err)
	case !resume && !stored && x.faults == 0 && errors.Is(err, engine.ErrCheckpointConflict):
		if q := s.run(x.run).questionOf(p, d.ID); q != "" && !toldWhen.MatchString(err.Error()) {
			s.violate("%s lost to %s and was not told who won: %v", x.who.name, q, err)
		}
	}
}

func (s *sim) noteTruth(ran bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.saw("operator says it ran", ran && err == nil)
	s.saw("operator says it did not run", !ran && err == nil)
}

func (s *sim) report(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.violate(format, args...)
}
