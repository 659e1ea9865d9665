package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/stores"
)

// asksEachRound asks the same question in every round.
func asksEachRound() *engine.Flow {
	return engine.NewFlow("rounds").
		Interrupt(engine.Interrupt{Key: "ok", Prompt: engine.Text("Send the next batch?")}).
		Loop(engine.Loop{Until: engine.KeyIs("ok", "stop"), Body: []engine.Node{put("sent", true)}})
}

func answerBy(who, value string, p engine.Plan) engine.Decide {
	return engine.Decide{Type: engine.DecideAnswer, Value: json.RawMessage(fmt.Sprintf("%q", value)), By: who, Version: p.Version}
}

// Scenario 17: answers from several terminals at the same instant. One wins and
// is stored once; the others learn who won, and the next round's question,
// which looks the same, stays open.
func TestScenario17AnswersAtTheSameInstant(t *testing.T) {
	everyStore(t, func(t *testing.T, s full) {
		for i := range 5 {
			run := fmt.Sprint("run-", i)
			if _, err := runner(t, s, nil).Execute(ctx, asksEachRound(), execution(run)); err != nil {
				t.Fatal(err)
			}
			seen, err := engine.MakePlan(ctx, s, testKeys(t), key(run))
			if err != nil {
				t.Fatal(err)
			}
			errs := make([]error, 4)
			var wg sync.WaitGroup
			for j := range errs {
				wg.Go(func() {
					r := runner(t, s, nil, named(fmt.Sprint("w", j)))
					_, errs[j] = r.Resume(ctx, asksEachRound(), key(run), answerBy(fmt.Sprint("op", j), fmt.Sprint("yes ", j), seen))
				})
			}
			wg.Wait()
			winner := -1
			for j, err := range errs {
				if err == nil && winner < 0 {
					winner = j
				} else if err == nil || !errors.Is(err, engine.ErrCheckpointConflict) {
					t.Errorf("op%d: %v", j, err)
				}
			}
			if winner < 0 {
				t.Fatalf("nobody won: %v", errs)
			}
			_, b := mustLatest(t, s, run)
			if len(b.Waiting) != 1 || b.Waiting[0].ID != "ok#2" || !strings.Contains(string(b.State), fmt.Sprintf(`"ok":"yes %d"`, winner)) {
				t.Errorf("op%d won: %+v, %s", winner, b.Waiting, b.State)
			}
			if n := strings.Count(decisions(t, s, run), "ok#1"); n != 1 {
				t.Errorf("%d answers are stored", n)
			}
			late := answerBy("op9", "late", engine.Plan{})
			late.ID = "ok#1"
			if _, err := runner(t, s, nil).Resume(ctx, asksEachRound(), key(run), late); !errors.Is(err, engine.ErrCheckpointConflict) || !strings.Contains(err.Error(), fmt.Sprintf("op%d answered ok#1", winner)) {
				t.Errorf("a late answer: %v", err)
			}
			verified(t, s, run)
		}
	})
}

// dying is a store whose next save is its last operation: it is done, or not.
type dying struct {
	full
	done bool
	dead bool
}

func (d *dying) Save(ctx context.Context, s stores.Save) error {
	if d.dead {
		return errCrash
	}
	d.dead = true
	if d.done {
		if err := d.full.Save(ctx, s); err != nil {
			return err
		}
	}
	return errCrash
}

func (d *dying) Latest(ctx context.Context, k stores.Key) (stores.Checkpoint, error) {
	if d.dead {
		return stores.Checkpoint{}, errCrash
	}
	return d.full.Latest(ctx, k)
}

// A crash before the answer is stored leaves the run paused on the same
// question; a crash after it leaves it to be spent, by whoever brings the run on.
func TestScenario17CrashAroundTheAnswer(t *testing.T) {
	for _, stored := range []bool{false, true} {
		t.Run(fmt.Sprint("stored ", stored), func(t *testing.T) {
			s := newStore()
			r := runner(t, s, nil)
			if _, err := r.Execute(ctx, approval(), execution("a")); err != nil {
				t.Fatal(err)
			}
			yes := engine.Execution{Key: key("a"), Resume: map[string]any{"approved": "yes"}, By: "ana"}
			if _, err := runner(t, &dying{full: s, done: stored}, nil).Execute(ctx, approval(), yes); !errors.Is(err, errCrash) {
				t.Fatal(err)
			}
			expireLease(t, s, "a")
			last, b := mustLatest(t, s, "a")
			no := engine.Execution{Key: key("a"), Resume: map[string]any{"approved": "no"}, By: "ben"}
			if !stored {
				if last.Status != stores.StatusPaused || len(b.Waiting) != 1 || b.Waiting[0].ID != "approved#1" {
					t.Fatalf("%s %+v", last.Status, b.Waiting)
				}
				if res, err := r.Execute(ctx, approval(), no); err != nil || res.State["approved"] != "no" {
					t.Errorf("%+v, %v", res, err)
				}
				return
			}
			if last.Status != stores.StatusRunning || len(b.Decisions) != 1 || b.Decisions[0].Key != "approved" {
				t.Fatalf("%s %+v", last.Status, b.Decisions)
			}
			if _, err := r.Execute(ctx, approval(), no); !errors.Is(err, engine.ErrCheckpointConflict) || !strings.Contains(err.Error(), "ana answered approved#1") {
				t.Errorf("another answer: %v", err)
			}
			// The same one again, by who did not learn that it was stored.
			if res, err := r.Execute(ctx, approval(), yes); err != nil || res.State["final"] != "plan A: yes" {
				t.Errorf("%+v, %v", res, err)
			}
			verified(t, s, "a")
		})
	}
}

