package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/flowtui/flowtui/engine/model"
)

// loopModel calls the model once and adds its reply to the history.
type loopModel struct{ l ToolLoop }

// Type is "model".
func (loopModel) Type() string { return "model" }

// Run returns the messages that are new.
func (m loopModel) Run(ctx context.Context, s State) (State, error) {
	n, err := nodeRun(ctx)
	if err != nil {
		return nil, err
	}
	if n.visits >= m.l.MaxSteps {
		return nil, fmt.Errorf("the model was called %d times without an end, which is the limit of a run", m.l.MaxSteps)
	}
	history, err := m.l.history(s)
	if err != nil {
		return nil, err
	}
	added, err := m.l.enter(s, history)
	if err != nil {
		return nil, err
	}
	reply, err := n.complete(ctx, m.l, append(slices.Clone(history), added...))
	if err != nil {
		return nil, err
	}
	values, err := messageValues(append(added, reply))
	if err != nil {
		return nil, fmt.Errorf("the model's reply cannot be kept: %w", err)
	}
	values[len(values)-1].(map[string]any)[byNode] = n.name
	update := State{m.l.key(): values}
	if m.l.Into != "" && len(reply.ToolCalls) == 0 {
		update[m.l.Into] = reply.Content
	}
	return update, nil
}

// enter returns the messages that come before the reply: none when the model
// goes on after its tools.
func (l ToolLoop) enter(s State, history []model.Message) ([]model.Message, error) {
	var added []model.Message
	if n := len(history); n > 0 && history[n-1].Role == model.ToolRole {
		return nil, nil
	}
	if len(history) == 0 && l.System != "" {
		added = append(added, model.Message{Role: model.System, Content: l.System})
	}
	if l.Prompt != nil {
		text, err := l.Prompt(s)
		if err != nil {
			return nil, fmt.Errorf("prompt: %w", err)
		}
		added = append(added, model.Message{Role: model.User, Content: text})
	}
	if len(history)+len(added) == 0 {
		return nil, errors.New("the conversation is empty")
	}
	return added, nil
}

// complete calls the model. Inside of a container the reply is logged: it runs
// again as a whole, and another reply would call other tools.
func (n *nodeState) complete(ctx context.Context, l ToolLoop, history []model.Message) (model.Message, error) {
	specs, err := n.specs(l)
	if err != nil {
		return model.Message{}, err
	}
	once := func(ctx context.Context) (any, error) {
		reply, err := l.Model.Complete(ctx, model.Request{Messages: history, Tools: specs})
		switch {
		case err == nil:
			return settle(reply.Message)
		case ctx.Err() != nil || errors.Is(err, model.ErrRejected):
			return nil, err
		}
		return nil, n.unanswered(err)
	}
	if n.parent == nil {
		reply, err := once(ctx)
		m, _ := reply.(model.Message)
		return m, err
	}
	raw, err := n.logged(ctx, history, once)
	if err != nil {
		return model.Message{}, err
	}
	var m model.Message
	return m, json.Unmarshal(raw, &m)
}

// specs describe the tools that the model may call, in a stable order.
func (n *nodeState) specs(l ToolLoop) ([]model.ToolSpec, error) {
	names := l.Tools
	if names == nil {
		names = n.s.r.tools.Names()
	}
	var out []model.ToolSpec
	for _, name := range names {
		t, ok := n.s.r.tools.Get(name)
		if !ok {
			return nil, n.missingTool(name)
		}
		out = append(out, model.ToolSpec{Name: t.Name, Description: t.Description, Parameters: t.Parameters})
	}
	return out, nil
}

