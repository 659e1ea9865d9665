package views_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/viewstest"
)

func TestResolveItRanTakesJSON(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	x.keys("e")
	x.settle()
	x.keys("enter", "s", "e", "n", "t", "enter", pause)
	x.sees("not JSON", "enter it ran: not yet, the result is not JSON")
	x.golden("resolve_notjson_80x24")
	x.keys("enter")
	same(t, len(x.backend.Acted), 0)
	x.keys(`"`)
	x.sees(`"sent"`)
	x.keys("enter")
	same(t, x.backend.Acted, []viewer.Request{{Ref: viewstest.Ref("order-7"), Action: viewer.Resolve, Target: "send.1", Version: "order-7@2",
		Value: json.RawMessage(`"sent"`)}})
}

func TestResolveItDidNotRun(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	x.keys("e")
	x.settle()
	x.keys("j")
	x.sees("enter it did not run", "--not-run")
	x.keys("y")
	same(t, x.copied, []string{"flowtui resolve demo.db order-7 --target send.1 --not-run"})
	x.keys(pause, "enter")
	if r := x.backend.Acted[0]; !r.NotRun || r.Value != nil {
		t.Fatalf("%+v", r)
	}
}

func TestResolveLeaveIt(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	x.keys("e")
	x.settle()
	x.keys("j", "j", pause, "enter")
	x.seesNot("it ran: here is")
	same(t, len(x.backend.Acted), 0)
}

func TestRecoverInDoubtGoesToResolveFirst(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	x.keys("R")
	x.settle()
	x.keys("enter")
	x.sees("Did email_tickets run?")
	same(t, len(x.backend.Acted), 0)
}

func TestRecoverShowsStagesAndOutcome(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, func(b *viewstest.Backend) {
		b.Stages = []viewer.Progress{{Stage: "recorded", Text: "claimed step 3"}, {Stage: "picked up", Text: "store runs"}}
		b.Outcome = viewer.Outcome{Outcome: "recovered and done in segment 3"}
	})
	x.keys("j", "j", "j", "j", "j", "R")
	x.settle()
	x.sees("↻ rerun   put_rows", "✓ replay  hold_seats")
	x.keys("enter")
	x.sees("recovered and done in segment 3", "claimed step 3", "enter close")
	x.golden("recovered_80x24")
	x.keys("enter") // bounced: what became of it must be seen
	x.sees("enter close")
	x.keys(pause, "enter")
	x.seesNot("enter close")
	same(t, x.backend.Acted, []viewer.Request{{Ref: viewstest.Ref("sync-2"), Action: viewer.Recover, Version: "sync-2@2"}})
}

func TestLiveRunTakesATakeover(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, func(b *viewstest.Backend) {
		ref, why := viewstest.Ref("sync-2"), "worker-2 works on it"
		p := b.Plans[ref]
		p.Blocked, p.Lease = &why, &viewer.Lease{Holder: "worker-2", Expires: viewstest.Now.Add(time.Minute)}
		b.Plans[ref] = p
		r := &b.Rows[5]
		r.Lease, r.Actions = p.Lease, []viewer.Offer{{Action: viewer.Recover, Disabled: why}}
	})
	x.keys("G", "?")
	x.sees("take over, it is alive")
	x.keys("esc", "R")
	x.settle()
	x.sees("▸ leave it, recover nothing", "its lease ends 09:31:00")
	x.keys("enter")
	same(t, len(x.backend.Acted), 0)
	x.keys("R")
	x.settle()
	x.keys("j", "enter")
	x.sees("cut off worker-2, which is alive? enter takes over, esc goes back")
	x.keys("enter")
	same(t, len(x.backend.Acted), 0)
	x.keys(pause, "enter")
	if r := x.backend.Acted[0]; !r.Takeover {
		t.Fatalf("%+v", r)
	}
}

func TestBlockedPlanCannotBeConfirmed(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, func(b *viewstest.Backend) {
		why := "no key was given: give one with --key-file"
		p := b.Plans[viewstest.Ref("order-9")]
		p.Blocked, p.Hint = &why, "export FLOWTUI_KEY"
		b.Plans[viewstest.Ref("order-9")] = p
	})
	x.keys("j", "a")
	x.settle()
	x.sees("no key was given", "export FLOWTUI_KEY")
	x.keys("enter")
	same(t, len(x.backend.Acted), 0)
}

func TestFailureKeepsWhatWasTyped(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, func(b *viewstest.Backend) {
		b.ActErr = viewer.Problem{Code: "failed", Message: "the disk is full", Hint: "make room, then press enter again"}
	})
	x.keys("j", "a")
	x.settle()
	x.keys("tab", "o", "k", "enter", pause, "enter")
	x.sees("the disk is full", "make room", "note ok")
	x.backend.ActErr = nil
	x.keys("enter") // the same key, held down
	same(t, len(x.backend.Acted), 1)
	x.settle()
	x.keys("enter")
	same(t, len(x.backend.Acted), 2)
	same(t, x.backend.Acted[1].Note, "ok")
}

