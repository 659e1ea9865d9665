package viewer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/teff"
	"github.com/flowtui/flowtui/stores"
)

// Plan says what bringing a run on would do. It touches nothing, and verifies
// the whole run.
func (s *Service) Plan(ctx context.Context, ref Ref, reveal bool) (Plan, error) {
	a, k, err := s.at(ref)
	if err != nil {
		return Plan{}, err
	}
	v, err := s.plan(ctx, a, k, reveal)
	if err != nil {
		return Plan{}, s.absent(ctx, a, k, err)
	}
	return out(s, v, reveal), nil
}

func (s *Service) plan(ctx context.Context, a *attachment, k stores.Key, reveal bool) (Plan, error) {
	before, err := s.head(ctx, a, k)
	if err != nil {
		return Plan{}, err
	}
	if before.Kind == teff.Kind {
		return s.planForeign(ctx, a, k)
	}
	p, err := engine.MakePlan(ctx, a.store, s.o.Keys, k)
	if err != nil {
		return Plan{}, err
	}
	if !a.format.Unsigned {
		s.remember(ctx, a, before, verdictOf(p.Findings), p.Findings)
	}
	g, err := s.glimpse(ctx, a, k)
	if err != nil {
		return Plan{}, err
	}
	f := s.facts(g)
	f.decisions = p.Decisions
	ahead, err := s.outlook(ctx, a, g.head, p)
	if err != nil {
		return Plan{}, err
	}
	v := Plan{
		Run: k.Run, Action: p.Action, Version: p.Version, Row: s.row(g),
		Replay: callsOf(p.Replay, f, reveal), Rerun: callsOf(p.Rerun, f, reveal), InDoubt: callsOf(p.InDoubt, f, reveal),
		Runs: callsOf(approved(p), f, reveal), Then: joined(firstRuns(p), ahead.goesOn(p)), Claims: claims(p),
	}
	if n := len(p.Decisions); n > 0 {
		d := p.Decisions[n-1]
		v.Decision = &Decision{d.Type, d.ID, d.By, d.Time.UTC(), d.Note}
	}
	if d := p.Last; d != nil {
		v.Lately = strings.TrimRight(fmt.Sprintf("%s %s %s", d.By, pastTense(Action(d.Action)), d.Target), " ") + " at " + timeOf(f.now, d.Time)
	}
	if p.Lease != nil {
		v.Lease = &Lease{p.Lease.Holder, p.Lease.Expires.UTC()}
	}
	v.Blocked, v.Hint = s.blocked(p, g, f)
	if p.Blocked == nil && f.trustRefusal() == "" {
		v.Undecided = undecided(p)
	}
	rows, err := a.store.Calls(ctx, k, p.Checkpoint.Base)
	if err != nil {
		return Plan{}, err
	}
	for i, c := range p.InDoubt { // also while a worker is on it: a takeover would meet them
		v.InDoubt[i].InDoubt, v.InDoubt[i].State, v.InDoubt[i].Why = true, CallInDoubt, doubtOn(c, "it")
	}
	v.Review = reviews(p, engine.FoldCalls(rows), ahead, reveal)
	return v, nil
}

// Repeats are the calls that a recovery makes again though they may have had their
// effect: they failed and hold the run, and their tools are not idempotent.
func (p Plan) Repeats() []Call {
	var calls []Call
	for _, c := range p.Rerun {
		if c.failed() && !c.Idempotent {
			calls = append(calls, c)
		}
	}
	return calls
}

// Failure says how a call of [Plan.Rerun] failed, "" for one that did not: it was
// cut short, or is known not to have run.
func (c Call) Failure() string {
	if !c.failed() {
		return ""
	}
	text := "failed"
	if c.Error != "" {
		text += ": " + c.Error
	}
	if !c.Idempotent {
		text += "; it may have had its effect"
	}
	return text
}

// failed reports that a call of [Plan.Rerun] failed: no other that ended is made
// again.
func (c Call) failed() bool { return c.Status == string(stores.CallDone) }

// verdictOf is the worst of the engine's findings.
func verdictOf(found []engine.Finding) engine.Verdict {
	v := Verified
	for _, f := range found {
		v = worse(v, Verdict(f.Verdict))
	}
	return engine.Verdict(v)
}

