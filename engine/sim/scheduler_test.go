package sim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"
)

// kind says what an announced operation is, and so what can happen to it.
type kind int

const (
	reading kind = iota
	writing
	leasing // a lease: nothing is looked up after it
	coding  // a node's code begins
	calling // a tool, before its effect
	called  // a tool, after its effect
	idling  // an actor between two actions
	kinds
)

// fate is what the scheduler lets happen to one operation.
type fate int

const (
	goes           fate = iota
	fails               // nothing reaches the store, and the error says no more
	unavailable         // the same, and the error says that the store cannot be reached
	busy                // the same, and the error says for certain that nothing was written
	lost                // it is done, the reply is not heard
	missed              // it is not done, and looks the same
	dies                // the process dies before it
	diesAfter           // the process dies after it
	stalls              // the operation or its whole process waits a long time
	stops               // the process is told to stop
	forgets             // a tool's answer is lost on the way
	cancelled           // its context ended first, it is not done
	cancelledAfter      // its context ended first, it is done all the same
	sleeps              // no operation: time goes by
)

var fateNames = [...]string{"", "fails", "unavailable", "busy", "lost reply", "never arrived", "dies", "dies after", "stalls", "stop", "forgets", "cancelled", "cancelled after", "sleep"}

// possible are the fates of each kind, as often as they are to come up.
var possible = [kinds][]fate{
	reading: {fails, unavailable, dies, stalls, stops},
	writing: {fails, unavailable, busy, lost, lost, lost, missed, missed, dies, dies, diesAfter, diesAfter, stalls, stalls, stalls, stops},
	leasing: {fails, busy, lost, missed, dies, diesAfter, stalls, stalls, stops},
	coding:  {dies, stalls, stops},
	calling: {dies, stalls, stalls, stops},
	called:  {dies, dies, stalls, stalls, stalls, stops, forgets},
	idling:  {stalls},
}

var (
	errCrash   = errors.New("sim: the process is dead")
	errStop    = errors.New("sim: the process is told to stop")
	errFailed  = errors.New("sim: disk error")
	errLost    = errors.New("sim: connection reset by peer")  // it was done
	errMissed  = errors.New("sim: connection reset by peer ") // it was not
	errNothing = errors.New("sim: the tool's answer was lost")

	pauses = []time.Duration{10 * time.Millisecond, time.Second, 5001 * time.Millisecond, 6 * time.Second, leaseOver, 2 * time.Minute}
)

const leaseOver = 16 * time.Second

// op is an operation that was announced and waits for the scheduler.
type op struct {
	who       *actor
	kind      kind
	name      string
	cancelled bool
	until     int // stalled until this turn
	fate      chan fate
}

// entry is one decision of the scheduler.
type entry struct {
	who, name string
	fate      fate
	sleep     time.Duration
}

// sim is one seed: a flow, a store, who acts on it, and the model of it.
type sim struct {
	seed  uint64
	rng   *rand.Rand
	mix   mix
	flow  flowSpec
	store backend

	mu      sync.Mutex
	actors  []*actor
	waiting []*op
	calm    bool // no more faults
	free    bool // no more scheduling either
	bad     string
	trace   []entry
	turns   int
	born    int            // actors so far
	seen    map[string]int // what happened, how often
	model
}

// mix is how much happens in one seed.
type mix struct {
	runs, workers, turns int
	per1000              [kinds]int // operations that meet a fault
	sleep                int        // one turn in so many
	operators            int        // the same
	deletes              bool       // operators also delete runs
}

func newMix(r *rand.Rand) mix {
	m := mix{runs: 1 + r.IntN(4)/3, workers: 2 + r.IntN(3), turns: 150 + r.IntN(600), sleep: 20 + r.IntN(100), operators: 25 + r.IntN(100), deletes: r.IntN(4) == 0}
	level := []int{0, 1, 1, 2, 3}[r.IntN(5)] // every fifth seed only has races
	for k, per1000 := range [kinds]int{reading: 1, writing: 60, leasing: 15, coding: 40, calling: 80, called: 150, idling: 20} {
		m.per1000[k] = level * per1000
	}
	return m
}

// pass announces an operation and waits until the scheduler says what becomes of it.
func (a *actor) pass(ctx context.Context, k kind, name string) fate {
	s := a.sim
	s.mu.Lock()
	switch {
	case a.dead:
		s.mu.Unlock()
		return dies
	case ctx.Err() != nil:
		s.mu.Unlock()
		return cancelled
	case s.free:
		s.mu.Unlock()
		return goes
	}
	o := &op{who: a, kind: k, name: name, fate: make(chan fate, 1)}
	s.waiting = append(s.waiting, o)
	s.mu.Unlock()
	select {
	case f := <-o.fate:
		return f
	case <-ctx.Done():
		s.mu.Lock()
		o.cancelled = true
		s.mu.Unlock()
		return <-o.fate
	}
}

