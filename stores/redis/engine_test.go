package redis_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/seal"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/internal/testproxy"
	"github.com/flowtui/flowtui/internal/testservers"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/redis"
)

// world counts how often each tool had its effect.
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
	var all []tool.Tool
	for _, name := range []string{"hold_seats", "charge_card", "email_tickets"} {
		all = append(all, tool.Tool{Name: name, Run: func(context.Context, tool.Input) (any, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.hits[name]++
			return fmt.Sprintf("%s %d", name, w.hits[name]), nil
		}})
	}
	return tool.NewRegistry(all...)
}

// tickets is the flow of the reference.
func tickets() *engine.Flow {
	args := func(s engine.State) (any, error) { return map[string]any{"show": s["show"]}, nil }
	return engine.NewFlow("tickets").
		Node("hold", engine.Call{Tool: "hold_seats", Args: args, Into: "note"}).
		Node("pay", engine.Call{Tool: "charge_card", Args: args, Into: "charge"}).
		Node("send", engine.Call{Tool: "email_tickets", Args: args, Into: "mail"}).
		Edge("hold", "pay").Edge("pay", "send").End("send")
}

var orderKey = stores.Key{Owner: stores.DefaultOwner, Run: "order-7"}

func start() engine.Start {
	return engine.Start{Key: orderKey, State: engine.State{"show": "Hamlet", "seats": json.Number("2")}}
}

func keyring(t testing.TB) *seal.Keyring {
	t.Helper()
	k, err := seal.NewKey([]byte("use-a-secret-from-your-vault-32b"))
	if err != nil {
		t.Fatal(err)
	}
	return seal.NewKeyring(k)
}

func runner(t testing.TB, s stores.Store, w *world, name string) *engine.Runner {
	t.Helper()
	r, err := engine.New(engine.Config{Store: s, Keys: keyring(t), Tools: w.tools(), Worker: name})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// bringHome is what a second worker and an operator do after the first one is
// dead: they recover, look at the world for what is in doubt, and recover.
func bringHome(t *testing.T, s *redis.Store, w *world) {
	t.Helper()
	ctx := context.Background()
	second := runner(t, s, w, "second")
	dead := engine.RecoverOptions{Takeover: true}
	_, err := second.Recover(ctx, tickets(), orderKey, dead)
	if errors.Is(err, engine.ErrCheckpointNotFound) {
		if l, lerr := s.Lease(ctx, orderKey); lerr == nil && l != nil {
			err = s.Release(ctx, orderKey, l.Holder)
		}
		if err == nil || errors.Is(err, engine.ErrCheckpointNotFound) {
			_, err = second.Run(ctx, tickets(), start())
		}
	}
	if e, ok := errors.AsType[*engine.Error](err); ok && errors.Is(err, engine.ErrRecoveryNeedsDecision) {
		for _, c := range e.Calls {
			said := engine.Resolution{Call: c.ID, By: "olga", Takeover: true, NotRun: w.count(c.Tool) == 0}
			if !said.NotRun {
				said.Result = json.RawMessage(fmt.Sprintf(`"%s 1"`, c.Tool))
			}
			if err := second.Resolve(ctx, orderKey, said); err != nil {
				t.Fatal(err)
			}
		}
		_, err = second.Recover(ctx, tickets(), orderKey, dead)
	}
	if err != nil && !strings.Contains(err.Error(), "it has ended") {
		t.Fatal(err)
	}
}

// home fails unless the run has ended as if nothing had happened.
func home(t *testing.T, s *redis.Store, w *world) {
	t.Helper()
	last, err := s.Latest(t.Context(), orderKey)
	if err != nil {
		t.Fatal(err)
	}
	body, err := engine.DecodeCheckpoint(last)
	want := `{"charge":"charge_card 1","mail":"email_tickets 1","note":"hold_seats 1","seats":2,"show":"Hamlet"}`
	if err != nil || last.Status != stores.StatusDone || string(body.State) != want {
		t.Errorf("%s, %s, %v", last.Status, body.State, err)
	}
	for name, n := range w.hits {
		if n != 1 {
			t.Errorf("%s hit the world %d times", name, n)
		}
	}
	report, err := engine.Verify(t.Context(), s, keyring(t), orderKey)
	if err != nil || report.Verdict != engine.Verified {
		t.Errorf("the run is %s: %+v, %v", report.Verdict, report.Findings, err)
	}
}

// At every request that the engine sends, the network loses the request or the
// reply, and from then on everything, as if the worker had died. A second worker
// brings the run home: no tool hits the world twice.
func TestCrashAtEveryRequest(t *testing.T) {
	server := testservers.Redis(t)
	for _, fault := range []testproxy.Fault{testproxy.LoseRequest, testproxy.LoseReply} {
		for at := 1; ; at++ {
			proxy, address := through(t, server)
			address = with(t, address, "prefix", rand.Text())
			first, w := create(t, address), &world{hits: map[string]int{}}
			requests := counter(proxy, at, func(n int) testproxy.Fault {
				if n > at {
					return testproxy.LoseRequest
				}
				return fault
			})
			_, err := runner(t, first, w, "first").Run(t.Context(), tickets(), start())
			proxy.Fault(nil)
			if requests() < at {
				if at < 12 || err != nil {
					t.Fatalf("%d requests only, %v", requests(), err)
				}
				break
			}
			t.Run(fmt.Sprintf("fault %d at request %d", fault, at), func(t *testing.T) {
				s := open(t, address, redis.Options{})
				bringHome(t, s, w)
				home(t, s, w)
			})
			first.Close()
		}
	}
}

// counter counts the commands that a proxy sees, without those of connecting,
// and asks for a fault from number at on.
func counter(p *testproxy.Proxy, at int, fault func(n int) testproxy.Fault) (count func() int) {
	var mu sync.Mutex
	n := 0
	p.Fault(func(request []byte) testproxy.Fault {
		if bytes.Contains(request, []byte("hello")) {
			return testproxy.None
		}
		mu.Lock()
		defer mu.Unlock()
		if n++; n >= at {
			return fault(n)
		}
		return testproxy.None
	})
	return func() int {
		mu.Lock()
		defer mu.Unlock()
		return n
	}
}

// A single lost reply of a write is looked up: the run ends as if nothing had
// happened, or its worker stops and it is brought home.
func TestLostReplyOfEveryWrite(t *testing.T) {
	server := testservers.Redis(t)
	landed := 0
	for at := 1; ; at++ {
		proxy, address := through(t, server)
		address = with(t, address, "prefix", rand.Text())
		s, w := create(t, address), &world{hits: map[string]int{}}
		var mu sync.Mutex
		n := 0
		proxy.Fault(func(request []byte) testproxy.Fault {
			mu.Lock()
			defer mu.Unlock()
			if bytes.Contains(request, []byte("evalsha")) {
				if n++; n == at {
					return testproxy.LoseReply
				}
			}
			return testproxy.None
		})
		_, err := runner(t, s, w, "first").Run(t.Context(), tickets(), start())
		if n < at {
			if at < 10 || err != nil {
				t.Fatalf("%d writes only, %v", n, err)
			}
			break
		}
		t.Run(fmt.Sprintf("write %d", at), func(t *testing.T) {
			if err == nil {
				landed++
			} else {
				fails(t, "run", err, stores.ErrUnknown)
				bringHome(t, s, w)
			}
			home(t, s, w)
		})
	}
	if landed < 7 {
		t.Errorf("only %d lost replies were looked up", landed)
	}
}
