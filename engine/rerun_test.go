package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

// lastMoment is a store that lets a slow worker start one more call just before
// another worker's claim is saved.
type lastMoment struct {
	full
	claim func()
}

func (s *lastMoment) Save(ctx context.Context, w stores.Save) error {
	s.claim()
	return s.full.Save(ctx, w)
}

// slowStart is a slow worker's store: its started record of mail.1 waits.
type slowStart struct {
	full
	mail chan struct{}
}

func (s *slowStart) RecordCall(ctx context.Context, w stores.CallWrite) error {
	if w.Call.Node == "mail" && w.Call.Status == stores.CallStarted {
		<-s.mail
	}
	return s.full.RecordCall(ctx, w)
}

// "Run it again" is said of the calls that were in doubt then. One that the old
// worker starts after that, before it is cut off, needs a decision of its own.
func TestRerunMeansWhatWasInDoubt(t *testing.T) {
	everyStore(t, func(t *testing.T, s full) {
		w, charge, mail := newWorld(), newGate(), newGate()
		w.do["charge_card"], w.do["email_tickets"] = charge.pass, mail.pass
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
		second := &lastMoment{s, func() { close(slow.mail); <-mail.reached }}
		_, err := runner(t, second, w.ticketTools(), named("second")).Recover(ctx, f, key("a"), engine.RecoverOptions{RerunInDoubt: true, Takeover: true, By: "olga"})
		e, ok := errors.AsType[*engine.Error](err)
		if !errors.Is(err, engine.ErrRecoveryNeedsDecision) || !ok || len(e.Calls) != 1 || e.Calls[0].ID != "mail.1" {
			t.Errorf("got %v, want that mail.1 needs a decision", err)
		}
		if w.count("email_tickets") != 1 {
			t.Errorf("the mail was sent %d times", w.count("email_tickets"))
		}
		close(charge.open)
		close(mail.open)
		if err := <-first; !errors.Is(err, engine.ErrCheckpointConflict) {
			t.Errorf("the first worker: %v", err)
		}
		verified(t, s, "a")
	})
}

// A late word about a call makes it another doubt: "run it again" was said of
// one that might have run, and it did run.
func TestRerunMeansWhatWasKnown(t *testing.T) {
	everyStore(t, func(t *testing.T, s full) {
		w, charge := newWorld(), newGate()
		w.do["charge_card"] = func(ctx context.Context, in tool.Input) (any, error) {
			_, err := charge.pass(ctx, in)
			return make(chan int), err // cannot be kept
		}
		f := engine.NewFlow("f").Node("pay", engine.Call{Tool: "charge_card"})
		first := make(chan error, 1)
		go func() {
			_, err := runner(t, s, w.ticketTools(), named("first")).Run(ctx, f, start("a"))
			first <- err
		}()
		<-charge.reached
		second := &lastMoment{s, func() { close(charge.open); <-first }}
		rerun := engine.RecoverOptions{RerunInDoubt: true, Takeover: true, By: "olga"}
		_, err := runner(t, second, w.ticketTools(), named("second")).Recover(ctx, f, key("a"), rerun)
		e, ok := errors.AsType[*engine.Error](err)
		if !errors.Is(err, engine.ErrRecoveryNeedsDecision) || !ok || len(e.Calls) != 1 || e.Calls[0].ID != "pay.1" {
			t.Errorf("got %v, want that pay.1 needs a decision", err)
		}
		if w.count("charge_card") != 1 {
			t.Errorf("the card was charged %d times", w.count("charge_card"))
		}
		delete(w.do, "charge_card")
		res, err := runner(t, s, w.ticketTools(), named("third")).Recover(ctx, f, key("a"), rerun)
		if err != nil || res.Status != stores.StatusDone || w.count("charge_card") != 2 {
			t.Errorf("said again: %+v, %v, %d charges", res, err, w.count("charge_card"))
		}
		verified(t, s, "a")
	})
}

// That a call ran, and with what result, was found out by a person: the old
// worker's late word that it could not keep the result takes nothing of that back.
func TestLateWordDoesNotUndoAResolution(t *testing.T) {
	eachStore(t, func(t *testing.T, s full) {
		w, charge := newWorld(), newGate()
		w.do["charge_card"] = func(ctx context.Context, in tool.Input) (any, error) {
			_, err := charge.pass(ctx, in)
			return make(chan int), err // cannot be kept
		}
		f := engine.NewFlow("f").Node("pay", engine.NodeFunc(func(ctx context.Context, _ engine.State) (engine.State, error) {
			if _, err := engine.CallTool(ctx, "charge_card", nil); err != nil {
				return nil, err
			}
			_, err := engine.CallTool(ctx, "email_tickets", nil)
			return nil, err
		}))
		tools := w.ticketTools(func(t *tool.Tool) {
			if t.Name == "email_tickets" {
				needsOK(t)
			}
		})
		first := make(chan error, 1)
		go func() {
			_, err := runner(t, s, tools, named("first")).Run(ctx, f, start("a"))
			first <- err
		}()
		<-charge.reached
		second := runner(t, s, tools, named("second"))
		if err := second.Resolve(ctx, key("a"), engine.Resolution{Call: "pay.1", Result: json.RawMessage(`"ch_81"`), By: "olga", Takeover: true}); err != nil {
			t.Fatal(err)
		}
		res, err := second.Recover(ctx, f, key("a"), engine.RecoverOptions{Takeover: true, By: "olga"})
		if err != nil || res.Status != stores.StatusPaused {
			t.Fatalf("%+v, %v", res, err)
		}
		close(charge.open)
		<-first
		res, err = second.Resume(ctx, f, key("a"), engine.Decide{Type: engine.DecideApprove, ID: "pay.2", By: "olga"})
		if err != nil || res.Status != stores.StatusDone || w.count("charge_card") != 1 || w.count("email_tickets") != 1 {
			t.Errorf("%+v, %v, %d charges, %d mails", res, err, w.count("charge_card"), w.count("email_tickets"))
		}
		verified(t, s, "a")
	})
}
