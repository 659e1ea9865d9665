//go:build unix

package crash

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"syscall"
	"time"

	"github.com/flowtui/flowtui/internal/teststores"
	"github.com/flowtui/flowtui/stores"
)

// chaos is three workers at once that recover whatever they find and start new
// runs, each of them doomed, and an operator who is busy all the time.
type chaos struct {
	*world

	mu      sync.Mutex
	runs    []string
	open    int              // runs that have not ended
	reruns  map[string]order // of the operator, for any worker
	strikes map[string]*strike
}

// strike is what happens to a worker in the middle of a call.
type strike struct {
	call    int  // counts down
	applied bool // the call has had its effect
	stop    bool
}

const chaosTTL = 500 * time.Millisecond

// chaos goes on until so many workers were killed, and returns the runs.
func (w *world) chaos(until int) []string {
	c := &chaos{world: w, reruns: map[string]order{}, strikes: map[string]*strike{}}
	w.bank.think = c.think
	end := make(chan struct{})
	var operator, slots sync.WaitGroup
	operator.Go(func() { c.operate(end) })
	for i := range mixed {
		slots.Go(func() {
			for c.killed() < until && !c.Failed() {
				c.life(mixed[i])
			}
		})
	}
	slots.Wait()
	close(end)
	operator.Wait()
	return c.runs
}

// operate looks after every run that has not ended.
func (c *chaos) operate(end <-chan struct{}) {
	for {
		heads, err := c.store.ListUnfinished(c.Context(), stores.AnyOwner)
		if err != nil {
			c.Error(err)
		}
		for _, h := range heads {
			n, o := c.lookAt(h)
			c.mu.Lock()
			if o.Takeover = false; n == needsRecovery && o.Rerun {
				c.reruns[h.Run] = o
			}
			c.mu.Unlock()
		}
		c.mu.Lock()
		c.open = len(heads)
		c.mu.Unlock()
		select {
		case <-end:
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// order makes up what a worker is to do next. Now and then two are told to
// start the same run.
func (c *chaos) order() order {
	c.mu.Lock()
	defer c.mu.Unlock()
	for run, o := range c.reruns {
		delete(c.reruns, run)
		return o
	}
	if c.open > 4 || rand.N(4) == 0 {
		return order{Do: doRecoverAll}
	}
	if n := len(c.runs); n == 0 || rand.N(4) > 0 {
		c.runs = append(c.runs, fmt.Sprintf("%s-chaos-%d", flowNames[n%len(flowNames)], n))
	}
	run := c.runs[max(0, len(c.runs)-1-rand.N(2))]
	return order{Do: doRun, Flow: flowOf(run), Run: run}
}

// patience is how many orders a worker gets before it is killed from outside.
const patience = 8

// life is that of one worker, which ends with a kill.
func (c *chaos) life(durable teststores.Durability) {
	p := c.hire(func(j *job) { j.Durable, j.TTL = durable, chaosTTL })
	var waker sync.WaitGroup
	waker.Go(func() { c.wake(p) })
	defer waker.Wait()
	last := c.doom(p)
	for n := 1; ; n++ {
		if n == last {
			time.AfterFunc(rand.N(40*time.Millisecond), func() { p.kill("from outside") })
		}
		o := c.order()
		out, alive := p.do(o)
		if !alive {
			return
		}
		c.check(p, o.Run, out)
	}
}

// doom decides how a worker dies: at a store operation, in the middle of a
// call, or at any moment of its last order. Some are stopped before, and die as
// zombies.
func (c *chaos) doom(p *worker) (last int) {
	stop := rand.N(4) == 0
	switch rand.N(8) {
	case 0, 1, 2:
		t := trap{At: 1 + rand.N(60), After: rand.N(2) == 0, Stop: stop}
		if rand.N(10) == 0 {
			t.Op, t.At = renew, 1
		}
		p.do(order{Do: doArm, Trap: t})
	case 3, 4, 5:
		c.mu.Lock()
		c.strikes[p.name] = &strike{1 + rand.N(3), rand.N(2) == 0, stop}
		c.mu.Unlock()
	default:
		return 1 + rand.N(4)
	}
	return patience
}

// wake lets a worker that was stopped go on when its leases have expired and
// others may have taken over. The bank has cut off some of them by then.
func (c *chaos) wake(p *worker) {
	select {
	case <-p.ended:
		return
	case <-p.stops:
	}
	if rand.N(2) == 0 {
		c.bank.revoke(p.name)
	}
	time.Sleep(2 * chaosTTL)
	c.note(func(t *totals) { t.stopped++ })
	p.signal(syscall.SIGCONT)
	time.Sleep(rand.N(500 * time.Millisecond))
	p.kill("as a zombie")
}

// think is what the bank does before and after each effect: sometimes its
// client dies, and it takes its time.
func (c *chaos) think(worker string, _ call, applied bool) {
	c.mu.Lock()
	s := c.strikes[worker]
	hit := false
	if s != nil && s.applied == applied {
		s.call--
		hit = s.call == 0
	}
	c.mu.Unlock()
	switch {
	case hit && s.stop:
		c.worker(worker).signal(syscall.SIGSTOP)
	case hit:
		c.worker(worker).kill("in a call")
	}
	pause := rand.N(5 * time.Millisecond)
	if rand.N(20) == 0 {
		pause *= 20
	}
	time.Sleep(pause)
}
