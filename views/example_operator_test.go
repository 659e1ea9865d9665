package views_test

import (
	"context"
	"log"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/sqlite"
	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views"
)

// The main function of an operator's own program, with its flows and tools.
func Example_operator() {
	pay := func(_ context.Context, in tool.Input) (any, error) { return "receipt " + in.IdempotencyKey, nil }
	err := views.Main(context.Background(), viewer.Program{
		Open: func(ctx context.Context, readOnly bool) (stores.Store, error) {
			return sqlite.Open(ctx, "payouts.db", sqlite.Options{ReadOnly: readOnly})
		},
		KeyFile: "payouts.key",
		Flows:   []*engine.Flow{engine.NewFlow("payout").Node("pay", engine.Call{Tool: "pay", Into: "receipt"})},
		Tools:   tool.NewRegistry(tool.Tool{Name: "pay", Approval: tool.ApprovalRequired, Run: pay}),
	})
	if err != nil {
		log.Fatal(err)
	}
}
