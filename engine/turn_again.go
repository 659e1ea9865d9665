package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/flowtui/flowtui/engine/model"
	"github.com/flowtui/flowtui/stores"
)

// begunBy reports whether the turn that was cut short at a checkpoint was begun
// by this message of this writer: taking the message once more would do twice
// what was asked for once. Where the store keeps no history, only a turn that
// was cut short at its first superstep can be told.
func (r *Runner) begunBy(ctx context.Context, f *Flow, t Turn, last stores.Checkpoint) (bool, error) {
	if last.Status != stores.StatusRunning {
		return false, nil
	}
	first, err := r.turnStart(ctx, last)
	if err != nil {
		return false, err
	}
	b, err := DecodeCheckpoint(first)
	if err != nil {
		return false, &Error{Class: ErrCheckpointStoreCorrupt, Key: t.Key, Err: err}
	}
	if first.Step == 0 {
		return t.Question == "" && f.startedWith(b, t.Message), nil
	}
	value, err := Seal(t.Message)
	if err != nil {
		return false, &Error{Class: ErrInvalid, Key: t.Key, Reason: "the message cannot be kept", Err: err}
	}
	by := answerer(t.By, t.Identity, t.Key)
	return !t.New && slices.ContainsFunc(b.Decisions, func(d Decision) bool {
		return d.Type == DecideAnswer && d.By == by && string(d.Value) == string(value) && (t.Question == "" || t.Question == d.ID || t.Question == d.Key)
	}), nil
}

// turnStart is the checkpoint that a turn goes on from: the one with the
// decisions that ended the last pause, or the run's first.
func (r *Runner) turnStart(ctx context.Context, c stores.Checkpoint) (stores.Checkpoint, error) {
	history, ok := r.store.(stores.Historian)
	for ok && c.Step > 0 {
		before, err := history.At(ctx, c.Key, c.Step-1)
		if errors.Is(err, stores.ErrNotFound) {
			break // whether steps are missing is for who verifies the run
		}
		if err != nil {
			return c, err
		}
		if before.Status != stores.StatusRunning || before.Incarnation != c.Incarnation {
			break
		}
		c = before
	}
	return c, nil
}

// startedWith reports whether a session was started with this message.
func (f *Flow) startedWith(b Checkpoint, message string) bool {
	state, err := DecodeState(b.State)
	if err != nil {
		return false
	}
	talk, err := Messages(state, f.talk.Messages)
	return err == nil && len(talk) == 1 && talk[0].Role == model.User && talk[0].Content == message
}
