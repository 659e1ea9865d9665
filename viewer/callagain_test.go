package viewer

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/stores"
)

// A call that was made again after it was in doubt tells so for ever: it may have
// run twice, whatever its newest record says.
func TestACallThatRanAgainTellsThatItWasInDoubt(t *testing.T) {
	b := newBench(t)
	b.crash("mail", "order-7")
	s := b.service()
	ref := s.Find("order-7", "")
	began := epoch.Format(time.TimeOnly) + " UTC"
	b.wait(time.Minute)
	get[Outcome](t)(s.Act(t.Context(), Request{Ref: ref, Action: Recover, RerunInDoubt: true}, nil))
	calls := get[[]Call](t)(s.Calls(t.Context(), ref, false))
	if len(calls) != 1 || calls[0].State != CallDone || len(calls[0].Before) != 1 {
		t.Fatalf("%+v", calls)
	}
	if got, want := calls[0].Again(), "was in doubt since "+began+", run again by ada"; got != want || !calls[0].MaybeTwice() {
		t.Errorf("%q, want %q", got, want)
	}
	first := calls[0].Before[0]
	if first.Segment != 1 || first.Status != "started" || first.State != CallInDoubt || !first.Started.Equal(epoch.Truncate(time.Microsecond)) || first.Ended != nil || first.By != "worker-1" {
		t.Errorf("%+v", first)
	}
	if text := asText(t, calls); !strings.Contains(text, `"before": [`) {
		t.Errorf("%s", text)
	}
}

// So does one of which somebody said that it did not run, and who that was.
func TestACallThatRanAfterAllTellsWhoSaidThatItDidNot(t *testing.T) {
	b := newBench(t)
	b.crash("mail", "order-7")
	s := b.service()
	ref := s.Find("order-7", "")
	get[Outcome](t)(s.Act(t.Context(), Request{Ref: ref, Action: Resolve, NotRun: true}, nil))
	if calls := get[[]Call](t)(s.Calls(t.Context(), ref, false)); len(calls[0].Before) != 0 || calls[0].State != CallNotRun {
		t.Errorf("before it runs: %+v", calls)
	}
	other := b.service(func(o *Options) { o.By = "bo" })
	get[Outcome](t)(other.Act(t.Context(), Request{Ref: ref, Action: Recover}, nil))
	calls := get[[]Call](t)(s.Calls(t.Context(), ref, false))
	want := "was in doubt since " + epoch.Format(time.TimeOnly) + " UTC, did not run as ada said, run by bo"
	if got := calls[0].Again(); got != want || calls[0].MaybeTwice() {
		t.Errorf("%q, want %q", got, want)
	}
}

// A call that a person agreed to at once is logged as started twice, and is made
// once; nor is one made again that only waited.
func TestWhatWasAgreedToIsNoSecondAttempt(t *testing.T) {
	b := newBench(t)
	r, err := engine.New(engine.Config{Store: b.store, Keys: b.keys, Tools: b.tools, Worker: "w", Clock: b.now,
		Approver: func(context.Context, engine.Approval) (engine.Answer, error) {
			return engine.Answer{Approved: true, By: "ana"}, nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Run(t.Context(), b.flows.flows["tickets"], engine.Start{Key: stores.Key{Owner: "default", Run: "at-once"}}); err != nil {
		t.Fatal(err)
	}
	b.start("tickets", "later")
	s := b.service()
	get[Outcome](t)(s.Act(t.Context(), Request{Ref: s.Find("later", ""), Action: Approve}, nil))
	for _, run := range []string{"at-once", "later"} {
		for _, c := range get[[]Call](t)(s.Calls(t.Context(), s.Find(run, ""), false)) {
			if c.State != CallDone || len(c.Before) != 0 {
				t.Errorf("%s: %+v", run, c)
			}
		}
	}
}

// The word of a cut-off worker that it had run after all, which comes late, is not
// lost: the call ran twice.
func TestALateWordTellsThatACallRanTwice(t *testing.T) {
	b := newBench(t)
	slow, told := make(chan struct{}), make(chan error, 1)
	started := make(chan struct{})
	calls := 0
	if err := b.tools.Add(toolOf("slow", func(context.Context) (any, error) {
		if calls++; calls == 1 {
			close(started)
			<-slow
		}
		return "sent", nil
	})); err != nil {
		t.Fatal(err)
	}
	b.flow(engine.NewFlow("late").Node("send", engine.Call{Tool: "slow"}))
	go func() {
		_, err := b.runner("worker-1").Run(t.Context(), b.flows.flows["late"], engine.Start{Key: stores.Key{Owner: "default", Run: "r"}})
		told <- err
	}()
	<-started
	s := b.service()
	ref := s.Find("r", "")
	get[Outcome](t)(s.Act(t.Context(), Request{Ref: ref, Action: Recover, RerunInDoubt: true, Takeover: true}, nil))
	close(slow)
	if err := <-told; err == nil {
		t.Fatal("the worker that was cut off went on")
	}
	c := get[[]Call](t)(s.Calls(t.Context(), ref, false))[0]
	if want := "had run already, started at " + epoch.Format(time.TimeOnly) + " UTC, run again by ada"; c.Again() != want || !c.Twice() {
		t.Errorf("%q, want %q", c.Again(), want)
	}
}

// A worker that only stood still has the last word on its call, since that did
// happen; that a person had said otherwise is told with it.
func TestALateResultTellsWhoSaidThatTheCallDidNotRun(t *testing.T) {
	b := newBench(t)
	s := b.service()
	ref := s.Find("order-7", "")
	ctx := context.WithValue(t.Context(), crashKey{}, func() { // the tool is at it
		b.wait(time.Minute)
		get[Outcome](t)(s.Act(t.Context(), Request{Ref: ref, Action: Resolve, NotRun: true}, nil))
	})
	_, err := b.runner("worker-1").Run(ctx, b.flows.flows["mail"], engine.Start{Key: stores.Key{Owner: "default", Run: "order-7"}})
	if err != nil {
		t.Fatal(err)
	}
	calls := get[[]Call](t)(s.Calls(t.Context(), ref, false))
	want := "resolved as not run by ada, its worker's late result came in after that"
	if len(calls) != 1 || calls[0].State != CallDone || calls[0].Why != want {
		t.Errorf("%+v, want %q", calls, want)
	}
}
