package sim

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/stores"
)

// model is what must be in the store, from what reached it, and what must hold.
type model struct {
	runs   map[string]*run
	keyOf  map[string]string // idempotency keys
	byKey  map[string]string
	events map[string]bool // stored ones, by MAC
	drift  map[string]int  // how often nodes that are not deterministic began
	lives  map[string]int  // how often a run was deleted
}

// run is the model of one run, from its start until it is deleted.
type run struct {
	name   string
	life   int
	rows   []stores.Checkpoint
	bodies []engine.Checkpoint
	writer *session // of the newest row

	newest    map[callID]record // of each call
	ended     map[callAt]bool   // an outcome of it is in the log
	effects   map[callAt]int
	acts      map[string]int      // effects by superstep and arguments that only one call of it has
	permitted map[callID]int      // how often a call may run again
	mayRepeat map[string]int      // the same, by its arguments
	decided   map[callAt]decision // by question
	deciders  []decision          // in the order of the rows
	outcomes  map[callID]bool     // of calls of flaky tools, by superstep: they failed
	heldAs    map[callID]record   // of calls that a hold was made of: how they stood
	attempts  map[callID]bool     // at nodes, that are in the log as failed
	failed    map[callID]bool     // the same, by superstep
	late      map[callID]bool     // those that a worker told which was cut off: who went on may not have seen them
	decidedBy map[string]int64    // row of an actor's decision
	resolved  map[string]bool     // call, base and operator
}

// callID is a call or a question of a superstep, callAt one with certain arguments.
type callID struct {
	base int64
	id   string
}

type callAt struct {
	base       int64
	id, digest string
}

func (c callAt) call() callID   { return callID{c.base, c.id} }
func (c callAt) String() string { return fmt.Sprintf("%d/%s/%.6s", c.base, c.id, c.digest) }

// begun is a started record whose tool did not act yet.
type begun struct {
	of            *run
	node          string
	base, ordinal int64
	digest        string
}

// record is the newest record of a call.
type record struct {
	segment, n int64
	status     stores.CallStatus
	digest     string
	notRun     bool
	failed     bool
	idempotent bool
}

func (r record) open() bool {
	return r.status == stores.CallStarted || r.status == stores.CallUnrecordable
}

// ran reports whether the call is over: what was decided about it came to pass.
func (r record) ran() bool {
	return r.status == stores.CallDone || r.status == stores.CallResolved && !r.notRun
}

// decision is a stored decision and the superstep that it is for.
type decision struct {
	engine.Decision
	superstep int64
}

func newModel() model {
	return model{runs: map[string]*run{}, keyOf: map[string]string{}, byKey: map[string]string{}, events: map[string]bool{}, drift: map[string]int{}, lives: map[string]int{}}
}

func (s *sim) run(name string) *run {
	r := s.runs[name]
	if r == nil {
		r = &run{
			name: name, life: s.lives[name],
			newest: map[callID]record{}, ended: map[callAt]bool{}, effects: map[callAt]int{}, permitted: map[callID]int{}, mayRepeat: map[string]int{},
			decided: map[callAt]decision{}, decidedBy: map[string]int64{}, resolved: map[string]bool{},
			outcomes: map[callID]bool{}, heldAs: map[callID]record{}, attempts: map[callID]bool{}, failed: map[callID]bool{}, late: map[callID]bool{}, acts: map[string]int{},
		}
		s.runs[name] = r
	}
	return r
}

func (r *run) last() stores.Checkpoint {
	if len(r.rows) == 0 {
		return stores.Checkpoint{Step: -1, Segment: 1}
	}
	return r.rows[len(r.rows)-1]
}

func (r *run) final() bool { return len(r.rows) > 0 && r.last().Status.Final() }

// finished lists the calls of the current superstep whose outcome is known and
// stands.
func (r *run) finished() map[callAt]bool {
	out, again := map[callAt]bool{}, r.again()
	for at, c := range r.newest {
		if at.base == r.last().Base && c.ran() && !again[at] {
			out[callAt{at.base, at.id, c.digest}] = true
		}
	}
	return out
}

