package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/flowtui/flowtui/engine/model"
	"github.com/flowtui/flowtui/stores"
)

// KindLoop is the kind of a run that [Runner.RunToolLoop] made; all others are
// [KindFlow].
const (
	KindFlow = "flow"
	KindLoop = "loop"
)

// DefaultMaxSteps bounds the model calls of a tool loop.
const DefaultMaxSteps = 20

// ToolLoop is a conversation with a model that may call tools. The history is
// kept in the run's state. It is saved after each reply of the model, so that
// the calls in it are pinned, and after the results of the tools; see the
// reference on durable runs, "The tool loop". A loop is a flow of two nodes, so
// a run of it recovers, pauses and verifies like any other.
//
// The tools of one reply run in its order. At a call that waits for an approval
// the calls after it wait too, though all that need one can be decided at once;
// after a denied call the rest of the reply does not run, and the model is told.
// A tool that fails does not fail the run: the model is told.
type ToolLoop struct {
	Name  string // of the flow; "" is "tool-loop"
	Model model.Model
	// Tools are the tools that the model may call, nil all of the Runner's. Name
	// them where workers differ: a worker that lacks a named tool stops, while
	// an unknown name is taken for the model's mistake.
	Tools  []string
	System string // opens a new conversation, unless it has words of the system
	// MaxSteps bounds the replies of the whole run; 0 is DefaultMaxSteps. A reply
	// is kept when its superstep ends: beside a node that asks a person, the
	// model is called anew after each answer.
	MaxSteps int64
	// Messages is the key of the state that holds the history; "" is "messages".
	// Loops that run at the same time need one each.
	Messages string
	// Prompt makes the user's message with which the loop is entered; nil: the
	// history has it already.
	Prompt func(State) (string, error)
	Into   string // key of the state that gets the text of the last reply; "" drops it
}

// LoopStart asks [Runner.RunToolLoop] for a run.
type LoopStart struct {
	Key      stores.Key      // an empty owner is the default owner, an empty run id is made up
	Messages []model.Message // of a new run: the conversation so far
	Identity stores.Identity
	// Decisions bring on a run that is paused. Without them a decision that
	// was stored is spent, and a run that waits is given back as it is.
	Decisions []Decide
}

// RunToolLoop starts a loop and works on it until the model has answered
// without calling a tool, or until it is paused or failed. A loop that is
// paused for an approval resumes here too, with the same run id; its stored
// history wins over the messages given. One that was cut short is recovered
// with [Runner.RecoverToolLoop].
func (r *Runner) RunToolLoop(ctx context.Context, l ToolLoop, s LoopStart) (Result, error) {
	f := l.Flow()
	if err := f.Check(); err != nil {
		return Result{}, err
	}
	k := s.Key
	if k.Owner == "" {
		k.Owner = stores.DefaultOwner
	}
	if k.Run != "" {
		switch last, err := r.store.Latest(ctx, k); {
		case err == nil:
			return r.resumeLoop(ctx, f, last, s)
		case !errors.Is(err, stores.ErrNotFound):
			return Result{}, err
		}
	}
	if len(s.Decisions) > 0 {
		return Result{}, NotFound(k)
	}
	history, err := messageValues(l.opened(s.Messages))
	if err != nil {
		return Result{}, &Error{Class: ErrInvalid, Key: k, Reason: "the messages cannot be kept", Err: err}
	}
	if len(history) == 0 && l.Prompt == nil {
		return Result{}, &Error{Class: ErrInvalid, Key: k, Reason: "the conversation is empty", Hint: "give a user's message"}
	}
	return r.Run(ctx, f, Start{Key: k, State: State{l.key(): history}, Identity: s.Identity})
}

// opened puts the system's words before a conversation that has none.
func (l ToolLoop) opened(messages []model.Message) []model.Message {
	isSystem := func(m model.Message) bool { return m.Role == model.System }
	if l.System == "" || len(messages) == 0 || slices.ContainsFunc(messages, isSystem) {
		return messages
	}
	return append([]model.Message{{Role: model.System, Content: l.System}}, messages...)
}

