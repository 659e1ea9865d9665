package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/flowtui/flowtui/engine/model"
	"github.com/flowtui/flowtui/stores"
)

// Turn asks [Runner.Turn] for one turn of a conversation.
type Turn struct {
	Key     stores.Key // the run is the session; an empty owner is the default owner, an empty id is made up
	Message string
	// Initial makes the state of a new session; nil: the flow's initial state. A
	// list of messages in it is replaced.
	Initial  func() (State, error)
	Identity stores.Identity
	By       string // who writes; "" is the identity's user, else the owner
	// Question is the TurnResult.Question that the message is an answer to: it is
	// refused when something else is asked by now. "" is whatever is asked.
	Question string
	// New is for a message whose writer saw no session: it is refused when there
	// is one by now, as nobody saw what that asks.
	New bool
	// Strict and Unchecked are those of [Decide], of a message that answers an interrupt.
	Strict, Unchecked bool
}

// TurnResult is what a turn came to.
type TurnResult struct {
	SessionID string
	Owner     string
	Reply     string   // the newest message of the assistant, "" when there is none
	Replied   bool     // Reply is of this turn, else of one before: not to be shown as what came of the message
	Waiting   bool     // the turn is not over: it waits for a person
	Prompt    string   // of the interrupt, when Waiting
	Key       string   // of the interrupt, when Waiting
	Choices   []string // of the interrupt, when it has some
	Want      *Want    // what passes, as far as it is known
	State     State    // when the turn is over
	// Question names what the next message answers: the interrupt, or the turn. A
	// Turn with it cannot land on a question that was asked meanwhile.
	Question string
	// Open is all that the turn waits for. When it is more than one interrupt, or
	// an approval, Resume brings it on and not a message.
	Open []Waiting
}

// Turn brings a conversation on by one message. A new session starts with it; a
// session that waits for an interrupt takes it as the answer; else it is added
// to the messages, the transient keys are cleared and the flow runs from its
// entry. That the turn waits for a person is no error. A turn that failed is
// [ErrTurn], with what was reached, and the next message starts a new one. A
// turn that was cut short is finished first, and is the result when this very
// message began it: who did not learn what came of a message may send it again
// at once, and later with Question or New. When a question comes of another
// one's turn, which nobody has seen yet, the message is refused with
// [ErrCheckpointConflict].
//
// The flow must be a [Flow.Conversation].
func (r *Runner) Turn(ctx context.Context, f *Flow, t Turn) (TurnResult, error) {
	if t.Key.Owner == "" {
		t.Key.Owner = stores.DefaultOwner
	}
	if err := f.Check(); err != nil {
		return TurnResult{}, err
	}
	if f.talk == nil {
		return TurnResult{}, &Error{Class: ErrFlow, Key: t.Key, Reason: fmt.Sprintf("flow %q is no conversation", f.name), Hint: "make it one with Flow.Conversation"}
	}
	if t.New && t.Question != "" {
		return TurnResult{}, invalid(t.Key, "a message that starts a session answers no question, not %q", t.Question)
	}
	if t.Key.Run == "" {
		t.Key.Run = r.ids()
	}
	res, err := r.turn(ctx, f, t)
	if res.Key.Run == "" || res.State == nil {
		return TurnResult{SessionID: t.Key.Run, Owner: t.Key.Owner}, err
	}
	out, failed := f.turnResult(res)
	return out, errors.Join(err, failed)
}

