package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
)

// The tools of the world. What a tool does depends on its name and arguments
// alone, so that the truth about a call is known.
const (
	once     = "once"     // acts, and must not act twice
	again    = "again"    // idempotent
	asks     = "asks"     // as once, when a person agrees
	askAgain = "askagain" // idempotent, when a person agrees
	broken   = "broken"   // fails, without an effect
	opaque   = "opaque"   // acts as once, and its result cannot be stored
	picky    = "picky"    // cannot be started on every machine

	// These fail at times, without an effect, until the world has calmed down.
	flaky      = "flaky"      // else as once
	flakyAgain = "flakyagain" // else as again
	flakyAsks  = "flakyasks"  // else as asks
)

var (
	isIdempotent = map[string]bool{again: true, askAgain: true, broken: true, flakyAgain: true}
	isAsking     = map[string]bool{asks: true, askAgain: true, flakyAsks: true}
	isFlaky      = map[string]bool{flaky: true, flakyAgain: true, flakyAsks: true}
	toolNames    = []string{once, again, asks, askAgain, broken, opaque, picky, flaky, flakyAgain, flakyAsks}
)

func result(tool string, args []byte) string {
	return tool + " did " + strings.ReplaceAll(string(args), `"`, "'")
}

const noLuck = "no luck"

// tools are the world's tools as one process sees them.
func (a *actor) tools() *tool.Registry {
	r := tool.NewRegistry()
	for _, name := range toolNames {
		t := tool.Tool{Name: name, Idempotent: isIdempotent[name], Run: func(ctx context.Context, in tool.Input) (any, error) { return a.act(ctx, name, in) }}
		if isAsking[name] {
			t.Approval = tool.ApprovalRequired
		}
		if err := r.Add(t); err != nil {
			panic(err)
		}
	}
	return r
}

// act is one call of a tool: a wait, its effect, a wait.
func (a *actor) act(ctx context.Context, name string, in tool.Input) (any, error) {
	place, ok := ctx.Value(nodePlace{}).(string)
	if !ok { // a tool loop called it
		var args struct{ Node string }
		_ = json.Unmarshal(in.Args, &args) // no node fits what cannot be read
		place = args.Node
	}
	id := a.sim.startedAt(a, in.Run, place)
	a.sim.entered(ctx, a, id)
	switch a.pass(ctx, calling, "call "+in.Run+" "+id) {
	case goes:
	case cancelled:
		a.sim.left(a, in.Run, id)
		return nil, ctx.Err()
	default:
		return nil, errCrash
	}
	if name == picky && a.id%3 == 0 {
		a.sim.left(a, in.Run, id)
		return nil, fmt.Errorf("picky: %w", tool.ErrNotStarted)
	}
	fails := name == broken || isFlaky[name] && !a.sim.isCalm() && a.rng.IntN(2) == 0
	a.sim.acts(a, name, id, in, fails)
	switch a.pass(ctx, called, "called "+in.Run+" "+id) {
	case goes:
	case cancelled:
		return nil, ctx.Err()
	case forgets:
		if !isIdempotent[name] { // else the engine may say that it failed
			return nil, fmt.Errorf("%s: %w: %w", name, tool.ErrOutcomeUnknown, errNothing)
		}
	default:
		return nil, errCrash
	}
	if fails {
		return nil, fmt.Errorf("%s: %s", name, noLuck)
	}
	a.sim.returns(a, in.Run, id)
	if name == opaque {
		return math.NaN(), nil
	}
	return result(name, in.Args), nil
}

// startedAt is the call of a node that has just been started: a node calls one
// tool after the other, and one that is tried again goes on counting.
func (s *sim) startedAt(a *actor, run, place string) (id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, newest := a.sessions[run], begun{base: -1}
	if x == nil {
		return ""
	}
	for name, b := range x.started {
		if b.node == place && (b.base > newest.base || b.base == newest.base && b.ordinal > newest.ordinal) {
			id, newest = name, b
		}
	}
	return id
}

// entered checks that a worker that has to stop begins no call, whose start may
// have been logged before.
func (s *sim) entered(ctx context.Context, a *actor, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() != nil && !a.dead {
		s.violate("%s begins call %s though it has to stop", a.name, id)
	}
}

