package engine_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/stores"
)

type payment struct {
	Answer any    `json:"answer"`
	Amount int    `json:"amount"`
	Note   string `json:"note"`
}

// An answer that its node could not take is refused while the run still waits,
// wherever the node stands.
func TestAnswerThatDoesNotFitWithinContainers(t *testing.T) {
	ask := engine.Interrupt{Key: "amount", Prompt: engine.Text("how many?")}
	inner := engine.NewFlow("inner").State(payment{}).Interrupt(ask)
	again := engine.NewFlow("again").State(payment{}).Interrupt(ask).
		Loop(engine.Loop{Until: engine.KeyIs("amount", "3"), Body: []engine.Node{engine.NodeFunc(nothing)}})
	nested := engine.NewFlow("nested").State(payment{}).Subflow("0", engine.Subflow{Flow: inner})
	people := engine.State{"people": []any{"ann"}}
	each := func(f *engine.Flow) *engine.Flow {
		return engine.NewFlow("f").Map("each", engine.Map{Over: "people", As: "who", Flow: f, Pick: "amount", Into: "amounts"})
	}
	for id, f := range map[string]*engine.Flow{
		"sub/amount#1":      engine.NewFlow("f").Subflow("sub", engine.Subflow{Flow: inner}),
		"sub/0/amount#1":    engine.NewFlow("f").Subflow("sub", engine.Subflow{Flow: nested}),
		"each/0/amount#1":   each(inner),
		"each/0/0/amount#1": each(nested),
		"sub/amount@2#1":    engine.NewFlow("f").Subflow("sub", engine.Subflow{Flow: again}),
	} {
		t.Run(id, func(t *testing.T) {
			s := newStore()
			r := runner(t, s, nil)
			res, err := r.Run(ctx, f, engine.Start{Key: key("a"), State: people})
			answer := func(value string) {
				if err == nil {
					res, err = r.Resume(ctx, f, key("a"), engine.Decide{Type: engine.DecideAnswer, Value: json.RawMessage(value), By: "ann"})
				}
			}
			if strings.Contains(id, "@2") {
				answer("1")
			}
			if err != nil || waitingIDs(res.Waiting) != id {
				t.Fatalf("%+v, %v", res, err)
			}
			answer(`"three"`)
			if !errors.Is(err, engine.ErrInvalid) || !strings.Contains(err.Error(), "amount: want a whole number (int), found a string") {
				t.Errorf("got %v", err)
			}
			if last, _ := mustLatest(t, s, "a"); last.Status != stores.StatusPaused {
				t.Fatalf("a refused answer left the run %s", last.Status)
			}
			err = nil
			if answer("3"); err != nil || res.Status != stores.StatusDone {
				t.Errorf("%+v, %v", res, err)
			}
		})
	}
}

// An answer that does not pass, or whose value the state cannot hold, is asked
// for again in a typed flow too, and patience ends it.
func TestValueOfATypedFlow(t *testing.T) {
	half := func(_ engine.State, answer any) (any, bool, error) {
		n, isNumber := answer.(json.Number)
		if !isNumber {
			return nil, false, nil
		}
		v, err := n.Float64()
		return v / 2, true, err
	}
	f := func() *engine.Flow {
		return engine.NewFlow("pay").State(payment{Amount: 7}).
			InterruptLoop(engine.InterruptLoop{Key: "answer", Prompt: engine.Text("amount?"), Accept: engine.Strategy{Value: "amount", MaxRounds: 3, Check: half}})
	}
	for _, c := range []struct {
		answers []any
		amount  string
	}{
		{[]any{10}, "5"},
		{[]any{"dunno", 10}, "5"},
		{[]any{7, 10}, "5"}, // 3.5 is no whole number
		{[]any{"dunno", "dunno", "dunno"}, "0"},
		{[]any{7, 7, 7}, "0"},
	} {
		s := newStore()
		r := runner(t, s, nil)
		res, err := r.Execute(ctx, f(), execution("a"))
		for _, a := range c.answers {
			if err != nil || res.Status != stores.StatusPaused {
				t.Fatalf("%v: %+v, %v", c.answers, res, err)
			}
			res, err = r.Execute(ctx, f(), engine.Execution{Key: key("a"), Resume: map[string]any{"answer": a}})
		}
		if err != nil || res.Status != stores.StatusDone || fmt.Sprint(res.State["amount"]) != c.amount || res.State["answer_decision"] != "yes" {
			t.Errorf("%v: %+v, %v", c.answers, res, err)
		}
	}
}

// What lives for a turn is emptied as its type allows.
func TestTransientKeysOfATypedFlow(t *testing.T) {
	type talk struct {
		Messages []any  `json:"messages"`
		N        int    `json:"n"`
		List     []int  `json:"list"`
		Text     string `json:"text"`
	}
	f := engine.NewFlow("talk").State(talk{N: 3, List: []int{1}, Text: "x"}).Step("a", engine.NodeFunc(nothing)).
		Conversation(engine.Conversation{Transient: []string{"n", "list", "text", "other"}})
	r := runner(t, newStore(), nil)
	var res engine.TurnResult
	for _, message := range []string{"one", "two"} {
		var err error
		if res, err = r.Turn(ctx, f, engine.Turn{Key: key("c"), Message: message}); err != nil {
			t.Fatalf("%s: %v", message, err)
		}
	}
	delete(res.State, "messages")
	equalState(t, res.State, `{"n": 0, "list": null, "text": "", "other": ""}`)
	type failing struct {
		Error struct{ Node, Message string } `json:"error"`
	}
	bad := engine.NewFlow("talk").State(failing{}).Step("a", engine.NodeFunc(nothing)).Conversation(engine.Conversation{})
	if err := bad.Check(); !errors.Is(err, engine.ErrFlow) || !strings.Contains(err.Error(), "error to null") {
		t.Errorf("an error that cannot be null: %v", err)
	}
}
