package viewer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/stores"
)

const (
	// inlineBytes is how much history is read and verified to show a run. What
	// is larger is verified on demand, with progress, see Verify.
	inlineBytes = 64 << 20
	// freshFor is how long a verdict is shown without verifying again.
	freshFor = 30 * time.Second
)

// Show returns one run: its row, its history and its graph.
func (s *Service) Show(ctx context.Context, ref Ref) (Detail, error) {
	a, k, err := s.at(ref)
	if err != nil {
		return Detail{}, err
	}
	steps, size, err := s.steps(ctx, a, k)
	if err != nil {
		return Detail{}, s.absent(ctx, a, k, err)
	}
	c, err := s.recall(ctx, a, k, size <= inlineBytes)
	if err != nil {
		return Detail{}, s.absent(ctx, a, k, err)
	}
	g, err := s.glimpse(ctx, a, k)
	if err != nil {
		return Detail{}, s.absent(ctx, a, k, err)
	}
	if c.passing {
		g.distrust(c.reason)
	}
	h := g.head
	d := Detail{
		Row: s.row(g), Digest: h.Digest, Error: g.body.Error, Findings: slices.Clone(c.all), History: []HistoryStep{},
		Identity: Identity{User: h.User, Thread: h.Thread, Principal: h.Principal},
	}
	for _, step := range steps {
		d.History = append(d.History, historyStep(step, c))
	}
	if size <= inlineBytes {
		if err := s.fillHistory(ctx, a, k, d.History); err != nil {
			return Detail{}, err
		}
	}
	newest, err := newestOf(ctx, a, k, steps)
	if err != nil {
		return Detail{}, err
	}
	t, known, err := topology(ctx, a, h.Digest)
	if err != nil {
		return Detail{}, err
	}
	if known {
		d.Flow = graphOf(t, g.body.At, newest.Visits)
	}
	if err := s.showForeign(ctx, g, &d); err != nil {
		return Detail{}, err
	}
	d.Talks = talks(h.Kind, t, newest.State)
	if d.Expires, err = expiry(ctx, a, k); err != nil {
		return Detail{}, s.absent(ctx, a, k, err)
	}
	return out(s, d, false), nil
}

// expiry is when the store drops the run by itself, nil when it does not.
func expiry(ctx context.Context, a *attachment, k stores.Key) (*time.Time, error) {
	e, ok := a.store.(stores.Expirer)
	if !ok {
		return nil, nil
	}
	at, expires, err := e.Expires(ctx, k)
	if err != nil || !expires {
		return nil, err
	}
	return &at, nil
}

// recall is the run's verdict: a fresh one, or what is remembered of it.
func (s *Service) recall(ctx context.Context, a *attachment, k stores.Key, verify bool) (checked, error) {
	h, err := s.head(ctx, a, k)
	if err != nil {
		return checked{}, err
	}
	s.mu.Lock()
	c, ok := s.verdicts[a.ref(k)]
	s.mu.Unlock()
	known := ok && c.head == fingerprint(h)
	if verify && (!known || s.now().Sub(c.at) > freshFor) {
		return s.inspect(ctx, a, k)
	}
	if !known {
		return checked{}, nil
	}
	return c, nil
}

// steps lists the saved steps without their payloads, and their size.
func (s *Service) steps(ctx context.Context, a *attachment, k stores.Key) (steps []stores.Checkpoint, size int64, err error) {
	history, ok := a.store.(stores.Historian)
	if !ok {
		c, err := a.store.Latest(ctx, k)
		c.Payload = nil
		return []stores.Checkpoint{c}, c.Size, err
	}
	for from := int64(0); ; {
		rows, err := history.History(ctx, k, stores.HistoryQuery{From: from})
		if err != nil && !errors.Is(err, stores.ErrNotFound) {
			return nil, 0, err
		}
		start := from
		for _, c := range rows {
			steps, size, from = append(steps, c), size+c.Size, max(from, c.Step+1)
		}
		if from == start {
			return steps, size, nil
		}
	}
}

func historyStep(c stores.Checkpoint, checked checked) HistoryStep {
	h := HistoryStep{
		Step: c.Step, Segment: c.Segment, Status: string(c.Status), At: []string{}, Time: c.Time.UTC(),
		Claim: c.Base < c.Step && c.Status == stores.StatusRunning, Verdict: Unchecked,
	}
	switch v := checked.verdict; {
	case v == Unchecked:
	case v.Keyless(), v == Unsigned:
		h.Verdict = v
	default:
		h.Verdict = Verified
	}
	for _, f := range checked.all {
		if f.Verdict.Keyless() && h.Verdict == Verified { // another finding is worse, but nothing was verified
			h.Verdict = f.Verdict
		}
		if f.Step == c.Step && (f.Record == engine.RecordCheckpoint || f.Record == engine.RecordHead) {
			h.Verdict = worse(h.Verdict, f.Verdict)
		}
	}
	switch {
	case c.Bad != "":
		h.Status, h.Verdict = unreadable, Unreadable
	case checked.passing: // no step could be checked to the end
		h.Verdict = Unreadable
	}
	return h
}

