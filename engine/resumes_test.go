package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/stores"
)

// An error of what chooses the next nodes is one to go on after, as a node's is:
// the calls of the superstep are not made once more.
func TestExecuteGoesOnAfterACondition(t *testing.T) {
	s, w := newStore(), newWorld()
	bad := true
	f := engine.NewFlow("f").Node("pay", engine.Call{Tool: "charge_card"}).Node("b", put("b", 1)).
		When("pay", engine.Condition{Text: "x", Test: func(engine.State) (bool, error) {
			if bad {
				return false, errors.New("the service is away")
			}
			return true, nil
		}}, "b")
	r := runner(t, s, w.ticketTools())
	for range 2 {
		if res, err := r.Execute(ctx, f, execution("a")); !errors.Is(err, engine.ErrHeld) || res.Status != stores.StatusRunning {
			t.Fatalf("%+v, %v", res, err)
		}
	}
	bad = false
	res, err := r.Execute(ctx, f, execution("a"))
	if err != nil || res.Status != stores.StatusDone || w.count("charge_card") != 1 {
		t.Errorf("%+v, %v: charged %d times", res, err, w.count("charge_card"))
	}
	verified(t, s, "a")
}

// "A turn that fails leaves the session usable", also one that goes round and round.
func TestTurnBeyondTheLimit(t *testing.T) {
	s := newStore()
	r := runner(t, s, nil)
	f := engine.NewFlow("f").Step("a", put("a", 1)).Step("b", put("b", 1)).MaxSupersteps(6)
	f.When("b", engine.Condition{Text: "loops", Test: func(st engine.State) (bool, error) {
		talk, err := engine.Messages(st, "messages")
		return err == nil && talk[len(talk)-1].Content == "loop", err
	}}, "a").Conversation(engine.Conversation{})
	for _, message := range []string{"hello", "loop", "hello", "loop", "loop", "hello"} {
		_, err := r.Turn(ctx, f, engine.Turn{Key: key("chat"), Message: message})
		if message == "loop" && !errors.Is(err, engine.ErrTurn) || message == "hello" && err != nil {
			t.Errorf("%s: %v", message, err)
		}
	}
	cp, _ := mustLatest(t, s, "chat")
	if cp.Status != stores.StatusPaused {
		t.Errorf("the session is %s", cp.Status)
	}
	verified(t, s, "chat")
}

type noAudit struct{ full }

func (noAudit) Orphans(context.Context, string) ([]stores.Key, error) {
	return nil, stores.ErrUnavailable
}

// A fault of one query strands no run that another one found.
func TestRecoverAllWithoutAudit(t *testing.T) {
	s, w := newStore(), newWorld()
	_, err := runner(t, &crashing{full: s, at: 6, after: true}, w.ticketTools()).Run(ctx, tickets(), start("a"))
	if !errors.Is(err, errCrash) {
		t.Fatal(err)
	}
	expireLease(t, s, "a")
	out, err := runner(t, noAudit{s}, w.ticketTools()).RecoverAll(ctx, stores.AnyOwner, engine.Flows(tickets()), engine.RecoverOptions{})
	if len(out) != 1 || !errors.Is(err, stores.ErrUnavailable) {
		t.Errorf("recovered %v, %v", out, err)
	}
}

// One item is an answer to a question about a list that grows, wherever it is asked.
func TestAnswerThatIsAppended(t *testing.T) {
	type tags struct {
		Tags []string `json:"tags"`
	}
	asks := func(name string) *engine.Flow {
		return engine.NewFlow(name).State(tags{Tags: []string{"first"}}).Reduce("tags", engine.Append).Step("ask", engine.Interrupt{Key: "tags"})
	}
	s := newStore()
	for name, f := range map[string]*engine.Flow{"top": asks("top"), "inside": engine.NewFlow("f").Subflow("sub", engine.Subflow{Flow: asks("sub")})} {
		r := runner(t, s, nil)
		if _, err := r.Run(ctx, f, engine.Start{Key: key(name)}); err != nil {
			t.Fatal(err)
		}
		res, err := r.Resume(ctx, f, key(name), engine.Decide{Type: engine.DecideAnswer, Value: json.RawMessage(`"more"`), By: "ana"})
		if err != nil || res.Status != stores.StatusDone {
			t.Errorf("%s: %+v, %v", name, res, err)
		}
	}
}
