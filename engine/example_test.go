package engine_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/seal"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores/sqlite"
)

// A durable flow that asks a person before it pays.
func Example() {
	ctx := context.Background()
	charge := func(_ context.Context, in tool.Input) (any, error) { return fmt.Sprintf("charged %s", in.Args), nil }
	tools := tool.NewRegistry(tool.Tool{Name: "charge_card", Run: charge, Approval: tool.ApprovalRequired})
	flow := engine.NewFlow("tickets").Node("pay", engine.Call{
		Tool: "charge_card", Into: "receipt", Args: func(s engine.State) (any, error) { return s["price"], nil },
	})
	dir, dirErr := os.MkdirTemp("", "tickets-")
	defer os.RemoveAll(dir)
	store, storeErr := sqlite.Open(ctx, filepath.Join(dir, "tickets.db"), sqlite.Options{Create: true})
	key, keyErr := seal.NewKey([]byte("use-a-secret-from-your-vault-32b"))
	r, err := engine.New(engine.Config{Store: store, Keys: seal.NewKeyring(key), Tools: tools})
	if err := errors.Join(dirErr, storeErr, keyErr, err); err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	res, err := r.Run(ctx, flow, engine.Start{State: engine.State{"price": 49}})
	fmt.Println(res.Status, len(res.Waiting), err) // any process can go on from here
	res, err = r.Resume(ctx, flow, res.Key, engine.Decide{Type: engine.DecideApprove, By: "ana"})
	fmt.Println(res.Status, res.State["receipt"], err)
	// Output:
	// paused 1 <nil>
	// done charged 49 <nil>
}
