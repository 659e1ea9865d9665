package engine_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
)

// A tool that may run again fails when it times out; what that means is told once,
// whatever the tool itself says of it, and a class that it does not name is there.
func TestToolTimeoutIsToldOnce(t *testing.T) {
	program, err := tool.Command(tool.CommandSpec{Name: "charge_card", Command: []string{os.Args[0], "-test.run=^TestHangs$"}, Env: []string{hangs + "=1"}, Timeout: 500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	const unknown = "the call may or may not have run"
	for name, run := range map[string]tool.Func{
		"program": program.Run,
		"context": func(ctx context.Context, _ tool.Input) (any, error) { <-ctx.Done(); return nil, ctx.Err() },
		"cause":   func(ctx context.Context, _ tool.Input) (any, error) { <-ctx.Done(); return nil, context.Cause(ctx) },
		"unknown": func(ctx context.Context, _ tool.Input) (any, error) { <-ctx.Done(); return nil, tool.ErrOutcomeUnknown },
		"text": func(ctx context.Context, _ tool.Input) (any, error) {
			<-ctx.Done()
			return nil, errors.New("no answer within 1ms, " + unknown)
		},
	} {
		limit := time.Millisecond
		if name == "program" { // which is to be started by then
			limit = 500 * time.Millisecond
		}
		late := "no answer within " + limit.String()
		for _, idempotent := range []bool{true, false} {
			tools := tool.NewRegistry(tool.Tool{Name: "charge_card", Idempotent: idempotent, Timeout: limit, Run: run})
			res, err := runner(t, newStore(), tools).Run(ctx, engine.NewFlow("one").Node("pay", engine.Call{Tool: "charge_card"}), start("order-7"))
			said := res.Error
			if !idempotent {
				if !errors.Is(err, engine.ErrRecoveryNeedsDecision) {
					t.Fatalf("%s: %v, %v", name, res, err)
				}
				said = err.Error()
			}
			if n := strings.Count(said, unknown); n != 1 || !strings.Contains(said, late) || name != "text" && strings.Count(said, late) != 1 {
				t.Errorf("%s, idempotent %v: %s", name, idempotent, said)
			}
		}
	}
}

// hangs makes this test binary a program that does not end by itself.
const hangs = "FLOWTUI_TEST_HANGS"

func TestHangs(t *testing.T) {
	if os.Getenv(hangs) != "" {
		<-time.After(time.Minute)
	}
}
