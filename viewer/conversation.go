package viewer

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/stores"
)

// Conversation is a list of messages in a run's state, at one step.
type Conversation struct {
	Step     int64
	Latest   bool     // the run stands at this step
	Key      string   // of the state, "" when nothing there is a list of messages
	Others   []string // other keys that hold messages too
	Messages []Message
	Masked   int // how many values are masked
}

// Message is one message. Its JSON is part of the contract of `flowtui show`.
type Message struct {
	N       int        `json:"n"` // 1, 2, …
	Role    string     `json:"role"`
	Text    string     `json:"content" scrub:"lines"`
	Calls   []ToolCall `json:"tool_calls,omitempty"`
	Answers string     `json:"tool_call_id,omitempty"` // of a tool: id of the tool call
	// Odd is why it is no message. Then Value is what is there instead.
	Odd    string          `json:"malformed,omitempty"`
	Value  json.RawMessage `json:"value,omitempty" mask:"done"`
	Rest   []string        `json:"other_keys,omitempty"` // that no message has
	Masked int             `json:"masked,omitempty"`
	Under  int             `json:"-"` // N of the reply whose call it answers, right behind it
}

// ToolCall is a call that a reply asks for, with what the call log says of it.
type ToolCall struct {
	ID     string          `json:"id"`
	Name   string          `json:"name"`
	Args   json.RawMessage `json:"args" mask:"done"`
	Status CallState       `json:"status"`
	// Pending says that it is of the newest reply, has no result, and the run
	// has not ended.
	Pending  bool            `json:"pending,omitempty"`
	Call     string          `json:"call,omitempty"` // id in the call log
	Step     int64           `json:"step,omitempty"` // and base step of its superstep
	Approval string          `json:"approval,omitempty"`
	Result   json.RawMessage `json:"result,omitempty" mask:"done"` // as logged
	Error    string          `json:"error,omitempty"`
	Why      string          `json:"why,omitempty"`
	Masked   int             `json:"masked,omitempty"` // in the arguments and the result
	Digest   string          `json:"-"`                // of the arguments as logged, hex
	Answer   int             `json:"-"`                // N of the message that tells the model its result, 0 for none
}

// Word is how the call stands, as people read it.
func (c ToolCall) Word() string {
	if c.Pending && c.Status == CallNotRun {
		return "not run yet"
	}
	return c.Status.Word()
}

// Logged is the call in the call log, "" for one that is not there. Its step says
// which reply it is of: calls of several replies have the same id.
func (c ToolCall) Logged() string {
	if c.Call == "" {
		return ""
	}
	return fmt.Sprintf("%s (step %d)", c.Call, c.Step)
}

// Conversation returns the messages in the state at a step; -1 is the latest.
// Several keys of the state may hold messages: then it is that of the run's tool
// loop, else the first by name. Masked values are counted; reveal shows them.
func (s *Service) Conversation(ctx context.Context, ref Ref, step int64, reveal bool) (Conversation, error) {
	a, k, err := s.at(ref)
	if err != nil {
		return Conversation{}, err
	}
	c, err := checkpointAt(ctx, a, k, step)
	if err != nil {
		return Conversation{}, s.absent(ctx, a, k, err)
	}
	body, err := decodeCheckpoint(c)
	if err != nil {
		return Conversation{}, Problem{Code: codeCorrupt, Message: fmt.Sprintf("step %d: %v", c.Step, err), Run: k.Run}
	}
	v := Conversation{Step: c.Step, Messages: []Message{}}
	t, known, err := topology(ctx, a, c.Digest)
	if err != nil {
		return Conversation{}, err
	}
	found := talksIn(body.State)
	chooseTalk(found, t)
	f, calls, live, err := s.callsAt(ctx, a, k, c, body)
	if err != nil {
		return Conversation{}, s.absent(ctx, a, k, err)
	}
	v.Latest = live
	if len(found) > 0 {
		calls = slices.DeleteFunc(calls, func(c engine.CallInfo) bool { return !ofLoop(c.Node, t, known) })
		w := talkWriter{talk: found[0], facts: f, live: live, loop: isLoop(c.Kind, t), reveal: reveal, links: linkCalls(found[0], calls, f)}
		v.Key, v.Messages, v.Masked = found[0].key, w.messages(), w.masked
		for _, other := range found[1:] {
			v.Others = append(v.Others, other.key)
		}
	}
	return out(s, v, reveal), nil
}

// talks reports whether the run has a conversation to show: it is of a tool
// loop, or its newest state, if that was not too large to be read, holds messages.
func talks(kind string, t engine.Topology, state []byte) bool {
	return isLoop(kind, t) || hasTalk(state)
}

func isLoop(kind string, t engine.Topology) bool { return kind == engine.KindLoop || hasLoop(t) }

func hasLoop(t engine.Topology) bool {
	return slices.ContainsFunc(t.Nodes, func(n engine.TopologyNode) bool { return n.Type == "model" })
}

// ofLoop reports whether a node runs the tools of a loop. Where the flow's
// shape is not known its name tells.
func ofLoop(node string, t engine.Topology, known bool) bool {
	if !known {
		return node == "tools" || strings.HasSuffix(node, ":tools")
	}
	return slices.ContainsFunc(t.Nodes, func(n engine.TopologyNode) bool { return n.ID == node && n.Type == "tools" })
}

