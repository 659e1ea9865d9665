package sim

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/flowtui/flowtui/engine"
	llm "github.com/flowtui/flowtui/engine/model"
)

// loopSpec is a tool loop as data: the tools that each reply of its model calls,
// and then it calls none.
type loopSpec struct {
	replies [][]string
}

// drawLoop draws the two nodes of a tool loop.
func drawLoop(r *rand.Rand, id string) []nodeSpec {
	l := &loopSpec{}
	for range r.IntN(3) {
		var tools []string
		for range 1 + r.IntN(3) {
			tools = append(tools, []string{once, once, again, asks, askAgain, broken, opaque, flaky, flakyAsks}[r.IntN(9)])
		}
		l.replies = append(l.replies, tools)
	}
	return []nodeSpec{
		{id: id, path: []stage{{name: id}}, loop: l},
		{id: toolsOf(id), path: []stage{{name: toolsOf(id)}}, loop: l, runsTools: id},
	}
}

func toolsOf(id string) string { return id + ":tools" }

// chat is the key of the state with the loop's conversation.
func chat(id string) string { return chats + id }

const chats = "chat "

// toolLoop is the loop as the engine knows it.
func (a *actor) toolLoop(n nodeSpec) engine.ToolLoop {
	return engine.ToolLoop{
		Model: completes(func(ctx context.Context, q llm.Request) (llm.Reply, error) {
			switch a.pass(ctx, coding, "model of "+n.id) {
			case goes:
				return llm.Reply{Message: n.reply(q.Messages)}, nil
			case cancelled:
				return llm.Reply{}, ctx.Err()
			}
			return llm.Reply{}, errCrash
		}),
		Tools: toolNames, Messages: chat(n.id), Prompt: prompt, Into: "said by " + n.id, MaxSteps: 50,
	}
}

type completes func(context.Context, llm.Request) (llm.Reply, error)

func (c completes) Complete(ctx context.Context, q llm.Request) (llm.Reply, error) {
	return c(ctx, q)
}

func prompt(st engine.State) (string, error) { return fmt.Sprint("round ", st["round"]), nil }

// reply is what the model says to a conversation.
func (n nodeSpec) reply(messages []llm.Message) llm.Message {
	asked, said := 0, 0 // by the user, and since then by the model
	for _, m := range messages {
		switch m.Role {
		case llm.User:
			asked, said = asked+1, 0
		case llm.Assistant:
			said++
		}
	}
	if said >= len(n.loop.replies) {
		return llm.Message{Role: llm.Assistant, Content: fmt.Sprintf("answer %d", asked)}
	}
	m := llm.Message{Role: llm.Assistant}
	for i, name := range n.loop.replies[said] {
		args := fmt.Sprintf(`{"node":%q,"asked":%d,"said":%d,"n":%d}`, toolsOf(n.id), asked, said, i)
		m.ToolCalls = append(m.ToolCalls, llm.ToolCall{ID: fmt.Sprintf("c%d.%d.%d", asked, said, i), Name: name, Args: json.RawMessage(args)})
	}
	return m
}

// conversation reads the loop's messages from a state.
func (n nodeSpec) conversation(st engine.State) (messages []llm.Message) {
	id := n.id
	if n.runsTools != "" {
		id = n.runsTools
	}
	if err := json.Unmarshal([]byte(canonical(list(st[chat(id)]))), &messages); err != nil {
		panic(err)
	}
	return messages
}

// toCall are the calls that the newest reply asks for.
func (n nodeSpec) toCall(st engine.State) []llm.ToolCall {
	messages := n.conversation(st)
	if len(messages) == 0 {
		return nil
	}
	return messages[len(messages)-1].ToolCalls
}

// modelOutcome foretells a call of the model.
func (n nodeSpec) modelOutcome(st engine.State) outcome {
	messages := n.conversation(st)
	var added []any
	if len(messages) == 0 || messages[len(messages)-1].Role != llm.ToolRole {
		text, _ := prompt(st) // it has no error
		m := llm.Message{Role: llm.User, Content: text}
		messages, added = append(messages, m), append(added, m)
	}
	m := n.reply(messages)
	said := map[string]any{"role": m.Role, "content": m.Content, "node": n.id}
	update := engine.State{}
	if len(m.ToolCalls) > 0 {
		said["tool_calls"] = m.ToolCalls
	} else {
		update["said by "+n.id] = m.Content
	}
	update[chat(n.id)] = append(added, said)
	return outcome{update: update}
}

// toolsOutcome foretells the calls of a reply: after a person's no the rest does
// not run, and an error is for the model.
func (rd round) toolsOutcome(n nodeSpec, st engine.State) outcome {
	var results []any
	no := ""
	for i, c := range n.toCall(st) {
		id := fmt.Sprintf("%s.%d", n.id, i+1)
		text := result(c.Name, c.Args)
		d, decided := rd.decided[id]
		failed, known := rd.failed[id]
		switch {
		case no != "":
			text = "error: not run, since " + no
		case isAsking[c.Name] && !decided:
			return outcome{waits: true}
		case isAsking[c.Name] && d.Type == engine.DecideDeny:
			no = fmt.Sprintf("%s was denied by %s: %s", c.Name, d.By, d.Note)
			text = "error: " + no
		case c.Name == broken || failed:
			text = "error: " + noLuck
		case isFlaky[c.Name] && !known: // it was never made
			return outcome{waits: true}
		}
		results = append(results, llm.Message{Role: llm.ToolRole, ToolCallID: c.ID, Content: text})
	}
	return outcome{update: engine.State{chat(n.runsTools): results}}
}

// loopNext is where a run goes after a node of a loop, if it stays in there.
func (f flowSpec) loopNext(id string, st engine.State) []string {
	i := slices.IndexFunc(f.nodes, func(n nodeSpec) bool { return n.id == id })
	switch n := f.nodes[i]; {
	case n.runsTools != "":
		return []string{n.runsTools}
	case n.loop != nil && len(n.toCall(st)) > 0:
		return []string{toolsOf(id)}
	}
	return nil
}