// fillHistory reads what ran in each step.
func (s *Service) fillHistory(ctx context.Context, a *attachment, k stores.Key, steps []HistoryStep) error {
	read := func(c stores.Checkpoint) {
		i, ok := slices.BinarySearchFunc(steps, c.Step, func(h HistoryStep, step int64) int { return int(h.Step - step) })
		b, err := decodeCheckpoint(c)
		if !ok || err != nil {
			return
		}
		steps[i].At = append(steps[i].At, b.Frontier...)
		if b.Error != nil && b.Error.Node != "" {
			steps[i].At = []string{b.Error.Node}
		}
		for _, n := range b.Nodes {
			steps[i].Nodes = append(steps[i].Nodes, NodeRun{n.Node, n.Started, n.Ended, n.Error})
		}
		steps[i].Asks, steps[i].Decided = askedAt(b), decidedAt(c, b)
	}
	history, ok := a.store.(stores.Historian)
	if !ok {
		c, err := a.store.Latest(ctx, k)
		read(c)
		return err
	}
	for from := int64(0); ; {
		rows, err := history.History(ctx, k, stores.HistoryQuery{From: from, Limit: 200, Payload: true})
		if err != nil && !errors.Is(err, stores.ErrNotFound) {
			return err
		}
		start := from
		for _, c := range rows {
			read(c)
			from = max(from, c.Step+1)
		}
		if from == start {
			return nil
		}
	}
}

// askedAt are the approvals that a checkpoint waits for.
func askedAt(b engine.Checkpoint) (list []Asked) {
	for _, w := range b.Waiting {
		if w.Type == engine.WaitApproval {
			list = append(list, Asked{w.ID, w.Node, w.Tool})
		}
	}
	return list
}

// decidedAt are the decisions that came with a checkpoint. It also holds those of
// steps before that are not spent.
func decidedAt(c stores.Checkpoint, b engine.Checkpoint) (list []Decided) {
	for _, d := range b.Decisions {
		if d.Asked == c.Step-1 {
			list = append(list, Decided{Action(d.Type), d.ID, d.Tool, d.Key, d.By, d.Note})
		}
	}
	return list
}

// topology reads a flow's shape. The run's signature covers its digest, so a
// shape that was changed is not shown.
func topology(ctx context.Context, a *attachment, digest string) (engine.Topology, bool, error) {
	var t engine.Topology
	grapher, ok := a.store.(stores.Grapher)
	if !ok || digest == "" {
		return t, false, nil
	}
	raw, err := grapher.Graph(ctx, digest)
	if errors.Is(err, stores.ErrNotFound) {
		return t, false, nil
	}
	if err != nil {
		return t, false, err
	}
	sum := sha256.Sum256(raw)
	if hex.EncodeToString(sum[:]) != digest || json.Unmarshal(raw, &t) != nil {
		return engine.Topology{}, false, nil
	}
	return t, true, nil
}

// newestOf is the newest checkpoint of a run with these steps, empty when it is
// too large to be read just to show the run.
func newestOf(ctx context.Context, a *attachment, k stores.Key, steps []stores.Checkpoint) (engine.Checkpoint, error) {
	if len(steps) == 0 || steps[len(steps)-1].Size > inlineBytes {
		return engine.Checkpoint{}, nil
	}
	return newestBody(ctx, a, k)
}

// newestBody is the newest checkpoint, empty when it is unreadable.
func newestBody(ctx context.Context, a *attachment, k stores.Key) (engine.Checkpoint, error) {
	c, err := a.store.Latest(ctx, k)
	if err != nil {
		return engine.Checkpoint{}, err
	}
	b, err := decodeCheckpoint(c)
	if err != nil {
		return engine.Checkpoint{}, nil // its verdict tells
	}
	return b, nil
}

func graphOf(t engine.Topology, at []string, visits map[string]int64) *Graph {
	v := &Graph{Entry: t.Entry}
	for _, n := range t.Nodes {
		v.Nodes = append(v.Nodes, GraphNode{n.ID, n.Type, visits[n.ID], slices.Contains(at, n.ID)})
	}
	for _, e := range t.Edges {
		for _, to := range e.To {
			v.Edges = append(v.Edges, GraphEdge{e.From, to, condition(e)})
		}
	}
	return v
}

func condition(e engine.TopologyEdge) string {
	var parts []string
	if e.OnError {
		parts = append(parts, "on error")
	}
	if e.Condition != "" {
		parts = append(parts, e.Condition)
	}
	return strings.Join(parts, ", ")
}
