package engine_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/model"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

// A worker waits for its approver; another one takes the run over and charges.
// The yes that comes late starts nothing.
func TestApproverIsFencedAfterATakeover(t *testing.T) {
	w, s := newWorld(), newStore()
	f, tools := paying(w)
	asked, answer := make(chan struct{}), make(chan struct{})
	slow := func(c context.Context, _ engine.Approval) (engine.Answer, error) {
		close(asked)
		<-answer
		t.Logf("A: ctx err when the person says yes: %v", c.Err())
		return engine.Answer{Approved: true, By: "ana"}, nil
	}
	first := make(chan error, 1)
	go func() {
		_, err := runner(t, s, tools, asking(slow), named("A")).Run(ctx, f, start("a"))
		first <- err
	}()
	<-asked
	res, err := runner(t, s, tools, asking(says(engine.Answer{Approved: true, By: "ben"})), named("B")).
		Recover(ctx, f, key("a"), engine.RecoverOptions{Takeover: true, RerunInDoubt: true, By: "ben"})
	t.Logf("B: %s %v, hits %d", res.Status, err, w.count("charge_card"))
	close(answer)
	t.Logf("A: %v, hits %d", <-first, w.count("charge_card"))
	if n := w.count("charge_card"); n != 1 {
		t.Errorf("charged %d times, keys %v", n, w.keys["charge_card"])
	}
}

// Meanwhile the call is resolved as not run, denied elsewhere, and the run has failed.
func TestApproverIsFencedAfterADenial(t *testing.T) {
	w, s := newWorld(), newStore()
	f, tools := paying(w)
	asked, answer := make(chan struct{}), make(chan struct{})
	slow := func(c context.Context, _ engine.Approval) (engine.Answer, error) {
		close(asked)
		<-answer
		return engine.Answer{Approved: true, By: "ana"}, nil
	}
	first := make(chan error, 1)
	go func() {
		_, err := runner(t, s, tools, asking(slow), named("A")).Run(ctx, f, start("a"))
		first <- err
	}()
	<-asked
	expireLease(t, s, "a") // A's host was suspended
	b := runner(t, s, tools, asking(says(engine.Answer{By: "ben", Note: "fraud"})), named("B"))
	if err := b.Resolve(ctx, key("a"), engine.Resolution{Call: "pay.1", NotRun: true, By: "ben"}); err != nil {
		t.Fatal(err)
	}
	res, err := b.Recover(ctx, f, key("a"), engine.RecoverOptions{})
	t.Logf("B: %s %v", res.Status, err)
	close(answer)
	t.Logf("A: %v", <-first)
	if n := w.count("charge_card"); n != 0 {
		t.Errorf("the run failed as denied, and yet the card was charged %d times", n)
	}
}

