package engine_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/seal"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/memory"
)

// A flow with two tool calls, of which one needs a person's approval. The run
// pauses before it and goes on when somebody approved.
func Example() {
	key, err := seal.NewKey([]byte("use-a-secret-from-your-vault-32b"))
	if err != nil {
		log.Fatal(err)
	}
	say := func(text string) tool.Func {
		return func(context.Context, tool.Input) (any, error) { fmt.Println(text); return text, nil }
	}
	tools := tool.NewRegistry(
		tool.Tool{Name: "hold_seats", Run: say("seats held"), Idempotent: true},
		tool.Tool{Name: "charge_card", Run: say("card charged"), Approval: tool.ApprovalRequired},
	)
	flow := engine.NewFlow("tickets").
		Node("hold", engine.Call{Tool: "hold_seats", Into: "held"}).
		Node("pay", engine.Call{Tool: "charge_card", Into: "charge"}).
		Edge("hold", "pay")

	r, err := engine.New(engine.Config{Store: memory.New(memory.Options{}), Keys: seal.NewKeyring(key), Tools: tools})
	if err != nil {
		log.Fatal(err)
	}
	ctx, order := context.Background(), stores.Key{Owner: stores.DefaultOwner, Run: "order-7"}
	res, err := r.Run(ctx, flow, engine.Start{Key: order})
	fmt.Println(res.Status, res.Waiting[0].Tool, err)
	res, err = r.Resume(ctx, flow, order, engine.Decide{Type: engine.DecideApprove, By: "ana"})
	fmt.Println(res.Status, err)
	_, err = r.Recover(ctx, flow, order, engine.RecoverOptions{})
	fmt.Println(errors.Is(err, engine.ErrCheckpointConflict))
	// Output:
	// seats held
	// paused charge_card <nil>
	// card charged
	// done <nil>
	// true
}
