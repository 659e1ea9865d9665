package worker_test

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/seal"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/engine/worker"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/memory"
)

// A service brings home what another one had to leave.
func Example() {
	ctx := context.Background()           // in a service: signal.NotifyContext(…, syscall.SIGTERM)
	store := memory.New(memory.Options{}) // in a service: SQLite, and a key in the Config
	defer store.Close()
	keys := exampleKeys()
	hello := engine.NewFlow("hello").Node("say", engine.Call{Tool: "say_hello", Into: "said"})

	// A service that lacks the tool cannot finish the run.
	lacking, _ := engine.New(engine.Config{Store: store, Keys: keys})
	_, err := lacking.Run(ctx, hello, engine.Start{Key: stores.Key{Run: "greeting-1"}})
	fmt.Println(err)

	tools := tool.NewRegistry(tool.Tool{Name: "say_hello", Run: func(context.Context, tool.Input) (any, error) { return "hello", nil }})
	runner, _ := engine.New(engine.Config{Store: store, Keys: keys, Tools: tools})
	w, err := worker.New(worker.Options{Runner: runner, Store: store, Flows: engine.Flows(hello), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		fmt.Println(err)
		return
	}
	outcomes, err := w.Sweep(ctx) // once; w.Run(ctx) goes on until ctx ends
	for _, o := range outcomes {
		fmt.Println(o.Result.Key.Run, o.Result.Status, o.Result.State["said"])
	}
	fmt.Println(err)
	// Output:
	// run "greeting-1": there is no tool "say_hello" here
	// greeting-1 done hello
	// <nil>
}

func exampleKeys() *seal.Keyring {
	key, err := seal.NewKey([]byte("use-a-secret-from-your-vault-32b"))
	if err != nil {
		panic(err)
	}
	return seal.NewKeyring(key)
}
