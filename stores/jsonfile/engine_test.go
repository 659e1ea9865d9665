package jsonfile_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/seal"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/jsonfile"
	"github.com/flowtui/flowtui/stores/storetest"
)

var order = stores.Key{Owner: stores.DefaultOwner, Run: "order-7"}

// world is what the tools act on: it counts.
type world struct {
	mu   sync.Mutex
	hits map[string]int
}

func (w *world) count(name string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.hits[name]
}

func (w *world) tools() *tool.Registry {
	var tools []tool.Tool
	for _, name := range []string{"hold_seats", "charge_card", "email_tickets"} {
		tools = append(tools, tool.Tool{Name: name, Run: func(context.Context, tool.Input) (any, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.hits[name]++
			return name + " did it", nil
		}})
	}
	return tool.NewRegistry(tools...)
}

// tickets is the flow of the reference: hold, pay, send.
func tickets() *engine.Flow {
	args := func(s engine.State) (any, error) { return map[string]any{"show": s["show"]}, nil }
	return engine.NewFlow("tickets").
		Node("hold", engine.Call{Tool: "hold_seats", Args: args, Into: "note"}).
		Node("pay", engine.Call{Tool: "charge_card", Args: args, Into: "charge"}).
		Node("send", engine.Call{Tool: "email_tickets", Args: args, Into: "mail"}).
		Edge("hold", "pay").Edge("pay", "send").End("send")
}

func keys(t *testing.T) *seal.Keyring {
	t.Helper()
	k, err := seal.NewKey([]byte("use-a-secret-from-your-vault-32b"))
	if err != nil {
		t.Fatal(err)
	}
	return seal.NewKeyring(k)
}

