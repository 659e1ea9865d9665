package teff

import (
	"context"
	"fmt"
	"math"

	"github.com/flowtui/flowtui/engine/teff/py"
)

// A level runs one graph under one checkpoint id.
type level struct {
	executor
	graph         *Graph
	maxIterations int64 // 0: none
}

// cursor is where a level stands.
type cursor struct {
	state     *py.Dict
	next      *string // the node to run, nil at the end
	iteration int64   // finished node executions
	inside    bool    // the next node is a subflow whose own pause is answered
}

// run begins or resumes a graph and goes on to its end, its pause or its
// failure, with teff's order of saves (teff format, when a checkpoint is saved).
func (l *level) run(ctx context.Context, initial *py.Dict) (*py.Dict, error) {
	at, err := l.begin(ctx, initial)
	if err != nil {
		return nil, err
	}
	for at.next != nil {
		if err := l.step(ctx, &at); err != nil {
			return nil, err
		}
	}
	return at.state, l.save(ctx, at)
}

// begin is where a stored run goes on, or the entry.
func (l *level) begin(ctx context.Context, initial *py.Dict) (cursor, error) {
	at, found, err := l.load(ctx)
	if err != nil {
		return cursor{}, err
	}
	if !found {
		l.unsure = true
		return cursor{state: initial, next: nodeID(l.graph.Entry)}, nil
	}
	pause, err := readInterrupt(at.state)
	if err != nil {
		return cursor{}, fmt.Errorf("run %s: %w", l.id, err)
	}
	at.state.Delete(InterruptKey)
	switch {
	case pause == nil:
		l.resume = nil // an answer to a level that does not wait is ignored
		return at, nil
	case l.resume == nil || l.resume.Len() == 0:
		return cursor{}, &Interrupt{Key: pause.Key, Prompt: pause.Prompt, NodeID: pause.NodeID, CheckpointID: l.id}
	case l.unsure:
		return cursor{}, inexact("run %s waits inside a run that is new, and the format does not say whether the answer is for it", l.id)
	case pause.NestedCheckpointID != nil && pause.NodeID == "":
		return cursor{}, inexact("the pause of run %s is inside a subflow and does not say which", l.id)
	case pause.NestedCheckpointID != nil:
		at.next, at.inside = &pause.NodeID, true
		return at, nil
	}
	at.state.Update(l.resume)
	l.answered = true
	at.next, err = l.follow(pause.NodeID, at.state)
	return at, err
}

// step runs one node: the guard, the save before it, the node, and what its
// outcome saves.
func (l *level) step(ctx context.Context, at *cursor) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if l.maxIterations > 0 && at.iteration >= l.maxIterations {
		return py.Errorf("WorkflowError", "graph exceeded max_iterations=%d", l.maxIterations)
	}
	n := l.graph.Node(*at.next)
	if n == nil {
		return py.NewKeyError(*at.next)
	}
	if err := l.save(ctx, *at); err != nil {
		return err
	}
	if l.halt && !at.inside {
		return errHalted
	}
	if at.iteration == math.MaxInt64 {
		return inexact("run %s has finished %d nodes, and more cannot be counted here", l.id, at.iteration)
	}
	at.inside = false
	at.iteration++
	r, err := l.attempt(ctx, n, at.state)
	if err != nil {
		return l.failed(ctx, n, at, err)
	}
	if err := l.merge(at.state, r.update); err != nil {
		return err
	}
	at.next, err = l.route(n, r, at.state)
	return err
}

// failed saves a pause, or goes on at the edge for errors, or gives up.
func (l *level) failed(ctx context.Context, n *Node, at *cursor, err error) error {
	if pause, ok := asInterrupt(err); ok {
		pause.NodeID = n.ID
		if pause.CheckpointID == "" {
			pause.CheckpointID = l.id
		}
		paused := cursor{state: at.state.Copy(), iteration: at.iteration}
		paused.state.Set(InterruptKey, pause.entry())
		if err := l.save(ctx, paused); err != nil {
			return err
		}
		return pause
	}
	if !isException(err) {
		return err
	}
	for _, e := range l.graph.Edges {
		if e.From == n.ID && e.IsError() {
			at.next = nodeID(e.To)
			return l.save(ctx, *at)
		}
	}
	return err
}

// route is the node after another one, nil at the end.
func (l *level) route(n *Node, r result, state *py.Dict) (*string, error) {
	switch {
	case r.stop:
		return nil, nil
	case r.goTo == "":
		return l.follow(n.ID, state)
	case l.graph.Node(r.goTo) != nil:
		return &r.goTo, nil
	}
	known := py.NewList()
	for _, n := range l.graph.Nodes {
		known.Items = append(known.Items, n.ID)
	}
	return nil, py.Errorf("WorkflowError", "Command(goto=%s) from node %s targets an unknown node (known nodes: %s)",
		py.Repr(r.goTo), py.Repr(n.ID), py.Repr(known))
}

// follow is the end of the first edge out of a node that has no condition or
// one that holds; edges for errors do not count.
func (l *level) follow(from string, state *py.Dict) (*string, error) {
	for _, e := range l.graph.Edges {
		if e.From != from || e.IsError() {
			continue
		}
		holds := e.Condition == nil
		if !holds {
			var err error
			if holds, err = Holds(*e.Condition, state); err != nil {
				return nil, err
			}
		}
		if holds {
			return nodeID(e.To), nil
		}
	}
	return nil, nil
}

func nodeID(id string) *string {
	if id == "" {
		return nil
	}
	return &id
}

func (l *level) load(ctx context.Context) (cursor, bool, error) {
	if l.store == nil {
		return cursor{}, false, nil
	}
	c, found, err := l.store.Load(ctx, l.id)
	if err != nil || !found {
		return cursor{}, false, err
	}
	state, err := loadState(l.id, c)
	return cursor{state: state, next: c.Next, iteration: c.Iteration}, true, err
}

// loadState decodes the state of a checkpoint.
func loadState(id string, c Checkpoint) (*py.Dict, error) {
	v, err := py.Loads(c.State)
	if err != nil {
		return nil, fmt.Errorf("run %s: its state cannot be read: %w", id, err)
	}
	state, ok := v.(*py.Dict)
	if !ok {
		return nil, fmt.Errorf("run %s: %w", id, inexact("its state is %s, not an object", py.TypeName(v)))
	}
	return state, nil
}

// Python's json ends at about 990 levels; exactly where depends on its stack.
const (
	surelySaved = 950
	neverSaved  = 1000
)

func (l *level) save(ctx context.Context, at cursor) error {
	if l.store == nil {
		return nil
	}
	if d := depth(at.state, neverSaved+1); d > surelySaved && d <= neverSaved {
		return inexact("the state is nested %d levels deep, where teff may or may not fail to save it", d)
	}
	text, err := py.Dumps(at.state)
	if err != nil {
		return err
	}
	return l.store.Save(ctx, l.id, Checkpoint{State: text, Next: at.next, Iteration: at.iteration})
}
