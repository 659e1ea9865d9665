package engine_test

import (
	"context"
	"errors"
	"testing"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

// bank is a conversation that thinks, and transfers 100 when it is told to.
func bank(think engine.Node) *engine.Flow {
	return engine.NewFlow("bank").
		Step("think", think).
		Step("do", engine.NodeFunc(func(ctx context.Context, s engine.State) (engine.State, error) {
			talk, err := engine.Messages(s, "messages")
			if err != nil || talk[len(talk)-1].Content != "transfer 100" {
				return nil, err
			}
			_, err = engine.CallTool(ctx, "transfer", map[string]any{"eur": 100})
			return nil, err
		})).
		Conversation(engine.Conversation{})
}

// A worker dies at any store operation of a turn, and whoever wrote the message
// did not learn the outcome and sends it again: the transfer is made once, or it
// is left to somebody to say whether it was made.
func TestAMessageThatIsSentAgainActsOnce(t *testing.T) {
	turn := engine.Turn{Key: key("a"), Message: "transfer 100", By: "ana"}
	first, later := turn, turn
	first.New, later.Question = true, "turn#1"
	for name, c := range map[string]struct {
		before []string // messages that were taken
		turn   engine.Turn
		blind  bool // the turn does not say what it answers
	}{
		"first":          {nil, first, false},
		"first, unnamed": {nil, turn, true},
		"later":          {[]string{"hi"}, later, false},
		"later, unnamed": {[]string{"hi"}, turn, true},
		"after the same": {[]string{"hi", "hi"}, engine.Turn{Key: key("a"), Message: "transfer 100", By: "ana", Question: "turn#2"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, after := range []bool{false, true} {
				crashes := 0
				for at := 1; ; at++ {
					if !sentAgain(t, c.before, c.turn, c.blind, at, after) {
						break
					}
					crashes++
				}
				if crashes < 8 {
					t.Errorf("after %v: it crashed %d times only", after, crashes)
				}
			}
		})
	}
}

// sentAgain sends a message to a worker that crashes, and then to another one.
func sentAgain(t *testing.T, before []string, turn engine.Turn, blind bool, at int, after bool) (crashed bool) {
	t.Helper()
	s, w := newStore(), newWorld()
	tools := tool.NewRegistry(w.tool("transfer"))
	for _, message := range before {
		if _, err := runner(t, s, tools).Turn(ctx, bank(engine.NodeFunc(nothing)), engine.Turn{Key: turn.Key, Message: message, By: "ana"}); err != nil {
			t.Fatal(err)
		}
	}
	c := &crashing{full: s, at: at, after: after}
	if _, err := runner(t, c, tools, named("first")).Turn(ctx, bank(engine.NodeFunc(nothing)), turn); !errors.Is(err, errCrash) {
		if err != nil || w.count("transfer") != 1 {
			t.Fatalf("at %d, after %v: %v, %d transfers", at, after, err, w.count("transfer"))
		}
		return false
	}
	expireLease(t, s, turn.Key.Run)
	last, err := s.Latest(ctx, turn.Key)
	over := err == nil && last.Status == stores.StatusPaused && w.count("transfer") == 1 // the turn was ended, only that was not told
	if over && blind {
		return true // nothing says that this is not a wish for another one
	}
	_, err = runner(t, s, tools, named("second")).Turn(ctx, bank(engine.NodeFunc(nothing)), turn)
	switch n := w.count("transfer"); {
	case over && n == 1 && errors.Is(err, engine.ErrCheckpointConflict):
	case errors.Is(err, engine.ErrRecoveryNeedsDecision) && n <= 1:
	case over || err != nil || n != 1:
		t.Errorf("at %d, after %v: %d transfers, %v", at, after, n, err)
	}
	return true
}

// Somebody else's message, or another one, is not the one that began a turn.
func TestAMessageThatDidNotBeginATurn(t *testing.T) {
	for name, c := range map[string]struct {
		by, message string
		transfers   int
		next        string
	}{
		"the same":         {"ana", "transfer 100", 1, "turn#2"},
		"of somebody else": {"bob", "transfer 100", 2, "turn#3"},
		"of other words":   {"ana", "transfer 100 more", 1, "turn#3"},
	} {
		t.Run(name, func(t *testing.T) {
			s, w := newStore(), newWorld()
			r := runner(t, s, tool.NewRegistry(w.tool("transfer")))
			turn := engine.Turn{Key: key("a"), Message: "hi", By: "ana"}
			if _, err := r.Turn(ctx, bank(engine.NodeFunc(nothing)), turn); err != nil {
				t.Fatal(err)
			}
			turn.Message = "transfer 100"
			stopped, stop := context.WithCancel(ctx)
			dying := bank(engine.NodeFunc(func(context.Context, engine.State) (engine.State, error) {
				stop() // the worker dies when it has begun the turn
				return nil, nil
			}))
			if _, err := r.Turn(stopped, dying, turn); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			turn.By, turn.Message = c.by, c.message
			res, err := r.Turn(ctx, bank(engine.NodeFunc(nothing)), turn)
			if err != nil || w.count("transfer") != c.transfers || res.Question != c.next {
				t.Errorf("%d transfers, %+v, %v", w.count("transfer"), res, err)
			}
		})
	}
}