// acts notes an effect and checks that it may be.
func (s *sim) acts(a *actor, name, id string, in tool.Input, fails bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := a.sessions[in.Run]
	if a.dead || x == nil {
		return
	}
	delete(x.acting, id)
	b, ok := x.started[id]
	if !ok || b.digest != digest(in.Args) {
		s.violate("call %s of %s acted without a started record", id, name)
		return
	}
	delete(x.started, id)
	r, at := b.of, callAt{b.base, id, b.digest}
	s.checkKey(r, at, in.IdempotencyKey)
	if fails {
		return
	}
	r.effects[at]++
	if n := r.effects[at]; !isIdempotent[name] && n > 1+r.permitted[at.call()] {
		s.violate("call %s of %s acted %d times, permitted again were %d", at, name, n, r.permitted[at.call()])
	}
	if !isIdempotent[name] && strings.Contains(string(in.Args), `"node"`) {
		what := fmt.Sprint(b.base, " ", b.digest)
		r.acts[what]++
		if n := r.acts[what]; n > 1+r.mayRepeat[what] {
			s.violate("%s acted %d times with the arguments of one call, now as call %s", name, n, at)
		}
	}
	switch {
	case isAsking[name] && !x.agreed[id]:
		s.checkApproved(r, at)
	case isAsking[name] && !x.logged[id]:
		s.violate("call %s acted on a yes that was not logged", at)
	}
	delete(x.agreed, id)
}

// approve asks a person while the call waits: nobody may answer, and whoever
// answers may say no.
func (a *actor) approve(ctx context.Context, q engine.Approval) (engine.Answer, error) {
	switch a.pass(ctx, calling, "ask "+q.Key.Run+" "+q.Call) {
	case goes:
	case cancelled:
		a.sim.left(a, q.Key.Run, q.Call)
		return engine.Answer{}, ctx.Err()
	default:
		return engine.Answer{}, errCrash
	}
	n := a.rng.IntN(6)
	if n == 0 {
		a.sim.left(a, q.Key.Run, q.Call)
		return engine.Answer{}, errors.New("sim: nobody is there")
	}
	a.sim.agrees(a, q, n > 1)
	return engine.Answer{Approved: n > 1, By: a.name, Note: "at once"}, nil
}

// agrees notes what a person said while a call waited. Nobody is asked what was
// decided before, but by a worker that was cut off and cannot know.
func (s *sim) agrees(a *actor, q engine.Approval, yes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := a.sessions[q.Key.Run]
	if x == nil || a.dead {
		return
	}
	if b, ok := x.started[q.Call]; ok {
		if d, ok := b.of.decided[callAt{b.base, q.Call, b.digest}]; ok && b.of.writer == x {
			s.violate("%s asks again about call %s, which %s decided", a.name, q.Call, d.By)
		}
	} else if yes {
		s.violate("%s asks about call %s, which is not logged", a.name, q.Call)
	}
	s.saw("person asked while the call waits", true)
	x.agreed[q.Call] = yes
}

// checkKey: a call has one idempotency key, also when its node is tried again, and
// no other call has it.
func (s *sim) checkKey(r *run, at callAt, key string) {
	name := fmt.Sprint(r.name, " ", r.life, " ", r.ofFirstAttempt(at))
	if old, ok := s.keyOf[name]; ok && old != key {
		s.violate("call %s has two idempotency keys", name)
	}
	if other, ok := s.byKey[key]; ok && other != name || key == "" {
		s.violate("calls %s and %s share an idempotency key", name, other)
	}
	s.keyOf[name], s.byKey[key] = key, name
}

// ofFirstAttempt is the call that a call of a further attempt repeats: the one of
// the same number within its attempt.
func (r *run) ofFirstAttempt(at callAt) callAt {
	node, ordinal := parted(at.id)
	first := 0
	for failed := range r.attempts {
		if of, n := parted(failed.id); failed.base == at.base && of == node && n < ordinal {
			first = max(first, n)
		}
	}
	at.id = engine.CallID(node, int64(ordinal-first))
	return at
}

// parted is the node of a call and its ordinal there.
func parted(id string) (node string, ordinal int) {
	dot := strings.LastIndexByte(id, '.')
	ordinal, _ = strconv.Atoi(id[dot+1:])
	return id[:dot], ordinal
}

// left notes that a call returned and will have no effect.
func (s *sim) left(a *actor, run, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := a.sessions[run]; x != nil {
		delete(x.acting, id)
		delete(x.started, id)
	}
}

// returns notes that a call's result is handed to the engine.
func (s *sim) returns(a *actor, run, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := a.sessions[run]; x != nil && !a.dead {
		x.returned[x.last(id)] = true
	}
}

// truth says whether a call in doubt had its effect, and whether that can still change.
func (s *sim) truth(run string, c engine.CallInfo) (ran, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.actors {
		if x := a.sessions[run]; x != nil && !a.dead && x.acting[c.ID] {
			return false, false
		}
	}
	return s.run(run).effects[callAt{c.Step, c.ID, c.Digest}] > 0, true
}
