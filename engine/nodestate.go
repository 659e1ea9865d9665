package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/flowtui/flowtui/engine/tool"
)

// errPaused ends a node that waits for a person. The superstep sees it by the
// node's waiting list, also when the node's code swallows it.
var errPaused = errors.New("the run is paused here")

// nodeState is one node's run within a superstep. A node may call tools from
// several goroutines, but its ordinals are only stable when it calls in order.
type nodeState struct {
	*nodeNotes
	s      *session
	g      *graph // that the node is of
	parent *nodeState
	name   string  // in its graph
	id     string  // in the run: the name, or where in a container it stands
	place  []int64 // within the outermost node: of each container's node its rank, or its item, and its visits
	visits int64   // finished runs of the node before this one
	n      int64   // calls so far
	first  int64   // calls before the present attempt
	asks   int64
	waits  bool // for a person: nothing further runs here
	acted  bool // it called a tool that is not idempotent, or that a person must agree to
}

// nodeNotes are what a superstep learns from a node and all that it contains.
type nodeNotes struct {
	mu sync.Mutex // guards the nodes too
	// closed once the node has returned: what still runs of its code may no
	// longer call. Calls under way are waited for.
	closed   bool
	underway sync.WaitGroup

	ran        map[string]bool // calls that replayed or were executed: their decisions are spent
	waiting    []Waiting
	pending    []pendingCall
	order      map[string][]int64 // by what is waited for: where it stands, also by its number in its node
	replayed   []string
	unreplayed []string
}

func (s *session) node(id string) *nodeState {
	n := &struct { // both at once: it is made for every node that runs
		nodeState
		notes nodeNotes
	}{nodeState: nodeState{s: s, g: s.g, name: id, id: id, visits: s.visits[id]}}
	n.nodeNotes = &n.notes
	return &n.nodeState
}

// within is the state of a node that a container runs, which is the at-th of it.
func (n *nodeState) within(g *graph, name string, at int, visits int64) *nodeState {
	id := n.id + "/" + name
	if visits > 0 {
		id = fmt.Sprintf("%s@%d", id, visits+1)
	}
	return &nodeState{nodeNotes: n.nodeNotes, s: n.s, g: g, parent: n, name: name, id: id, visits: visits, place: append(slices.Clip(n.place), int64(at), visits)}
}

// round counts the runs of the outermost node, which questions are named by.
func (n *nodeState) round() int64 {
	for n.parent != nil {
		n = n.parent
	}
	return n.visits + 1
}

// stopHere notes that the node waits, and so do the containers that it is in.
func (n *nodeState) stopHere() {
	for ; n != nil; n = n.parent {
		n.waits = true
	}
}

// placed notes where in its node something stands that is waited for.
func (n *nodeState) placed(id string, number int64) {
	if n.order == nil {
		n.order = map[string][]int64{}
	}
	n.order[id] = append(slices.Clip(n.place), number)
}

// sort puts what is waited for into the order of the flow and of the items:
// which of several came first is chance.
func (n *nodeNotes) sort() {
	before := func(a, b string) int {
		return cmp.Or(slices.Compare(n.order[a], n.order[b]), strings.Compare(a, b))
	}
	slices.SortStableFunc(n.waiting, func(a, b Waiting) int { return before(a.ID, b.ID) })
	slices.SortStableFunc(n.pending, func(a, b pendingCall) int { return before(a.id(), b.id()) })
}

type nodeStateKey struct{}

func nodeRun(ctx context.Context) (*nodeState, error) {
	n, ok := ctx.Value(nodeStateKey{}).(*nodeState)
	if !ok {
		return nil, errors.New("engine: tools and questions need the context that a flow gives to its node")
	}
	return n, nil
}

// call is CallTool.
func (n *nodeState) call(ctx context.Context, name string, args any) (json.RawMessage, error) {
	t, ok := n.s.r.tools.Get(name)
	if !ok {
		return nil, n.missingTool(name)
	}
	raw, err := Seal(args)
	if err != nil {
		return nil, fmt.Errorf("arguments of %s: %w", name, err)
	}
	p, err := n.numbered(t, 0, raw)
	if err != nil {
		return nil, err
	}
	defer n.underway.Done()
	return n.attempt(ctx, p)
}

