//go:build unix

package crash

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/flowtui/flowtui/internal/teststores"
)

// A run's life is a list of phases: it is run, then recovered until it has
// ended, and between two phases the operator does what it takes a person for.
// fate says in which phases the worker meets a trap.
type fate struct {
	flow  string
	traps map[int]trap
	phase int // that is swept
}

func (f fate) with(phase int, t trap) fate {
	traps := map[int]trap{phase: t}
	for p, old := range f.traps {
		traps[p] = old
	}
	return fate{f.flow, traps, phase}
}

func (f fate) run(n int) string { return fmt.Sprintf("%s-%d", f.flow, n) }

// lane is a line of workers, one at a time: the next one comes when the one
// before it was killed.
type lane struct {
	w       *world
	durable teststores.Durability
	worker  *worker
}

func (l *lane) hired() *worker {
	if l.worker == nil || l.worker.hasEnded() {
		l.worker = l.w.hire(func(j *job) { j.Durable, j.TTL = l.durable, time.Second })
	}
	return l.worker
}

func (l *lane) dismiss() {
	if l.worker != nil && !l.worker.hasEnded() {
		l.worker.dismiss()
	}
}

// maxPhases is more than any life has.
const maxPhases = 30

// live leads a run through its life, and returns the numbers of store
// operations of the phases that nobody died in.
func (l *lane) live(run string, f fate) []int {
	var ops []int
	for phase := range maxPhases {
		need, o := l.settled(run)
		switch need {
		case needsNothing:
			return ops
		case needsPatience, needsLook:
			l.w.Errorf("%s: phase %d: nobody else is at it, and it cannot go on", run, phase)
			return ops
		}
		if need == needsStart {
			l.w.unheld(run) // its worker died before it had saved anything
		}
		p := l.hired()
		t, trapped := f.traps[phase]
		if trapped {
			p.do(order{Do: doArm, Trap: t})
		}
		out, alive := p.do(o)
		if alive == trapped {
			l.w.Errorf("%s: phase %d, trap %+v: alive %v after %+v", run, phase, t, alive, out)
		}
		if !alive {
			out.Ops = 0
		}
		l.w.check(p, run, out)
		ops = append(ops, out.Ops)
	}
	l.w.Errorf("%s is not done after %d phases", run, maxPhases)
	return ops
}

// settled looks at a run until the operator has done all that he can. What a
// worker sent before it died may reach a server while he looks.
func (l *lane) settled(run string) (n need, o order) {
	for range 500 {
		switch n, o = l.w.look(run); n {
		case needsPatience:
			time.Sleep(10 * time.Millisecond)
		case needsLook:
		default:
			return n, o
		}
	}
	return n, o
}

// sweep lists the store operations of one phase of a life, or of all for a
// negative one: each before and after, as a rehearsal counts them.
func (l *lane) sweep(run string, f fate, phase int) (fates []fate) {
	for i, n := range l.live(run, f) {
		for at := 1; at <= n && (i == phase || phase < 0); at++ {
			fates = append(fates, f.with(i, trap{At: at}), f.with(i, trap{At: at, After: true}))
		}
	}
	return fates
}

// everyOperation lists the fates of the systematic part: every operation of the
// tickets flow from its start to its end and of the others up to where they
// wait for a person, and every operation of a recovery that replays a call.
func (w *world) everyOperation() (runs []string, fates []fate) {
	l := &lane{w: w, durable: teststores.Kill}
	defer l.dismiss()
	for _, s := range []struct {
		run   string
		traps map[int]trap
		phase int
	}{
		{run: "tickets-rehearsal", phase: -1},
		{run: "trip-rehearsal", phase: 0},
		{run: "questions-rehearsal", phase: 0},
		{run: "chat-rehearsal", phase: 0},
		{run: "tickets-rehearsal-done", traps: map[int]trap{0: {Op: "record-done hold", At: 1, After: true}}, phase: 1},
	} {
		runs = append(runs, s.run)
		fates = append(fates, l.sweep(s.run, fate{flow: flowOf(s.run), traps: s.traps}, s.phase)...)
	}
	return runs, fates
}

// mixed is how durable the writes of three workers at once are.
var mixed = [...]teststores.Durability{teststores.Kill, teststores.Kill, teststores.PowerCut}

// live leads runs through their lives, in three lanes at once.
func (w *world) live(runs []string, fates []fate) {
	var lanes sync.WaitGroup
	next := make(chan int)
	for i := range mixed {
		l := &lane{w: w, durable: mixed[i]}
		lanes.Go(func() {
			defer l.dismiss()
			for n := range next {
				l.live(runs[n], fates[n])
			}
		})
	}
	for n := range runs {
		next <- n
	}
	close(next)
	lanes.Wait()
}

// missed lists the operations at which nobody was killed.
func (w *world) missed(fates []fate) (missed []string) {
	lines, err := readJournal(w.journalPath())
	if err != nil {
		w.Fatal(err)
	}
	at := map[string]int{}
	for _, l := range lines {
		if l[0] == "trap" {
			at[strings.Join(l[2:5], " ")]++
		}
	}
	for _, f := range fates {
		if key := f.traps[f.phase].String(); at[key] > 0 {
			at[key]--
		} else {
			missed = append(missed, fmt.Sprintf("%s, phase %d: %s", f.flow, f.phase, key))
		}
	}
	return missed
}
