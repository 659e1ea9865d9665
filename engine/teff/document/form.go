package document

import (
	"slices"

	"github.com/flowtui/flowtui/engine/teff/py"
)

// The idioms of flow documents, and those that may stand in their lists.
var (
	idioms = []string{
		"agent", "agent_step", "append_assistant", "branch", "context_builder", "interrupt", "llm", "loop", "map",
		"parallel", "route", "supervise", "supervisor", "team", "transform", "type",
	}
	listIdioms = []string{"agent", "agent_step", "interrupt", "llm", "map", "transform", "type"}
	modelled   = []string{"agent", "agent_step", "llm", "supervise", "supervisor", "team"} // they need a model
)

// looksLikeFlow reports whether one of the steps is an idiom, which makes the
// whole document a flow.
func (l *loader) looksLikeFlow(steps py.Value) bool {
	for _, step := range items(steps) {
		d, ok := step.(*py.Dict)
		if !ok {
			continue
		}
		for key, v := range d.All() {
			payload, _ := v.(*py.Dict)
			if key == "type" && payload != nil && payload.Has("type") || key != "type" && slices.Contains(l.knownIdioms(), key) {
				return true
			}
		}
	}
	return false
}

// idiomOf gives the idiom of a flow step and its mapping.
func (l *loader) idiomOf(step *py.Dict) (string, *py.Dict, bool) {
	if step.Len() != 1 {
		return "", nil, false
	}
	for key, v := range step.All() {
		payload, ok := v.(*py.Dict)
		return key, payload, ok && slices.Contains(l.knownIdioms(), key)
	}
	return "", nil, false
}