// resumeLoop brings a loop on that exists already.
func (r *Runner) resumeLoop(ctx context.Context, f *Flow, last stores.Checkpoint, s LoopStart) (Result, error) {
	k := last.Key
	if last.Flow != f.name {
		return Result{}, conflict(k, "", "it belongs to flow %q, not %q", last.Flow, f.name)
	}
	if len(s.Decisions) > 0 {
		ds := slices.Clone(s.Decisions)
		for i := range ds {
			ds[i].Identity = s.Identity
		}
		return r.resume(ctx, f, k, ds)
	}
	if last.Status == stores.StatusRunning {
		b, err := DecodeCheckpoint(last)
		if err != nil {
			return Result{}, &Error{Class: ErrCheckpointStoreCorrupt, Key: k, Err: err}
		}
		if len(b.Decisions) == 0 {
			return Result{}, conflict(k, "recover it if its worker is dead", "there is a run of this id already, it is at step %d", last.Step)
		}
	}
	return r.Recover(ctx, f, k, RecoverOptions{Identity: s.Identity})
}

// RecoverToolLoop is [Runner.Recover] for a loop.
func (r *Runner) RecoverToolLoop(ctx context.Context, l ToolLoop, k stores.Key, o RecoverOptions) (Result, error) {
	return r.Recover(ctx, l.Flow(), k, o)
}

// Flow is the loop as a flow, for [Runner.RecoverAll] and for viewers.
func (l ToolLoop) Flow() *Flow {
	name := l.Name
	if name == "" {
		name = "tool-loop"
	}
	f := NewFlow(name)
	f.kind = KindLoop
	return f.loop("model", "tools", l)
}

// ToolLoop adds a loop to a flow, as two nodes: id calls the model, id:tools
// runs the tools of its reply. Edges from id are followed when the model has
// answered without calling one.
func (f *Flow) ToolLoop(id string, l ToolLoop) *Flow { return f.loop(id, id+":tools", l) }

func (f *Flow) loop(id, tools string, l ToolLoop) *Flow {
	switch {
	case l.Model == nil:
		f.fail("tool loop %q has no model", id)
	case l.MaxSteps < 0:
		f.fail("tool loop %q: at least one model call must be allowed", id)
	}
	if l.MaxSteps == 0 {
		l.MaxSteps = DefaultMaxSteps
	}
	f.Node(id, loopModel{l}).Node(tools, loopTools{l, id})
	f.edges = append(f.edges, edge{from: id, to: []string{tools}, inner: true, cond: &Condition{
		Text: "the reply calls tools",
		Test: func(s State) (bool, error) {
			calls, err := l.pinned(s, id)
			return len(calls) > 0, err
		},
	}})
	f.Edge(tools, id)
	return f.Reduce(l.key(), Append)
}

func (l ToolLoop) key() string {
	if l.Messages == "" {
		return "messages"
	}
	return l.Messages
}

func (l ToolLoop) history(s State) ([]model.Message, error) {
	return Messages(s, l.key())
}

// Messages reads a conversation from a state.
func Messages(s State, key string) ([]model.Message, error) {
	raw, err := appendValue(nil, s[key])
	if err != nil {
		return nil, err
	}
	var out []model.Message
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, fmt.Errorf("%q in the state is no list of messages: %w", key, err)
	}
	return out, nil
}

// messageValues turns messages into values of a state.
func messageValues(messages []model.Message) ([]any, error) {
	list := []any{}
	for i, m := range messages {
		raw, err := Seal(m)
		if err != nil {
			return nil, fmt.Errorf("message %d: %w", i+1, err)
		}
		v, err := DecodeValue(raw)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// byNode is the key under which a reply in the history says which node it is of.
const byNode = "node"

// pinned are the tool calls that the newest reply of a loop's model node asks
// for. That reply must be the newest message: whoever wrote after it would take
// it for another's, or have its calls forgotten. Only that one message is
// decoded: a history is long.
func (l ToolLoop) pinned(s State, node string) ([]model.ToolCall, error) {
	list, _ := s[l.key()].([]any)
	for i := len(list) - 1; i >= 0; i-- {
		m, _ := list[i].(map[string]any)
		if m[byNode] != node {
			continue
		}
		reply, err := l.history(State{l.key(): list[i : i+1]})
		switch {
		case err != nil || len(reply[0].ToolCalls) == 0:
			return nil, err
		case i < len(list)-1:
			return nil, fmt.Errorf("somebody else wrote into %q after the reply of %q: loops that run at once need conversations of their own", l.key(), node)
		}
		return reply[0].ToolCalls, nil
	}
	return nil, nil
}
