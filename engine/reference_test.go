package engine_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/memory"
)

// The tests of this file hold sentences of the reference on durable runs that
// no other test is about; docs/durable-runs.md lists them all.

// "the key is the same for the call on every worker and after every recovery",
// and no two calls share one.
func TestIdempotencyKey(t *testing.T) {
	s, w := newStore(), newWorld()
	var inside []string
	twice := engine.NodeFunc(func(ctx context.Context, _ engine.State) (engine.State, error) {
		for range 2 {
			if _, err := engine.CallTool(ctx, "send", map[string]any{"to": "ann"}); err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
	flow := func() *engine.Flow {
		return engine.NewFlow("mail").Node("a", twice).Node("b", twice).Edge("a", "b")
	}
	dead := 0
	w.do["send"] = func(ctx context.Context, in tool.Input) (any, error) {
		if engine.IdempotencyKey(ctx) != in.IdempotencyKey {
			t.Errorf("the context says %q, the input %q", engine.IdempotencyKey(ctx), in.IdempotencyKey)
		}
		inside = append(inside, in.IdempotencyKey)
		if n := w.count("send"); dead < 2 && (n == 2 || n == 4) { // dies in the second call, and again in the next attempt at it
			dead++
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return "sent", nil
	}
	tools := tool.NewRegistry(w.tool("send", idempotent))
	for attempt := range 3 {
		c, stop := context.WithCancel(ctx)
		timer := time.AfterFunc(200*time.Millisecond, stop)
		r := runner(t, s, tools, named("worker-"+string(rune('a'+attempt))))
		var err error
		if attempt == 0 {
			_, err = r.Run(c, flow(), start("a"))
		} else {
			_, err = r.Recover(c, flow(), key("a"), engine.RecoverOptions{})
		}
		timer.Stop()
		stop()
		if err == nil {
			break
		}
	}
	if last, _ := mustLatest(t, s, "a"); last.Status != stores.StatusDone {
		t.Fatalf("it is %s", last.Status)
	}
	attempts := map[string]int{}
	for _, k := range inside {
		if len(k) < 32 {
			t.Errorf("key %q is short", k)
		}
		attempts[k]++
	}
	if len(attempts) != 4 || len(inside) <= 4 {
		t.Errorf("4 calls in %d attempts had %d keys: %v", len(inside), len(attempts), attempts)
	}
	if engine.IdempotencyKey(ctx) != "" {
		t.Error("there is a key outside a call")
	}
	// The same flow under another run id has other keys.
	other := newWorld()
	if _, err := runner(t, s, tool.NewRegistry(other.tool("send", idempotent))).Run(ctx, flow(), start("b")); err != nil {
		t.Fatal(err)
	}
	for _, k := range other.keys["send"] {
		if attempts[k] > 0 {
			t.Errorf("two runs share the key %s", k)
		}
	}
}

// "use run ids nobody can guess": one that is made up has 128 random bits.
func TestRunIDsAreMadeUp(t *testing.T) {
	s := newStore()
	seen := map[string]bool{}
	for range 20 {
		res, err := runner(t, s, nil).Run(ctx, engine.NewFlow("f").Node("n", engine.NodeFunc(nothing)), engine.Start{})
		if err != nil || res.Key.Owner != stores.DefaultOwner || !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(res.Key.Run) || seen[res.Key.Run] {
			t.Errorf("%+v, %v", res.Key, err)
		}
		seen[res.Key.Run] = true
	}
}

// six is a store with the core protocol and nothing else.
type six struct{ stores.Store }

// "Any other store implements the protocol: save, latest, list unfinished,
// delete, record call, calls." A run crashes, pauses and recovers on it.
func TestStoreOfSixMethods(t *testing.T) {
	mem, w := newStore(), newWorld()
	s := six{mem}
	tools := tool.NewRegistry(w.tool("hold_seats", idempotent), w.tool("charge_card", needsOK), w.tool("email_tickets"))
	w.do["hold_seats"] = func(ctx context.Context, _ tool.Input) (any, error) {
		if w.count("hold_seats") == 1 {
			return nil, errors.Join(tool.ErrNotStarted, errors.New("not here"))
		}
		return "held", nil
	}
	if _, err := runner(t, s, tools).Run(ctx, tickets(), start("order-7")); !errors.Is(err, engine.ErrRefused) {
		t.Fatalf("got %v", err)
	}
	flows := func(string) (*engine.Flow, error) { return tickets(), nil }
	all, err := runner(t, s, tools).RecoverAll(ctx, stores.DefaultOwner, flows, engine.RecoverOptions{})
	if got := all[key("order-7")]; err != nil || got.Err != nil || got.Result.Status != stores.StatusPaused {
		t.Fatalf("got %+v, %v", got, err)
	}
	res, err := runner(t, s, tools).Resume(ctx, tickets(), key("order-7"), approve(""))
	if err != nil || res.Status != stores.StatusDone || w.count("charge_card") != 1 {
		t.Errorf("got %+v, %v", res, err)
	}
	verified(t, s, "order-7")
	if err := s.Delete(ctx, key("order-7")); err != nil {
		t.Error(err)
	}
	if _, err := engine.Verify(ctx, s, testKeys(t), key("order-7")); !errors.Is(err, engine.ErrCheckpointNotFound) {
		t.Errorf("after the deletion: %v", err)
	}
}

// "A store other than the memory one needs the key."
func TestKeyIsNeeded(t *testing.T) {
	if _, err := engine.New(engine.Config{Store: six{newStore()}}); !errors.Is(err, engine.ErrRefused) || !strings.Contains(err.Error(), "no checkpoint key") {
		t.Errorf("another store: %v", err)
	}
	if _, err := engine.New(engine.Config{Store: memory.New(memory.Options{})}); err != nil {
		t.Errorf("the memory store: %v", err)
	}
}

// The table of errors, each by its class.
func TestErrorClasses(t *testing.T) {
	s, w := newStore(), newWorld()
	r := runner(t, s, w.ticketTools())
	recover := func(f *engine.Flow, run string) error {
		_, err := r.Recover(ctx, f, key(run), engine.RecoverOptions{})
		return err
	}
	if _, err := r.Run(ctx, tickets(), start("ended")); err != nil {
		t.Fatal(err)
	}
	for run, at := range map[string]int{"held": 6, "cut": 6, "forged": 6} {
		if _, err := runner(t, &crashing{full: s, at: at}, w.ticketTools()).Run(ctx, tickets(), start(run)); err == nil {
			t.Fatal("the worker was to die")
		}
	}
	expireLease(t, s, "cut")
	expireLease(t, s, "forged")
	crashIn(t, s, w, "email_tickets", tickets(), w.ticketTools())
	expireLease(t, s, "order-7")
	changed := tickets().Node("more", engine.NodeFunc(nothing)).Edge("pay", "more")
	for what, c := range map[string]struct{ err, class error }{
		"nothing is stored":     {recover(tickets(), "nobody"), engine.ErrCheckpointNotFound},
		"another worker has it": {recover(tickets(), "held"), engine.ErrCheckpointConflict},
		"it ended":              {recover(tickets(), "ended"), engine.ErrCheckpointConflict},
		"another flow's":        {recover(engine.NewFlow("other").Node("n", engine.NodeFunc(nothing)), "cut"), engine.ErrCheckpointConflict},
		"the graph changed":     {recover(changed, "cut"), engine.ErrFlow},
		"a call in doubt":       {recover(tickets(), "order-7"), engine.ErrRecoveryNeedsDecision},
		"a forged row": {func() error {
			_, err := runner(t, forging{s}, w.ticketTools()).Recover(ctx, tickets(), key("forged"), engine.RecoverOptions{})
			return err
		}(), engine.ErrCheckpointStoreCorrupt},
		"an unreadable row": {func() error {
			_, err := runner(t, unreadable{s}, w.ticketTools()).Recover(ctx, tickets(), key("forged"), engine.RecoverOptions{})
			return err
		}(), engine.ErrCheckpointStoreCorrupt},
	} {
		var e *engine.Error
		if !errors.Is(c.err, c.class) || !errors.As(c.err, &e) || e.Key.Run == "" {
			t.Errorf("%s: got %v, want %v of a named run", what, c.err, c.class)
		}
	}
}

// forging changes a payload, unreadable cannot read a row.
type forging struct{ stores.Store }

func (f forging) Latest(ctx context.Context, k stores.Key) (stores.Checkpoint, error) {
	c, err := f.Store.Latest(ctx, k)
	c.Payload = append([]byte(" "), c.Payload...)
	return c, err
}

type unreadable struct{ stores.Store }

func (s unreadable) Latest(ctx context.Context, k stores.Key) (stores.Checkpoint, error) {
	c, err := s.Store.Latest(ctx, k)
	c.Bad = "its step is a text"
	return c, err
}

// The events with the data that the reference names.
func TestRecoveredEvent(t *testing.T) {
	s, w := newStore(), newWorld()
	f := func() *engine.Flow {
		return engine.NewFlow("two").Node("n", engine.NodeFunc(func(ctx context.Context, _ engine.State) (engine.State, error) {
			if _, err := engine.CallTool(ctx, "hold_seats", nil); err != nil {
				return nil, err
			}
			_, err := engine.CallTool(ctx, "email_tickets", nil)
			return nil, err
		}))
	}
	tools := tool.NewRegistry(w.tool("hold_seats"), w.tool("email_tickets", idempotent))
	crashIn(t, s, w, "email_tickets", f(), tools)
	expireLease(t, s, "order-7")
	if _, err := runner(t, s, tools).Recover(ctx, f(), key("order-7"), engine.RecoverOptions{}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{
		`checkpoint.saved {"flow":"two","kind":"flow","status":"running","step":0}`,
		`checkpoint.saved {"flow":"two","kind":"flow","status":"running","step":1}`,
		`run.recovered {"kind":"flow","replayed":["n.1"],"rerun":["n.2"],"step":1}`,
		`checkpoint.saved {"flow":"two","kind":"flow","status":"done","step":2}`,
	}, savedEvents(t, s, "order-7")); d != "" {
		t.Error(d)
	}
}

// A crash before the decision is saved leaves the run paused and resumable, a
// crash after it is recovered by spending the stored decision then.
func TestDecisionSurvivesACrash(t *testing.T) {
	for _, after := range []bool{false, true} {
		for at := 1; ; at++ {
			s, w := newStore(), newWorld()
			if _, err := runner(t, s, w.shop()).Run(ctx, tickets(), start("order-7")); err != nil {
				t.Fatal(err)
			}
			paused, _ := mustLatest(t, s, "order-7")
			c := &crashing{full: s, at: at, after: after}
			_, err := runner(t, c, w.shop(), named("first")).Resume(ctx, tickets(), key("order-7"), approve("pay.1"))
			if err == nil {
				if at < 8 {
					t.Fatalf("operation %d was the last one", at)
				}
				break
			}
			expireLease(t, s, "order-7")
			now, b := mustLatest(t, s, "order-7")
			r := runner(t, s, w.shop(), named("second"))
			switch {
			case now.Step == paused.Step:
				if now.Status != stores.StatusPaused || w.count("charge_card") != 0 {
					t.Errorf("at %d, after %v: it is %s, %d charged", at, after, now.Status, w.count("charge_card"))
				}
				_, err = r.Resume(ctx, tickets(), key("order-7"), approve("pay.1"))
			case now.Step == paused.Step+1 && w.count("charge_card") == 0:
				if len(b.Decisions) != 1 || b.Decisions[0].By != "ana" {
					t.Errorf("at %d, after %v: stored %+v", at, after, b.Decisions)
				}
				_, err = r.Recover(ctx, tickets(), key("order-7"), engine.RecoverOptions{RerunInDoubt: true}) // it did not run
			default:
				bringHome(t, s, w)
				continue
			}
			if last, _ := mustLatest(t, s, "order-7"); err != nil || last.Status != stores.StatusDone || w.count("charge_card") != 1 {
				t.Errorf("at %d, after %v: %s, %v, %d charged", at, after, last.Status, err, w.count("charge_card"))
			}
			verified(t, s, "order-7")
		}
	}
}
