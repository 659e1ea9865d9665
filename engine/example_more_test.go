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
	"github.com/flowtui/flowtui/stores/memory"
)

// A paused run has not crashed: Recover gives it back as it is, and Resume
// brings it on. Of two decisions one wins.
func ExampleRunner_Resume() {
	dir, err := os.MkdirTemp("", "payout-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	pay := func(_ context.Context, in tool.Input) (any, error) { return "paid " + string(in.Args), nil }
	r, store, err := ticketWorker(filepath.Join(dir, "runs.db"), tool.NewRegistry(tool.Tool{
		Name: "pay_person", Approval: tool.ApprovalRequired, Run: pay,
	}))
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	type payout struct {
		To     string `json:"to"`
		Amount int    `json:"amount"`
		Result string `json:"result"`
	}
	flow := engine.NewFlow("payout").State(payout{To: "nobody"}).
		Node("pay", engine.Call{Tool: "pay_person", Into: "result", Args: engine.With(func(p payout) (any, error) {
			return map[string]any{"to": p.To, "amount": p.Amount}, nil
		})})

	ctx, key := context.Background(), stores.Key{Owner: stores.DefaultOwner, Run: "payout-11"}
	if _, err := r.Run(ctx, flow, engine.Start{Key: key, State: engine.State{"to": "Ana", "amount": 250}}); err != nil {
		log.Fatal(err)
	}
	res, err := r.Recover(ctx, flow, key, engine.RecoverOptions{})
	for _, w := range res.Waiting {
		fmt.Println(res.Status, w.ID, w.Tool, string(w.Args), err)
	}
	approve := engine.Decide{Type: engine.DecideApprove, By: "lee", Note: "invoice 9 is right"}
	res, err = r.Resume(ctx, flow, key, approve)
	fmt.Println(res.Status, res.State["result"], err)
	_, err = r.Resume(ctx, flow, key, approve)
	fmt.Println("a second approval is a conflict:", errors.Is(err, engine.ErrCheckpointConflict))
	// Output:
	// paused pay.1 pay_person {"amount":250,"to":"Ana"} <nil>
	// done paid {"amount":250,"to":"Ana"} <nil>
	// a second approval is a conflict: true
}

// A worker recovers all that was cut short when it starts. Each run gets its
// result or its error: one that needs a decision never holds up the others.
func ExampleRunner_RecoverAll() {
	key, err := seal.NewKey([]byte("use-a-secret-from-your-vault-32b"))
	if err != nil {
		log.Fatal(err)
	}
	store := memory.New(memory.Options{}) // as good as any other within one process
	worker := func(crashesIn string, crash func()) *engine.Runner {
		call := func(name string) tool.Tool {
			return tool.Tool{Name: name, Idempotent: name == "hold_seats", Run: func(ctx context.Context, _ tool.Input) (any, error) {
				if name == crashesIn {
					crash()
					return nil, ctx.Err()
				}
				return name + " was done", nil
			}}
		}
		tools := tool.NewRegistry(call("hold_seats"), call("charge_card"), call("email_tickets"))
		r, err := engine.New(engine.Config{Store: store, Keys: seal.NewKeyring(key), Tools: tools})
		if err != nil {
			log.Fatal(err)
		}
		return r
	}
	for run, last := range map[string]string{"order-8": "hold_seats", "order-9": "email_tickets"} {
		ctx, crash := context.WithCancel(context.Background())
		if _, err := worker(last, crash).Run(ctx, ticketsFlow(), engine.Start{Key: stores.Key{Run: run}}); !errors.Is(err, context.Canceled) {
			log.Fatal(err)
		}
	}
	all, err := worker("", nil).RecoverAll(context.Background(), stores.DefaultOwner, engine.Flows(ticketsFlow()), engine.RecoverOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, run := range []string{"order-8", "order-9"} {
		out := all[stores.Key{Owner: stores.DefaultOwner, Run: run}]
		fmt.Println(run, out.Result.Status, errors.Is(out.Err, engine.ErrRecoveryNeedsDecision))
	}
	// Output:
	// order-8 done false
	// order-9  true
}

// A Step changes fields of a struct. Only those are its update, and what the
// struct does not have stays as it is.
func ExampleStep() {
	type customer struct {
		Name string `json:"name"`
	}
	type cart struct {
		Customer customer `json:"customer"`
		Total    float64  `json:"total"`
	}
	greet := engine.Step(func(_ context.Context, c *cart) error {
		c.Customer.Name = "Ana"
		return nil
	})
	state, err := engine.DecodeState([]byte(`{"customer":{"name":"ana","vip":true},"total":10.50,"currency":"EUR"}`))
	if err != nil {
		log.Fatal(err)
	}
	update, err := greet.Run(context.Background(), state)
	fmt.Println(update, err)
	fmt.Println(engine.Merge(state, nil, update))
	// Output:
	// map[customer:map[name:Ana vip:true]] <nil>
	// map[currency:EUR customer:map[name:Ana vip:true] total:10.50]
}

// A start state gets the defaults of the fields that it does not have. One that
// does not fit is refused, and nothing is run.
func ExampleFlow_State() {
	seats := func(o Order) bool { return o.Seats > 4 }
	big := engine.Step(func(_ context.Context, o *Order) error {
		o.Note = "a group"
		return nil
	})
	look := engine.Step(func(context.Context, *Order) error { return nil })
	flow := engine.NewFlow("groups").State(Order{Seats: 1}).
		Node("look", look).
		Node("big", big).
		When("look", engine.If("seats > 4", seats), "big")
	r, err := engine.New(engine.Config{Store: memory.New(memory.Options{})})
	if err != nil {
		log.Fatal(err)
	}
	for _, start := range []engine.State{{"show": "Hamlet"}, {"seats": 5, "vip": true}, {"seats": "five"}} {
		res, err := r.Run(context.Background(), flow, engine.Start{State: start})
		fmt.Println(res.State, errors.Is(err, engine.ErrInvalid))
	}
	// Output:
	// map[note: seats:1 show:Hamlet] false
	// map[note:a group seats:5 show: vip:true] false
	// map[] true
}