// blocked is why the plan's action would be refused, and what would unblock it.
// Calls in doubt do not block: they ask for a decision.
func (s *Service) blocked(p engine.Plan, g glimpse, f facts) (sentence *string, hint string) {
	block := func(why, hint string) (*string, string) { return &why, hint }
	switch {
	case f.final() && !f.verdict.Bad():
		return block("it has ended, it is "+f.status, "")
	case f.refusals.write != "" && !f.final():
		return block(f.refusals.write, "open it where it can be written")
	case p.Blocked != nil:
		problem := explain(p.Blocked)
		return block(unnamed(problem.Message, p.Key.Run), problem.Hint)
	case f.verdict.Bad() || f.verdict == Unsigned:
		return block(f.trustRefusal(), "see all findings with verify")
	case f.refusals.principal != "":
		return block(f.refusals.principal, principalHint)
	}
	flow, _, err := s.flow(g.head)
	if err == nil {
		err = p.Fits(flow)
	}
	if err != nil {
		problem := explain(err)
		problem.Message = unnamed(problem.Message, p.Key.Run)
		if p.Action == engine.PlanResume && !s.o.NoCommand {
			problem.Hint += "; or store the decision only, with --no-run"
		}
		return block(problem.Message, problem.Hint)
	}
	return nil, ""
}

// undecided is why calls in doubt keep the run from being recovered.
func undecided(p engine.Plan) string {
	if len(p.InDoubt) == 0 {
		return ""
	}
	who, again := p.InDoubt[0].Tool, "it"
	if more := len(p.InDoubt) - 1; more > 0 {
		who, again = fmt.Sprintf("%s and %s", who, plural(more, "more call")), "them"
	}
	if !slices.ContainsFunc(p.InDoubt, func(c engine.CallInfo) bool { return !ran(c) }) {
		return fmt.Sprintf("%s ran, but what was returned is not known: say it with resolve --result; --rerun-in-doubt would run %s a second time", who, again)
	}
	return fmt.Sprintf("%s may or may not have run: say what happened with resolve, or run %s again with --rerun-in-doubt", who, again)
}

// approved are the calls that wait for nothing any more but the run itself.
func approved(p engine.Plan) []engine.CallInfo {
	var list []engine.CallInfo
	for _, c := range p.Pending {
		if _, ok := approvalOf(p, c); ok {
			list = append(list, c)
		}
	}
	return list
}

// approvalOf is the stored decision that lets exactly this call run.
func approvalOf(p engine.Plan, c engine.CallInfo) (engine.Decision, bool) {
	for _, d := range p.Decisions {
		if d.Type == engine.DecideApprove && d.ID == c.ID && d.Base == c.Step && d.Digest == c.Digest {
			return d, true
		}
	}
	return engine.Decision{}, false
}

// firstRuns names the approved calls and who approved them.
func firstRuns(p engine.Plan) string {
	names := withApprovers(p, approved(p))
	if names == "" {
		return ""
	}
	return "runs " + names + " for the first time"
}

// withApprovers names approved calls and who approved each.
func withApprovers(p engine.Plan, calls []engine.CallInfo) string {
	var names []string
	for _, c := range calls {
		d, _ := approvalOf(p, c)
		names = append(names, fmt.Sprintf("%s (%s, approved by %s)", c.Tool, c.ID, d.By))
	}
	return strings.Join(names, " and ")
}

// claims is the first thing that the plan's action would write.
func claims(p engine.Plan) string {
	next := p.Checkpoint.Step + 1
	switch {
	case p.Action == engine.PlanRecover && len(p.InDoubt) > 0:
		return fmt.Sprintf("claims nothing while a call is in doubt; after that, step %d as segment %d", next, p.Checkpoint.Segment+1)
	case p.Action == engine.PlanRecover:
		return fmt.Sprintf("claims step %d as segment %d; the old worker is cut off", next, p.Checkpoint.Segment+1)
	case p.Action == engine.PlanResume:
		return fmt.Sprintf("stores the decision with step %d", next)
	}
	return ""
}