// turn lets one operation go on, once all goroutines have announced theirs.
// Only what it lets go runs, so the seed alone says what happens.
func (s *sim) turn() {
	synctest.Wait()
	s.turns++
	s.mu.Lock()
	ready := s.ready()
	if len(ready) == 0 || s.rng.IntN(s.mix.sleep) == 0 {
		s.mu.Unlock()
		s.pause(pauses[s.rng.IntN(len(pauses))])
		return
	}
	expires := false
	defer func() {
		s.mu.Unlock()
		if expires {
			s.pause(leaseOver)
		}
	}()
	o := ready[s.rng.IntN(len(ready))]
	f := s.draw(o)
	s.seen[fateNames[f]]++
	s.trace = append(s.trace, entry{who: o.who.name, name: o.name, fate: f})
	switch f {
	case stalls:
		until := s.turns + 10 + s.rng.IntN(150)
		if s.rng.IntN(3) == 0 {
			o.until = until
		} else {
			o.who.until = until
		}
		expires = s.rng.IntN(2) == 0
	case stops:
		o.who.stop(errStop)
	case dies, diesAfter:
		s.release(o, f)
		s.kill(o.who)
	default:
		s.release(o, f)
	}
}

// ready lists what could go on, in an order that depends on nothing but names.
func (s *sim) ready() []*op {
	ready := make([]*op, 0, len(s.waiting))
	for _, o := range s.waiting {
		if s.calm || o.until <= s.turns && o.who.until <= s.turns {
			ready = append(ready, o)
		}
	}
	slices.SortStableFunc(ready, func(a, b *op) int { return cmp.Or(a.who.id-b.who.id, strings.Compare(a.name, b.name)) })
	return ready
}

func (s *sim) draw(o *op) fate {
	switch {
	case o.cancelled && ((o.kind == writing || o.kind == leasing) && s.rng.IntN(2) == 0):
		return cancelledAfter
	case o.cancelled && (o.kind == calling || o.kind == called) && s.rng.IntN(2) == 0:
		return goes // not every tool listens
	case o.cancelled:
		return cancelled
	case s.calm || s.rng.IntN(1000) >= s.mix.per1000[o.kind]:
		return goes
	}
	list := possible[o.kind]
	return list[s.rng.IntN(len(list))]
}

// release lets an operation go on, and with it those that nothing tells apart.
func (s *sim) release(o *op, f fate) {
	s.waiting = slices.DeleteFunc(s.waiting, func(w *op) bool {
		same := w.who == o.who && w.name == o.name
		if same {
			w.fate <- f
		}
		return same
	})
}

// kill ends a process: nothing that it still tries has an effect.
func (s *sim) kill(a *actor) {
	a.dead = true
	for _, x := range a.sessions {
		clear(x.acting)
	}
	s.waiting = slices.DeleteFunc(s.waiting, func(w *op) bool {
		if w.who == a {
			w.fate <- dies
		}
		return w.who == a
	})
	a.stop(errCrash)
}

func (s *sim) pause(d time.Duration) {
	s.trace = append(s.trace, entry{fate: sleeps, sleep: d})
	time.Sleep(d)
}

// abort ends all that still goes on after a violation.
func (s *sim) abort() {
	for s.alive() > 0 {
		s.mu.Lock()
		for _, a := range s.actors {
			s.kill(a)
		}
		s.mu.Unlock()
		time.Sleep(time.Minute)
	}
}

// alive counts the actors once all have done what they can without a turn.
func (s *sim) alive() int {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.actors)
}

// saw counts what happened, so that a test can tell that all of it does. The
// caller holds mu.
func (s *sim) saw(what string, is bool) {
	if is {
		s.seen[what]++
	}
}

// violate notes the first thing that must not be. The caller holds mu.
func (s *sim) violate(format string, args ...any) {
	if s.bad == "" {
		s.bad = fmt.Sprintf(format, args...)
		s.trace = append(s.trace, entry{name: "violation: " + s.bad})
	}
}

// lines is the trace for people.
func (s *sim) lines() []string {
	var out []string
	for _, e := range s.trace {
		line := strings.TrimSpace(fmt.Sprintf("%s %s %s", e.who, e.name, fateNames[e.fate]))
		if e.fate == sleeps {
			line += " " + e.sleep.String()
		}
		out = append(out, line)
	}
	return out
}

// fingerprint is the same for two simulations that went the same way and left the same rows.
func (s *sim) fingerprint() uint64 {
	h := fnv.New64a()
	for _, line := range s.lines() {
		fmt.Fprintln(h, line)
	}
	for _, name := range runNames {
		for _, row := range s.run(name).rows {
			h.Write(row.MAC)
		}
	}
	return h.Sum64()
}