// attempt replays the call, or runs it when nobody needs to be asked first.
func (n *nodeState) attempt(ctx context.Context, p pendingCall) (json.RawMessage, error) {
	if old, ok := n.s.replay[callKey{n.s.base, n.id, p.ordinal}]; ok && old.Finished() {
		if old.Tool == p.tool.Name && old.Digest == p.body.Digest {
			n.spend(p)
			return n.replay(old)
		}
		n.note(&n.unreplayed, p.id())
	}
	if p.tool.Approval == tool.ApprovalRequired {
		decided, err := n.approved(p)
		if err != nil {
			return nil, err
		}
		if p.ask = !decided; p.ask && n.s.r.approver == nil {
			n.wait(p)
			return nil, errPaused
		}
	}
	if n.paused() {
		return nil, errPaused // the node's code went on after it was told to stop
	}
	if ctx.Err() != nil && n.s.ctx.Err() == nil { // the node's own limit
		return nil, fmt.Errorf("%s was not called: %w", p.tool.Name, context.Cause(ctx))
	}
	n.spend(p)
	return n.s.execute(ctx, p)
}

func (n *nodeState) spend(p pendingCall) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ran == nil {
		n.ran = map[string]bool{}
	}
	n.ran[p.id()] = true
}

// missingTool stops this worker: another one may have the tool, so this is not
// the run's failure.
func (n *nodeState) missingTool(name string) error {
	err := &Error{Class: ErrRefused, Key: n.s.place.Key, Reason: fmt.Sprintf("there is no tool %q here", name), Hint: "run it where the tool is registered"}
	n.s.stop(err)
	return err
}

var errClosed = errors.New("engine: the node has returned, so it can no longer call tools or ask")

// numbered makes a call with the given ordinal, 0 for the node's next one. The
// caller ends it with underway.Done.
func (n *nodeState) numbered(t tool.Tool, ordinal int64, args json.RawMessage) (pendingCall, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return pendingCall{}, errClosed
	}
	n.underway.Add(1)
	if ordinal == 0 {
		ordinal = n.n + 1
	}
	n.n = max(n.n, ordinal)
	n.acted = n.acted || !t.Idempotent || t.Approval == tool.ApprovalRequired
	return pendingCall{base: n.s.base, node: n.id, ordinal: ordinal, nth: ordinal - n.first, tool: t, body: callBody{Args: args, Digest: digest(args), By: n.s.r.worker}}, nil
}

func (n *nodeState) paused() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.waits
}

// close ends the node: no further call, and none left under way.
func (n *nodeState) close() {
	n.mu.Lock()
	n.closed = true
	n.mu.Unlock()
	n.underway.Wait()
}

func (n *nodeState) note(list *[]string, id string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	*list = append(*list, id)
}

func (n *nodeState) replay(c CallInfo) (json.RawMessage, error) {
	n.note(&n.replayed, c.ID)
	if c.Denied != nil {
		return nil, c.Denied.err()
	}
	if c.Failed {
		return nil, &ToolError{Tool: c.Tool, Message: c.Error, call: c.ID}
	}
	return c.Result, nil
}

// approved reports whether a stored decision lets the call run. It returns a
// DeniedError when one does not.
func (n *nodeState) approved(p pendingCall) (bool, error) {
	for _, d := range n.s.decisions {
		if d.ID != p.id() || d.Tool != p.tool.Name || d.Base != n.s.base || d.Digest != p.body.Digest {
			continue
		}
		switch d.Type {
		case DecideApprove:
			return true, nil
		case DecideDeny:
			return false, &DeniedError{Tool: p.tool.Name, By: d.By, Note: d.Note}
		}
	}
	return false, nil
}

// wait puts a call on the list of what the run is paused for.
func (n *nodeState) wait(p pendingCall) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.stopHere()
	n.placed(p.id(), p.ordinal)
	n.waiting = append(n.waiting, Waiting{
		Type: WaitApproval, ID: p.id(), Node: n.id, Tool: p.tool.Name,
		Args: p.body.Args, Size: len(p.body.Args), Digest: p.body.Digest,
	})
	n.pending = append(n.pending, p)
}

// ask is Ask.
func (n *nodeState) ask(q Question) (json.RawMessage, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return nil, errClosed
	}
	asked, err := Seal(q)
	if err != nil {
		return nil, fmt.Errorf("question %q: %w", q.Key, err)
	}
	n.asks++
	id := questionID(n.id, n.round(), n.asks)
	for _, d := range n.s.decisions {
		if d.Type == DecideAnswer && d.ID == id && d.Base == n.s.base && d.Digest == digest(asked) {
			return d.Value, nil
		}
	}
	n.stopHere()
	n.placed(id, n.asks)
	n.waiting = append(n.waiting, Waiting{Type: WaitInterrupt, ID: id, Node: n.id, Key: q.Key, Prompt: q.Prompt, Choices: q.Choices, Want: q.Want, Turn: q.Turn, Digest: digest(asked)})
	return nil, errPaused
}

// questionID names a question by its node, the node's round, and, from the
// second one of a round on, its number. The # keeps it apart from call ids.
func questionID(node string, round, n int64) string {
	if n == 1 {
		return fmt.Sprintf("%s#%d", node, round)
	}
	return fmt.Sprintf("%s#%d.%d", node, round, n)
}