// The worker is stopped while the person thinks.
func TestApproverIsNotHeardByAStoppedWorker(t *testing.T) {
	w, s := newWorld(), newStore()
	f, tools := paying(w)
	c, stop := context.WithCancel(ctx)
	yes := func(context.Context, engine.Approval) (engine.Answer, error) {
		stop()
		return engine.Answer{Approved: true, By: "ana"}, nil
	}
	w.do["charge_card"] = func(ctx context.Context, _ tool.Input) (any, error) { return nil, ctx.Err() }
	if _, err := runner(t, s, tools, asking(yes)).Run(c, f, start("a")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if n := w.count("charge_card"); n != 0 {
		t.Errorf("a call started on a stopped worker: %d", n)
	}
	res, err := runner(t, s, tools, asking(says(engine.Answer{By: "ben"}))).Recover(ctx, f, key("a"), engine.RecoverOptions{})
	if err != nil || res.Denied == nil || w.count("charge_card") != 0 {
		t.Errorf("a late yes counts for nothing, the next person is asked: %+v, %v", res, err)
	}
}

// An approved call waits for a worker that has its tool: the model is not told
// that there is none.
func TestApprovedCallOnAWorkerWithoutTheTool(t *testing.T) {
	s, w := newStore(), newWorld()
	m := talks(wants(`charge_card {"eur":1}`), model.Message{Content: "Done."})
	l := engine.ToolLoop{Model: m}
	if _, err := runner(t, s, w.shop()).RunToolLoop(ctx, l, loopStart("a")); err != nil {
		t.Fatal(err)
	}
	res, err := runner(t, s, tool.NewRegistry(w.tool("hold_seats"))).RunToolLoop(ctx, l, engine.LoopStart{Key: key("a"), Decisions: []engine.Decide{approve("tools.1")}})
	if err == nil {
		t.Errorf("approved, %s, charged %d times: %v", res.Status, w.count("charge_card"), conversation(t, s, "a"))
	}
}

// A call that is done replays on a worker without its tool, wherever the workers
// before it died.
func TestFinishedCallOnAWorkerWithoutTheTool(t *testing.T) {
	for at := 1; at < 40; at++ {
		for bt := 1; bt < 40; bt++ {
			l := engine.ToolLoop{Model: stubborn{}}
			s, w := newStore(), newWorld()
			both := tool.NewRegistry(w.tool("charge_card"), w.tool("hold_seats"))
			few := tool.NewRegistry(w.tool("hold_seats"))
			_, err := runner(t, &crashing{full: s, at: at}, both, named("A")).RunToolLoop(ctx, l, loopStart("a"))
			if err == nil || callList(t, s, "a") != "1.1 tools.1 started\n1.2 tools.1 done" {
				break
			}
			expireLease(t, s, "a")
			_, _ = runner(t, &crashing{full: s, at: bt}, few, named("B")).RecoverToolLoop(ctx, l, key("a"), engine.RecoverOptions{})
			expireLease(t, s, "a")
			res, err := runner(t, s, both, named("A2")).RecoverToolLoop(ctx, l, key("a"), engine.RecoverOptions{})
			if w.count("charge_card") > 1 {
				t.Fatalf("%s %v: charged %d times, keys %v\n%s\n%v", res.Status, err, w.count("charge_card"), w.keys["charge_card"], callList(t, s, "a"), conversation(t, s, "a"))
			}
		}
	}
}

// stubborn asks again only when it was told that the call failed.
type stubborn struct{}

func (stubborn) Complete(_ context.Context, r model.Request) (model.Reply, error) {
	last := r.Messages[len(r.Messages)-1]
	if last.Role == model.User || strings.HasPrefix(last.Content, "error") {
		return model.Reply{Message: wants(`charge_card {"eur":1}`)}, nil
	}
	return model.Reply{Message: model.Message{Content: "Done."}}, nil
}

// Decisions are all kept or none: not those of somebody whose identity is refused.
func TestDecisionsOfAStrangerAreNotKept(t *testing.T) {
	s, w := newStore(), newWorld()
	l := engine.ToolLoop{Model: talks(wants(`charge_card {"eur":1}`, `charge_card {"eur":2}`), model.Message{Content: "Done."})}
	r := runner(t, s, w.shop())
	st := loopStart("a")
	st.Identity = stores.Identity{User: "alice", Principal: "alice"}
	if _, err := r.RunToolLoop(ctx, l, st); err != nil {
		t.Fatal(err)
	}
	_, err := r.RunToolLoop(ctx, l, engine.LoopStart{Key: key("a"), Identity: stores.Identity{User: "mallory", Principal: "mallory"},
		Decisions: []engine.Decide{approve("tools.1"), approve("tools.2")}})
	if _, b := mustLatest(t, s, "a"); !errors.Is(err, engine.ErrRefused) || len(b.Decisions) != 0 {
		t.Errorf("refused, and yet kept: %+v", b.Decisions)
	}
}

// Several decisions on what was seen are one step.
func TestDecisionsOnOneVersion(t *testing.T) {
	s, w := newStore(), newWorld()
	l := engine.ToolLoop{Model: talks(wants(`charge_card {"eur":1}`, `charge_card {"eur":2}`), model.Message{Content: "Done."})}
	r := runner(t, s, w.shop())
	if _, err := r.RunToolLoop(ctx, l, loopStart("a")); err != nil {
		t.Fatal(err)
	}
	p, err := engine.MakePlan(ctx, s, testKeys(t), key("a"))
	if err != nil {
		t.Fatal(err)
	}
	a, b := approve("tools.1"), approve("tools.2")
	a.Version, b.Version = p.Version, p.Version
	_, err = r.RunToolLoop(ctx, l, engine.LoopStart{Key: key("a"), Decisions: []engine.Decide{a, b}})
	if err != nil {
		_, c := mustLatest(t, s, "a")
		t.Errorf("%v; kept %d", err, len(c.Decisions))
	}
}

type betweenReads struct {
	full
	do func()
}

func (s *betweenReads) Acquire(ctx context.Context, k stores.Key, h string, d time.Duration, take bool) (stores.Lease, error) {
	s.do()
	return s.full.Acquire(ctx, k, h, d, take)
}

// A call that starts between the two readings of a recovery needs a decision of its own.
func TestRerunMeansWhatWasInDoubtWhenItWasSaid(t *testing.T) {
	s := newStore()
	w, charge, mail := newWorld(), newGate(), newGate()
	w.do["charge_card"], w.do["email_tickets"] = charge.pass, func(c context.Context, in tool.Input) (any, error) {
		if w.count("email_tickets") == 1 {
			return mail.pass(c, in)
		}
		return "again", nil
	}
	var once atomic.Int64
	w.do["charge_card"] = func(c context.Context, in tool.Input) (any, error) {
		if once.Add(1) == 1 {
			return charge.pass(c, in)
		}
		return "again", nil
	}
	f := engine.NewFlow("f").Node("start", engine.NodeFunc(nothing)).
		Node("pay", engine.Call{Tool: "charge_card"}).
		Node("mail", engine.NodeFunc(func(ctx context.Context, _ engine.State) (engine.State, error) {
			<-charge.reached
			_, err := engine.CallTool(ctx, "email_tickets", nil)
			return nil, err
		})).
		Edge("start", "pay", "mail")
	slow := &slowStart{s, make(chan struct{})}
	first := make(chan error, 1)
	go func() {
		_, err := runner(t, slow, w.ticketTools(), named("first")).Run(ctx, f, start("a"))
		first <- err
	}()
	<-charge.reached
	var did atomic.Bool
	second := &betweenReads{full: s, do: func() {
		if did.CompareAndSwap(false, true) {
			close(slow.mail)
			<-mail.reached
		}
	}}
	_, err := runner(t, second, w.ticketTools(), named("second")).Recover(ctx, f, key("a"), engine.RecoverOptions{RerunInDoubt: true, Takeover: true, By: "olga"})
	if !errors.Is(err, engine.ErrRecoveryNeedsDecision) {
		t.Errorf("the mail that was started after 'rerun' was said was sent again: %d", w.count("email_tickets"))
	}
	close(charge.open)
	close(mail.open)
	<-first
}

// Two loops at once on one conversation: what one model asked for is not run by
// the other loop, and is not forgotten either.
func TestLoopsAtOnceOnOneConversation(t *testing.T) {
	for first, replies := range map[string][2]model.Message{
		"the last asks":  {{Content: "nothing to do"}, wants(`charge_card {"eur":1}`)},
		"the first asks": {wants(`charge_card {"eur":1}`), {Content: "nothing to do"}},
	} {
		s, w := newStore(), newWorld()
		f := engine.NewFlow("f").Node("start", engine.NodeFunc(nothing)).Edge("start", "a", "b")
		for i, id := range []string{"a", "b"} {
			f.ToolLoop(id, engine.ToolLoop{Model: &once{reply: replies[i]}})
		}
		start := engine.Start{Key: key("a"), State: engine.State{"messages": []any{map[string]any{"role": "user", "content": "hi"}}}}
		res, err := runner(t, s, tool.NewRegistry(w.tool("charge_card"))).Run(ctx, f, start)
		if err != nil || w.count("charge_card") > 1 {
			t.Errorf("%s: %v, charged %d times", first, err, w.count("charge_card"))
		}
		if w.count("charge_card") == 0 && !strings.Contains(res.Error, "conversations of their own") {
			t.Errorf("%s: the charge is forgotten: %s %s", first, res.Status, res.Error)
		}
	}
}

// once gives one reply and then says that it is done.
type once struct {
	reply model.Message
	n     atomic.Int64
}

func (o *once) Complete(context.Context, model.Request) (model.Reply, error) {
	if o.n.Add(1) == 1 {
		return model.Reply{Message: o.reply}, nil
	}
	return model.Reply{Message: model.Message{Content: "Done."}}, nil
}

// An approval is for one tool: another one that the node calls with the same
// arguments asks again, and a flow whose call names another tool does not fit.
func TestApprovalOfAnotherTool(t *testing.T) {
	w, s := newWorld(), newStore()
	name := "hold_seats"
	f := engine.NewFlow("pay").Node("pay", engine.NodeFunc(func(ctx context.Context, _ engine.State) (engine.State, error) {
		_, err := engine.CallTool(ctx, name, map[string]any{"order": "9"})
		return nil, err
	}))
	r := runner(t, s, tool.NewRegistry(w.tool("hold_seats", needsOK), w.tool("charge_card", needsOK)))
	if _, err := r.Run(ctx, f, start("a")); err != nil {
		t.Fatal(err)
	}
	name = "charge_card"
	res, err := r.Resume(ctx, f, key("a"), approve("pay.1"))
	if err != nil || res.Status != stores.StatusPaused || res.Waiting[0].Tool != "charge_card" || w.count("charge_card") != 0 {
		t.Errorf("got %+v, %v, %d charged", res, err, w.count("charge_card"))
	}
	one := engine.NewFlow("f").Node("pay", engine.Call{Tool: "hold_seats"})
	other := engine.NewFlow("f").Node("pay", engine.Call{Tool: "charge_card"})
	if _, err := r.Run(ctx, one, start("b")); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Resume(ctx, other, key("b"), approve("pay.1")); !errors.Is(err, engine.ErrFlow) {
		t.Errorf("another tool in the flow: %v", err)
	}
}
