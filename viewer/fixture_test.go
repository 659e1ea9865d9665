package viewer

import (
	"bytes"
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

// bench is a store with runs that the engine really made, and a Service on it.
type bench struct {
	t     *testing.T
	store *memory.Store
	keys  *seal.Keyring
	tools *tool.Registry
	flows flowMap
	mu    sync.Mutex
	clock time.Time
	hits  map[string]int
}

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)

func key(t *testing.T, c string) seal.Key {
	t.Helper()
	k, err := seal.NewKey([]byte(strings.Repeat(c, 32)))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func newBench(t *testing.T) *bench {
	b := &bench{t: t, keys: seal.NewKeyring(key(t, "k")), clock: epoch, hits: map[string]int{}}
	b.store = memory.New(memory.Options{Clock: b.now})
	b.tools = tool.NewRegistry(
		tool.Tool{Name: "hold_seats", Run: b.tool("hold_seats", func(context.Context) (any, error) { return "A4", nil })},
		tool.Tool{Name: "charge_card", Approval: tool.ApprovalRequired, Run: b.tool("charge_card", func(context.Context) (any, error) { return "ch_81", nil })},
		tool.Tool{Name: "email_tickets", Run: b.tool("email_tickets", func(context.Context) (any, error) { return "sent", nil })},
		tool.Tool{Name: "fetch", Run: b.tool("fetch", func(context.Context) (any, error) { return nil, errors.New("HTTP 503 from the warehouse") })},
		tool.Tool{Name: "lookup", Idempotent: true, Run: b.tool("lookup", func(context.Context) (any, error) { return 1, nil })},
	)
	b.flows = flowMap{tools: b.tools, flows: map[string]*engine.Flow{}}
	b.flow(engine.NewFlow("tickets").
		Node("hold", engine.Call{Tool: "hold_seats", Into: "seats"}).
		Node("pay", engine.Call{Tool: "charge_card", Into: "charge", Args: func(engine.State) (any, error) {
			return json.RawMessage(`{"amount":249.00,"card":"4242424242424242","order":"order-9"}`), nil
		}}).
		Node("send", engine.Call{Tool: "email_tickets", Into: "mail"}).
		Edge("hold", "pay").Edge("pay", "send"))
	b.flow(engine.NewFlow("mail").Node("send", engine.Call{Tool: "email_tickets", Into: "mail", Args: func(engine.State) (any, error) {
		return json.RawMessage(`{"to":"a@b.c","password":"hunter2"}`), nil
	}}))
	b.flow(engine.NewFlow("nightly").Node("load", engine.Call{Tool: "fetch"}))
	b.flow(engine.NewFlow("safe").Node("read", engine.Call{Tool: "lookup"}))
	b.flow(engine.NewFlow("approval").Node("ask", engine.Interrupt{Key: "answer", Choices: []string{"yes", "no"}, Prompt: func(engine.State) (string, error) {
		return "Approve the plan?", nil
	}}))
	b.flow(engine.NewFlow("plain").Node("one", engine.NodeFunc(func(_ context.Context, s engine.State) (engine.State, error) {
		return engine.State{"done": true}, nil
	})))
	return b
}

func (b *bench) now() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.clock
}

func (b *bench) wait(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clock = b.clock.Add(d)
}

func (b *bench) flow(f *engine.Flow) { b.flows.flows[f.Name()] = f }

func (b *bench) tool(name string, f func(context.Context) (any, error)) tool.Func {
	return func(ctx context.Context, _ tool.Input) (any, error) {
		b.mu.Lock()
		b.hits[name]++
		b.mu.Unlock()
		if die, ok := ctx.Value(crashKey{}).(func()); ok {
			die()
			return nil, ctx.Err()
		}
		return f(ctx)
	}
}

type crashKey struct{}

func (b *bench) runner(worker string) *engine.Runner {
	b.t.Helper()
	r, err := engine.New(engine.Config{Store: b.store, Keys: b.keys, Tools: b.tools, Worker: worker, Clock: b.now})
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

func (b *bench) start(flow, run string) engine.Result {
	b.t.Helper()
	res, err := b.runner("worker-1").Run(b.t.Context(), b.flows.flows[flow], engine.Start{Key: stores.Key{Owner: "default", Run: run}})
	if err != nil {
		b.t.Fatal(err)
	}
	b.wait(time.Second)
	return res
}

// crash starts a run whose worker dies in its first tool call.
func (b *bench) crash(flow, run string) {
	b.t.Helper()
	ctx, cancel := context.WithCancel(b.t.Context())
	defer cancel()
	ctx = context.WithValue(ctx, crashKey{}, func() { cancel() })
	_, err := b.runner("worker-1").Run(ctx, b.flows.flows[flow], engine.Start{Key: stores.Key{Owner: "default", Run: run}})
	if !errors.Is(err, context.Canceled) {
		b.t.Fatalf("crash: %v", err)
	}
	b.wait(time.Second)
}

// abandon starts a run whose worker dies between two steps.
func (b *bench) abandon(run string) {
	b.t.Helper()
	ctx, cancel := context.WithCancel(b.t.Context())
	defer cancel()
	f := engine.NewFlow("plain").Node("one", engine.NodeFunc(func(context.Context, engine.State) (engine.State, error) {
		cancel()
		return nil, nil
	}))
	if _, err := b.runner("worker-1").Run(ctx, f, engine.Start{Key: stores.Key{Owner: "default", Run: run}}); err == nil {
		b.t.Fatal("the worker did not die")
	}
	b.wait(time.Second)
}

func (b *bench) options() Options {
	return Options{
		Formats: Registry{memoryFormat(map[string]stores.Store{"mem": b.store})}, Keys: b.keys, Flows: b.flows, By: "ada", Clock: b.now,
		Worker: "viewer",
	}
}

func memoryFormat(all map[string]stores.Store) Format {
	return Format{
		Name: "memory",
		Sniff: func(_ context.Context, spec string) (bool, string, error) {
			return all[spec] != nil, "a name that no store has", nil
		},
		Open: func(_ context.Context, spec string, _ bool) (stores.Store, error) { return all[spec], nil },
	}
}

// bare hides all that a store can do beyond the core protocol.
type bare struct{ stores.Store }

func (b *bench) service(change ...func(*Options)) *Service {
	b.t.Helper()
	o := b.options()
	for _, f := range change {
		f(&o)
	}
	return attach(b.t, o, "mem")
}

func attach(t *testing.T, o Options, specs ...string) *Service {
	t.Helper()
	s, err := Attach(t.Context(), specs, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

type flowMap struct {
	flows map[string]*engine.Flow
	tools *tool.Registry
}

func (m flowMap) Flow(name string) (*engine.Flow, *tool.Registry, error) {
	if f := m.flows[name]; f != nil {
		return f, m.tools, nil
	}
	return nil, nil, fmt.Errorf("there is no flow file for it")
}

func (m flowMap) Names() []string { return nil }

func get[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func (b *bench) row(s *Service, run string) Row {
	b.t.Helper()
	for _, r := range get[Page](b.t)(s.List(b.t.Context(), Query{Check: true})).Rows {
		if r.Run == run {
			return r
		}
	}
	b.t.Fatalf("run %s is not listed", run)
	return Row{}
}

func asText(t *testing.T, v any) string {
	t.Helper()
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

func toolOf(name string, f func(context.Context) (any, error)) tool.Tool {
	return tool.Tool{Name: name, Run: func(ctx context.Context, _ tool.Input) (any, error) { return f(ctx) }}
}