func runner(t *testing.T, s stores.Store, w *world, name string) *engine.Runner {
	t.Helper()
	r, err := engine.New(engine.Config{Store: s, Keys: keys(t), Tools: w.tools(), Worker: name})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// failing is a store of which operation number at fails, in one of many ways.
type failing struct {
	*jsonfile.Store
	mu   sync.Mutex
	n    int
	at   int
	mode string
	torn func()
}

var errGone = errors.New("the worker died here")

func (f *failing) op(write bool, do func() error) error {
	f.mu.Lock()
	if !strings.HasPrefix(f.mode, "lost") || write {
		f.n++
	}
	n := f.n
	f.mu.Unlock()
	lost := fmt.Errorf("%w: the reply was lost", stores.ErrUnknown)
	switch {
	case n < f.at:
		return do()
	case f.mode == "lost, done":
		if err := do(); err != nil || n > f.at || !write {
			return err
		}
		return lost
	case f.mode == "lost, not done":
		if n > f.at || !write {
			return do()
		}
		return lost
	case n == f.at && f.mode == "after":
		return errors.Join(errGone, do())
	case n == f.at && f.mode == "torn" && write:
		f.torn()
	}
	return errGone
}

func (f *failing) Save(ctx context.Context, s stores.Save) error {
	return f.op(true, func() error { return f.Store.Save(ctx, s) })
}

func (f *failing) RecordCall(ctx context.Context, w stores.CallWrite) error {
	return f.op(true, func() error { return f.Store.RecordCall(ctx, w) })
}

func (f *failing) Latest(ctx context.Context, k stores.Key) (c stores.Checkpoint, err error) {
	err = f.op(false, func() error { c, err = f.Store.Latest(ctx, k); return err })
	return c, err
}

func (f *failing) Calls(ctx context.Context, k stores.Key, since int64) (calls []stores.Call, err error) {
	err = f.op(false, func() error { calls, err = f.Store.Calls(ctx, k, since); return err })
	return calls, err
}

// TestEngineSurvivesEveryFault: the worker dies before or after every operation
// of the store, or within its line, or the reply to a write is lost. Another
// process brings the run home; no tool acts twice, and every row verifies.
func TestEngineSurvivesEveryFault(t *testing.T) {
	for _, mode := range []string{"before", "after", "torn", "lost, done", "lost, not done"} {
		t.Run(mode, func(t *testing.T) {
			for at := 1; ; at++ {
				path := filepath.Join(t.TempDir(), "store")
				w := &world{hits: map[string]int{}}
				f := &failing{Store: open(t, path, jsonfile.Options{Create: true}), at: at, mode: mode, torn: func() { tear(t, path) }}
				_, err := runner(t, f, w, "first").Run(t.Context(), tickets(), engine.Start{Key: order, State: engine.State{"show": "Hamlet"}})
				if f.n < at {
					if at < 9 || err != nil {
						t.Fatalf("only %d operations, %v", at-1, err)
					}
					return
				}
				if (err == nil) != (mode == "lost, done") {
					t.Fatalf("operation %d fails, and the worker says %v", at, err)
				}
				s := open(t, path, jsonfile.Options{Create: true})
				if err != nil {
					bringHome(t, s, w)
				}
				ended(t, s, w)
				if t.Failed() {
					t.Fatalf("at operation %d", at)
				}
			}
		})
	}
}

// tear leaves the start of a line in the journal, if there is one.
func tear(t *testing.T, path string) {
	f, err := os.OpenFile(filepath.Join(path, "owners", "default", "order-7.jsonl"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return // torn was the first line, which comes with its file
	}
	_, err = f.WriteString(`{"sum":"0123456789abcdef0123456789abcdef","after":"01234567`)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Error(err)
	}
}

func bringHome(t *testing.T, s *jsonfile.Store, w *world) {
	t.Helper()
	ctx := t.Context()
	r := runner(t, s, w, "second")
	_, err := r.Recover(ctx, tickets(), order, engine.RecoverOptions{Takeover: true})
	if errors.Is(err, engine.ErrCheckpointNotFound) {
		if l, err := s.Lease(ctx, order); err == nil && l != nil {
			if err := s.Release(ctx, order, l.Holder); err != nil {
				t.Fatal(err)
			}
		}
		_, err = r.Run(ctx, tickets(), engine.Start{Key: order, State: engine.State{"show": "Hamlet"}})
	}
	var e *engine.Error
	if errors.Is(err, engine.ErrRecoveryNeedsDecision) && errors.As(err, &e) {
		for _, c := range e.Calls {
			res := engine.Resolution{Call: c.ID, By: "olga", NotRun: true, Takeover: true}
			if w.count(c.Tool) > 0 {
				res.NotRun, res.Result = false, json.RawMessage(fmt.Sprintf("%q", c.Tool+" did it"))
			}
			if err := r.Resolve(ctx, order, res); err != nil {
				t.Fatal(err)
			}
		}
		_, err = r.Recover(ctx, tickets(), order, engine.RecoverOptions{Takeover: true})
	}
	if err != nil && !strings.Contains(err.Error(), "it has ended") {
		t.Fatal(err)
	}
}

func ended(t *testing.T, s *jsonfile.Store, w *world) {
	t.Helper()
	last, err := s.Latest(t.Context(), order)
	if err != nil {
		t.Fatal(err)
	}
	b, err := engine.DecodeCheckpoint(last)
	want := `{"charge":"charge_card did it","mail":"email_tickets did it","note":"hold_seats did it","show":"Hamlet"}`
	if err != nil || last.Status != stores.StatusDone || string(b.State) != want {
		t.Errorf("it is %s with %s, %v", last.Status, b.State, err)
	}
	for name, n := range w.hits {
		if n != 1 {
			t.Errorf("%s acted %d times", name, n)
		}
	}
	report, err := engine.Verify(t.Context(), s, keys(t), order)
	if err != nil || report.Verdict != engine.Verified {
		t.Errorf("%+v, %v", report, err)
	}
	storetest.Check(t, s)
}

// TestEngineRefusesADamagedRun: it is unreadable to the engine, too, and stays as
// it is.
func TestEngineRefusesADamagedRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	w := &world{hits: map[string]int{}}
	f := &failing{Store: open(t, path, jsonfile.Options{Create: true}), at: 6, mode: "before"}
	if _, err := runner(t, f, w, "first").Run(t.Context(), tickets(), engine.Start{Key: order, State: engine.State{"show": "Hamlet"}}); err == nil {
		t.Fatal("the worker did not die")
	}
	journal := filepath.Join(path, "owners", "default", "order-7.jsonl")
	b, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(journal, b[:len(b)*2/3], 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, path, jsonfile.Options{})
	unchanged(t, journal, func() {
		_, err := runner(t, s, w, "second").Recover(t.Context(), tickets(), order, engine.RecoverOptions{Takeover: true})
		if !errors.Is(err, engine.ErrCheckpointStoreCorrupt) || !strings.Contains(err.Error(), journal) {
			t.Errorf("got %v, want %v with the path", err, engine.ErrCheckpointStoreCorrupt)
		}
		report, err := engine.Verify(t.Context(), s, keys(t), order)
		if err != nil || report.Verdict == engine.Verified || len(report.Findings) == 0 {
			t.Errorf("%+v, %v", report, err)
		}
	})
}
