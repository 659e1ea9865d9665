package viewer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/model"
)

// talk is a list of messages in a state, as it is stored.
type talk struct {
	key      string
	messages []message
	newest   int // index of the newest reply, if nothing but results follows it; else -1
}

// message is one message as it is stored.
type message struct {
	raw     []byte
	role    string
	content string
	calls   []wish
	answers string
	odd     string   // why it is none
	rest    []string // keys that no message has
	under   int      // 1-based index of the reply that it follows and answers
}

// wish is a call that a reply asks for.
type wish struct {
	id, name string
	args     []byte
	answer   int // 1-based index of the message that answers it
}

// asks reports that the conversation ends with calls that have no result.
func (t talk) asks() bool {
	return t.newest >= 0 && slices.ContainsFunc(t.messages[t.newest].calls, func(w wish) bool { return w.answer == 0 })
}

// hasTalk reports whether a state has a list of messages.
func hasTalk(state []byte) bool {
	for m := range members(state) {
		if holdsMessages(m.raw) {
			return true
		}
	}
	return false
}

// talksIn finds the lists of messages in a state, sorted by key.
func talksIn(state []byte) []talk {
	var found []talk
	for m := range members(state) {
		if holdsMessages(m.raw) {
			found = append(found, readTalk(m.key, m.raw))
		}
	}
	slices.SortStableFunc(found, func(a, b talk) int { return strings.Compare(a.key, b.key) })
	return found
}

// chooseTalk puts the conversation of the run's tool loop first: a loop appends
// to its messages. Of several loops the one that asks for something comes first.
func chooseTalk(found []talk, t engine.Topology) {
	looped := func(k string) bool { return hasLoop(t) && t.Reducers[k] == engine.Append }
	rank := func(t talk) int {
		switch {
		case looped(t.key) && t.asks():
			return 0
		case looped(t.key):
			return 1
		}
		return 2
	}
	slices.SortStableFunc(found, func(a, b talk) int { return cmp.Compare(rank(a), rank(b)) })
}

// holdsMessages reports whether a value is a list that has a message. Other
// things may be among its items: they do not hide the messages.
func holdsMessages(list []byte) bool {
	if list[0] != '[' {
		return false
	}
	for m := range members(list) {
		if m.raw[0] == '{' && mayBeMessage(m.raw) && readMessage(m.raw).odd == "" {
			return true
		}
	}
	return false
}

// mayBeMessage keeps long lists of other things from being decoded.
func mayBeMessage(raw []byte) bool {
	return bytes.Contains(raw, []byte("role")) && (bytes.Contains(raw, []byte("content")) || bytes.Contains(raw, []byte("tool_calls")))
}

func readTalk(key string, list []byte) talk {
	t := talk{key: key, newest: -1}
	for m := range members(list) {
		t.messages = append(t.messages, readMessage(m.raw))
	}
	reply, open := -1, map[string]int{} // the calls of the last reply that wait for a result
	for i := range t.messages {
		m := &t.messages[i]
		switch {
		case m.odd == "" && m.role == string(model.Assistant):
			reply, open = i, map[string]int{}
			for j := len(m.calls) - 1; j >= 0; j-- {
				open[m.calls[j].id] = j
			}
		case m.odd == "" && m.role == string(model.ToolRole):
			if j, ok := open[m.answers]; ok && reply >= 0 {
				delete(open, m.answers)
				m.under, t.messages[reply].calls[j].answer = reply+1, i+1
			}
		default:
			reply, open = -1, nil
		}
	}
	t.newest = reply
	return t
}

// readMessage reads one message, or says why it is none.
func readMessage(raw []byte) message {
	m := message{raw: raw}
	if raw[0] != '{' {
		return m.oddly("it is no object")
	}
	fields := map[string][]byte{}
	for f := range members(raw) {
		fields[f.key] = f.raw // of a key that is there twice the last one counts, as for the engine
	}
	var ok bool
	if m.role, ok = textOf(fields["role"]); !ok || !isRole(m.role) {
		m.role = ""
		return m.oddly("its role is none of system, user, assistant and tool")
	}
	if fields["content"] == nil && fields["tool_calls"] == nil {
		return m.oddly("it has neither content nor tool_calls")
	}
	if m.content, ok = textOf(fields["content"]); !ok {
		return m.oddly("its content is no text")
	}
	if m.answers, ok = textOf(fields["tool_call_id"]); !ok {
		return m.oddly("its tool_call_id is no text")
	}
	if calls := fields["tool_calls"]; calls != nil && string(calls) != "null" {
		if m.calls, ok = readWishes(calls); !ok || len(m.calls) > 0 && m.role != string(model.Assistant) {
			m.calls = nil
			return m.oddly("its tool_calls are not those of a reply")
		}
	}
	for k := range fields {
		// node is the engine's own mark, and says which loop a reply is of
		if k != "role" && k != "content" && k != "tool_calls" && k != "tool_call_id" && k != "node" {
			m.rest = append(m.rest, k)
		}
	}
	slices.Sort(m.rest)
	return m
}

func (m message) oddly(why string) message {
	m.odd = why
	return m
}

func isRole(s string) bool {
	switch model.Role(s) {
	case model.System, model.User, model.Assistant, model.ToolRole:
		return true
	}
	return false
}

// textOf is a text, or "" for null and for what is not there.
func textOf(raw []byte) (string, bool) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", true
	}
	if raw[0] != '"' {
		return "", false
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), true
	}
	text, _ := unquote(raw, -1)
	return text, true
}

func readWishes(raw []byte) ([]wish, bool) {
	var list []struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	}
	if json.Unmarshal(raw, &list) != nil {
		return nil, false
	}
	var calls []wish
	for _, c := range list { // one without a name is a mistake of the model, which the engine tells it
		calls = append(calls, wish{id: c.ID, name: c.Name, args: c.Args})
	}
	return calls, true
}

// member is a value of an object, with its key, or of a list.
type member struct {
	key string
	raw []byte
}

// members walks the values of an object or a list in their order, without
// building them. Other JSON has none.
func members(data []byte) iter.Seq[member] {
	return func(yield func(member) bool) {
		scan, key, start := jsonScan{data: data}, "", 0
		for {
			t := scan.next()
			depth, end := len(scan.stack), -1
			switch {
			case t.kind == tokenEnd:
				return
			case t.kind == tokenOpen && depth == 2:
				start = t.start
			case t.kind == tokenKey && depth == 1:
				key, _ = unquote(data[t.start:t.end], -1)
			case t.kind == tokenClose && depth == 1, depth == 1 && (t.kind == tokenString || t.kind == tokenLiteral):
				if t.kind != tokenClose {
					start = t.start
				}
				end = t.end
			}
			if end > 0 && !yield(member{key, data[start:end]}) {
				return
			}
		}
	}
}
