package engine_test

import (
	"context"
	"errors"
	"testing"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

// An approval is for one run of its call. When that failed and the run is held,
// another try needs another one, also when a worker in between had nobody to ask
// once the call was logged, or died at any operation.
func TestAFailedCallSpendsItsApproval(t *testing.T) {
	nobody := func(context.Context, engine.Approval) (engine.Answer, error) {
		return engine.Answer{}, errors.New("nobody is there")
	}
	f := engine.NewFlow("shop").HoldOnError().Step("pay", engine.Call{Tool: "charge_card", Into: "paid"})
	for _, c := range []struct {
		name     string
		approver engine.Approver
	}{{"asks later", nil}, {"asks at once", nobody}} {
		for at := 1; at < 20; at++ {
			s, w := newStore(), newWorld()
			w.closed("charge_card", 1)
			tools := tool.NewRegistry(w.tool("charge_card", needsOK))
			r := runner(t, s, tools)
			if res, err := r.Run(ctx, f, start("a")); err != nil || res.Status != stores.StatusPaused {
				t.Fatalf("%+v, %v", res, err)
			}
			if _, err := r.Resume(ctx, f, key("a"), approve("pay.1")); !errors.Is(err, engine.ErrHeld) {
				t.Fatal(err)
			}
			between := runner(t, &crashing{full: s, at: at, after: true}, tools, named("second"), func(cfg *engine.Config) { cfg.Approver = c.approver })
			_, _ = between.Recover(ctx, f, key("a"), engine.RecoverOptions{}) // whatever comes of it
			if plan, err := engine.MakePlan(ctx, s, testKeys(t), key("a")); err != nil || len(plan.InDoubt) > 0 {
				continue // it died between the log and the question: a person must look first
			}
			res, err := runner(t, s, tools, named("third")).Recover(ctx, f, key("a"), engine.RecoverOptions{Takeover: true})
			if err != nil || res.Status != stores.StatusPaused || w.count("charge_card") != 1 {
				t.Fatalf("%s, crash at %d: %d charges before the second yes: %+v, %v", c.name, at, w.count("charge_card"), res, err)
			}
			if _, err = r.Record(ctx, key("a"), approve("pay.1")); err != nil {
				t.Fatal(err)
			}
			res, err = r.Recover(ctx, f, key("a"), engine.RecoverOptions{Takeover: true})
			if err != nil || res.Status != stores.StatusDone || w.count("charge_card") != 2 {
				t.Errorf("%s, crash at %d: %d charges: %+v, %v", c.name, at, w.count("charge_card"), res, err)
			}
			verified(t, s, "a")
		}
	}
}

// A worker that dies after it has claimed a held run leaves it held, at whichever
// operation: the next one tries again, and does not meet the old error.
func TestAHeldRunStaysHeldWhenItsWorkerDies(t *testing.T) {
	for at := 1; ; at++ {
		s, w := newStore(), newWorld()
		w.closed("hold_seats", 1)
		tools := w.ticketTools(idempotent)
		f := tickets().HoldOnError()
		if _, err := runner(t, s, tools).Run(ctx, f, start("a")); !errors.Is(err, engine.ErrHeld) {
			t.Fatal(err)
		}
		if _, err := runner(t, &crashing{full: s, at: at, after: true}, tools, named("second")).Recover(ctx, f, key("a"), engine.RecoverOptions{}); err == nil {
			if at < 8 {
				t.Errorf("only %d operations", at)
			}
			return
		}
		if last, _ := mustLatest(t, s, "a"); last.Status.Final() {
			continue
		}
		all, err := runner(t, s, tools, named("third")).RecoverAll(ctx, stores.DefaultOwner, engine.Flows(f), engine.RecoverOptions{Takeover: true})
		if got := all[key("a")]; err != nil || got.Err != nil || got.Result.Status != stores.StatusDone {
			t.Errorf("the second worker died at operation %d: %+v, %v", at, all, err)
		}
		verified(t, s, "a")
	}
}

// A person who says no is not asked again by the next attempt, and her no ends
// the run as one, also when the worker dies before that is saved.
func TestNoIsNotTriedAgain(t *testing.T) {
	deny := engine.Decide{Type: engine.DecideDeny, By: "ana", Note: "too dear"}
	retried := func(t *testing.T, attempts int) *engine.Flow {
		n := mustRetry(t, engine.Retry{Attempts: attempts}, engine.Call{Tool: "charge_card", Into: "paid"})
		return engine.NewFlow("shop").Node("pay", n)
	}
	for _, attempts := range []int{2, 3} {
		for at := 1; ; at++ {
			s, w := newStore(), newWorld()
			f, tools := retried(t, attempts), tool.NewRegistry(w.tool("charge_card", idempotent, needsOK))
			if res, err := runner(t, s, tools).Run(ctx, f, start("a")); err != nil || res.Status != stores.StatusPaused {
				t.Fatalf("%+v, %v", res, err)
			}
			if _, err := runner(t, s, tools).Record(ctx, key("a"), deny); err != nil {
				t.Fatal(err)
			}
			res, err := runner(t, &crashing{full: s, at: at, after: true}, tools).Recover(ctx, f, key("a"), engine.RecoverOptions{})
			last, _ := mustLatest(t, s, "a")
			finished := err == nil
			if !finished && !last.Status.Final() {
				res, err = runner(t, s, tools, named("other")).Recover(ctx, f, key("a"), engine.RecoverOptions{Takeover: true})
			}
			if last, body := mustLatest(t, s, "a"); last.Status != stores.StatusFailed || body.Error.Denied == nil || body.Error.Denied.By != "ana" || w.count("charge_card") != 0 {
				t.Errorf("%d attempts, crash at %d: %s, %+v: %+v, %v", attempts, at, last.Status, body.Error, res, err)
			}
			verified(t, s, "a")
			if finished {
				break
			}
		}
	}
}
