package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

// hanging hangs once a call's start is stored: its worker learns late that it is.
type hanging struct {
	full
	starts int // which start it hangs after
	hangs  func()
}

func (h *hanging) RecordCall(ctx context.Context, w stores.CallWrite) error {
	err := h.full.RecordCall(ctx, w)
	if w.Call.Status != stores.CallStarted {
		return err
	}
	if h.starts--; h.starts == 0 {
		h.hangs()
	}
	return err
}

// A worker that was stopped, or lost the run, while the start of a call was being
// logged does not begin the call: somebody else may have decided about it.
func TestCallDoesNotBeginAfterAHang(t *testing.T) {
	const ttl = 30 * time.Millisecond
	f := engine.NewFlow("f").Node("pay", engine.Call{Tool: "charge_card"})
	for name, c := range map[string]struct {
		meanwhile func(t *testing.T, s full, w *world, stop func())
		want      error
		charges   int
		log       string
	}{
		"nothing happened": {func(*testing.T, full, *world, func()) { time.Sleep(ttl) }, nil, 1, "1.1 pay.1 started\n1.2 pay.1 done"},
		"stopped": {func(_ *testing.T, _ full, _ *world, stop func()) { stop() }, context.Canceled, 0,
			"1.1 pay.1 started\n1.2 pay.1 resolved"},
		"the lease was lost": {func(t *testing.T, s full, _ *world, _ func()) {
			if _, err := s.Acquire(ctx, key("a"), "second", time.Minute, true); err != nil {
				t.Error(err)
			}
			time.Sleep(10 * ttl)
		}, engine.ErrCheckpointConflict, 0, "1.1 pay.1 started\n1.2 pay.1 resolved"},
		"another worker ran it": {func(t *testing.T, s full, w *world, _ func()) {
			res, err := runner(t, s, w.ticketTools(), named("second")).Recover(ctx, f, key("a"), engine.RecoverOptions{Takeover: true, RerunInDoubt: true, By: "olga"})
			if err != nil || res.Status != stores.StatusDone {
				t.Errorf("%+v, %v", res, err)
			}
			time.Sleep(10 * ttl)
		}, engine.ErrCheckpointConflict, 1, "1.1 pay.1 started\n1.2 pay.1 resolved\n2.1 pay.1 started\n2.2 pay.1 done"},
		"a person said what it returned": {func(t *testing.T, s full, w *world, _ func()) {
			res := engine.Resolution{Call: "pay.1", Result: json.RawMessage(`"paid by hand"`), By: "olga", Takeover: true}
			if err := runner(t, s, w.ticketTools(), named("second")).Resolve(ctx, key("a"), res); err != nil {
				t.Error(err)
			}
			time.Sleep(10 * ttl)
		}, engine.ErrCheckpointConflict, 0, "1.1 pay.1 started\n1.2 pay.1 resolved"},
	} {
		t.Run(name, func(t *testing.T) {
			s, w := newStore(), newWorld()
			ctx, stop := context.WithCancel(ctx)
			defer stop()
			h := &hanging{full: s, starts: 1, hangs: func() { c.meanwhile(t, s, w, stop) }}
			short := func(c *engine.Config) { c.LeaseTTL = ttl }
			_, err := runner(t, h, w.ticketTools(), named("first"), short).Run(ctx, f, engine.Start{Key: key("a")})
			if !errors.Is(err, c.want) || w.count("charge_card") != c.charges {
				t.Errorf("charged %d times, want %d: %v, want %v", w.count("charge_card"), c.charges, err, c.want)
			}
			if got := callList(t, s, "a"); got != c.log {
				t.Errorf("the log says %q, want %q", got, c.log)
			}
			verified(t, s, "a")
		})
	}
}

// What could not be looked up does not begin either.
func TestCallDoesNotBeginUnseen(t *testing.T) {
	f := engine.NewFlow("f").Node("pay", engine.Call{Tool: "charge_card"})
	s, w := newStore(), newWorld()
	b := &blind{hanging: hanging{full: s, starts: 1}}
	b.hangs = func() { b.down = true; time.Sleep(20 * time.Millisecond) }
	short := func(c *engine.Config) { c.LeaseTTL = 30 * time.Millisecond }
	_, err := runner(t, b, w.ticketTools(), short).Run(ctx, f, engine.Start{Key: key("a")})
	if err == nil || w.count("charge_card") != 0 {
		t.Errorf("charged %d times, %v", w.count("charge_card"), err)
	}
	b.down = false
	res, err := runner(t, s, w.ticketTools()).Recover(ctx, f, key("a"), engine.RecoverOptions{})
	if err != nil || res.Status != stores.StatusDone || w.count("charge_card") != 1 {
		t.Errorf("then %+v, %v: charged %d times", res, err, w.count("charge_card"))
	}
}

