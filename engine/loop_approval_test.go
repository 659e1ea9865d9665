package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/model"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

// shop has a tool that is free, one that needs an approval, and a mail.
func (w *world) shop() *tool.Registry {
	return tool.NewRegistry(w.tool("hold_seats"), w.tool("charge_card", needsOK), w.tool("email_tickets"))
}

func waitingIDs(list []engine.Waiting) string {
	var out []string
	for _, w := range list {
		out = append(out, w.ID)
	}
	return strings.Join(out, " ")
}

func approve(id string) engine.Decide {
	return engine.Decide{Type: engine.DecideApprove, ID: id, By: "ana"}
}

// "A loop paused for an approval resumes through run_tool_loop with the same run_id."
func TestToolLoopPausesAndResumesWithTheSameID(t *testing.T) {
	s, w := newStore(), newWorld()
	m := talks(wants(`hold_seats {}`, `charge_card {"eur":1}`, `email_tickets {}`, `charge_card {"eur":2}`), model.Message{Content: "Done."})
	l := engine.ToolLoop{Model: m}
	r := runner(t, s, w.shop())
	res, err := r.RunToolLoop(ctx, l, loopStart("a"))
	if err != nil || res.Status != stores.StatusPaused || waitingIDs(res.Waiting) != "tools.2 tools.4" {
		t.Fatalf("got %+v, %v", res, err)
	}
	if w.count("hold_seats") != 1 || w.count("email_tickets") != 0 {
		t.Errorf("what stands before the question runs, what stands after it waits: %v", w.hits)
	}
	if res, err = r.RunToolLoop(ctx, l, loopStart("a")); err != nil || res.Status != stores.StatusPaused {
		t.Errorf("without a decision it is given back as it is: %s, %v", res.Status, err)
	}
	if _, err = r.RecoverToolLoop(ctx, l, key("a"), engine.RecoverOptions{}); err != nil {
		t.Errorf("a paused loop is not crashed: %v", err)
	}
	// The second question first: nothing runs before the first one is decided.
	again := engine.LoopStart{Key: key("a"), Decisions: []engine.Decide{approve("tools.4")}}
	if res, err = r.RunToolLoop(ctx, l, again); err != nil || waitingIDs(res.Waiting) != "tools.2" || w.count("charge_card") != 0 {
		t.Fatalf("got %s, waiting for %s, %v, %d charged", res.Status, waitingIDs(res.Waiting), err, w.count("charge_card"))
	}
	again.Decisions = []engine.Decide{approve("tools.2")}
	if res, err = r.RunToolLoop(ctx, l, again); err != nil || res.Status != stores.StatusDone {
		t.Fatalf("got %s, %v, waiting for %s", res.Status, err, waitingIDs(res.Waiting))
	}
	if w.count("hold_seats") != 1 || w.count("charge_card") != 2 || w.count("email_tickets") != 1 || m.asked() != 2 {
		t.Errorf("hits %v, the model was asked %d times", w.hits, m.asked())
	}
	if _, err = r.RunToolLoop(ctx, l, loopStart("a")); !errors.Is(err, engine.ErrCheckpointConflict) {
		t.Errorf("a loop that has ended: %v", err)
	}
	verified(t, s, "a")
}

// Several decisions at once, and one that somebody stored without running.
func TestToolLoopSpendsStoredDecisions(t *testing.T) {
	for name, bring := range map[string]func(*engine.Runner, engine.ToolLoop) (engine.Result, error){
		"both given": func(r *engine.Runner, l engine.ToolLoop) (engine.Result, error) {
			return r.RunToolLoop(ctx, l, engine.LoopStart{Key: key("a"), Decisions: []engine.Decide{approve("tools.1"), approve("tools.2")}})
		},
		"both stored": func(r *engine.Runner, l engine.ToolLoop) (engine.Result, error) {
			for _, id := range []string{"tools.2", "tools.1"} {
				if _, err := r.Record(ctx, key("a"), approve(id)); err != nil {
					t.Fatal(err)
				}
			}
			return r.RunToolLoop(ctx, l, loopStart("a"))
		},
	} {
		s, w := newStore(), newWorld()
		l := engine.ToolLoop{Model: talks(wants(`charge_card {"eur":1}`, `charge_card {"eur":2}`), model.Message{Content: "Done."})}
		r := runner(t, s, w.shop())
		if _, err := r.RunToolLoop(ctx, l, loopStart("a")); err != nil {
			t.Fatal(err)
		}
		res, err := bring(r, l)
		if err != nil || res.Status != stores.StatusDone || w.count("charge_card") != 2 {
			t.Errorf("%s: %s, %v, %d charged", name, res.Status, err, w.count("charge_card"))
		}
		verified(t, s, "a")
	}
}