func (r *Runner) turn(ctx context.Context, f *Flow, t Turn) (Result, error) {
	last, err := r.store.Latest(ctx, t.Key)
	switch {
	case errors.Is(err, stores.ErrNotFound) && t.Question != "":
		return Result{}, NotFound(t.Key)
	case errors.Is(err, stores.ErrNotFound):
		return r.startSession(ctx, f, t)
	case err != nil:
		return Result{}, err
	case last.Flow != f.name:
		return Result{}, conflict(t.Key, "", "it belongs to flow %q, not %q", last.Flow, f.name)
	}
	begun, err := r.begunBy(ctx, f, t, last)
	if err != nil {
		return Result{}, err
	}
	if t.New && !begun {
		return Result{}, conflict(t.Key, "look at it, then send the message again", "the session is there already, and what it asks was not seen")
	}
	res, err := r.Recover(ctx, f, t.Key, RecoverOptions{Identity: t.Identity})
	if err != nil {
		return Result{}, err
	}
	if begun {
		return res, nil
	}
	if last.Status == stores.StatusRunning && waitsFor(res.Waiting) != turnNode {
		return res, conflict(t.Key, "answer what it asks", "the turn before was cut short and has been finished now; the message was not taken")
	}
	question, err := t.answers(res)
	if err != nil {
		return res, err
	}
	value, err := Seal(t.Message)
	if err != nil {
		return res, &Error{Class: ErrInvalid, Key: t.Key, Reason: "the message cannot be kept", Err: err}
	}
	return r.Resume(ctx, f, t.Key, Decide{
		Type: DecideAnswer, ID: question, Value: value, By: answerer(t.By, t.Identity, t.Key), Identity: t.Identity, Strict: t.Strict, Unchecked: t.Unchecked,
	})
}

// answers is the id of the question that the message answers.
func (t Turn) answers(res Result) (string, error) {
	if t.Question != "" {
		return t.Question, nil // whether it is still open is seen where it is answered
	}
	var open, keys []string
	for _, w := range res.Waiting {
		if w.Type == WaitInterrupt {
			open, keys = append(open, w.ID), append(keys, w.name())
		}
	}
	switch len(open) {
	case 1:
		return open[0], nil
	case 0:
		return "", conflict(t.Key, "approve or deny it first", "it waits for an approval, not for a message")
	}
	return "", &Error{Class: ErrInvalid, Key: t.Key, Reason: "it waits for several answers: " + strings.Join(keys, ", "), Hint: "name the one that the message is for"}
}

// waitsFor is the node of the one thing that is waited for, "" for several.
func waitsFor(list []Waiting) string {
	if len(list) != 1 {
		return ""
	}
	return list[0].Node
}

// startSession starts a session with its first message.
func (r *Runner) startSession(ctx context.Context, f *Flow, t Turn) (Result, error) {
	state := f.initial.Clone()
	if t.Initial != nil {
		var err error
		if state, err = t.Initial(); err != nil {
			return Result{}, fmt.Errorf("run %q: its initial state: %w", t.Key.Run, err)
		}
		state = state.Clone()
	}
	said, err := messageValues([]model.Message{{Role: model.User, Content: t.Message}})
	if err != nil {
		return Result{}, &Error{Class: ErrInvalid, Key: t.Key, Reason: "the message cannot be kept", Err: err}
	}
	state[f.talk.Messages] = said
	return r.Run(ctx, f, Start{Key: t.Key, State: state, Identity: t.Identity})
}

// turnResult reads a turn's result from where the run stands.
func (f *Flow) turnResult(res Result) (TurnResult, error) {
	out := TurnResult{SessionID: res.Key.Run, Owner: res.Key.Owner}
	var err error
	if out.Reply, out.Replied, err = lastReply(res.State, f.talk.Messages); err != nil {
		return out, err
	}
	if res.Status == stores.StatusFailed {
		return out, &Error{Class: ErrTurn, Key: res.Key, Reason: "the session has ended: " + res.Error, Hint: "start another one"}
	}
	if node := waitsFor(res.Waiting); node == turnNode {
		out.Question, out.State = res.Waiting[0].ID, res.State
		if failed, ok := res.State[errorKey].(map[string]any); ok && failed[endedTurn] == true {
			err = &Error{Class: ErrTurn, Key: res.Key, Reason: fmt.Sprintf("the turn failed at %q: %s", failed["node"], failed["message"]), Hint: "the session goes on with the next message"}
		}
		return out, err
	}
	out.Waiting, out.Open = len(res.Waiting) > 0, res.Waiting
	for _, w := range res.Waiting {
		if w.Type == WaitInterrupt {
			out.Prompt, out.Key, out.Choices, out.Want, out.Question = w.Prompt, w.Key, w.Choices, w.Want, w.ID
			break
		}
	}
	return out, nil
}
