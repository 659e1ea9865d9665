//go:build unix

package crash

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/internal/teststores"
	"github.com/flowtui/flowtui/stores"
)

const zombieTTL = 500 * time.Millisecond

// zombie is a worker that is stopped at a bad moment and wakes up when its run
// has gone on without it.
type zombie struct {
	name string
	run  string // its first word is the flow
	soon bool   // it is stopped before the run waits for its approval
	trap trap   // where it stops itself; none: the bank stops it in a call
	// In the call of this tool, before or after its effect.
	tool    string
	applied bool
	doubt   string // the call that its recovery needs a decision on
	class   string // of what the zombie says when it is awake, or two
	late    stores.CallStatus
	goesOn  bool // the bank never cut it off: it can work on other runs
}

func zombies() []zombie {
	stop := func(op string, at int, after bool) trap { return trap{Op: op, At: at, After: after, Stop: true} }
	return []zombie{
		{
			name: "the bank has the request", run: "tickets-1", tool: chargeCard,
			doubt: "pay.1", class: "conflict", late: stores.CallDone,
		}, {
			name: "the effect is there, the answer is not read", run: "tickets-2", tool: chargeCard, applied: true,
			doubt: "pay.1", class: "conflict", late: stores.CallDone,
		}, {
			name: "between started and the call", run: "tickets-3", trap: stop("record-started pay", 1, true),
			doubt: "pay.1", class: "conflict", late: stores.CallResolved,
		}, {
			name: "before done", run: "tickets-4", trap: stop("record-done pay", 1, false),
			doubt: "pay.1", class: "conflict", late: stores.CallDone,
		}, {
			name: "after done", run: "tickets-5", trap: stop("record-done pay", 1, true), class: "conflict", goesOn: true,
		}, {
			name: "before started", run: "tickets-6", trap: stop("record-started pay", 1, false), class: "conflict", goesOn: true,
		}, {
			name: "before a save", run: "tickets-7", trap: stop("save", 2, false), class: "conflict", goesOn: true,
		}, {
			name: "after a save", run: "tickets-8", trap: stop("save", 2, true), class: "conflict", goesOn: true,
		}, {
			name: "before its claim", run: "tickets-9", trap: stop("save", 1, false), class: "conflict", goesOn: true,
		}, {
			name: "after its claim", run: "tickets-10", trap: stop("save", 1, true), class: "conflict", goesOn: true,
		}, {
			name: "between started and an idempotent call", run: "tickets-11", soon: true, trap: stop("record-started hold", 1, true),
			class: "conflict", late: stores.CallResolved, goesOn: true,
		}, {
			name: "before done, side by side", run: "trip-12", soon: true, trap: stop("record-done hotel.1", 1, false),
			doubt: "hotel.1", class: "conflict or refused", late: stores.CallDone,
		},
	}
}

// A worker is stopped, its lease expires, another one brings the run home, with
// the truth from the bank where that is needed. Awake again, the first one
// begins no call, also none whose start is logged, and saves nothing; what it knows
// of its last call is kept.
func TestZombies(t *testing.T) {
	for _, kind := range teststores.Kinds() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			host := teststores.NewHost(t, kind)
			for _, z := range zombies() {
				t.Run(z.name, func(t *testing.T) {
					t.Parallel()
					newWorld(t, host).zombie(z)
				})
			}
		})
	}
}

func (w *world) zombie(z zombie) {
	first := w.hire(func(j *job) {
		j.TTL = zombieTTL
		j.Deaf = z.tool != "" // the bank does not see whether it is in a renewal when it stops it
	})
	w.stopOne(z, first)
	before := w.callsBy(z.run, first.name)
	w.takeOver(z)
	w.wakeOne(z, first, before)
	runs := []string{z.run}
	if z.goesOn {
		runs = append(runs, "trip-other")
	}
	if n := w.judge(runs); n != 1 {
		w.Errorf("%d runs were recovered", n)
	}
	for _, c := range callsOf(flowOf(z.run), z.run) {
		if n := w.bank.look(c).effects; n != 1 {
			w.Errorf("%+v had %d effects", c, n)
		}
	}
}

// stopOne brings the run to where its worker stops.
func (w *world) stopOne(z zombie, p *worker) {
	w.Helper()
	stopped := make(chan struct{})
	w.bank.think = func(worker string, c call, applied bool) {
		if worker == p.name && c.Tool == z.tool && applied == z.applied {
			p.signal(syscall.SIGSTOP)
			<-stopped // and so the effect comes while it is stopped, or the answer
		}
	}
	n, o := w.look(z.run)
	if !z.soon {
		p.do(o)
		if n, _ := w.look(z.run); n != needsLook {
			w.Fatalf("it does not wait for an approval, but needs %d", n)
		}
		n, o = w.look(z.run)
	}
	if n != needsStart && n != needsRecovery {
		w.Fatalf("it needs %d", n)
	}
	if z.tool == "" {
		p.do(order{Do: doArm, Trap: z.trap})
	}
	p.orders <- o
	select {
	case <-p.stops:
		close(stopped)
	case out := <-p.outcomes:
		close(stopped)
		w.Fatalf("it was never stopped: %+v", out)
	}
}

