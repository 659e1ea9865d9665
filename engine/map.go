package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
)

// Map runs a flow once for each item of a list, on a copy of the state. The
// items run concurrently, and each may wait for a person while the others go on.
type Map struct {
	Over string // key of the list
	As   string // key of the item in the inner state
	// Items are, instead of Over and As, the keys that each item puts over the
	// state. It runs again when the map does, so it must be deterministic.
	Items func(State) ([]State, error)
	Flow  *Flow
	Pick  string // key of the inner state that is the item's result
	Into  string // key of the state that gets the results, in the order of the list
	Limit int    // how many items run at a time; 0 is all
	// Result makes, instead of Into, the update of the state from the results.
	Result func(saw State, results []any) (State, error)
}

// Map adds a map as the next step.
func (f *Flow) Map(id string, m Map) *Flow { return f.containing(id, m.Node) }

// Node is the map as a node, for [Flow.Node] and the bodies of loops.
func (m Map) Node() (Node, error) {
	if m.Items == nil && (m.Over == "" || m.As == "") || m.Pick == "" || m.Into == "" && m.Result == nil {
		return nil, errors.New("a map needs Over and As, or Items, and Pick and Into")
	}
	g, err := contained(m.Flow)
	return mapNode{m, g}, err
}

type mapNode struct {
	Map
	g *graph
}

func (m mapNode) inner() *graph { return m.g }

// Type is "map".
func (mapNode) Type() string { return "map" }

// Run runs the flow for each item.
func (m mapNode) Run(ctx context.Context, state State) (State, error) {
	n, err := nodeRun(ctx)
	if err != nil {
		return nil, err
	}
	items, err := m.items(state)
	if err != nil {
		return nil, err
	}
	results, errs := make([]any, len(items)), make([]error, len(items))
	limit := m.Limit
	if limit <= 0 {
		limit = max(1, len(items))
	}
	places := make(chan struct{}, limit)
	var wg sync.WaitGroup
	for i, item := range items {
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			results[i], errs[i] = m.one(ctx, n.within(n.g, fmt.Sprint(i), i, 0), state, item)
		})
	}
	wg.Wait()
	if err := worstOf(errs); err != nil {
		return nil, n.failedWithin(err)
	}
	if m.Result != nil {
		return whole(ctx, state, func() (State, error) { return m.Result(state, results) })
	}
	return State{m.Into: results}, nil
}

// items are the keys that each item puts over the state.
func (m mapNode) items(state State) ([]State, error) {
	if m.Items != nil {
		return m.Items(state)
	}
	list, ok := state[m.Over].([]any)
	if !ok && state[m.Over] != nil {
		return nil, fmt.Errorf("%q in the state is no list", m.Over)
	}
	items := make([]State, len(list))
	for i, v := range list {
		items[i] = State{m.As: v}
	}
	return items, nil
}

func (m mapNode) one(ctx context.Context, n *nodeState, state, item State) (any, error) {
	in := state.Clone()
	maps.Copy(in, item.Clone())
	in, err := m.g.startState(n.s.place.Key, in)
	if err != nil {
		return nil, err
	}
	out, _, err := n.runWithin(ctx, m.g, m.g.start(), in)
	return out[m.Pick], err
}
