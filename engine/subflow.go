package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Subflow runs another flow within one superstep of this one. What it waits for
// is asked as the run's own question, under an id like outer/inner#1, and when
// it goes on, its calls and replies that are finished replay and the answers
// that it had stand: nothing is done or asked twice.
type Subflow struct {
	Flow *Flow
	// In maps keys of the state to keys of the inner state; nil copies all of it.
	In map[string]string
	// Out maps keys of the inner state to keys of the state. nil: each key that
	// changed; of a key with the reducer [Append], what it grew by.
	Out map[string]string
	// Result makes, instead of Out, the update of the state that the subflow was
	// entered with from the one that it ended with; its lists are whole ones.
	Result func(saw, end State) (State, error)
	Kind   string // of the node in the graph; "" is subflow
}

// Subflow adds a subflow as the next step.
func (f *Flow) Subflow(id string, s Subflow) *Flow { return f.containing(id, s.Node) }

// containing adds a node that runs a flow as the next step.
func (f *Flow) containing(id string, make func() (Node, error)) *Flow {
	n, err := make()
	if err != nil {
		f.fail("%q: %w", id, err)
		n = subflow{g: &graph{}}
	}
	return f.Step(id, n)
}

// Node is the subflow as a node, for [Flow.Node] and the bodies of loops. The
// error is about its flow.
func (s Subflow) Node() (Node, error) {
	g, err := contained(s.Flow)
	return subflow{s, g}, err
}

// contained compiles the flow of a container.
func contained(inner *Flow) (*graph, error) {
	switch {
	case inner == nil:
		return nil, errors.New("it has no flow to run")
	case inner.talk != nil:
		return nil, errors.New("a conversation cannot run within another flow")
	}
	return inner.compile()
}

// container is a node that runs a flow, or parts of one.
type container interface{ inner() *graph }

// visitName is how a later visit of an inner node is named.
var visitName = regexp.MustCompile(`@[0-9]+$`)

// What stands between the names of a container and of a node in it: the visit
// of the container, and for a map the number of the item.
var (
	inSubflow = regexp.MustCompile(`^(@[0-9]+)?/`)
	inMap     = regexp.MustCompile(`^(@[0-9]+)?/[0-9]+/`)
)

// at finds the node that an id names, also within containers, and its graph.
func (g *graph) at(id string) (*graph, Node) {
	if n, ok := g.byID[id]; ok {
		return g, n
	}
	for _, n := range g.nodes {
		c, ok := n.node.(container)
		rest, inside := strings.CutPrefix(id, n.id)
		if !ok || !inside {
			continue
		}
		between := inSubflow
		if _, items := n.node.(mapNode); items {
			between = inMap
		}
		if at := between.FindString(rest); at != "" {
			return c.inner().at(rest[len(at):])
		}
	}
	return g, g.byID[visitName.ReplaceAllString(id, "")]
}

// checkContainers refuses names that could be taken for those inside a container.
func (f *Flow) checkContainers() (errs []error) {
	for _, n := range f.nodes {
		c, ok := n.node.(container)
		if !ok {
			continue
		}
		for _, o := range f.nodes {
			if strings.HasPrefix(o.id, n.id+"/") {
				errs = append(errs, fmt.Errorf("flow %q: node %q is named like one inside of %q", f.name, o.id, n.id))
			}
		}
		if g := c.inner(); g.Flow != nil {
			for _, i := range g.nodes {
				if visitName.MatchString(i.id) {
					errs = append(errs, fmt.Errorf("flow %q: node %q inside of %q is named like a later visit of another", f.name, i.id, n.id))
				}
			}
		}
	}
	return errs
}

type subflow struct {
	Subflow
	g *graph
}

func (s subflow) inner() *graph { return s.g }

// Type is "subflow", or what the subflow says.
func (s subflow) Type() string { return cmp.Or(s.Kind, "subflow") }

// Run runs the inner flow to its end, or pauses.
func (s subflow) Run(ctx context.Context, state State) (State, error) {
	n, err := nodeRun(ctx)
	if err != nil {
		return nil, err
	}
	in := state
	if s.In != nil {
		in = renamed(state, s.In)
	}
	in, err = s.g.startState(n.s.place.Key, in)
	if err != nil {
		return nil, err
	}
	out, _, err := n.runWithin(ctx, s.g, s.g.start(), in)
	if err != nil {
		return nil, n.failedWithin(err)
	}
	switch {
	case s.Result != nil:
		return whole(ctx, state, func() (State, error) { return s.Result(state, out) })
	case s.Out != nil:
		return grownOnly(ctx, state, renamed(out, s.Out)), nil
	}
	update := State{}
	for key, v := range out {
		if old, ok := in[key]; !ok || !reflect.DeepEqual(old, v) {
			update[key] = v
		}
	}
	return grownOnly(ctx, state, update), nil
}

// Growth is an update with whole lists as one that a node may return: it leaves of
// those that append only what is new in them.
func Growth(ctx context.Context, saw, update State) State { return grownOnly(ctx, saw, update) }

// whole is an update with whole lists that a container's own code makes.
func whole(ctx context.Context, saw State, result func() (State, error)) (State, error) {
	update, err := result()
	if err != nil {
		return nil, err
	}
	return grownOnly(ctx, saw, update), nil
}