type blind struct {
	hanging
	down bool
}

func (b *blind) Latest(ctx context.Context, k stores.Key) (stores.Checkpoint, error) {
	if b.down {
		return stores.Checkpoint{}, fmt.Errorf("%w: no answer", stores.ErrUnavailable)
	}
	return b.full.Latest(ctx, k)
}

// After a yes of a synchronous approver the second record is the one that counts.
func TestApprovedCallDoesNotBeginAfterAHang(t *testing.T) {
	s, w := newStore(), newWorld()
	f, tools := paying(w)
	h := &hanging{full: s, starts: 2, hangs: func() {
		_, err := runner(t, s, tools, named("second")).Recover(ctx, f, key("a"), engine.RecoverOptions{Takeover: true})
		if !errors.Is(err, engine.ErrRecoveryNeedsDecision) {
			t.Error(err)
		}
		if err := runner(t, s, tools, named("second")).Resolve(ctx, key("a"), engine.Resolution{Call: "pay.1", NotRun: true, By: "olga", Takeover: true}); err != nil {
			t.Error(err)
		}
		time.Sleep(50 * time.Millisecond)
	}}
	short := func(c *engine.Config) { c.LeaseTTL = 30 * time.Millisecond }
	r := runner(t, h, tools, short, asking(func(context.Context, engine.Approval) (engine.Answer, error) {
		return engine.Answer{Approved: true, By: "ana"}, nil
	}))
	if _, err := r.Run(ctx, f, start("a")); err == nil || w.count("charge_card") != 0 {
		t.Errorf("charged %d times: %v", w.count("charge_card"), err)
	}
}

// A payment service applies a key once. The reply to the first try is lost.
func TestRetryKeepsTheIdempotencyKey(t *testing.T) {
	for _, how := range []string{"the tool's timeout", "the attempt's timeout", "outcome unknown"} {
		t.Run(how, func(t *testing.T) {
			applied := map[string]bool{}
			tries := 0
			pay := tool.Tool{Name: "pay", Idempotent: true, Run: func(ctx context.Context, in tool.Input) (any, error) {
				applied[in.IdempotencyKey] = true
				if tries++; tries > 1 {
					return "paid", nil
				}
				if how == "outcome unknown" {
					return nil, fmt.Errorf("%w: the connection broke", tool.ErrOutcomeUnknown)
				}
				<-ctx.Done()
				return nil, ctx.Err()
			}}
			retry := engine.Retry{Attempts: 2}
			switch how {
			case "the tool's timeout":
				pay.Timeout = 20 * time.Millisecond
			case "the attempt's timeout":
				retry.Timeout = 20 * time.Millisecond
			}
			f := engine.NewFlow("f").Node("pay", mustRetry(t, retry, engine.Call{Tool: "pay"}))
			res, err := runner(t, newStore(), tool.NewRegistry(pay)).Run(ctx, f, engine.Start{Key: key("a")})
			if err != nil || res.Status != stores.StatusDone || tries != 2 {
				t.Fatalf("%+v after %d tries, %v", res, tries, err)
			}
			if len(applied) != 1 {
				t.Errorf("the service applied %d payments, want 1", len(applied))
			}
		})
	}
}

// The second of two equal calls of one try is another call, on every try.
func TestRetryTellsEqualCallsApart(t *testing.T) {
	var keys []string
	fails := true
	pay := tool.Tool{Name: "pay", Idempotent: true, Run: func(_ context.Context, in tool.Input) (any, error) {
		keys = append(keys, in.IdempotencyKey)
		if len(keys)%2 == 0 && fails {
			fails = false
			return nil, errors.New("the connection broke")
		}
		return "paid", nil
	}}
	twice := engine.NodeFunc(func(ctx context.Context, _ engine.State) (engine.State, error) {
		_, one := engine.CallTool(ctx, "pay", 5)
		_, two := engine.CallTool(ctx, "pay", 5)
		return nil, errors.Join(one, two)
	})
	f := engine.NewFlow("f").Node("pay", mustRetry(t, engine.Retry{Attempts: 2}, twice))
	if _, err := runner(t, newStore(), tool.NewRegistry(pay)).Run(ctx, f, engine.Start{Key: key("a")}); err != nil {
		t.Fatal(err)
	}
	if len(keys) != 4 || keys[0] == keys[1] || keys[0] != keys[2] || keys[1] != keys[3] {
		t.Errorf("keys %s, want a b a b", strings.Join(keys, " "))
	}
}
