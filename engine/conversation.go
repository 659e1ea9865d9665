package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/flowtui/flowtui/engine/model"
)

// Conversation makes a flow a conversation: where a run would end, it waits for
// the next message instead, and starts over at the entry with it.
type Conversation struct {
	Messages string // key of the list of messages; "" is "messages"
	// Transient are keys that are set to "" at the start of every turn but the
	// first; to its zero value where the state's type has one that cannot be "".
	Transient []string
}

// Conversation makes the flow a conversation, see [Runner.Turn]; its entry must
// be there already. The node "turn" is added, which waits for the next message as an interrupt does, under
// the key "message". A node that fails without an error edge ends its turn, not
// the run: the state's error says why until the next turn starts, and has the
// field "ended_turn".
func (f *Flow) Conversation(c Conversation) *Flow {
	if c.Messages == "" {
		c.Messages = "messages"
	}
	if slices.Contains(c.Transient, c.Messages) {
		f.fail("the messages of a conversation cannot be transient")
	}
	if f.talk != nil {
		f.fail("it is made a conversation twice")
		return f
	}
	if len(f.nodes) == 0 {
		f.fail("a conversation needs its first node before it is made one")
		return f
	}
	if f.entry == "" {
		f.entry = f.nodes[0].id
	}
	f.talk = &c
	if f.reducers[c.Messages] == "" {
		f.reducers[c.Messages] = Append
	}
	return f.Node(turnNode, turn{c}).Edge(turnNode, f.entry)
}

// Talks reports whether the flow is a conversation.
func (f *Flow) Talks() bool { return f.talk != nil }

const (
	turnNode = "turn"    // waits for the next message
	turnKey  = "message" // under which it asks
	errorKey = "error"   // of the state: what failed

	endedTurn = "ended_turn" // of the error: nothing in the flow took it
)

// turn waits for the next message of a conversation.
type turn struct{ c Conversation }

// Type is "turn".
func (turn) Type() string { return "turn" }

// Run puts the message into the conversation and clears what lives for a turn.
// The question shows the reply that the message is an answer to, and none when
// the turn that ended gave none: an older one would look like its word.
func (t turn) Run(ctx context.Context, s State) (State, error) {
	reply, own, err := lastReply(s, t.c.Messages)
	if err != nil {
		return nil, err
	}
	if !own {
		reply = ""
	}
	raw, err := Ask(ctx, Question{Key: turnKey, Prompt: reply, Turn: true})
	if err != nil {
		return nil, err
	}
	said, err := messageValues([]model.Message{{Role: model.User, Content: resultText(raw)}})
	if err != nil {
		return nil, err
	}
	n, err := nodeRun(ctx)
	if err != nil {
		return nil, err
	}
	update := State{t.c.Messages: grown(ctx, s, t.c.Messages, said)}
	for _, key := range t.c.Transient {
		update[key] = n.g.blank(key, "")
	}
	if _, failed := s[errorKey]; failed {
		update[errorKey] = nil
	}
	return update, nil
}

// lastReply is the newest message of the assistant, "" when there is none, and
// whether it is of the newest turn: no message of the user follows it.
func lastReply(s State, key string) (reply string, own bool, err error) {
	list, _ := s[key].([]any)
	own = true
	for _, v := range slices.Backward(list) {
		m, ok := v.(map[string]any)
		if ok && m["role"] == string(model.User) {
			own = false
		}
		if !ok || m["role"] != string(model.Assistant) {
			continue
		}
		switch text := m["content"].(type) {
		case nil:
			return "", own, nil
		case string:
			return text, own, nil
		}
		return "", false, fmt.Errorf("the newest reply in %q is no text", key)
	}
	return "", false, nil
}

// talks reports whether a node's failure ends its turn only.
func (g *graph) talks(node string) bool { return g.talk != nil && node != turnNode }

// turnEdges show the way back to the next message from where a turn surely ends.
func (g *graph) turnEdges() (edges []TopologyEdge) {
	for _, n := range g.nodes {
		if g.talks(n.id) && !slices.ContainsFunc(g.edges, func(e edge) bool { return e.from == n.id && !e.onError }) {
			edges = append(edges, TopologyEdge{From: n.id, To: []string{turnNode}})
		}
	}
	return edges
}

// endTurn lets a conversation wait for the next message where a run would end,
// also by a condition that fails, which the returned update of the state says.
// Each turn has the limit of supersteps anew.
func (s *session) endTurn(next []string, err error) (State, []string, error) {
	if s.g.talk == nil {
		return nil, next, err
	}
	if slices.Contains(s.frontier, turnNode) {
		s.supersteps = 0
	}
	var update State
	if err != nil {
		update = State{errorKey: map[string]any{"node": "", "message": validText(err.Error()), endedTurn: true}}
		next = nil
	}
	if len(next) == 0 {
		next = []string{turnNode}
	}
	return update, next, nil
}