// grownOnly leaves of the lists that append only what is new in them: the rest
// is in the state already.
func grownOnly(ctx context.Context, s, update State) State {
	return grownBy(reducersOf(ctx), s, update)
}

func grownBy(reducers map[string]Reducer, s, update State) State {
	for key, v := range update {
		old, ok1 := s[key].([]any)
		list, ok2 := v.([]any)
		if ok1 && ok2 && reducers[key] == Append && len(list) >= len(old) && reflect.DeepEqual(list[:len(old)], old) {
			update[key] = list[len(old):]
		}
	}
	return update
}

func renamed(s State, names map[string]string) State {
	out := State{}
	for from, to := range names {
		out[to] = cloneValue(s[from])
	}
	return out
}

// failedWithin withdraws what the container asked when it has failed: nobody is
// asked what no longer matters.
func (n *nodeState) failedWithin(err error) error {
	if errors.Is(err, errPaused) {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	inside := func(node string) bool { return strings.HasPrefix(node, n.id+"/") }
	n.waiting = slices.DeleteFunc(n.waiting, func(w Waiting) bool { return inside(w.Node) })
	n.pending = slices.DeleteFunc(n.pending, func(p pendingCall) bool { return inside(p.node) })
	for up := n; up != nil; up = up.parent {
		up.waits = slices.ContainsFunc(n.waiting, func(w Waiting) bool { return w.Node == up.id || strings.HasPrefix(w.Node, up.id+"/") })
	}
	return err
}

// worstOf is the first error that a person's no made, else the first that is no
// pause, with the calls that failed in the others, else a pause, else nil.
func worstOf(errs []error) error {
	var worst, paused error
	var calls []string
	for _, err := range errs {
		switch {
		case err == nil:
		case errors.Is(err, errPaused):
			paused = err
		case worst == nil:
			worst = err
		case denial(err) != nil && denial(worst) == nil:
			worst, calls = err, append(calls, failedCalls(worst)...)
		default:
			calls = append(calls, failedCalls(err)...)
		}
	}
	switch {
	case worst == nil:
		return paused
	case len(calls) > 0:
		return &alsoFailed{worst, calls}
	}
	return worst
}

// runWithin runs a flow inside a node, superstep by superstep, without saving:
// when the node runs again, so does all of it, on the calls and answers that
// are kept. It is deterministic as far as its nodes are. It starts at a node and
// returns the state with the keys that were written.
func (n *nodeState) runWithin(ctx context.Context, g *graph, start string, state State) (out State, written map[string]bool, err error) {
	visits := map[string]int64{}
	frontier := []string{start}
	written = map[string]bool{}
	for steps := int64(0); len(frontier) > 0; steps++ {
		if steps >= g.maxSteps {
			return nil, nil, fmt.Errorf("more than %d supersteps: flow %q may be looping", g.maxSteps, g.name)
		}
		updates, errs := n.stepWithin(ctx, g, state, frontier, visits)
		failed := map[string]bool{}
		var ended []error
		for i, err := range errs {
			if err == nil || errors.Is(err, errPaused) {
				continue
			}
			if ctx.Err() != nil || n.s.stopped() != nil || !g.hasErrorEdge(frontier[i]) {
				ended = append(ended, fmt.Errorf("%s: %w", frontier[i], err))
				continue
			}
			failed[frontier[i]] = true
			updates[i] = g.failure(frontier[i], validText(err.Error()))
		}
		if err := worstOf(ended); err != nil {
			return nil, nil, err
		}
		if slices.ContainsFunc(errs, func(err error) bool { return errors.Is(err, errPaused) }) {
			return nil, nil, errPaused
		}
		for _, u := range updates {
			for key := range u {
				written[key] = true
			}
		}
		saw := state
		state = Merge(state, g.reducers, updates...)
		next, err := g.next(saw, state, frontier, failed)
		if err != nil {
			return nil, nil, err
		}
		for _, id := range frontier {
			visits[id]++
		}
		frontier = next
	}
	return state, written, nil
}

// stepWithin runs the nodes of one inner superstep concurrently.
func (n *nodeState) stepWithin(ctx context.Context, g *graph, state State, frontier []string, visits map[string]int64) ([]State, []error) {
	updates, errs := make([]State, len(frontier)), make([]error, len(frontier))
	var wg sync.WaitGroup
	for i, id := range frontier {
		wg.Go(func() { updates[i], errs[i] = n.within(g, id, g.rank[id], visits[id]).runInner(ctx, state) })
	}
	wg.Wait()
	return updates, errs
}

// runInner runs one node of a container. A node that waits is told by its
// state, also when its code swallows the pause.
func (n *nodeState) runInner(ctx context.Context, state State) (update State, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the node panicked: %v", r)
		}
		if n.paused() {
			err = errPaused
		}
	}()
	update, err = n.g.byID[n.name].Run(context.WithValue(ctx, nodeStateKey{}, n), state.Clone())
	if err == nil {
		update, err = exact(update)
	}
	if err == nil {
		err = n.g.accepts(state, update)
	}
	return update, err
}
