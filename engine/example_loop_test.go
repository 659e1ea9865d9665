package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/model"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/memory"
)

// A model holds seats and wants to charge a card. The charge needs an approval,
// so the loop pauses; it resumes with the same run id. After a crash any worker
// recovers it with RecoverToolLoop.
func ExampleRunner_RunToolLoop() {
	say := func(_ context.Context, in tool.Input) (any, error) {
		fmt.Println("called with", string(in.Args))
		return "done", nil
	}
	tools := tool.NewRegistry(
		tool.Tool{Name: "hold_seats", Run: say},
		tool.Tool{Name: "charge_card", Run: say, Approval: tool.ApprovalRequired},
	)
	loop := engine.ToolLoop{Model: model.NewScripted(
		model.Message{ToolCalls: []model.ToolCall{
			{ID: "1", Name: "hold_seats", Args: json.RawMessage(`{"seats":2}`)},
			{ID: "2", Name: "charge_card", Args: json.RawMessage(`{"eur":90}`)},
		}},
		model.Message{Content: "Two seats are yours."},
	)}
	r, err := engine.New(engine.Config{Store: memory.New(memory.Options{}), Tools: tools})
	if err != nil {
		log.Fatal(err)
	}
	ctx, start := context.Background(), engine.LoopStart{
		Key:      stores.Key{Owner: stores.DefaultOwner, Run: "chat-42"},
		Messages: []model.Message{{Role: model.User, Content: "Two seats for Hamlet, please."}},
	}
	res, err := r.RunToolLoop(ctx, loop, start)
	fmt.Println(res.Status, res.Waiting[0].ID, err)
	start.Decisions = []engine.Decide{{Type: engine.DecideApprove, ID: "tools.2", By: "ana"}}
	if res, err = r.RunToolLoop(ctx, loop, start); err != nil {
		log.Fatal(err)
	}
	talk, err := engine.Messages(res.State, "messages")
	fmt.Println(res.Status, talk[len(talk)-1].Content, err)
	// Output:
	// called with {"seats":2}
	// paused tools.2 <nil>
	// called with {"eur":90}
	// done Two seats are yours. <nil>
}
