package teff

import (
	"strings"

	"github.com/flowtui/flowtui/engine/teff/py"
)

// contextBuilder writes labelled blocks of state keys and the last user
// message as one text.
func contextBuilder(n *Node, state *py.Dict) (result, error) {
	c := n.Config
	var blocks []string
	if sections := dict(c, "sections"); sections != nil {
		for key, label := range sections.All() {
			v := state.GetOr(key, nil)
			if !py.Truth(v) {
				continue
			}
			body := py.Str(v)
			if l, ok := v.(*py.List); ok {
				body = strings.Join(texts(l.Items), "\n")
			}
			blocks = append(blocks, py.Str(label)+":\n"+body)
		}
	}
	said, err := lastSaid(state, text(c, "messages_key", "messages"))
	if err != nil {
		return result{}, err
	}
	if said != nil {
		if !py.Truth(said) {
			return result{}, inexact("context_builder: the last user message is %s, and the format does not say whether it counts", py.Repr(said))
		}
		blocks = append(blocks, "User: "+py.Str(said))
	}
	key := text(c, "output_key", "input")
	update := py.NewDict(py.Entry{Key: key, Value: strings.Join(blocks, "\n\n")})
	for _, reset := range strs(list(c, "reset_keys")) {
		if reset != key {
			update.Set(reset, py.NewList())
		}
	}
	return result{update: update}, nil
}

func texts(items []py.Value) []string {
	all := make([]string, len(items))
	for i, item := range items {
		all[i] = py.Str(item)
	}
	return all
}

// lastSaid is the content of the last message of the user, or nil.
func lastSaid(state *py.Dict, key string) (py.Value, error) {
	v := orElse(state.GetOr(key, nil), py.NewList())
	messages, ok := v.(*py.List)
	if !ok {
		return nil, inexact("the messages under %q are %s, not a list", key, py.TypeName(v))
	}
	for i := len(messages.Items) - 1; i >= 0; i-- {
		m, ok := messages.Items[i].(*py.Dict)
		if !ok {
			return nil, noAttribute(messages.Items[i], "get")
		}
		if m.GetOr("role", nil) == "user" {
			return m.GetOr("content", nil), nil
		}
	}
	return nil, nil
}

// appendAssistant returns a message of the assistant, to be appended by a
// reducer.
func appendAssistant(n *Node, state *py.Dict) result {
	v := state.GetOr(text(n.Config, "output_key", "draft"), nil)
	if !py.Truth(v) {
		return result{}
	}
	message := py.NewDict(py.Entry{Key: "role", Value: "assistant"}, py.Entry{Key: "content", Value: v})
	key := text(n.Config, "messages_key", "messages")
	return result{update: py.NewDict(py.Entry{Key: key, Value: py.NewList(message)})}
}

// supervise picks the next agent by what is filled; with a model it would ask it.
func supervise(n *Node, state *py.Dict) (result, error) {
	c := n.Config
	rounds, err := round(state, "supervisor_rounds")
	if err != nil {
		return result{}, err
	}
	next, err := nextAgent(c, state, rounds)
	if err != nil {
		return result{}, err
	}
	return result{update: py.NewDict(
		py.Entry{Key: text(c, "output_key", "next_agent"), Value: next},
		py.Entry{Key: "supervisor_rounds", Value: rounds},
	)}, nil
}

func nextAgent(c, state *py.Dict, rounds int64) (py.Value, error) {
	finish := c.GetOr("finish", "finish")
	if rounds >= whole(c, "max_rounds", 6) || filled(c, state) {
		return finish, nil
	}
	if key := text(c, "messages_key", ""); key != "" {
		said, err := lastSaid(state, key)
		if err != nil {
			return nil, err
		}
		if !py.Truth(said) {
			return finish, nil
		}
	}
	if order := list(c, "fill_order"); len(order) > 0 {
		for _, item := range order {
			pair := strs(item.(*py.List).Items)
			if !py.Truth(state.GetOr(pair[1], nil)) {
				return pair[0], nil
			}
		}
		return finish, nil
	}
	return orElse(c.GetOr("fallback_agent", nil), finish), nil
}

// filled reports whether all done_keys have a value, or any with done_mode any.
func filled(c, state *py.Dict) bool {
	keys := strs(list(c, "done_keys"))
	full := 0
	for _, key := range keys {
		if py.Truth(state.GetOr(key, nil)) {
			full++
		}
	}
	return full > 0 && (full == len(keys) || text(c, "done_mode", "all") == "any")
}
