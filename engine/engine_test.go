package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

func TestTicketsRunsToTheEnd(t *testing.T) {
	s, w := newStore(), newWorld()
	res, err := runner(t, s, w.ticketTools()).Run(ctx, tickets(), start("order-7"))
	if err != nil {
		t.Fatal(err)
	}
	want := engine.State{
		"show": "Hamlet", "seats": json.Number("2"),
		"note": "hold_seats 1", "charge": "charge_card 1", "mail": "email_tickets 1",
	}
	if diff := cmp.Diff(want, res.State); diff != "" || res.Status != stores.StatusDone || res.Step != 3 {
		t.Errorf("status %s, step %d, state %s", res.Status, res.Step, diff)
	}
	wantLog := "1.1 hold.1 started\n1.2 hold.1 done\n1.3 pay.1 started\n1.4 pay.1 done\n1.5 send.1 started\n1.6 send.1 done"
	if diff := cmp.Diff(wantLog, callList(t, s, "order-7")); diff != "" {
		t.Error(diff)
	}
	verified(t, s, "order-7")
}

func TestParallelFrontierMergesInNodeOrder(t *testing.T) {
	const n = 40
	f := engine.NewFlow("wide").Reduce("log", engine.Append)
	f.Node("start", engine.NodeFunc(func(context.Context, engine.State) (engine.State, error) {
		return engine.State{"log": []any{}}, nil
	}))
	var tools []tool.Tool
	w := newWorld()
	var want []any
	for i := range n {
		id := fmt.Sprintf("n%02d", i)
		tools = append(tools, w.tool("tool-"+id))
		f.Node(id, engine.Call{Tool: "tool-" + id, Into: "log"}).Edge("start", id)
		want = append(want, fmt.Sprintf("tool-%s 1", id))
	}
	s := newStore()
	res, err := runner(t, s, tool.NewRegistry(tools...)).Run(ctx, f, start("order-7"))
	if err != nil || res.Step != 2 {
		t.Fatalf("%+v, %v", res, err)
	}
	if diff := cmp.Diff(want, res.State["log"]); diff != "" {
		t.Error(diff)
	}
	verified(t, s, "order-7")
}

func TestGraphChangeIsAFlowError(t *testing.T) {
	s, w := newStore(), newWorld()
	crashIn(t, s, w, "email_tickets", tickets(), w.ticketTools(idempotent))
	changed := tickets().Node("survey", engine.Call{Tool: "hold_seats"}).Edge("send", "survey")
	_, err := runner(t, s, w.ticketTools(idempotent)).Recover(ctx, changed, key("order-7"), engine.RecoverOptions{Takeover: true})
	if !errors.Is(err, engine.ErrFlow) {
		t.Errorf("error %v", err)
	}
}

func TestUnreplayedCallRunsAgainAndIsReported(t *testing.T) {
	s, w := newStore(), newWorld()
	extra := "first"
	f := func() *engine.Flow {
		return engine.NewFlow("two").Node("n", engine.NodeFunc(func(ctx context.Context, _ engine.State) (engine.State, error) {
			if _, err := engine.CallTool(ctx, "hold_seats", map[string]any{"extra": extra}); err != nil {
				return nil, err
			}
			_, err := engine.CallTool(ctx, "email_tickets", nil)
			return nil, err
		}))
	}
	tools := w.ticketTools(idempotent)
	crashIn(t, s, w, "email_tickets", f(), tools)
	extra = "second"
	var saved []stores.Event
	r := runner(t, s, tools, func(c *engine.Config) { c.Events = func(e stores.Event) { saved = append(saved, e) } })
	res, err := r.Recover(ctx, f(), key("order-7"), engine.RecoverOptions{Takeover: true})
	if err != nil || w.count("hold_seats") != 2 {
		t.Fatalf("%+v, %v", res, err)
	}
	if diff := cmp.Diff([]string{"n.1"}, res.Unreplayed); diff != "" {
		t.Error(diff)
	}
	last := saved[len(saved)-1]
	if last.Type != engine.EventSaved || !strings.Contains(string(last.Payload), `"unreplayed":["n.1"]`) {
		t.Errorf("event %s %s", last.Type, last.Payload)
	}
}

func TestIdentity(t *testing.T) {
	s, w := newStore(), newWorld()
	tools := tool.NewRegistry(w.tool("hold_seats"), w.tool("charge_card"), w.tool("email_tickets", idempotent))
	die := func(run string, id stores.Identity) {
		c := &crashing{full: s, at: 6}
		if _, err := runner(t, c, tools).Run(ctx, tickets(), engine.Start{Key: key(run), State: order(), Identity: id}); err == nil {
			t.Fatal("the worker was to die")
		}
	}
	die("a", stores.Identity{User: "alice", Thread: "t1"})
	die("b", stores.Identity{User: "alice", Principal: "svc"})
	r := runner(t, s, tools)
	rec := func(run string, id stores.Identity) error {
		_, err := r.Recover(ctx, tickets(), key(run), engine.RecoverOptions{Takeover: true, Identity: id, RerunInDoubt: true})
		return err
	}
	if err := rec("a", stores.Identity{User: "bob"}); !errors.Is(err, engine.ErrRefused) {
		t.Errorf("another user: %v", err)
	}
	if err := rec("a", stores.Identity{}); err != nil {
		t.Errorf("without identity: %v", err)
	}
	if c, _ := mustLatest(t, s, "a"); c.User != "alice" || c.Thread != "t1" {
		t.Errorf("identity %+v", c.Identity)
	}
	if err := rec("b", stores.Identity{}); !errors.Is(err, engine.ErrRefused) {
		t.Errorf("principal missing: %v", err)
	}
	if err := rec("b", stores.Identity{Principal: "svc"}); err != nil {
		t.Errorf("principal given: %v", err)
	}
}
