package viewer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

// Act does what is asked. A flow that fails or pauses again after the action
// was accepted is no error; the outcome says so. Progress is told in order and
// must not block; it may be nil.
func (s *Service) Act(ctx context.Context, r Request, progress func(Progress)) (Outcome, error) {
	a, k, err := s.at(r.Ref)
	if err != nil {
		return Outcome{}, err
	}
	if err := errors.Join(s.writable(a, k), bounded(r.MaxIterations, a), s.present(ctx, a)); err != nil {
		return Outcome{}, err
	}
	g, err := s.glimpse(ctx, a, k)
	if err != nil {
		return Outcome{}, s.absent(ctx, a, k, err)
	}
	if g.foreign != nil {
		t := &teller{s: s, progress: progress}
		o, err := s.actForeign(ctx, a, g, r, t)
		if err != nil {
			return Outcome{}, err
		}
		t.tell("completed", o.Outcome)
		return out(s, o, false), nil
	}
	if g.setBack {
		return Outcome{}, s.setBackProblem(a, k, g.reason)
	}
	if r.Version, err = s.bind(ctx, a, k, r.Version); err != nil {
		return Outcome{}, s.absent(ctx, a, k, err)
	}
	t := &teller{s: s, progress: progress}
	o, err := s.perform(ctx, a, k, g.head, r, t)
	if err != nil {
		return Outcome{}, t.wrap(s.wantsPrincipal(g.head, err))
	}
	t.tell("completed", o.Outcome)
	return out(s, o, false), nil
}

// writable refuses every action where nothing may be written. It is the only
// place that does.
func (s *Service) writable(a *attachment, k stores.Key) error {
	why := s.refusals(a, stores.Head{}).write
	if why == "" {
		return nil
	}
	if k.Run != "" {
		why = "run " + k.Run + ": " + why
	}
	return Problem{Code: codeRefused, Message: why, Run: k.Run, Hint: "nothing was saved"}
}

// bind turns the version of a list's row into that of a plan. The plan is read
// first: what changes after it is refused by the engine, and what changed
// before it shows in the list entry.
func (s *Service) bind(ctx context.Context, a *attachment, k stores.Key, version string) (string, error) {
	seen, isRow := strings.CutPrefix(version, rowVersion)
	if !isRow {
		return version, nil
	}
	p, err := engine.MakePlan(ctx, a.store, s.o.Keys, k)
	if err != nil {
		return "", err
	}
	h, err := s.head(ctx, a, k)
	if err != nil {
		return "", err
	}
	if fingerprint(h) != seen {
		return "", &engine.Error{
			Class: engine.ErrCheckpointConflict, Key: k, Hint: "look at it again before you act",
			Reason: fmt.Sprintf("changed since you looked: it is %s at step %d, segment %d", h.Status, h.Step, h.Segment),
		}
	}
	return p.Version, nil
}

func (s *Service) perform(ctx context.Context, a *attachment, k stores.Key, h stores.Head, r Request, t *teller) (Outcome, error) {
	switch r.Action {
	case Approve, Deny, Answer:
		return s.decide(ctx, a, k, h, r, t)
	case Resolve:
		return s.resolve(ctx, a, k, h, r, t)
	case Recover:
		return s.recover(ctx, a, k, h, r, t)
	}
	return Outcome{}, Problem{Code: codeUsage, Message: fmt.Sprintf("there is no action %q", r.Action), Run: k.Run}
}

