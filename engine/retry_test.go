package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

func mustRetry(t *testing.T, r engine.Retry, n engine.Node) engine.Node {
	t.Helper()
	wrapped, err := r.Wrap(n)
	if err != nil {
		t.Fatal(err)
	}
	return wrapped
}

// failing lets a tool fail so many times.
func (w *world) failing(name string, times int) {
	w.do[name] = func(context.Context, tool.Input) (any, error) {
		if n := w.count(name); n <= times {
			return nil, fmt.Errorf("no luck %d", n)
		}
		return "at last", nil
	}
}

// A call is made again only when its tool is idempotent: a call that failed may
// have had its effect.
func TestRetryRepeatsOnlyWhatIsSafe(t *testing.T) {
	for name, c := range map[string]struct {
		change []func(*tool.Tool)
		on     func(error) bool
		times  int // that the tool fails
		calls  int
		status stores.Status
	}{
		"idempotent":     {[]func(*tool.Tool){idempotent}, nil, 2, 3, stores.StatusDone},
		"too often":      {[]func(*tool.Tool){idempotent}, nil, 3, 3, stores.StatusFailed},
		"not idempotent": {nil, nil, 2, 1, stores.StatusFailed},
		"other error":    {[]func(*tool.Tool){idempotent}, func(err error) bool { return !strings.Contains(err.Error(), "no luck 2") }, 2, 2, stores.StatusFailed},
	} {
		t.Run(name, func(t *testing.T) {
			w, s := newWorld(), newStore()
			w.failing("charge_card", c.times)
			r := runner(t, s, tool.NewRegistry(w.tool("charge_card", c.change...)))
			pay := mustRetry(t, engine.Retry{Attempts: 3, Delay: time.Microsecond, Backoff: 2, On: c.on}, callsOf("charge_card", "charge"))
			f := engine.NewFlow("f").Node("pay", pay)
			res, err := r.Run(ctx, f, engine.Start{Key: key("r")})
			if err != nil || res.Status != c.status || w.count("charge_card") != c.calls {
				t.Errorf("%s after %d calls, want %s after %d: %+v, %v", res.Status, w.count("charge_card"), c.status, c.calls, res, err)
			}
			if keys := w.keys["charge_card"]; len(slices.Compact(slices.Sorted(slices.Values(keys)))) != 1 {
				t.Errorf("the attempts have several idempotency keys: %v", keys)
			}
			verified(t, s, "r")
		})
	}
}

// A node that failed after a call that did its work does not make it again.
func TestRetryDoesNotRepeatWhatSucceeded(t *testing.T) {
	w := newWorld()
	r := runner(t, newStore(), tool.NewRegistry(w.tool("charge_card")))
	node := engine.NodeFunc(func(ctx context.Context, _ engine.State) (engine.State, error) {
		if _, err := engine.CallTool(ctx, "charge_card", nil); err != nil {
			return nil, err
		}
		return nil, errors.New("later")
	})
	res, err := r.Run(ctx, engine.NewFlow("f").Node("n", mustRetry(t, engine.Retry{Attempts: 5}, node)), engine.Start{})
	if err != nil || res.Status != stores.StatusFailed || w.count("charge_card") != 1 {
		t.Errorf("%d calls: %+v, %v", w.count("charge_card"), res, err)
	}
}

// After a crash between two attempts the failed ones replay and count.
func TestRetryGoesOnAfterACrash(t *testing.T) {
	w, s := newWorld(), newStore()
	w.failing("charge_card", 2)
	f := engine.NewFlow("f").Node("pay", mustRetry(t, engine.Retry{Attempts: 3}, callsOf("charge_card", "charge")))
	tools := tool.NewRegistry(w.tool("charge_card", idempotent))
	for at := 1; ; at++ {
		w.hits["charge_card"] = 0
		k := fmt.Sprint("r", at)
		if _, err := runner(t, &crashing{full: s, at: at, after: true}, tools).Run(ctx, f, engine.Start{Key: key(k)}); err == nil {
			if at < 5 {
				t.Errorf("only %d operations", at)
			}
			return
		}
		last, err := s.Latest(ctx, key(k))
		if err != nil || last.Status.Final() {
			continue // it crashed before there was a run, or after its end
		}
		res, err := runner(t, s, tools, named("other")).Recover(ctx, f, key(k), engine.RecoverOptions{Takeover: true})
		if err != nil || res.Status != stores.StatusDone || w.count("charge_card") > 4 {
			t.Errorf("crash at %d: %d calls, %+v, %v", at, w.count("charge_card"), res, err)
		}
	}
}

