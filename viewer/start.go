package viewer

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

// StartRequest asks for a new run.
type StartRequest struct {
	Store string // label, "" is the first
	Owner string // "" is the Service's
	Run   string // "" makes one up
	State json.RawMessage
	Flow  *engine.Flow
	Tools *tool.Registry
	// Of a run of teff's, whose workflow is that of the Options: stop after so many
	// node executions in all, 0 for no limit.
	MaxIterations int64
}

// bounded refuses a bound that would bound nothing.
func bounded(iterations int64, a *attachment) error {
	switch {
	case iterations < 0:
		return Problem{Code: codeUsage, Message: fmt.Sprintf("at most %d iterations: the bound is negative", iterations), Hint: "0 is no limit"}
	case iterations > 0 && !a.format.Unsigned:
		return Problem{Code: codeUsage, Message: "a bound in iterations is for runs of teff's; here it would bound nothing", Hint: "leave it out"}
	}
	return nil
}

// Start starts a new run and works on it until it is done, failed or paused. With
// an error the outcome names the run, which may be there.
func (s *Service) Start(ctx context.Context, r StartRequest, progress func(Progress)) (Outcome, error) {
	a, err := s.attached(r.Store)
	if err != nil {
		return Outcome{}, err
	}
	k := stores.Key{Owner: s.Find(r.Run, r.Owner).Owner, Run: r.Run}
	if err := s.writable(a, k); err != nil {
		return Outcome{}, err
	}
	if err := bounded(r.MaxIterations, a); err != nil {
		return Outcome{}, err
	}
	if a.format.Unsigned {
		return s.startForeign(ctx, a, k, r, &teller{s: s, progress: progress})
	}
	if err := s.MayBegin(ctx, a.ref(k)); err != nil {
		return Outcome{}, err
	}
	if r.Flow == nil {
		return Outcome{}, Problem{Code: codeUsage, Message: "no flow was given"}
	}
	if k.Run == "" {
		k.Run = strings.ToLower(rand.Text())
	}
	start := engine.Start{Key: k, Identity: s.o.Identity}
	if len(r.State) > 0 {
		if start.State, err = engine.DecodeState(r.State); err != nil {
			return Outcome{}, Problem{Code: codeUsage, Message: err.Error(), Hint: "give one JSON object"}
		}
	}
	t := &teller{s: s, progress: progress}
	runner, err := s.runner(a, r.Tools, t)
	if err != nil {
		return Outcome{}, err
	}
	res, err := runner.Run(ctx, r.Flow, start)
	if err != nil {
		return Outcome{Run: k.Run}, t.wrap(err)
	}
	o := outcomeOf(res, standing(res))
	t.tell("completed", o.Outcome)
	return out(s, o, false), nil
}

// RecoverAllOptions are how all runs are recovered.
type RecoverAllOptions struct {
	RerunInDoubt bool
	Takeover     bool
	// Shown, if not nil, bounds it to the runs that a person has seen, each at
	// the Row.Version that was shown.
	Shown map[Ref]string
}

// RecoverAllResult is what became of one run: its outcome or its problem.
type RecoverAllResult struct {
	Outcome *Outcome
	Problem *Problem
}

// RecoverAll recovers every unfinished run of an owner ("*": of all). Each gets
// its outcome or its problem, and one that fails never strands the others. The
// results are by run id, or by owner/run when all owners are asked for. A run
// that is held at a call that is not idempotent is left: it is brought on by
// name only. The error is a list of runs that cannot be read at all.
func (s *Service) RecoverAll(ctx context.Context, storeLabel, owner string, opts RecoverAllOptions) (map[string]RecoverAllResult, error) {
	a, err := s.attached(storeLabel)
	if err != nil {
		return nil, err
	}
	if err := cmp.Or(s.writable(a, stores.Key{}), a.ours(recoveringAll)); err != nil {
		return nil, err
	}
	if owner == "" {
		owner = s.o.Owner
	}
	heads, err := a.store.ListUnfinished(ctx, owner)
	if err != nil {
		return nil, err
	}
	results := map[string]RecoverAllResult{}
	for _, h := range heads {
		name := h.Run
		if owner == stores.AnyOwner {
			name = h.Owner + "/" + h.Run
		}
		results[name] = s.recoverOne(ctx, a, h, opts)
	}
	return out(s, results, false), nil
}

func (s *Service) recoverOne(ctx context.Context, a *attachment, h stores.Head, opts RecoverAllOptions) RecoverAllResult {
	fail := func(err error) RecoverAllResult {
		p := explain(err)
		p.Run = nameOr(p.Run, h.Run)
		return RecoverAllResult{Problem: &p}
	}
	if h.Bad != "" {
		return fail(Problem{Code: codeCorrupt, Message: "its list entry cannot be read: " + h.Bad})
	}
	if ctx.Err() != nil {
		return fail(fmt.Errorf("not tried: %w", context.Cause(ctx)))
	}
	if v, why := s.headVerdict(a, a.id(ctx), h); v == Regressed {
		p := Problem{Code: codeCorrupt, Message: why}
		if s.regressed(a.ref(h.Key), h) != "" {
			p.Hint = s.forgetHint(a, h.Key)
		}
		return fail(p)
	}
	t := &teller{s: s}
	version, shown := opts.Shown[a.ref(h.Key)]
	if opts.Shown != nil && !shown && h.Status == stores.StatusRunning {
		return fail(Problem{Code: codeConflict, Message: "it was not shown, so it was not tried", Hint: "look again"})
	}
	version, err := s.bind(ctx, a, h.Key, version)
	if err != nil {
		return fail(s.absent(ctx, a, h.Key, err))
	}
	o, err := s.recover(ctx, a, h.Key, h, Request{RerunInDoubt: opts.RerunInDoubt, Takeover: opts.Takeover, Version: version, unattended: true}, t)
	if err != nil {
		return fail(s.absent(ctx, a, h.Key, t.wrap(s.wantsPrincipal(h, err))))
	}
	return RecoverAllResult{Outcome: &o}
}
