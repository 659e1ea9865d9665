package postgres_test

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
	"github.com/flowtui/flowtui/stores/postgres"
)

// tickets is the flow of the reference: hold, pay, send.
func tickets() *engine.Flow {
	args := func(s engine.State) (any, error) { return map[string]any{"show": s["show"]}, nil }
	return engine.NewFlow("tickets").
		Node("hold", engine.Call{Tool: "hold_seats", Args: args, Into: "note"}).
		Node("pay", engine.Call{Tool: "charge_card", Args: args, Into: "charge"}).
		Node("send", engine.Call{Tool: "email_tickets", Args: args, Into: "mail"}).
		Edge("hold", "pay").
		Edge("pay", "send").
		End("send")
}

var toolNames = []string{"hold_seats", "charge_card", "email_tickets"}

// world is what the tools act on: it counts what they did for a run.
type world struct {
	mu   sync.Mutex
	hits map[string]int
}

func (w *world) tools() *tool.Registry {
	r := tool.NewRegistry()
	for _, name := range toolNames {
		t := tool.Tool{Name: name, Run: func(_ context.Context, in tool.Input) (any, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.hits[in.Run+" "+name]++
			return name + " did it", nil
		}}
		if err := r.Add(t); err != nil {
			panic(err)
		}
	}
	return r
}

func (w *world) did(run, name string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.hits[run+" "+name]
}

func keys(t testing.TB) *seal.Keyring {
	t.Helper()
	k, err := seal.NewKey([]byte("use-a-secret-from-your-vault-32b"))
	if err != nil {
		t.Fatal(err)
	}
	return seal.NewKeyring(k)
}

