package teff

import "context"

// InterruptKey is the key of the state that holds a pause.
const InterruptKey = "__interrupt__"

// A Checkpoint is one row of a store (teff format, stores): what teff keeps
// under an owner and a checkpoint id.
type Checkpoint struct {
	State     []byte  // the whole state: a JSON object, written as json.dumps(..., ensure_ascii=False) does
	Next      *string // next_node_id: the node to run on resume, or nil
	Iteration int64   // how many node executions are finished
}

// A Checkpointer keeps the checkpoints of one owner. Ids are given as they are;
// a file store maps them to names itself.
type Checkpointer interface {
	// Load gives the checkpoint of an id, and false when there is none.
	Load(ctx context.Context, id string) (Checkpoint, bool, error)
	// Save replaces the checkpoint of an id, or makes it.
	Save(ctx context.Context, id string, c Checkpoint) error
	// Delete removes the checkpoint of an id; none is no error.
	Delete(ctx context.Context, id string) error
}

// ChildID is the checkpoint id of a subflow's run (teff format, nested checkpoints).
func ChildID(parent, node string) string { return parent + ":sub:" + node }
