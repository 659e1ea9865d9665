package teff

import (
	"fmt"
	"strings"

	"github.com/flowtui/flowtui/engine/teff/py"
	"github.com/flowtui/flowtui/internal/pyjson"
)

// Kind is the kind of runs that teff wrote.
const Kind = "teff"

// The statuses of a row, in teff's words (teff format, telling states apart).
const (
	Completed  = "completed"
	Paused     = "paused"
	Unfinished = "unfinished" // running, crashed or killed: a row does not tell
)

// A Row is what one row of a store says, without its state.
type Row struct {
	Status    string
	Next      *string // node that runs on resume, nil for none
	Iteration int64   // finished node executions
	// Of a paused row: where the answer lands in the state (may be ""), what is
	// asked, which node asks, and the nested run that asks, "" for none.
	Key, Prompt, Node, Nested string
	Parent                    string   // run that this nested one belongs to, "" for none
	Outermost                 string   // run above it that belongs to none, "" for no run above it
	Children                  []string // nested runs below it, all levels
}

// ReadRow reads a row in the layout of teff's files, as a driver gives it as
// the payload of a checkpoint or, cut down to its __interrupt__, of a head.
// Missing fields have teff's defaults.
func ReadRow(payload []byte) (Row, error) {
	members, err := pyjson.Object(payload)
	if err != nil {
		return Row{}, fmt.Errorf("the row is unreadable: %w", err)
	}
	r := Row{Status: Unfinished}
	if raw, ok := pyjson.Last(members, "next_node_id"); ok && !pyjson.IsNull(raw) {
		next, ok := pyjson.String(raw)
		if !ok {
			return Row{}, fmt.Errorf("the row is unreadable: its next_node_id is no text")
		}
		r.Next = &next
	}
	if raw, ok := pyjson.Last(members, "iteration"); ok {
		r.Iteration, _ = pyjson.Int(raw)
	}
	if raw, ok := pyjson.Last(members, "parent"); ok {
		r.Parent, _ = pyjson.String(raw)
	}
	if raw, ok := pyjson.Last(members, "outermost"); ok {
		r.Outermost, _ = pyjson.String(raw)
	}
	if raw, ok := pyjson.Last(members, "children"); ok {
		if err := r.readChildren(raw); err != nil {
			return Row{}, err
		}
	}
	if r.Next == nil {
		r.Status = Completed
	}
	return r, r.readInterrupt(members)
}

func (r *Row) readChildren(raw []byte) error {
	v, err := py.Loads(raw)
	list, ok := v.(*py.List)
	if err != nil || !ok {
		return fmt.Errorf("the row is unreadable: its children are no list")
	}
	for _, item := range list.Items {
		if id, ok := item.(string); ok {
			r.Children = append(r.Children, id)
		}
	}
	return nil
}

func (r *Row) readInterrupt(members []pyjson.Member) error {
	raw, ok := pyjson.Last(members, "state")
	if !ok {
		return nil
	}
	state, err := pyjson.Object(raw)
	if err != nil {
		return fmt.Errorf("the row is unreadable: its state: %w", err)
	}
	raw, ok = pyjson.Last(state, InterruptKey)
	if !ok || pyjson.IsNull(raw) {
		return nil
	}
	r.Status = Paused
	entry, err := pyjson.Object(raw)
	if err != nil { // teff would fail on it; it is a pause all the same
		r.Prompt = "(its " + InterruptKey + " is no object)"
		return nil
	}
	for field, to := range map[string]*string{"key": &r.Key, "prompt": &r.Prompt, "node_id": &r.Node, "nested_checkpoint_id": &r.Nested} {
		raw, ok := pyjson.Last(entry, field)
		if !ok || pyjson.IsNull(raw) {
			continue
		}
		if *to, ok = pyjson.String(raw); !ok {
			*to = string(raw)
		}
	}
	return nil
}

// State is the state of a row as an operator reads it, and as get_state gives
// it: without __interrupt__. Its text stays as it is stored, but for NaN and
// the infinities, which no JSON has: they become {"$float": "NaN"} and so on.
func State(payload []byte) ([]byte, error) {
	members, err := pyjson.Object(payload)
	if err != nil {
		return nil, fmt.Errorf("the row is unreadable: %w", err)
	}
	raw, ok := pyjson.Last(members, "state")
	if !ok {
		return []byte("{}"), nil
	}
	if raw, err = pyjson.Without(raw, InterruptKey); err != nil {
		return nil, fmt.Errorf("the row is unreadable: its state: %w", err)
	}
	return pyjson.Strict(raw)
}

// ReadCheckpoint splits a row in the layout of teff's files. The state's text
// stays as it is.
func ReadCheckpoint(payload []byte) (Checkpoint, error) {
	r, err := ReadRow(payload)
	if err != nil {
		return Checkpoint{}, err
	}
	members, err := pyjson.Object(payload)
	if err != nil {
		return Checkpoint{}, err
	}
	state, ok := pyjson.Last(members, "state")
	if !ok {
		state = []byte("{}")
	}
	return Checkpoint{State: state, Next: r.Next, Iteration: r.Iteration}, nil
}

// Payload is a checkpoint in the layout of teff's files, as teff writes it.
func (c Checkpoint) Payload() []byte {
	next := []byte("null")
	if c.Next != nil {
		next = pyjson.Quote(*c.Next)
	}
	return fmt.Appendf(nil, `{"state": %s, "next_node_id": %s, "iteration": %d}`, c.State, next, c.Iteration)
}

// Nests reports whether an id is built like that of a nested run. Users may
// give such ids too: only where the parent is there it is one.
func Nests(id string) bool { return strings.Contains(id, ":sub:") }