// The model is told what a person denied, and the rest of its reply does not run.
func TestToolLoopTellsTheModelWhatWasDenied(t *testing.T) {
	s, w := newStore(), newWorld()
	m := talks(wants(`hold_seats {}`, `charge_card {}`, `email_tickets {}`), model.Message{Content: "Then not."})
	l := engine.ToolLoop{Model: m}
	r := runner(t, s, w.shop())
	if _, err := r.RunToolLoop(ctx, l, loopStart("a")); err != nil {
		t.Fatal(err)
	}
	no := engine.Decide{Type: engine.DecideDeny, By: "ben", Note: "too dear"}
	res, err := r.RunToolLoop(ctx, l, engine.LoopStart{Key: key("a"), Decisions: []engine.Decide{no}})
	if err != nil || res.Status != stores.StatusDone || w.count("charge_card")+w.count("email_tickets") != 0 {
		t.Fatalf("got %s, %v, hits %v", res.Status, err, w.hits)
	}
	if d := cmp.Diff([]string{
		"tool: hold_seats 1 (c1)",
		"tool: error: charge_card was denied by ben: too dear (c2)",
		"tool: error: not run, since charge_card was denied by ben: too dear (c3)",
		"assistant: Then not.",
	}, conversation(t, s, "a")[2:]); d != "" {
		t.Error(d)
	}
	verified(t, s, "a")
}

// A crash before the decision is saved leaves the loop paused; a crash after it
// is recovered by spending the stored decision. The tool acts once at most.
func TestToolLoopDecisionSurvivesACrash(t *testing.T) {
	for at := 1; ; at++ {
		s, w := newStore(), newWorld()
		l := engine.ToolLoop{Model: talks(wants(`charge_card {}`), model.Message{Content: "Done."})}
		if _, err := runner(t, s, w.shop()).RunToolLoop(ctx, l, loopStart("a")); err != nil {
			t.Fatal(err)
		}
		again := engine.LoopStart{Key: key("a"), Decisions: []engine.Decide{approve("")}}
		_, err := runner(t, &crashing{full: s, at: at, after: true}, w.shop(), named("first")).RunToolLoop(ctx, l, again)
		if err == nil {
			if at < 8 {
				t.Fatalf("operation %d was the last one", at)
			}
			return
		}
		expireLease(t, s, "a")
		last, b := mustLatest(t, s, "a")
		if (last.Status == stores.StatusPaused) == (last.Step > 2) {
			t.Errorf("at %d: step %d is %s with %d decisions", at, last.Step, last.Status, len(b.Decisions))
		}
		r := runner(t, s, w.shop(), named("second"))
		if last.Status == stores.StatusPaused {
			if w.count("charge_card") != 0 {
				t.Errorf("at %d: it ran before the decision was stored", at)
			}
			_, err = r.RunToolLoop(ctx, l, again)
		} else if _, err = r.RecoverToolLoop(ctx, l, key("a"), engine.RecoverOptions{}); errors.Is(err, engine.ErrRecoveryNeedsDecision) {
			res := engine.Resolution{Call: "tools.1", By: "olga", NotRun: w.count("charge_card") == 0}
			if !res.NotRun {
				res.Result = []byte(`"paid"`)
			}
			if err := r.Resolve(ctx, key("a"), res); err != nil {
				t.Fatal(err)
			}
			_, err = r.RecoverToolLoop(ctx, l, key("a"), engine.RecoverOptions{})
		}
		if err != nil && !errors.Is(err, engine.ErrCheckpointConflict) {
			t.Errorf("at %d: %v", at, err)
		}
		if last, _ := mustLatest(t, s, "a"); last.Status != stores.StatusDone || w.count("charge_card") != 1 {
			t.Errorf("at %d: it is %s, %d charged", at, last.Status, w.count("charge_card"))
		}
		verified(t, s, "a")
	}
}