func TestConflictSaysThatItChanged(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, func(b *viewstest.Backend) {
		b.ActErr = viewer.Problem{Code: "conflict", Message: "round 1 was approved by op1 at 09:29; round 2 is a new question"}
	})
	x.keys("j", "a")
	x.settle()
	x.keys("enter")
	x.sees("round 1 was approved by op1")
	x.keys("enter")
	same(t, len(x.backend.Acted), 1)
}

func TestEscWhileRunningLeavesTheActionAlone(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, func(b *viewstest.Backend) {
		b.Hold = make(chan struct{})
		b.Outcome = viewer.Outcome{Outcome: "approved, then done"}
	})
	x.keys("j", "a")
	x.settle()
	x.press("enter")
	x.pending = nil
	x.rest()
	cmds := x.pending
	x.pending = nil
	done := make(chan bool)
	var msgs []any
	go func() { // the action, as the program would run it
		for _, c := range unbatch(cmds) {
			if m := c(); m != nil {
				msgs = append(msgs, m)
			}
		}
		close(done)
	}()
	x.keys("enter", "r") // nothing more happens
	x.keys("esc")
	x.sees("the action on order-9 goes on", "Needs you")
	x.keys("q")
	x.sees("q again cuts the running tool off")
	x.keys("ctrl+z")
	x.sees("ctrl+z again suspends: the lease may then run out, and the call be in doubt")
	x.keys("q", "ctrl+z") // each warns for itself
	if x.quit || x.suspended {
		t.Fatal("it took the other key's warning for its own")
	}
	x.keys("ctrl+z")
	if !x.suspended {
		t.Fatal("ctrl+z again did not suspend")
	}
	close(x.backend.Hold)
	<-done
	for _, m := range msgs {
		x.send(m)
	}
	x.run()
	x.sees("order-9: approved, then done")
	x.keys("q")
	if !x.quit {
		t.Fatal("q did not quit")
	}
	same(t, len(x.backend.Acted), 1)
}

func TestDisabledActionsSayWhy(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	x.keys("j", "j", "j") // order-3, forged
	x.keys("R")
	x.sees("order-3: step 2 is forged")
	x.keys("a")
	x.sees("order-3: the run waits for no approval")
	x.keys("?")
	x.sees("recover: not now, step 2 is forged")
}

func TestDeadStoreKeepsRowsAndRefusesActions(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	x.backend.Err = errors.New("demo.db is locked")
	x.changed()
	x.sees("demo.db is locked (since 09:30:00 UTC), next try in 5s; no actions until then.", "order-7", "last read 0s ago")
	x.keys("e")
	x.sees("order-7: the store cannot be read: demo.db is locked")
	x.wait(3*time.Second - typing)
	x.sees("last read 3s ago", "next try in 2s")
	x.golden("runs_dead_80x24")
	x.backend.Err = nil
	x.wait(3 * time.Second)
	x.seesNot("locked")
	x.sees("live")
}

func TestOneDeadStoreOfTwo(t *testing.T) {
	t.Parallel()
	x := start(t, 120, 30, func(b *viewstest.Backend) {
		b.Infos = append(b.Infos, viewer.StoreInfo{Label: "prod"})
		b.Rows[1].Store, b.Rows[1].Ref.Store = "prod", "prod"
	})
	x.sees("prod", "2 stores")
	x.backend.Problems = []viewer.StoreProblem{{Store: "prod", Since: viewstest.Now, Problem: viewer.Problem{Message: "connection refused"}}}
	x.changed()
	x.sees("prod: connection refused (since 09:30:00 UTC)", "order-9")
	x.keys("G", "a")
	x.sees("prod cannot be read: connection refused")
}

func TestDecisionIsStoredOnlyWhenTheFlowIsElsewhere(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, func(b *viewstest.Backend) {
		why := "no flow named tickets is known here"
		b.Rows[1].Actions = []viewer.Offer{{Action: viewer.Approve, Target: "pay.1", StoreOnly: true}}
		p := b.Plans[viewstest.Ref("order-9")]
		p.Blocked = &why
		b.Plans[viewstest.Ref("order-9")] = p
	})
	x.keys("j", "a")
	x.settle()
	x.sees("the decision is stored, and whoever has the flow")
	x.keys("enter")
	if r := x.backend.Acted[0]; !r.NoRun {
		t.Fatalf("%+v", r)
	}
}
