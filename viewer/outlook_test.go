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

// A step that fails and has a way for errors does not end the run: that is told
// of each step that is told.
func TestOutlookTellsTheWaysForErrors(t *testing.T) {
	edge := func(from, to string) engine.TopologyEdge { return engine.TopologyEdge{From: from, To: []string{to}} }
	failing := func(from, to string) engine.TopologyEdge {
		return engine.TopologyEdge{From: from, To: []string{to}, OnError: true}
	}
	o := outlook{known: true, topology: engine.Topology{Edges: []engine.TopologyEdge{
		edge("ask", "f"), failing("f", "sorry"), edge("a", "b"), edge("b", "f"), failing("a", "sorry"), failing("b", "call"), edge("call", "sorry"),
	}}}
	for from, want := range map[string]string{
		"sorry": "then the run ends",
		"f":     "then the run ends; if f fails, it goes on at sorry",
		"ask":   "then f, then the run ends; if f fails, it goes on at sorry",
		"a":     "then b, then f, then the run ends; if a or f fails, it goes on at sorry; if b fails, it goes on at call",
	} {
		if got := o.after([]string{from}); got != want {
			t.Errorf("after %s: %q, want %q", from, got, want)
		}
	}
}
