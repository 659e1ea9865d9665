package postgres_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/flowtui/flowtui/stores"
)

// full refuses every write from the n-th on, as a server whose disk is full.
// The server itself is not asked.
func (p *proxy) full(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.commits = 0
	p.fault = func(commit int) *fault {
		if commit >= n {
			return &fault{answer: refusal("ERROR", "53100")} // disk_full
		}
		return nil
	}
}

// Scenario 50: the server's disk is full from some write of a worker on, each in
// turn. The worker stops and says so, without trying again and again. When there
// is room the run goes on: what ran and could not be kept is in doubt and does
// not run again.
func TestScenario50DiskFull(t *testing.T) {
	p, through, straight := behind(t)
	w := &world{hits: map[string]int{}}
	for at := 1; ; at++ {
		run := fmt.Sprint("write ", at)
		p.full(at)
		_, err := runner(t, through, w).Run(t.Context(), tickets(), start(run))
		tried := p.seen()
		if tried < at {
			if at < 12 || err != nil {
				t.Fatalf("only %d writes: %v", tried, err)
			}
			return
		}
		// The last of them releases the lease, which the run does not need.
		if last, readErr := straight.Latest(t.Context(), place(run).Key); err == nil && (readErr != nil || last.Status != stores.StatusDone) ||
			err != nil && !errors.Is(err, stores.ErrFull) {
			t.Errorf("%s: %v, and it is %s", run, err, last.Status)
		}
		if more := tried - at; more > 3 {
			t.Errorf("%s: %d more writes were tried on a full disk", run, more)
		}
		if err == nil {
			isHome(t, straight, w, run)
		} else {
			bringHome(t, straight, w, run)
		}
	}
}