// takeOver waits until the lease has expired and brings the run home with
// another worker.
func (w *world) takeOver(z zombie) {
	w.Helper()
	second := w.hire()
	defer second.dismiss()
	w.unheld(z.run)
	out, _ := second.do(recoverOf(z.run))
	if z.doubt != "" {
		w.inDoubt(z, out)
		out, _ = second.do(recoverOf(z.run))
	}
	if n, _ := w.look(z.run); n == needsLook { // it was approved just now
		out, _ = second.do(recoverOf(z.run))
	}
	if out.Class != "" {
		w.Fatalf("the run was not brought home: %+v", out)
	}
}

// inDoubt is the operator: recovery failed closed, so the first worker is cut
// off at the bank, and then the bank is asked.
func (w *world) inDoubt(z zombie, out outcome) {
	w.Helper()
	if out.Class != "doubt" {
		w.Errorf("recovered without a decision: %+v", out)
	}
	p, err := engine.MakePlan(w.Context(), w.store, w.keys, keyOf(z.run))
	if err != nil || len(p.InDoubt) == 0 {
		w.Fatalf("%+v, %v", p.InDoubt, err)
	}
	found := false
	for _, c := range p.InDoubt {
		found = found || c.ID == z.doubt
		w.bank.revoke(c.By)
	}
	if !found {
		w.Errorf("%s is not in doubt: %+v", z.doubt, p.InDoubt)
	}
	for n := needsLook; n == needsLook; {
		n, _ = w.look(z.run)
	}
}

// wakeOne lets the zombie go on and sees what it does.
func (w *world) wakeOne(z zombie, p *worker, before map[stores.CallStatus]int) {
	w.Helper()
	p.signal(syscall.SIGCONT)
	out := <-p.outcomes
	if out.Class == "" || !strings.Contains(z.class, out.Class) {
		w.Errorf("awake again, the zombie said %+v, want %s", out, z.class)
	}
	after := w.callsBy(z.run, p.name)
	if after[stores.CallStarted] != before[stores.CallStarted] {
		w.Errorf("the zombie started a call: %v, then %v", before, after)
	}
	if late := after[z.late] - before[z.late]; z.late != "" && late < 1 {
		w.Errorf("its late record was not kept: %v, then %v", before, after)
	}
	if z.goesOn {
		if out, _ := p.do(order{Do: doRun, Flow: "trip", Run: "trip-other"}); out.Class != "" {
			w.Errorf("it cannot work any more: %+v", out)
		}
	}
	p.dismiss()
}

// callsBy counts the call records that a worker wrote for a run.
func (w *world) callsBy(run, worker string) map[stores.CallStatus]int {
	rows, err := w.store.Calls(w.Context(), keyOf(run), 0)
	if err != nil {
		w.Error(err)
	}
	n := map[stores.CallStatus]int{}
	for _, r := range rows {
		for _, c := range engine.FoldCalls([]stores.Call{r}) {
			if c.By == worker {
				n[r.Status]++
			}
		}
	}
	return n
}

// Two zombies of one run wake up one after the other, in both orders, while the
// third worker is in the middle of a later call. They hear that they lost their
// leases, or, being deaf, do not: then only the run's segment keeps them out.
func TestTwoZombies(t *testing.T) {
	for _, kind := range teststores.Kinds() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			host := teststores.NewHost(t, kind)
			for _, deaf := range []bool{false, true} {
				for _, op := range []string{"save", "record-started pay"} {
					for _, turns := range [][2]int{{0, 1}, {1, 0}} {
						t.Run(fmt.Sprintf("before %s, deaf %v, %v", op, deaf, turns), func(t *testing.T) {
							t.Parallel()
							newWorld(t, host).twoZombies(op, deaf, turns)
						})
					}
				}
			}
		})
	}
}

func (w *world) twoZombies(op string, deaf bool, turns [2]int) {
	z := zombie{run: "tickets-1", trap: trap{Op: op, At: 1, Stop: true}}
	if op == "save" {
		z.trap.At = 2 // the first one is its claim
	}
	hired := func(j *job) { j.TTL, j.Deaf = zombieTTL, deaf }
	two := []*worker{w.hire(hired), w.hire(hired)}
	w.stopOne(z, two[0])
	w.unheld(z.run)
	w.stopAgain(z, two[1])
	w.unheld(z.run)
	w.wakeTwo(z, two, turns)
	w.judge([]string{z.run})
}

func (w *world) wakeTwo(z zombie, two []*worker, turns [2]int) {
	third := w.hire()
	reached, open := make(chan struct{}), make(chan struct{})
	w.bank.think = func(worker string, c call, applied bool) {
		if worker == third.name && c.Tool == emailTickets && !applied {
			close(reached)
			<-open
		}
	}
	third.orders <- recoverOf(z.run)
	<-reached
	for _, i := range turns {
		two[i].signal(syscall.SIGCONT)
		if out := <-two[i].outcomes; out.Class != "conflict" {
			w.Errorf("zombie %d said %+v", i, out)
		}
	}
	close(open)
	if out := <-third.outcomes; out.Class != "" {
		w.Errorf("the third worker: %+v", out)
	}
	for _, p := range append(two, third) {
		p.dismiss()
	}
}

func recoverOf(run string) order { return order{Do: doRecover, Flow: flowOf(run), Run: run} }

// stopAgain lets a second worker recover the run and stop like the first one,
// before the save that its replay leads to.
func (w *world) stopAgain(z zombie, p *worker) {
	w.Helper()
	p.do(order{Do: doArm, Trap: z.trap})
	p.orders <- recoverOf(z.run)
	select {
	case <-p.stops:
	case out := <-p.outcomes:
		w.Fatalf("it was never stopped: %+v", out)
	}
}