// again lists the calls whose errors a hold was made of: they run again when
// somebody brings the run on.
func (r *run) again() map[callID]bool {
	out := map[callID]bool{}
	if n := len(r.bodies); n > 0 {
		for _, id := range r.bodies[n-1].Again {
			at := callID{r.last().Base, id}
			if r.bodies[n-1].Error == nil && r.newest[at].segment >= r.last().Segment {
				continue // it was tried again already
			}
			if r.newest[at].failed || r.attempts[at] {
				out[at] = true
			}
		}
	}
	return out
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// last names what a session ran last under an id.
func (x *session) last(id string) callAt {
	best := callAt{base: -1}
	for at := range x.ran {
		if at.id == id && at.base > best.base {
			best = at
		}
	}
	return best
}

// saved takes a save that the store accepted, and passes its error on.
func (s *sim) saved(a *actor, w stores.Save, err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.saw("save lost a race", errors.Is(err, stores.ErrConflict))
		return err
	}
	c, r, x := w.Checkpoint, s.run(w.Checkpoint.Run), a.sessions[w.Checkpoint.Run]
	last := r.last()
	switch {
	case x == nil:
		s.violate("%s saved step %d outside of a session", a.name, c.Step)
		return nil
	case r.final():
		s.violate("step %d was saved after the run had ended", c.Step)
		return nil
	case c.Step != last.Step+1:
		s.violate("step %d was saved after step %d", c.Step, last.Step)
		return nil
	case c.Step > 0 && c.Incarnation != last.Incarnation:
		s.violate("%s saved step %d of a run that was deleted", a.name, c.Step)
	case c.Segment != last.Segment && c.Segment != last.Segment+1:
		s.violate("segment %d was saved after segment %d", c.Segment, last.Segment)
	case x.over:
		s.violate("two workers advance the run: %s saved step %d after another one had gone on", a.name, c.Step)
	case c.Segment == last.Segment && r.writer != nil && r.writer != x && last.Status != stores.StatusPaused:
		s.violate("%s went on in segment %d without a claim", a.name, c.Segment)
	}
	if r.writer != nil && r.writer != x {
		r.writer.over = true
	}
	b, err := engine.DecodeCheckpoint(c)
	if err != nil {
		s.violate("step %d is unreadable: %v", c.Step, err)
	}
	before, again := r.questions(), r.again()
	r.writer, r.rows, r.bodies = x, append(r.rows, c), append(r.bodies, b)
	for _, call := range w.Calls {
		s.logs(r, x, call)
	}
	for _, e := range w.Events {
		s.events[string(e.MAC)] = true
		s.operatorEvent(r, before, c, b, e)
	}
	s.held(r, c, b)
	s.claims(r, x, w, again)
	s.advances(r, x, c, b)
	return nil
}

// looks notes which calls an operator can mean who says that calls in doubt may
// run again: those that are in doubt when the engine looks, before it claims.
func (s *sim) looks(a *actor, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, r := a.sessions[name], s.run(name)
	if x == nil || !x.rerun || x.saving {
		return
	}
	x.meant = map[string]bool{}
	for at, c := range r.newest {
		x.meant[at.id] = x.meant[at.id] || at.base == r.last().Base && c.open() && !c.idempotent
	}
}

func (s *sim) saves(a *actor, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := a.sessions[name]; x != nil {
		x.saving = true
	}
}

// claims notes what a recovery found and what it was permitted to run again:
// calls in doubt, and those whose errors the run was held for. A person who
// approved such a call is asked anew.
func (s *sim) claims(r *run, x *session, w stores.Save, again map[callID]bool) {
	if !slices.ContainsFunc(w.Events, func(e stores.Event) bool { return e.Type == engine.EventRecovered }) {
		return
	}
	x.claimed, x.finished = true, r.finished()
	s.triesAgain(r, x, again)
	s.saw("claim", true)
	s.saw("claim over a live lease", x.takeover)
	for at, c := range r.newest {
		if x.rerun && x.meant[at.id] && at.base == w.Checkpoint.Base && c.open() && !c.idempotent {
			x.open[at.id] = true
			r.permitted[at]++
			r.mayRepeat[fmt.Sprint(at.base, " ", c.digest)]++
			s.saw("claim permits calls in doubt to run again", true)
		}
	}
}

// advances checks a row that ends a superstep, or an attempt at one.
func (s *sim) advances(r *run, x *session, c stores.Checkpoint, b engine.Checkpoint) {
	if len(b.Nodes) == 0 {
		return
	}
	told := map[string]bool{}
	for _, n := range b.Nodes {
		for _, id := range n.Unreplayed {
			told[id] = true
		}
		s.saw("call unreplayed", len(n.Unreplayed) > 0)
		s.saw("call replayed", len(n.Replayed) > 0)
	}
	for at := range x.ran {
		for old := range x.finished {
			if old.call() == at.call() && old.digest != at.digest && !told[at.id] {
				s.violate("call %s ran with other arguments, and step %d does not report it as unreplayed", at, c.Step)
			}
		}
	}
	x.ran, x.finished = map[callAt]bool{}, map[callAt]bool{}
}

// deleted takes a deletion: the next run of this id has nothing to do with it.
func (s *sim) deleted(name string, err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		return err
	}
	s.saw("run deleted", true)
	s.lives[name]++
	delete(s.runs, name)
	for _, a := range s.actors {
		if x := a.sessions[name]; x != nil {
			x.deleted, x.over, x.claimed, x.finished = true, false, false, map[callAt]bool{}
		}
	}
	return nil
}

// offered notes that a session tries to log an outcome.
func (s *sim) offered(a *actor, c stores.Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := a.sessions[c.Run]; x != nil && c.Status != stores.CallStarted {
		x.offered[callAt{c.Step, engine.CallID(c.Node, c.Ordinal), payloadDigest(c.Payload)}] = true
	}
}

func payloadDigest(payload []byte) string {
	var b struct{ Digest string }
	_ = json.Unmarshal(payload, &b) // checked when it is stored
	return b.Digest
}

// told: what is told to the outside was stored before.
func (s *sim) told(a *actor, e stores.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !a.dead && !s.events[string(e.MAC)] {
		s.violate("%s tells event %d (%s), which is not stored", a.name, e.N, e.Type)
	}
}

func (s *sim) isResolved(name string, c engine.CallInfo, by string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.run(name).resolved[fmt.Sprint(callID{c.Step, c.ID}, by)]
}

// sameRows: all that was acknowledged is in the store, and nothing else.
func sameRows(want, got []stores.Checkpoint) bool {
	return slices.EqualFunc(want, got, func(a, b stores.Checkpoint) bool {
		return a.Step == b.Step && a.Segment == b.Segment && a.Status == b.Status && bytes.Equal(a.MAC, b.MAC)
	})
}
