package engine

import (
	"context"

	"github.com/flowtui/flowtui/engine/seal"
	"github.com/flowtui/flowtui/stores"
)

// The actions that a Plan can be for.
const (
	PlanRecover = "recover" // running and cut short
	PlanResume  = "resume"  // paused, a decision brings it on
	PlanNone    = "none"    // it has ended
)

// Plan is what bringing a run on would do, computed without touching anything.
type Plan struct {
	Key        stores.Key
	Action     string
	Version    string // bind an action to what was seen
	Checkpoint stores.Checkpoint
	Body       Checkpoint
	Replay     []CallInfo
	Rerun      []CallInfo
	InDoubt    []CallInfo
	Pending    []CallInfo // wait for an approval; with a stored one they will run
	Decisions  []Decision // stored and not spent
	Last       *Decided   // what a person did last, as far as the newest events tell it, nil for nothing
	Lease      *stores.Lease
	Findings   []Finding
	Blocked    error // why the engine would refuse, without looking at the flow
}

// MakePlan reads a run and says what a recovery or a resume would do. The run
// need not verify: then the plan says what is refused and why.
func MakePlan(ctx context.Context, s stores.Store, keys *seal.Keyring, k stores.Key) (Plan, error) {
	l, err := load(ctx, s, keys, k)
	if err != nil {
		return Plan{Key: k}, err
	}
	p := Plan{Key: k, Action: PlanNone, Version: l.version(), Findings: l.findings, Blocked: l.trusted()}
	if l.last == nil {
		return p, nil
	}
	p.Checkpoint = *l.last
	if p.Body, err = DecodeCheckpoint(*l.last); err != nil && p.Blocked == nil {
		p.Blocked = &Error{Class: ErrCheckpointStoreCorrupt, Key: k, Err: err}
	}
	p.Decisions = p.Body.Decisions
	p.Last = lastDecided(ctx, s, keys, k, l.events.N, "")
	if p.Lease, err = liveLease(ctx, s, k); err != nil {
		return p, err
	}
	p.sort(FoldCalls(l.current()))
	if p.Blocked == nil {
		p.Blocked = p.refusal()
	}
	return p, nil
}

func (p *Plan) sort(calls []CallInfo) {
	switch p.Checkpoint.Status {
	case stores.StatusPaused:
		p.Action = PlanResume
	case stores.StatusRunning:
		p.Action = PlanRecover
	default:
		return
	}
	for _, c := range calls {
		switch {
		case c.Finished() && !p.Body.again(c, p.Checkpoint.Segment):
			p.Replay = append(p.Replay, c)
		case c.Status == stores.CallPending:
			p.Pending = append(p.Pending, c)
		case c.Doubtful() && p.Action == PlanRecover:
			p.InDoubt = append(p.InDoubt, c)
		case c.Finished(), c.Open(), c.Status == stores.CallResolved:
			p.Rerun = append(p.Rerun, c)
		}
	}
}

func (p *Plan) refusal() error {
	switch {
	case p.Action == PlanNone:
		return conflict(p.Key, "there is nothing to recover", "it has ended, it is %s", p.Checkpoint.Status)
	case p.Lease != nil && p.Action == PlanResume:
		return conflict(p.Key, actingHint, "it is being worked on by %s", p.Lease.Holder)
	case p.Lease != nil:
		return conflict(p.Key, takeOverHint, "it is being worked on by %s", p.Lease.Holder)
	}
	return nil
}

// Fits reports why a flow cannot bring the planned run on, nil if it can.
func (p Plan) Fits(f *Flow) error {
	g, err := f.compile()
	if err != nil {
		return err
	}
	if err := fits(g, &p.Checkpoint); err != nil {
		return err
	}
	return g.fitsState(p.Key, p.Body.State)
}
