package engine

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// Parallel runs branches side by side within one superstep, each on its own
// copy of the state: a branch does not see what another one writes. Each may
// wait for a person while the others go on, and what is finished in them
// replays, as in a [Subflow]. What they write is merged by the flow's reducers,
// in the order of the branches.
type Parallel struct {
	Flow     *Flow    // has the nodes of all branches
	Branches []string // the node of it that each branch starts with
	// Result makes, instead of the reducers, the update of the state from those
	// that the branches ended with.
	Result func(saw State, ends []State) (State, error)
}

// Parallel adds branches as the next step.
func (f *Flow) Parallel(id string, p Parallel) *Flow { return f.containing(id, p.Node) }

// Node are the branches as a node, for [Flow.Node] and the bodies of loops.
func (p Parallel) Node() (Node, error) {
	g, err := contained(p.Flow)
	if err != nil {
		return nil, err
	}
	of := map[string]int{} // the branch of each node, which names what is asked and called there
	for i, id := range p.Branches {
		if _, ok := g.byID[id]; !ok {
			return nil, fmt.Errorf("branch %d starts at %q, which is not a node", i+1, id)
		}
		for _, id := range g.reachable(id) {
			if other, taken := of[id]; taken {
				return nil, fmt.Errorf("node %q is in two branches, %d and %d", id, other, i+1)
			}
			of[id] = i + 1
		}
	}
	p.Branches = slices.Clone(p.Branches)
	return parallel{p, g}, nil
}

// reachable are the nodes that a run may come to from one of them.
func (g *graph) reachable(start string) []string {
	ids := []string{start}
	for i := 0; i < len(ids); i++ {
		x := g.exits[ids[i]]
		for _, e := range slices.Concat(x.plain, x.onError) {
			for _, to := range e.to {
				if !slices.Contains(ids, to) {
					ids = append(ids, to)
				}
			}
		}
	}
	return ids
}

type parallel struct {
	Parallel
	g *graph
}

func (p parallel) inner() *graph { return p.g }

// Type is "parallel".
func (parallel) Type() string { return "parallel" }

// Run runs the branches to their ends, or pauses.
func (p parallel) Run(ctx context.Context, state State) (State, error) {
	n, err := nodeRun(ctx)
	if err != nil {
		return nil, err
	}
	size := len(p.Branches)
	ends, updates, errs := make([]State, size), make([]State, size), make([]error, size)
	var wg sync.WaitGroup
	for i, start := range p.Branches {
		wg.Go(func() { ends[i], updates[i], errs[i] = p.branch(ctx, n, start, state) })
	}
	wg.Wait()
	if err := worstOf(errs); err != nil {
		return nil, n.failedWithin(err)
	}
	if p.Result != nil {
		return whole(ctx, state, func() (State, error) { return p.Result(state, ends) })
	}
	merged, update := Merge(state, p.g.reducers, updates...), State{}
	for _, u := range updates {
		for key := range u {
			update[key] = merged[key]
		}
	}
	return grownOnly(ctx, state, update), nil
}

// branch is how one branch ends, and what it writes: of lists that append only
// what is new.
func (p parallel) branch(ctx context.Context, n *nodeState, start string, state State) (end, update State, err error) {
	out, written, err := n.runWithin(ctx, p.g, start, state)
	if err != nil {
		return nil, nil, err
	}
	update = State{}
	for key := range written {
		update[key] = out[key]
	}
	return out, grownBy(p.g.reducers, state, update), nil
}
