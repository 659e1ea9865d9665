package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/seal"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

func testKeys(t testing.TB) *seal.Keyring {
	t.Helper()
	k, err := seal.NewKey([]byte("use-a-secret-from-your-vault-32b"))
	if err != nil {
		t.Fatal(err)
	}
	return seal.NewKeyring(k)
}

func key(run string) stores.Key { return stores.Key{Owner: stores.DefaultOwner, Run: run} }

// world is what the tools act on. It counts what happened to each run.
type world struct {
	mu   sync.Mutex
	hits map[string]int // "run tool"
	do   map[string]tool.Func
}

func newWorld() *world { return &world{hits: map[string]int{}, do: map[string]tool.Func{}} }

func (w *world) tool(name string, change ...func(*tool.Tool)) tool.Tool {
	t := tool.Tool{Name: name, Run: func(ctx context.Context, in tool.Input) (any, error) {
		w.mu.Lock()
		w.hits[in.Run+" "+name]++
		do := w.do[name]
		w.mu.Unlock()
		if do != nil {
			return do(ctx, in)
		}
		return name + " did it", nil
	}}
	for _, c := range change {
		c(&t)
	}
	return t
}

func (w *world) count(run, name string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.hits[run+" "+name]
}

func idempotent(t *tool.Tool) { t.Idempotent = true }
func needsOK(t *tool.Tool)    { t.Approval = tool.ApprovalRequired }

var ticketTools = []string{"hold_seats", "charge_card", "email_tickets"}

func (w *world) tickets(change ...func(*tool.Tool)) *tool.Registry {
	reg := tool.NewRegistry()
	for _, name := range ticketTools {
		if err := reg.Add(w.tool(name, change...)); err != nil {
			panic(err)
		}
	}
	return reg
}

// tickets is the flow of the reference: hold, pay, send.
func tickets() *engine.Flow {
	return engine.NewFlow("tickets").
		Node("hold", engine.Call{Tool: "hold_seats", Into: "note"}).
		Node("pay", engine.Call{Tool: "charge_card", Into: "charge"}).
		Node("send", engine.Call{Tool: "email_tickets", Into: "mail"}).
		Edge("hold", "pay").Edge("pay", "send").End("send")
}

func onlyTickets(name string) (*engine.Flow, error) {
	if name != "tickets" {
		return nil, fmt.Errorf("no flow has this name")
	}
	return tickets(), nil
}

func runner(t testing.TB, s stores.Store, tools *tool.Registry, name string) *engine.Runner {
	t.Helper()
	r, err := engine.New(engine.Config{Store: s, Keys: testKeys(t), Tools: tools, Worker: name})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// sweeper makes a Sweeper for tickets that logs into a book.
func sweeper(t testing.TB, s stores.Store, tools *tool.Registry, change ...func(*Options)) (*Sweeper, *book) {
	t.Helper()
	b := &book{}
	o := Options{Store: s, Runner: runner(t, s, tools, "sweeper"), Flows: onlyTickets, Log: slog.New(b)}
	for _, c := range change {
		c(&o)
	}
	w, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return w, b
}

// running runs a sweeper until the returned function stops it.
func running(t testing.TB, w *Sweeper) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	return sync.OnceFunc(func() {
		cancel(errors.New("told to"))
		if err := <-done; err != nil {
			t.Errorf("stopped with %v", err)
		}
	})
}

func status(t testing.TB, s stores.Store, run string) stores.Status {
	t.Helper()
	return latest(t, s, run).Status
}

func latest(t testing.TB, s stores.Store, run string) stores.Checkpoint {
	t.Helper()
	c, err := s.Latest(context.Background(), key(run))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// home fails the test unless the run is done, verifies, and each tool acted once.
func (w *world) home(t testing.TB, s stores.Store, run string) {
	t.Helper()
	if got := status(t, s, run); got != stores.StatusDone {
		t.Errorf("%s is %s, want done", run, got)
	}
	for _, name := range ticketTools {
		if n := w.count(run, name); n != 1 {
			t.Errorf("%s: %s acted %d times, want once", run, name, n)
		}
	}
	r, err := engine.Verify(context.Background(), s, testKeys(t), key(run))
	if err != nil || r.Verdict != engine.Verified {
		t.Errorf("%s is %s: %+v, %v", run, r.Verdict, r.Findings, err)
	}
}

func doubt(t testing.TB, s full, w *world, run string) {
	t.Helper()
	crash(t, s, w.tickets(), run, inSend, true)
}

// notRun is what an operator found out about send.1.
func notRun(t testing.TB, s stores.Store, run string) {
	t.Helper()
	if err := runner(t, s, nil, "olga").Resolve(context.Background(), key(run), engine.Resolution{Call: "send.1", NotRun: true, By: "olga"}); err != nil {
		t.Fatal(err)
	}
}

// waitFor polls until a condition holds.
func waitFor(t testing.TB, what string, ok func() bool) {
	t.Helper()
	end := time.After(5 * time.Minute)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("waited five minutes for: %s", what)
		}
	}
}
