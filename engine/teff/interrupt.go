package teff

import (
	"fmt"

	"github.com/flowtui/flowtui/engine/teff/py"
)

// An Interrupt is a pause: the run waits for an answer. It travels as an error
// inside the engine, as teff raises it.
type Interrupt struct {
	Key    string // the state's key for the answer; may be ""
	Prompt string // already rendered
	NodeID string // the node of this level that paused: for a nested pause the subflow
	// CheckpointID is the innermost checkpoint that is paused, or the run's own
	// when a pause is met again.
	CheckpointID string
	// NestedCheckpointID is the child's checkpoint at the next level, or nil.
	NestedCheckpointID *string
}

// Error says what the run waits for.
func (i *Interrupt) Error() string {
	return fmt.Sprintf("paused at %s, waiting for an answer to %q: %s", i.NodeID, i.Key, i.Prompt)
}

// entry is how a pause is kept in the state.
func (i *Interrupt) entry() *py.Dict {
	return py.NewDict(
		py.Entry{Key: "key", Value: i.Key},
		py.Entry{Key: "prompt", Value: i.Prompt},
		py.Entry{Key: "node_id", Value: i.NodeID},
		py.Entry{Key: "nested_checkpoint_id", Value: optional(i.NestedCheckpointID)},
	)
}

func optional(s *string) py.Value {
	if s == nil {
		return nil
	}
	return *s
}

// readInterrupt is the pause that a state holds, or nil. Older rows may lack
// fields: the prompt is "" then, the rest absent.
func readInterrupt(state *py.Dict) (*Interrupt, error) {
	v := state.GetOr(InterruptKey, nil)
	if v == nil {
		return nil, nil
	}
	d, ok := v.(*py.Dict)
	if !ok {
		return nil, inexact("the state's %s is %s, not an object", InterruptKey, py.TypeName(v))
	}
	i := &Interrupt{}
	for field, to := range map[string]*string{"key": &i.Key, "prompt": &i.Prompt, "node_id": &i.NodeID} {
		switch v := d.GetOr(field, nil).(type) {
		case nil:
		case string:
			*to = v
		default:
			return nil, inexact("%s of the state's %s is %s, not a string", field, InterruptKey, py.TypeName(v))
		}
	}
	switch v := d.GetOr("nested_checkpoint_id", nil).(type) {
	case nil:
	case string:
		i.NestedCheckpointID = &v
	default:
		return nil, inexact("nested_checkpoint_id of the state's %s is %s, not a string", InterruptKey, py.TypeName(v))
	}
	return i, nil
}
