package viewer

import (
	"testing"

	"github.com/flowtui/flowtui/engine"
)

// What is told of what follows ends where a person decides.
func TestOutlookEndsWhereAPersonDecides(t *testing.T) {
	node := func(id, kind string) engine.TopologyNode { return engine.TopologyNode{ID: id, Type: kind} }
	edge := func(from, to string) engine.TopologyEdge { return engine.TopologyEdge{From: from, To: []string{to}} }
	o := outlook{known: true, topology: engine.Topology{
		Entry: "topic",
		Nodes: []engine.TopologyNode{
			node("topic", "transform"), node("sure", "interrupt"), node("reply", "llm"), node("turn", "turn"), node("draft", "func"), node("done", "func"),
		},
		Edges: []engine.TopologyEdge{edge("topic", "reply"), edge("sure", "reply"), edge("reply", "turn"), edge("turn", "topic"), edge("draft", "sure"), edge("done", "draft")},
	}}
	for from, want := range map[string]string{
		"sure":  "then reply, then turn, which waits for the next message",
		"turn":  "then topic, then reply, then turn, which waits for the next message",
		"draft": "then sure, which asks",
		"done":  "then draft, then sure, which asks",
	} {
		if got := o.after([]string{from}); got != want {
			t.Errorf("after %s: %q, want %q", from, got, want)
		}
	}
}