// callsAt is the call log as it was when the checkpoint was saved, with what is
// known of the run then. The newest checkpoint is seen as of now: calls of its
// superstep may be under way.
func (s *Service) callsAt(ctx context.Context, a *attachment, k stores.Key, c stores.Checkpoint, b engine.Checkpoint) (facts, []engine.CallInfo, bool, error) {
	g, err := s.glimpse(ctx, a, k)
	if err != nil {
		return facts{}, nil, false, err
	}
	rows, err := a.store.Calls(ctx, k, 0)
	if err != nil {
		return facts{}, nil, false, err
	}
	live := g.head.Step == c.Step && g.head.Incarnation == c.Incarnation
	f := s.facts(g)
	if !live {
		rows = slices.DeleteFunc(rows, func(r stores.Call) bool { return r.Segment > c.Segment || r.Segment == c.Segment && r.N > c.Calls })
		f = facts{status: string(c.Status), step: c.Step, base: c.Base, at: b.Frontier, now: f.now}
		for _, w := range b.Waiting {
			f.waiting = append(f.waiting, waitingOf(w, true))
		}
	}
	calls := slices.DeleteFunc(engine.FoldCalls(rows), func(i engine.CallInfo) bool { return i.Step > c.Base })
	return f, calls, live, s.decided(ctx, a, k, &f, calls, b.Decisions)
}

// talkWriter makes messages for showing.
type talkWriter struct {
	talk   talk
	facts  facts
	live   bool
	loop   bool // the run has a tool loop
	reveal bool
	links  map[callPlace]engine.CallInfo
	masked int
}

func (w *talkWriter) messages() []Message {
	level := public
	if !w.reveal {
		level = secrecyOf(w.talk.key)
	}
	list := make([]Message, len(w.talk.messages))
	for i, m := range w.talk.messages {
		v := Message{N: i + 1, Role: m.role, Answers: m.answers, Odd: m.odd, Rest: m.rest, Under: m.under}
		if m.odd != "" {
			v.Value, v.Masked = w.json(m.raw, level)
		} else {
			v.Text, v.Masked = w.text(m.content, level)
		}
		for j, wish := range m.calls {
			v.Calls = append(v.Calls, w.call(callPlace{i, j}, wish, level))
		}
		w.masked += v.Masked
		list[i] = v
	}
	return list
}

func (w *talkWriter) call(at callPlace, c wish, level secrecy) ToolCall {
	v := ToolCall{ID: c.id, Name: c.name, Answer: c.answer, Pending: c.answer == 0 && at.message == w.talk.newest && !w.facts.final()}
	v.Args, v.Masked = w.json(c.args, level)
	if logged, ok := w.links[at]; ok {
		call := callOf(logged, w.facts, w.reveal)
		v.Call, v.Step, v.Digest, v.Status = call.ID, call.Step, call.Digest, call.State
		v.Result, v.Error, v.Why = call.Result, call.Error, call.Why
		if !w.reveal {
			v.Masked += maskJSON(asJSON(logged.Result)).Count()
		}
		if w.live && v.Status == CallWaiting {
			v.Approval = call.ID
		}
	} else {
		v.Status, v.Why = w.unlogged(c, v.Pending)
	}
	w.masked += v.Masked
	return v
}

// unlogged is how a call stands of which the log has nothing. The engine logs a
// call before it can run, so in a loop it did not run.
func (w *talkWriter) unlogged(c wish, pending bool) (CallState, string) {
	if pending || w.loop && c.answer == 0 {
		return CallNotRun, ""
	}
	if c.answer > 0 {
		told := w.talk.messages[c.answer-1].content
		for _, refused := range notRunTexts {
			if strings.HasPrefix(told, refused) {
				return CallNotRun, ""
			}
		}
		return CallUnlogged, "it has a result, and the call log has no call that it is of"
	}
	return CallUnlogged, "it has no result, and the call log has no call of it"
}

// notRunTexts begin what a tool loop tells a model of calls that it cannot make.
var notRunTexts = []string{
	"error: not run, since ", "error: there is no tool ", "error: the arguments are not a JSON object", "error: the arguments cannot be kept: ",
}

// json masks a value below a key of some secrecy.
func (w *talkWriter) json(raw []byte, level secrecy) (json.RawMessage, int) {
	raw = asJSON(raw)
	if w.reveal {
		return raw, 0
	}
	m := maskBelow(raw, level)
	return m.JSON, m.Count()
}

// text masks a text. One that is JSON, like most results of tools, is masked by
// its keys too.
func (w *talkWriter) text(s string, level secrecy) (string, int) {
	switch trimmed := strings.TrimSpace(s); {
	case w.reveal || s == "":
		return s, 0
	case level > public:
		return hidden, 1
	case trimmed != "" && (trimmed[0] == '{' || trimmed[0] == '[') && json.Valid([]byte(trimmed)):
		m := maskValid([]byte(trimmed))
		if bytes.Equal(m.JSON, []byte(trimmed)) {
			return s, 0
		}
		return string(m.JSON), m.Count()
	}
	masked, changed := maskText(s)
	if changed {
		return masked, 1
	}
	return s, 0
}
