package teff

import (
	"context"
	"errors"
	"fmt"

	"github.com/flowtui/flowtui/engine/teff/py"
)

// ErrNotPaused is for a run that waits for no answer: teff would ignore one.
var ErrNotPaused = errors.New("the run does not wait for an answer; teff ignores one that is given anyway")

// ErrNoWorkflow is for an answer to a run whose workflow is not known. A row
// without its pause says which node is next, and only the workflow's edges
// tell: without them teff would take the run for completed.
var ErrNoWorkflow = errors.New("the workflow file is needed: the row of a run does not hold its steps and edges")

// Answer gives the rows that teff's own resume with an answer leaves before
// the first node runs: the answer is in the state, the pause is gone, the next
// node is the one that the edges lead to. For a pause inside a subflow these are
// the outer row and the child's, to be written in this order; the outer one
// alone would lose the answer. Nothing is run and the store is only read.
//
// Nodes that the bundled engine lacks do not matter, as none is run, nor does a
// bound on iterations, which is of the process that runs on. It is
// [ErrNotPaused], [ErrNoWorkflow], or an *[InexactError] when the answer would
// be lost.
func Answer(ctx context.Context, w *Workflow, store Checkpointer, id string, answer *py.Dict) ([]Change, error) {
	if _, err := locate(ctx, w, store, id); err != nil {
		return nil, err
	}
	if answer == nil || answer.Len() == 0 {
		return nil, fmt.Errorf("answer run %s: there is no answer in it; teff would ask again", id)
	}
	dry := newOverlay(store)
	r := Runner{Workflow: w, Store: dry}
	l, err := r.level(ctx, id, answer)
	if err != nil {
		return nil, err
	}
	l.halt = true
	if _, err := l.run(ctx, l.initial); err != nil && !errors.Is(err, errHalted) {
		return nil, fmt.Errorf("answer run %s: %w", id, err)
	}
	if !l.answered {
		return nil, fmt.Errorf("answer run %s: %w", id, inexact("the subflow that waits is not there any more, so the answer would be lost"))
	}
	return dry.changes(), nil
}

// paused is the innermost level that waits.
type paused struct {
	graph  *Graph
	id     string
	nested bool // it is a subflow
	at     cursor
	pause  *Interrupt
}

// locate finds what a run waits for, through its subflows.
func locate(ctx context.Context, w *Workflow, store Checkpointer, id string) (*paused, error) {
	p := &paused{id: id}
	if w != nil {
		p.graph = w.Graph
	}
	for {
		l := level{executor: executor{id: p.id, store: store}}
		at, found, err := l.load(ctx)
		if err != nil {
			return nil, err
		}
		if !found && p.id == id {
			return nil, fmt.Errorf("answer run %s: there is no such run", id)
		}
		if !found {
			return nil, fmt.Errorf("answer run %s: %w", id, inexact("its subflow's checkpoint %s is gone: teff would start the "+
				"subflow again and ask again", p.id))
		}
		if p.pause, err = readInterrupt(at.state); err != nil {
			return nil, fmt.Errorf("answer run %s: %w", id, err)
		}
		if p.pause == nil && p.id == id {
			return nil, fmt.Errorf("answer run %s: %w", id, ErrNotPaused)
		}
		if p.pause == nil {
			return nil, fmt.Errorf("answer run %s: %w", id, inexact("its subflow's checkpoint %s does not wait any more: resume the run "+
				"without an answer", p.id))
		}
		if p.graph == nil {
			return nil, fmt.Errorf("answer run %s: %w", id, ErrNoWorkflow)
		}
		if p.pause.NestedCheckpointID == nil {
			p.at = at
			return p, nil
		}
		n := p.graph.Node(p.pause.NodeID)
		if n == nil || n.Graph == nil || ChildID(p.id, n.ID) != *p.pause.NestedCheckpointID {
			return nil, fmt.Errorf("answer run %s: %w", id, inexact("the workflow has no subflow %s, where the run waits: is it the "+
				"right file?", p.pause.NodeID))
		}
		p.graph, p.id, p.nested = n.Graph, *p.pause.NestedCheckpointID, true
	}
}
