package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

// Scenario 15: the effect happened, its result cannot be stored.
func TestScenario15(t *testing.T) {
	cycle := map[string]any{}
	cycle["self"] = cycle
	values := map[string]any{
		"NaN": math.NaN(), "Inf": math.Inf(1), "60 MB": strings.Repeat("x", 60<<20), "invalid UTF-8": "a\xffb",
		"channel": make(chan int), "function": func() {}, "cycle": cycle, "integer keys": map[int]string{1: "a"},
		"lone surrogate": json.RawMessage(`"\ud800"`), "nested invalid UTF-8": []any{map[string]any{"k": "\xc3"}},
		"broken JSON": json.RawMessage(`{"a":`),
	}
	kept := map[string]struct {
		value any
		want  string
	}{
		"NUL": {"a\x00b", `"a\u0000b"`}, "above 2^63": {json.Number("18446744073709551617"), `18446744073709551617`},
		"markup": {"<&>", `"<&>"`}, "float as written": {json.RawMessage(`1.0`), `1.0`}, "nothing": {nil, `null`},
	}
	f := engine.NewFlow("one").Node("pay", engine.Call{Tool: "charge_card", Into: "out"})
	everyStore(t, func(t *testing.T, s full) {
		for name, v := range values {
			t.Run(name, func(t *testing.T) {
				w := newWorld()
				w.do["charge_card"] = func(context.Context, tool.Input) (any, error) { return v, nil }
				r := runner(t, s, w.ticketTools())
				_, err := r.Run(ctx, f, start(name))
				if !errors.Is(err, engine.ErrRecoveryNeedsDecision) {
					t.Fatalf("error %v", err)
				}
				rows, _ := s.Calls(ctx, key(name), 0)
				if last := rows[len(rows)-1]; last.Status != stores.CallUnrecordable {
					t.Errorf("last record is %s", last.Status)
				}
				if _, err := r.Recover(ctx, f, key(name), engine.RecoverOptions{}); !errors.Is(err, engine.ErrRecoveryNeedsDecision) {
					t.Errorf("recovery: %v", err)
				}
				if w.count("charge_card") != 1 {
					t.Errorf("%d hits", w.count("charge_card"))
				}
				verified(t, s, name)
			})
		}
		for name, v := range kept {
			t.Run(name, func(t *testing.T) {
				w := newWorld()
				w.do["charge_card"] = func(context.Context, tool.Input) (any, error) { return v.value, nil }
				if _, err := runner(t, s, w.ticketTools()).Run(ctx, f, engine.Start{Key: key(name), State: engine.State{}}); err != nil {
					t.Fatal(err)
				}
				if _, b := mustLatest(t, s, name); string(b.State) != `{"out":`+v.want+`}` {
					t.Errorf("state %s, want %s", b.State, v.want)
				}
				verified(t, s, name)
			})
		}
	})
}

// A tool that times out may have run: the run stops in doubt.
func TestToolTimeoutIsInDoubt(t *testing.T) {
	w := newWorld()
	w.do["charge_card"] = func(ctx context.Context, _ tool.Input) (any, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	f := engine.NewFlow("one").Node("pay", engine.Call{Tool: "charge_card", Into: "out"})
	s := newStore()
	tools := tool.NewRegistry(w.tool("charge_card", func(t *tool.Tool) { t.Timeout = time.Millisecond }))
	_, err := runner(t, s, tools).Run(ctx, f, start("order-7"))
	if !errors.Is(err, engine.ErrRecoveryNeedsDecision) || !strings.Contains(err.Error(), "no answer within 1ms") {
		t.Errorf("error %v", err)
	}
}

// Cancel is a fact of the process: no cancelled call is stored as a result, and
// the run can be recovered.
func TestCancelLeavesTheRunRecoverable(t *testing.T) {
	s, w := newStore(), newWorld()
	cancelled, cancel := context.WithCancel(ctx)
	w.do["charge_card"] = func(ctx context.Context, _ tool.Input) (any, error) {
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	}
	_, err := runner(t, s, w.ticketTools()).Run(cancelled, tickets(), start("order-7"))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	c, _ := mustLatest(t, s, "order-7")
	if c.Status != stores.StatusRunning {
		t.Errorf("status %s", c.Status)
	}
	if log := callList(t, s, "order-7"); !strings.HasSuffix(log, "pay.1 started") {
		t.Errorf("log:\n%s", log)
	}
	if l, err := s.Lease(ctx, key("order-7")); err != nil || l != nil && l.Live {
		t.Errorf("the lease is still held: %+v, %v", l, err)
	}
}