// A worker that starts brings turns that were cut short to their end, like any
// other run: the session then waits for the next message.
func TestRecoverAllEndsTurns(t *testing.T) {
	s := newStore()
	flow := func() *engine.Flow { return renovation() }
	if _, err := runner(t, s, nil).Turn(ctx, flow(), turnOf("how big?")); err != nil {
		t.Fatal(err)
	}
	d := &dying{full: s, done: true}
	if _, err := runner(t, d, nil).Turn(ctx, flow(), turnOf("and how deep?")); !errors.Is(err, errCrash) {
		t.Fatal(err)
	}
	k := stores.Key{Owner: "alice", Run: "chat-1"}
	all, err := runner(t, s, nil).RecoverAll(ctx, "alice", engine.Flows(flow()), engine.RecoverOptions{})
	got := all[k]
	if err != nil || got.Err != nil || got.Result.Status != stores.StatusPaused || got.Result.Waiting[0].Prompt != "3: and how deep?" {
		t.Errorf("%+v, %v", got, err)
	}
}

// An answer that the question says would not pass is refused to who asks for
// that, and nothing is written.
func TestStrictAnswers(t *testing.T) {
	s := newStore()
	r := runner(t, s, nil)
	f := promo(put("hint", "wrong"))
	if _, err := r.Execute(ctx, f, execution("a")); err != nil {
		t.Fatal(err)
	}
	before, _ := mustLatest(t, s, "a")
	strict := engine.Decide{Type: engine.DecideAnswer, Value: json.RawMessage(`"x"`), By: "ana", Strict: true}
	if _, err := r.Resume(ctx, f, key("a"), strict); !errors.Is(err, engine.ErrInvalid) || !strings.Contains(err.Error(), "wanted is a text that matches ^[A-Z]{2}-[0-9]{4}$") {
		t.Errorf("%v", err)
	}
	if now, _ := mustLatest(t, s, "a"); now.Step != before.Step {
		t.Error("something was written")
	}
	strict.Value = json.RawMessage(`"AB-1234"`)
	if res, err := r.Resume(ctx, f, key("a"), strict); err != nil || res.Status != stores.StatusDone {
		t.Errorf("%+v, %v", res, err)
	}
}

// An answer that is none of the choices is taken only from who says so, and the
// flow judges it: a bare interrupt compares it verbatim.
func TestUncheckedAnswerToChoices(t *testing.T) {
	s := newStore()
	r := runner(t, s, nil)
	f := engine.NewFlow("f").
		Node("ask", engine.Interrupt{Key: "ok", Choices: []string{"yes", "no"}}).
		Node("after", put("went", "on")).
		When("ask", engine.Condition{Text: "ok!=yes", Test: func(s engine.State) (bool, error) { return s["ok"] != "yes", nil }}, "after")
	if _, err := r.Execute(ctx, f, execution("a")); err != nil {
		t.Fatal(err)
	}
	before, _ := mustLatest(t, s, "a")
	for _, strict := range []bool{false, true} {
		d := engine.Decide{Type: engine.DecideAnswer, Value: json.RawMessage(`"later"`), By: "ana", Strict: strict}
		if _, err := r.Resume(ctx, f, key("a"), d); !errors.Is(err, engine.ErrInvalid) || !strings.Contains(err.Error(), `"later" is not one of the choices: yes, no`) {
			t.Errorf("%v", err)
		}
	}
	if now, _ := mustLatest(t, s, "a"); now.Step != before.Step {
		t.Error("something was written")
	}
	d := engine.Decide{Type: engine.DecideAnswer, Value: json.RawMessage(`"later"`), By: "ana", Unchecked: true}
	if res, err := r.Resume(ctx, f, key("a"), d); err != nil || res.State["ok"] != "later" || res.State["went"] != "on" {
		t.Errorf("%+v, %v", res, err)
	}
	verified(t, s, "a")
	if _, err := r.Execute(ctx, f, execution("b")); err != nil {
		t.Fatal(err)
	}
	d.Value = json.RawMessage(`"no"`) // it passes: nothing was overridden
	if _, err := r.Record(ctx, key("b"), d); err != nil {
		t.Fatal(err)
	}
	for run, want := range map[string]bool{"a": true, "b": false} {
		if got := strings.Contains(decisionIn(t, s, run), `"unchecked":true`); got != want {
			t.Errorf("run %s: the log says unchecked: %t, want %t", run, got, want)
		}
	}
}

// decisionIn is what the log says of the run's newest decision.
func decisionIn(t *testing.T, s full, run string) (payload string) {
	t.Helper()
	events, err := s.Events(ctx, key(run), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if e.Type == engine.EventDecision {
			payload = string(e.Payload)
		}
	}
	return payload
}
