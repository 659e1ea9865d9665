package engine_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

// faulty does write number at, and then loses the reply, or does not do it and
// says nothing certain.
type faulty struct {
	full
	mu   sync.Mutex
	n    int
	at   int
	done bool // the write took effect
	then func()
}

var errReply = fmt.Errorf("%w: the connection broke", stores.ErrUnknown)

func (f *faulty) write(do func() error) error {
	f.mu.Lock()
	f.n++
	hit := f.n == f.at
	f.mu.Unlock()
	if hit && !f.done {
		return errReply
	}
	err := do()
	if hit {
		if f.then != nil {
			f.then()
		}
		return errors.Join(errReply, err)
	}
	return err
}

func (f *faulty) Save(ctx context.Context, s stores.Save) error {
	return f.write(func() error { return f.full.Save(ctx, s) })
}

func (f *faulty) RecordCall(ctx context.Context, w stores.CallWrite) error {
	return f.write(func() error { return f.full.RecordCall(ctx, w) })
}

// A write whose reply is lost is looked up, never done again and never taken
// for failed: the run ends as if nothing had happened. A write that surely did
// not happen stops the worker, and the run is brought home.
func TestLostReplies(t *testing.T) {
	for _, done := range []bool{true, false} {
		for at := 1; at <= 10; at++ {
			t.Run(fmt.Sprintf("write%d,done=%v", at, done), func(t *testing.T) {
				s, w := newStore(), newWorld()
				f := &faulty{full: s, at: at, done: done}
				res, err := runner(t, f, w.ticketTools()).Run(ctx, tickets(), start("order-7"))
				if done && (err != nil || res.Status != stores.StatusDone) {
					t.Fatalf("%+v, %v", res, err)
				}
				if !done {
					if !errors.Is(err, stores.ErrUnknown) {
						t.Fatalf("error %v", err)
					}
					bringHome(t, s, w)
				}
				for name, n := range w.hits {
					if n != 1 {
						t.Errorf("%s hit the world %d times", name, n)
					}
				}
				verified(t, s, "order-7")
			})
		}
	}
}

// A decision whose reply is lost and that a worker has spent at once is told as
// stored, not as unknown.
func TestLostReplyOfADecisionThatWasSpent(t *testing.T) {
	s, w := newStore(), newWorld()
	tools := tool.NewRegistry(w.tool("hold_seats"), w.tool("charge_card", needsOK), w.tool("email_tickets"))
	if _, err := runner(t, s, tools).Run(ctx, tickets(), start("order-7")); err != nil {
		t.Fatal(err)
	}
	f := &faulty{full: s, at: 1, done: true, then: func() {
		if _, err := runner(t, s, tools).Recover(ctx, tickets(), key("order-7"), engine.RecoverOptions{}); err != nil {
			t.Error(err)
		}
	}}
	res, err := runner(t, f, tools).Record(ctx, key("order-7"), engine.Decide{Type: engine.DecideApprove, By: "ana"})
	if err != nil || !res.Recorded || w.count("charge_card") != 1 {
		t.Errorf("%+v, %v, %v", res, err, w.hits)
	}
}

// between does something just before write number at.
type between struct {
	full
	mu sync.Mutex
	n  int
	at int
	do func()
}

func (b *between) write(do func() error) error {
	b.mu.Lock()
	b.n++
	hit := b.n == b.at
	b.mu.Unlock()
	if hit {
		b.do()
	}
	return do()
}

func (b *between) Save(ctx context.Context, s stores.Save) error {
	return b.write(func() error { return b.full.Save(ctx, s) })
}

func (b *between) RecordCall(ctx context.Context, w stores.CallWrite) error {
	return b.write(func() error { return b.full.RecordCall(ctx, w) })
}

// Between the look and the claim the old worker starts one more call: the
// claim cuts it off, and the recovery sees the call and fails closed.
func TestCallStartedBeforeTheClaim(t *testing.T) {
	everyStore(t, func(t *testing.T, s full) {
		w, g := newWorld(), newGate()
		old := &between{full: s, at: 5, do: func() { <-g.open }} // before pay.1 is started
		w.do["charge_card"] = func(context.Context, tool.Input) (any, error) { close(g.reached); select {} }
		go func() { _, _ = runner(t, old, w.ticketTools(), named("old")).Run(ctx, tickets(), start("order-7")) }()
		waitFor(t, func() bool { c, err := s.Latest(ctx, key("order-7")); return err == nil && c.Step == 1 })
		claim := &between{full: s, at: 1, do: func() { close(g.open); <-g.reached }}
		_, err := runner(t, claim, w.ticketTools(), named("new")).Recover(ctx, tickets(), key("order-7"), engine.RecoverOptions{Takeover: true})
		if !errors.Is(err, engine.ErrRecoveryNeedsDecision) || w.count("charge_card") != 1 {
			t.Errorf("%v, %v", err, w.hits)
		}
	})
}

// An operator resolves a call while its late result comes in: both are kept,
// and the result is the truth.
func TestLateResultAndResolution(t *testing.T) {
	everyStore(t, func(t *testing.T, s full) {
		w, g := newWorld(), newGate()
		w.do["charge_card"] = g.pass
		done := make(chan error, 1)
		go func() {
			_, err := runner(t, s, w.ticketTools(), named("old")).Run(ctx, tickets(), start("order-7"))
			done <- err
		}()
		<-g.reached
		r := runner(t, s, w.ticketTools(), named("operator"))
		if err := r.Resolve(ctx, key("order-7"), engine.Resolution{Call: "pay.1", NotRun: true, By: "olga", Takeover: true}); err != nil {
			t.Fatal(err)
		}
		close(g.open)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if c, b := mustLatest(t, s, "order-7"); c.Status != stores.StatusDone || w.count("charge_card") != 1 {
			t.Errorf("%s %s, %v", c.Status, b.State, w.hits)
		}
		verified(t, s, "order-7")
	})
}