// A loop within a flow, entered twice, in either routing and wherever its edges stand.
func TestToolLoopInAFlow(t *testing.T) {
	for _, routing := range []engine.Routing{engine.RouteAll, engine.RouteFirst} {
		s, w := newStore(), newWorld()
		m := talks(wants(`hold_seats {"n":1}`), model.Message{Content: "One."}, wants(`hold_seats {"n":2}`), model.Message{Content: "Two."})
		round := func(st engine.State) (string, error) { return fmt.Sprint("round ", st["round"]), nil }
		next := engine.NodeFunc(func(_ context.Context, st engine.State) (engine.State, error) {
			if st["round"] == nil {
				return engine.State{"round": "second"}, nil
			}
			return engine.State{"round": "last"}, nil
		})
		more := engine.Condition{Text: "once more", Test: func(st engine.State) (bool, error) { return st["round"] != "last", nil }}
		f := engine.NewFlow("f").Route(routing).Edge("ask", "next").When("next", more, "ask").
			ToolLoop("ask", engine.ToolLoop{Model: m, Prompt: round, Into: "answer", Messages: "talk"}).Node("next", next)
		if err := f.Check(); err != nil {
			t.Fatal(err)
		}
		res, err := runner(t, s, w.ticketTools()).Run(ctx, f.Entry("ask"), start("a"))
		if err != nil || res.Status != stores.StatusDone || res.State["answer"] != "Two." || w.count("hold_seats") != 2 {
			t.Fatalf("%s: %+v, %v", routing, res, err)
		}
		talk, err := engine.Messages(res.State, "talk")
		if err != nil || len(talk) != 8 || talk[4].Content != "round second" {
			t.Errorf("%s: %+v, %v", routing, talk, err)
		}
		if last, _ := mustLatest(t, s, "a"); last.Kind != "flow" {
			t.Errorf("kind %q", last.Kind)
		}
		verified(t, s, "a")
	}
}

// RecoverAll brings loops on like flows.
func TestRecoverAllRecoversLoops(t *testing.T) {
	s, w := newStore(), newWorld()
	l := engine.ToolLoop{Name: "helper", Model: talks(wants(`hold_seats {}`), model.Message{Content: "Done."})}
	if _, err := runner(t, &crashing{full: s, at: 4, after: true}, w.ticketTools()).RunToolLoop(ctx, l, loopStart("a")); err == nil {
		t.Fatal("the first worker did not crash")
	}
	expireLease(t, s, "a")
	flows := func(name string) (*engine.Flow, error) {
		if name != "helper" {
			return nil, errors.New("no such flow")
		}
		return l.Flow(), nil
	}
	all, err := runner(t, s, w.ticketTools()).RecoverAll(ctx, stores.DefaultOwner, flows, engine.RecoverOptions{})
	if got := all[key("a")]; err != nil || got.Err != nil || got.Result.Status != stores.StatusDone {
		t.Errorf("got %+v, %v", got, err)
	}
	events := savedEvents(t, s, "a")
	if !strings.Contains(strings.Join(events, "\n"), `run.recovered {"kind":"loop","replayed":[],"rerun":[],"step":`) {
		t.Errorf("events: %s", strings.Join(events, "\n"))
	}
}

// Decisions for a loop are not stored with a run of another flow.
func TestToolLoopLeavesOtherRunsAlone(t *testing.T) {
	s, w := newStore(), newWorld()
	r := runner(t, s, w.shop())
	if _, err := r.Run(ctx, tickets(), start("a")); err != nil {
		t.Fatal(err)
	}
	before, _ := mustLatest(t, s, "a")
	again := engine.LoopStart{Key: key("a"), Decisions: []engine.Decide{approve("pay.1"), approve("pay.1")}}
	if _, err := r.RunToolLoop(ctx, engine.ToolLoop{Model: talks()}, again); !errors.Is(err, engine.ErrCheckpointConflict) {
		t.Errorf("got %v", err)
	}
	if after, _ := mustLatest(t, s, "a"); after.Step != before.Step {
		t.Error("a decision was stored")
	}
}

func TestToolLoopDefinitionErrors(t *testing.T) {
	m := talks()
	for want, l := range map[string]engine.ToolLoop{
		"has no model": {},
		"at least one model call must be allowed": {Model: m, MaxSteps: -1},
		"the conversation is empty":               {Model: m},
	} {
		_, err := runner(t, newStore(), nil).RunToolLoop(ctx, l, engine.LoopStart{Key: key("a")})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if err := engine.NewFlow("f").ToolLoop("ask", engine.ToolLoop{Model: m}).End("ask").Check(); err != nil {
		t.Errorf("a loop may be an end: %v", err)
	}
}