func (s *Service) resolve(ctx context.Context, a *attachment, k stores.Key, h stores.Head, r Request, t *teller) (Outcome, error) {
	rows, err := a.store.Calls(ctx, k, 0)
	if err != nil {
		return Outcome{}, err
	}
	var open []string
	for _, c := range engine.FoldCalls(rows) {
		if c.Doubtful() {
			open = append(open, c.ID)
		}
	}
	call := original(r.Target, open, boundary{mask: true, scrub: !s.o.Raw})
	if call == "" && len(open) == 1 {
		call = open[0]
	}
	switch {
	case call == "":
		return Outcome{}, Problem{Code: codeUsage, Message: "name the call that you mean", Run: k.Run, Hint: "in doubt: " + strings.Join(open, ", ")}
	case !r.NotRun && len(bytes.TrimSpace(r.Value)) == 0:
		return Outcome{}, Problem{Code: codeUsage, Message: "say what the call returned, or that it did not run", Run: k.Run}
	case r.NotRun && len(r.Value) > 0:
		return Outcome{}, Problem{Code: codeUsage, Message: "a call that did not run has no result", Run: k.Run}
	}
	runner, err := s.runner(a, nil, t)
	if err != nil {
		return Outcome{}, err
	}
	res := engine.Resolution{Call: call, Result: json.RawMessage(r.Value), NotRun: r.NotRun, By: s.o.By, Note: r.Note, Version: r.Version, Takeover: r.Takeover}
	if err := runner.Resolve(ctx, k, res); err != nil {
		return Outcome{}, notInDoubt(h, engine.FoldCalls(rows), call, err)
	}
	text := call + " is recorded with its result; a recovery does not run it again"
	if r.NotRun {
		text = call + " is recorded as not run; a recovery runs it once"
	}
	return s.standingNow(ctx, a, k, text)
}

// notInDoubt says of a run that has ended that it has, and of a call of an earlier
// superstep how it stands, rather than that it was not found.
func notInDoubt(h stores.Head, calls []engine.CallInfo, id string, err error) error {
	if !errors.Is(err, engine.ErrCheckpointNotFound) {
		return err
	}
	if h.Status.Final() {
		return Problem{Code: codeConflict, Run: h.Run, Message: fmt.Sprintf("run %q: it has ended, it is %s: no call of it is in doubt", h.Run, h.Status)}
	}
	for _, c := range slices.Backward(calls) { // the newest of that name
		if c.ID == id {
			return Problem{Code: codeConflict, Run: h.Run, Hint: explain(err).Hint,
				Message: fmt.Sprintf("run %q: call %s is not in doubt: it is %s, in step %d", h.Run, c.ID, facts{}.stateOf(c, false).Word(), c.Step)}
		}
	}
	return err
}

// standingNow is the outcome of an action that ran nothing.
func (s *Service) standingNow(ctx context.Context, a *attachment, k stores.Key, text string) (Outcome, error) {
	g, err := s.glimpse(ctx, a, k)
	if err != nil {
		return Outcome{}, err
	}
	row := s.row(g)
	return Outcome{
		Run: k.Run, Status: row.Status, Outcome: text, Step: row.Step, Segment: row.Segment,
		Replayed: []string{}, Rerun: []string{}, Unreplayed: []string{}, Waiting: row.Waiting,
	}, nil
}

func (s *Service) recover(ctx context.Context, a *attachment, k stores.Key, h stores.Head, r Request, t *teller) (Outcome, error) {
	f, tools, err := s.flow(h)
	if err != nil {
		if refused := s.standsAgainst(ctx, a, k, r); refused != nil {
			return Outcome{}, refused
		}
		if h.Status == stores.StatusPaused { // nothing would run
			return s.standingNow(ctx, a, k, "the run is paused: a decision brings it on")
		}
		return Outcome{}, err
	}
	runner, err := s.runner(a, tools, t)
	if err != nil {
		return Outcome{}, err
	}
	o := engine.RecoverOptions{Identity: s.restored(), RerunInDoubt: r.RerunInDoubt, Takeover: r.Takeover, Version: r.Version, By: s.o.By, Note: r.Note, Unattended: r.unattended}
	res, err := runner.Recover(ctx, f, k, o)
	if err != nil {
		return Outcome{}, err
	}
	return outcomeOf(res, standing(res)), nil
}

// runner makes a worker for one action.
func (s *Service) runner(a *attachment, tools *tool.Registry, t *teller) (*engine.Runner, error) {
	c := engine.Config{
		Store: a.store, Keys: s.o.Keys, Tools: tools, Clock: engine.Clock(s.o.Clock), Events: t.event,
		Worker: s.o.Worker, LeaseTTL: s.o.LeaseTTL,
	}
	return engine.New(c)
}
