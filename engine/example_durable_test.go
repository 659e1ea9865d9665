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
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/sqlite"
)

// Order is the state of the tickets flow.
type Order struct {
	Show  string `json:"show"`
	Seats int    `json:"seats"`
	Note  string `json:"note"`
}

func orderArgs(o Order) (any, error) {
	return map[string]any{"show": o.Show, "seats": o.Seats}, nil
}

// ticketsFlow holds seats, charges a card and sends a mail.
func ticketsFlow() *engine.Flow {
	showOnly := func(o Order) (any, error) { return map[string]any{"show": o.Show}, nil }
	return engine.NewFlow("tickets").State(Order{}).
		Node("hold", engine.Call{Tool: "hold_seats", Args: engine.With(orderArgs), Into: "note"}).
		Node("pay", engine.Call{Tool: "charge_card", Args: engine.With(orderArgs), Into: "note"}).
		Node("send", engine.Call{Tool: "email_tickets", Args: engine.With(showOnly), Into: "note"}).
		Edge("hold", "pay").
		Edge("pay", "send").
		End("send")
}

// boxOffice has the tools of the flow. The mail goes out through email.
func boxOffice(email tool.Func) *tool.Registry {
	say := func(text string) tool.Func {
		return func(_ context.Context, in tool.Input) (any, error) {
			fmt.Println(text, string(in.Args))
			return text, nil
		}
	}
	return tool.NewRegistry(
		tool.Tool{Name: "hold_seats", Run: say("seats held"), Idempotent: true},
		tool.Tool{Name: "charge_card", Run: say("card charged")},
		tool.Tool{Name: "email_tickets", Run: email},
	)
}

// ticketWorker is what every process makes when it starts.
func ticketWorker(path string, tools *tool.Registry) (*engine.Runner, stores.Store, error) {
	key, err := seal.NewKey([]byte("use-a-secret-from-your-vault-32b")) // the same key on every worker
	if err != nil {
		return nil, nil, err
	}
	store, err := sqlite.Open(context.Background(), path, sqlite.Options{Create: true})
	if err != nil {
		return nil, nil, err
	}
	r, err := engine.New(engine.Config{Store: store, Keys: seal.NewKeyring(key), Tools: tools})
	return r, store, err
}

// A worker dies while a mail is sent. The next one finds the run on its store,
// and refuses to send the mail a second time until somebody has looked.
func Example_durable() {
	dir, err := os.MkdirTemp("", "tickets-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "runs.db")

	ctx, crash := context.WithCancel(context.Background())
	first, store, err := ticketWorker(path, boxOffice(func(ctx context.Context, _ tool.Input) (any, error) {
		crash() // here the process ends: nobody learns whether the mail went out
		return nil, ctx.Err()
	}))
	if err != nil {
		log.Fatal(err)
	}
	_, err = first.Run(ctx, ticketsFlow(), engine.Start{
		Key:   stores.Key{Run: "order-7"},
		State: engine.State{"show": "Hamlet", "seats": 2},
	})
	fmt.Println("crashed:", errors.Is(err, context.Canceled))
	store.Close()

	// A new process, on startup.
	ctx = context.Background()
	second, store, err := ticketWorker(path, boxOffice(func(_ context.Context, in tool.Input) (any, error) {
		fmt.Println("tickets sent", string(in.Args))
		return "sent", nil
	}))
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	order := stores.Key{Owner: stores.DefaultOwner, Run: "order-7"}
	_, err = second.Recover(ctx, ticketsFlow(), order, engine.RecoverOptions{})
	if doubt, ok := errors.AsType[*engine.Error](err); ok && errors.Is(err, engine.ErrRecoveryNeedsDecision) {
		for _, call := range doubt.Calls {
			fmt.Println("in doubt:", call.Tool)
		}
	}
	// email_tickets may have sent the mail: we checked that it did not, so it may run again.
	all, err := second.RecoverAll(ctx, stores.DefaultOwner, engine.Flows(ticketsFlow()), engine.RecoverOptions{RerunInDoubt: true})
	for run, out := range all {
		fmt.Println(run.Run, out.Result.Status, out.Result.State["note"], out.Result.Rerun, out.Err)
	}
	fmt.Println(len(all), err)
	// Output:
	// seats held {"seats":2,"show":"Hamlet"}
	// card charged {"seats":2,"show":"Hamlet"}
	// crashed: true
	// in doubt: email_tickets
	// tickets sent {"show":"Hamlet"}
	// order-7 done sent [send.1] <nil>
	// 1 <nil>
}
