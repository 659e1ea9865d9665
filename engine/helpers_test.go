package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/seal"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/memory"
)

var ctx = context.Background()

func testKeys(t testing.TB) *seal.Keyring {
	t.Helper()
	k, err := seal.NewKey([]byte("use-a-secret-from-your-vault-32b"))
	if err != nil {
		t.Fatal(err)
	}
	return seal.NewKeyring(k)
}

// world is what the tools act on: it counts hits and can be told to misbehave.
type world struct {
	mu   sync.Mutex
	hits map[string]int
	keys map[string][]string // idempotency keys seen by tool
	args map[string][]string // arguments, by tool
	do   map[string]func(ctx context.Context, in tool.Input) (any, error)
}

func newWorld() *world {
	return &world{hits: map[string]int{}, keys: map[string][]string{}, args: map[string][]string{}, do: map[string]func(context.Context, tool.Input) (any, error){}}
}

func (w *world) tool(name string, change ...func(*tool.Tool)) tool.Tool {
	t := tool.Tool{Name: name, Run: func(ctx context.Context, in tool.Input) (any, error) {
		w.mu.Lock()
		w.hits[name]++
		n := w.hits[name]
		w.keys[name] = append(w.keys[name], in.IdempotencyKey)
		w.args[name] = append(w.args[name], string(in.Args))
		do := w.do[name]
		w.mu.Unlock()
		if do != nil {
			return do(ctx, in)
		}
		return fmt.Sprintf("%s %d", name, n), nil
	}}
	for _, c := range change {
		c(&t)
	}
	return t
}

func (w *world) count(name string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.hits[name]
}

func idempotent(t *tool.Tool) { t.Idempotent = true }
func needsOK(t *tool.Tool)    { t.Approval = tool.ApprovalRequired }

// tickets is the flow of the reference: hold, pay, send.
func tickets() *engine.Flow {
	args := func(s engine.State) (any, error) { return map[string]any{"show": s["show"], "seats": s["seats"]}, nil }
	return engine.NewFlow("tickets").
		Node("hold", engine.Call{Tool: "hold_seats", Args: args, Into: "note"}).
		Node("pay", engine.Call{Tool: "charge_card", Args: args, Into: "charge"}).
		Node("send", engine.Call{Tool: "email_tickets", Args: func(s engine.State) (any, error) { return map[string]any{"show": s["show"]}, nil }, Into: "mail"}).
		Edge("hold", "pay").
		Edge("pay", "send").
		End("send")
}

func (w *world) ticketTools(change ...func(*tool.Tool)) *tool.Registry {
	return tool.NewRegistry(w.tool("hold_seats", change...), w.tool("charge_card", change...), w.tool("email_tickets", change...))
}

func order() engine.State {
	return engine.State{"show": "Hamlet", "seats": json.Number("2")}
}

func key(run string) stores.Key { return stores.Key{Owner: stores.DefaultOwner, Run: run} }

func runner(t testing.TB, s stores.Store, tools *tool.Registry, change ...func(*engine.Config)) *engine.Runner {
	t.Helper()
	c := engine.Config{Store: s, Keys: testKeys(t), Tools: tools}
	for _, f := range change {
		f(&c)
	}
	r, err := engine.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func named(name string) func(*engine.Config) { return func(c *engine.Config) { c.Worker = name } }

func start(run string) engine.Start { return engine.Start{Key: key(run), State: order()} }

func newStore() *memory.Store { return memory.New(memory.Options{}) }

var errCrash = errors.New("the worker crashed here")

// full is a store with every capability.
type full interface {
	stores.Store
	stores.Lister
	stores.Historian
	stores.EventLog
	stores.Grapher
	stores.Leaser
	stores.Preparer
}

// crashing is a store whose worker dies at operation number at: before it
// reaches the store, or after it was done. Nothing gets through afterwards.
type crashing struct {
	full
	mu    sync.Mutex
	n     int
	at    int
	after bool
}

func (c *crashing) op(do func() error) error {
	c.mu.Lock()
	c.n++
	n, at := c.n, c.at
	c.mu.Unlock()
	switch {
	case n > at, n == at && !c.after:
		return errCrash
	case n == at:
		if err := do(); err != nil {
			return err
		}
		return errCrash
	}
	return do()
}

func (c *crashing) Save(ctx context.Context, s stores.Save) error {
	return c.op(func() error { return c.full.Save(ctx, s) })
}

func (c *crashing) RecordCall(ctx context.Context, w stores.CallWrite) error {
	return c.op(func() error { return c.full.RecordCall(ctx, w) })
}

func (c *crashing) Latest(ctx context.Context, k stores.Key) (cp stores.Checkpoint, err error) {
	err = c.op(func() error { cp, err = c.full.Latest(ctx, k); return err })
	return cp, err
}

func (c *crashing) Calls(ctx context.Context, k stores.Key, since int64) (rows []stores.Call, err error) {
	err = c.op(func() error { rows, err = c.full.Calls(ctx, k, since); return err })
	return rows, err
}

// Release does not get through once the worker is dead.
func (c *crashing) Release(ctx context.Context, k stores.Key, holder string) error {
	c.mu.Lock()
	dead := c.n >= c.at
	c.mu.Unlock()
	if dead {
		return errCrash
	}
	return c.full.Release(ctx, k, holder)
}

// waitFor polls until a condition holds.
func waitFor(t testing.TB, ok func() bool) {
	t.Helper()
	end := time.After(10 * time.Second)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatal("waited 10 s")
		}
	}
}

// verified fails the test unless every row of the run verifies.
func verified(t testing.TB, s stores.Store, run string) {
	t.Helper()
	r, err := engine.Verify(ctx, s, testKeys(t), key(run))
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != engine.Verified {
		t.Errorf("run %s is %s: %+v", run, r.Verdict, r.Findings)
	}
}

func mustLatest(t testing.TB, s stores.Store, run string) (stores.Checkpoint, engine.Checkpoint) {
	t.Helper()
	c, err := s.Latest(ctx, key(run))
	if err != nil {
		t.Fatal(err)
	}
	b, err := engine.DecodeCheckpoint(c)
	if err != nil {
		t.Fatal(err)
	}
	return c, b
}

func callList(t testing.TB, s stores.Store, run string) string {
	t.Helper()
	rows, err := s.Calls(ctx, key(run), 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range rows {
		out = append(out, fmt.Sprintf("%d.%d %s %s", r.Segment, r.N, engine.CallID(r.Node, r.Ordinal), r.Status))
	}
	return strings.Join(out, "\n")
}