// settle makes a reply fit to be kept: it is the assistant's, every call has a
// name and an id of its own, and arguments that are no JSON object, or that
// name a key twice, are kept as the text they are.
func settle(m model.Message) (model.Message, error) {
	if m.Role != "" && m.Role != model.Assistant {
		return m, fmt.Errorf("the model answered with a message of %q", m.Role)
	}
	m.Role, m.ToolCallID, m.ToolCalls = model.Assistant, "", slices.Clone(m.ToolCalls)
	m.Content = validText(m.Content)
	taken := map[string]bool{}
	for i := range m.ToolCalls {
		c := &m.ToolCalls[i]
		c.Name, c.ID = validText(c.Name), validText(c.ID)
		for n := i + 1; c.ID == "" || taken[c.ID]; n++ {
			c.ID = fmt.Sprintf("call_%d", n)
		}
		taken[c.ID] = true
		if len(bytes.TrimSpace(c.Args)) == 0 {
			c.Args = json.RawMessage("{}")
		}
		raw, err := Seal(c.Args)
		if err != nil {
			if raw, err = Seal(validText(string(c.Args))); err != nil {
				return m, fmt.Errorf("arguments of %s: %w", c.Name, err)
			}
		}
		c.Args = raw
	}
	return m, nil
}

// loopTools runs the tools that the newest reply asks for.
type loopTools struct {
	l     ToolLoop
	model string // id of the loop's model node
}

// Type is "tools".
func (loopTools) Type() string { return "tools" }

// Run returns one message for each call.
func (t loopTools) Run(ctx context.Context, s State) (State, error) {
	n, err := nodeRun(ctx)
	if err != nil {
		return nil, err
	}
	calls, err := t.l.pinned(s, t.model)
	if err != nil {
		return nil, err
	}
	var results []model.Message
	var denied *DeniedError
	for i, c := range calls {
		var text string
		if denied != nil {
			text = "error: not run, since " + denied.Error()
		} else if text, err = n.toolResult(ctx, t.l, int64(i)+1, c, &denied); err != nil && !errors.Is(err, errPaused) {
			return nil, err
		}
		results = append(results, model.Message{Role: model.ToolRole, ToolCallID: c.ID, Content: text})
	}
	if n.paused() {
		return nil, errPaused
	}
	values, err := messageValues(results)
	return State{t.l.key(): values}, err
}

// toolResult runs one call and says what the model is told. An error is not
// for the model: this worker stops, or the run waits.
func (n *nodeState) toolResult(ctx context.Context, l ToolLoop, ordinal int64, c model.ToolCall, denied **DeniedError) (string, error) {
	t, here := n.s.r.tools.Get(c.Name)
	old, met := n.met(ordinal)
	args, err := Seal(c.Args)
	switch offered := l.Tools == nil || slices.Contains(l.Tools, c.Name); {
	case err == nil && old.replays(c.Name, digest(args)):
		t.Name = c.Name // its result is there, whether the tool is here or not
	case !here && (met || l.Tools != nil && offered):
		return "", n.missingTool(c.Name)
	case !here || !offered && !met:
		return n.noSuchTool(c.Name, l.Tools), nil
	case err != nil:
		return "error: the arguments cannot be kept: " + err.Error(), nil
	case args[0] != '{':
		return "error: the arguments are not a JSON object", nil
	}
	p, err := n.numbered(t, ordinal, args)
	if err != nil {
		return "", err
	}
	defer n.underway.Done()
	result, err := n.attempt(ctx, p)
	var failed *ToolError
	switch {
	case err == nil:
		return resultText(result), nil
	case errors.As(err, denied):
		return "error: " + (*denied).Error(), nil
	case errors.As(err, &failed):
		return "error: " + failed.Message, nil
	}
	return "", err
}

// met reports whether a call of this superstep was logged, decided on or asked
// about before, on any worker. Such a call is no mistake of the model, though
// its tool be unknown here.
func (n *nodeState) met(ordinal int64) (old CallInfo, met bool) {
	id := CallID(n.id, ordinal)
	old, met = n.s.replay[callKey{n.s.base, n.id, ordinal}]
	return old, met ||
		slices.ContainsFunc(n.s.decisions, func(d Decision) bool { return d.ID == id && d.Base == n.s.base }) ||
		slices.ContainsFunc(n.s.asked, func(w Waiting) bool { return w.ID == id })
}

func (n *nodeState) noSuchTool(name string, known []string) string {
	if known == nil {
		known = n.s.r.tools.Names()
	}
	if len(known) == 0 {
		return fmt.Sprintf("error: there is no tool %q, and no other one", name)
	}
	return fmt.Sprintf("error: there is no tool %q, only %s", name, strings.Join(known, ", "))
}

// resultText is what a model reads: a text as it is, all else as JSON.
func resultText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}