func TestRetryRefusesContainers(t *testing.T) {
	inner, err := engine.Subflow{Flow: engine.NewFlow("i").Node("n", appends("n"))}.Node()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []engine.Node{inner, engine.Interrupt{Key: "k"}} {
		if _, err := (engine.Retry{Attempts: 2}).Wrap(n); err == nil {
			t.Errorf("%s is tried again", n.Type())
		}
	}
}

// The graph still says which tool is called.
func TestRetryShowsItsTool(t *testing.T) {
	outer, _, err := engine.NewFlow("f").Node("n", mustRetry(t, engine.Retry{Attempts: 2}, engine.Call{Tool: "x"})).Topologies()
	if err != nil || outer.Nodes[0].Tool != "x" || outer.Nodes[0].Type != "call" {
		t.Errorf("%+v, %v", outer, err)
	}
}

// A node that decides by itself where the flow goes on does so by the state that
// it saw; with no end the flow ends, also before its other edges.
func TestGoto(t *testing.T) {
	is := func(v string) engine.Condition { return engine.KeyIs("x", v) }
	set := engine.NodeFunc(func(context.Context, engine.State) (engine.State, error) { return engine.State{"x": "changed"}, nil })
	inner := func() *engine.Flow {
		return engine.NewFlow("f").Reduce("log", engine.Append).
			Node("n", set).Node("a", appends("a")).Node("b", appends("b")).Node("c", appends("c")).
			When("n", is("changed"), "b").Goto("n", is("go"), "a").Goto("n", is("stop")).Edge("n", "c").Edge("a", "b")
	}
	for _, f := range []*engine.Flow{inner(), engine.NewFlow("outer").Reduce("log", engine.Append).Subflow("s", engine.Subflow{Flow: inner()})} {
		for x, want := range map[string]string{"go": "[a b]", "stop": "<nil>", "other": "[b c]"} {
			res, err := runner(t, newStore(), nil).Run(ctx, f, engine.Start{State: engine.State{"x": x}})
			if err != nil || fmt.Sprint(res.State["log"]) != want {
				t.Errorf("%s: %v, want %s: %+v, %v", x, res.State["log"], want, res, err)
			}
		}
	}
}

func TestErrorKey(t *testing.T) {
	for key, want := range map[string]string{"": `{"log":["b"],"last":"b"}`, "why": `{"log":["b"],"last":"b","why":{"message":"no","node":"a"}}`} {
		no := engine.NodeFunc(func(context.Context, engine.State) (engine.State, error) { return nil, errors.New("no") })
		f := engine.NewFlow("f").Node("a", no).Node("b", appends("b")).OnError("a", "b").ErrorKey(key)
		res, err := runner(t, newStore(), nil).Run(ctx, f, engine.Start{})
		var wanted engine.State
		if wanted, _ = engine.DecodeState([]byte(want)); err != nil || fmt.Sprint(res.State) != fmt.Sprint(wanted) {
			t.Errorf("%v, want %v, %v", res.State, wanted, err)
		}
	}
}

// Inside of a container the time is the same when it runs again.
func TestNowOnceInAContainer(t *testing.T) {
	tick := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	clock := func(c *engine.Config) {
		c.Clock = func() time.Time { tick = tick.Add(time.Second); return tick }
	}
	inner := engine.NewFlow("inner").Step("now", engine.NodeFunc(func(ctx context.Context, _ engine.State) (engine.State, error) {
		now, err := engine.NowOnce(ctx)
		return engine.State{"now": now.Format(time.RFC3339)}, err
	})).Step("ask", engine.Interrupt{Key: "ok", Prompt: engine.Fill("{now}")})
	f := engine.NewFlow("f").Subflow("s", engine.Subflow{Flow: inner})
	s := newStore()
	res, err := runner(t, s, nil, clock).Run(ctx, f, engine.Start{Key: key("r")})
	if err != nil || len(res.Waiting) != 1 {
		t.Fatalf("%+v, %v", res, err)
	}
	asked := res.Waiting[0].Prompt
	res, err = runner(t, s, nil, clock).Resume(ctx, f, key("r"), engine.Decide{Type: engine.DecideAnswer, Value: json.RawMessage(`"yes"`), By: "ana"})
	if err != nil || res.Status != stores.StatusDone || res.State["now"] != asked {
		t.Errorf("asked at %s: %+v, %v", asked, res, err)
	}
}