func runner(t testing.TB, s stores.Store, w *world) *engine.Runner {
	t.Helper()
	r, err := engine.New(engine.Config{Store: s, Keys: keys(t), Tools: w.tools()})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func start(run string) engine.Start {
	return engine.Start{Key: place(run).Key, State: engine.State{"show": "Hamlet"}}
}

// bringHome finishes a run whose worker is gone, as an operator does: what is in
// doubt is looked up in the world.
func bringHome(t *testing.T, s *postgres.Store, w *world, run string) {
	t.Helper()
	k, r := place(run).Key, runner(t, s, w)
	anyway := engine.RecoverOptions{Takeover: true}
	_, err := r.Recover(t.Context(), tickets(), k, anyway)
	if errors.Is(err, engine.ErrCheckpointNotFound) {
		if l, held := s.Lease(t.Context(), k); held == nil && l != nil {
			_ = s.Release(t.Context(), k, l.Holder) // the worker is dead
		}
		_, err = r.Run(t.Context(), tickets(), start(run))
	}
	var e *engine.Error
	if errors.Is(err, engine.ErrRecoveryNeedsDecision) && errors.As(err, &e) {
		for _, c := range e.Calls {
			res := engine.Resolution{Call: c.ID, By: "olga", Takeover: true, NotRun: w.did(run, c.Tool) == 0}
			if !res.NotRun {
				res.Result = json.RawMessage(fmt.Sprintf("%q", c.Tool+" did it"))
			}
			if err := r.Resolve(t.Context(), k, res); err != nil {
				t.Fatal(err)
			}
		}
		_, err = r.Recover(t.Context(), tickets(), k, anyway)
	}
	if err != nil && !strings.Contains(err.Error(), "it has ended") {
		t.Fatal(err)
	}
	isHome(t, s, w, run)
}

// isHome: the run ended as if nothing had happened, no tool acted twice, and
// every row verifies.
func isHome(t *testing.T, s *postgres.Store, w *world, run string) {
	t.Helper()
	k := place(run).Key
	last, err := s.Latest(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	b, err := engine.DecodeCheckpoint(last)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"charge":"charge_card did it","mail":"email_tickets did it","note":"hold_seats did it","show":"Hamlet"}`
	if last.Status != stores.StatusDone || string(b.State) != want {
		t.Errorf("%s is %s with %s", run, last.Status, b.State)
	}
	for _, name := range toolNames {
		if n := w.did(run, name); n != 1 {
			t.Errorf("%s: %s acted %d times", run, name, n)
		}
	}
	v, err := engine.Verify(t.Context(), s, keys(t), k)
	if err != nil || v.Verdict != engine.Verified {
		t.Errorf("%s is %s: %+v, %v", run, v.Verdict, v.Findings, err)
	}
}

var errCrash = errors.New("the worker crashed here")

// crashing is a store whose worker dies at operation number at: before it
// reaches the store, or after it was done. Nothing gets through afterwards.
type crashing struct {
	*postgres.Store
	mu    sync.Mutex
	n, at int
	after bool
}

func (c *crashing) op(do func() error) error {
	c.mu.Lock()
	c.n++
	n := c.n
	c.mu.Unlock()
	if n > c.at || n == c.at && !c.after {
		return errCrash
	}
	err := do()
	if err == nil && n == c.at {
		err = errCrash
	}
	return err
}

func (c *crashing) Save(ctx context.Context, w stores.Save) error {
	return c.op(func() error { return c.Store.Save(ctx, w) })
}

func (c *crashing) RecordCall(ctx context.Context, w stores.CallWrite) error {
	return c.op(func() error { return c.Store.RecordCall(ctx, w) })
}

func (c *crashing) Latest(ctx context.Context, k stores.Key) (last stores.Checkpoint, err error) {
	err = c.op(func() error { last, err = c.Store.Latest(ctx, k); return err })
	return last, err
}

func (c *crashing) Calls(ctx context.Context, k stores.Key, since int64) (calls []stores.Call, err error) {
	err = c.op(func() error { calls, err = c.Store.Calls(ctx, k, since); return err })
	return calls, err
}

func (c *crashing) Acquire(ctx context.Context, k stores.Key, holder string, ttl time.Duration, force bool) (l stores.Lease, err error) {
	err = c.op(func() error { l, err = c.Store.Acquire(ctx, k, holder, ttl, force); return err })
	return l, err
}

func (c *crashing) Release(ctx context.Context, k stores.Key, holder string) error {
	return c.op(func() error { return c.Store.Release(ctx, k, holder) })
}

// TestEngineCrashAtEveryOperation kills the worker before and after each of its
// calls of the store.
func TestEngineCrashAtEveryOperation(t *testing.T) {
	s, w := create(t, fresh(t, server(t))), &world{hits: map[string]int{}}
	for _, after := range []bool{false, true} {
		for at := 1; ; at++ {
			run := fmt.Sprintf("operation %d, after %v", at, after)
			c := &crashing{Store: s, at: at, after: after}
			_, err := runner(t, c, w).Run(t.Context(), tickets(), start(run))
			if c.n < at {
				if at < 12 || err != nil {
					t.Fatalf("only %d operations: %v", c.n, err)
				}
				break
			}
			bringHome(t, s, w, run)
		}
	}
}

// TestEngineLosesConnections breaks the connection at each of the worker's
// transactions: before it reaches the server, in the middle, and when the
// server has answered. A save or a record that took effect is found by reading
// back, and the run goes on as if nothing had happened.
func TestEngineLosesConnections(t *testing.T) {
	for name, f := range map[string]fault{
		"request lost": {forward: 0, drop: true},
		"cut short":    {forward: 300, drop: true},
		"answer lost":  {forward: everything, drop: true},
	} {
		t.Run(name, func(t *testing.T) {
			p, through, straight := behind(t)
			w := &world{hits: map[string]int{}}
			for at := 1; ; at++ {
				run := fmt.Sprint("transaction ", at)
				p.at(at, f)
				_, err := runner(t, through, w).Run(t.Context(), tickets(), start(run))
				if p.seen() < at {
					if at < 12 || err != nil {
						t.Fatalf("only %d transactions: %v", p.seen(), err)
					}
					break
				}
				switch {
				case err == nil:
				case !errors.Is(err, stores.ErrUnknown):
					t.Errorf("%s: %v", run, err)
				case f.forward == everything:
					t.Errorf("%s took effect and was not found: %v", run, err)
				}
				if err == nil {
					isHome(t, straight, w, run)
				} else {
					bringHome(t, straight, w, run)
				}
			}
		})
	}
}
