package viewer

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/stores"
)

func (s *Service) decide(ctx context.Context, a *attachment, k stores.Key, h stores.Head, r Request, t *teller) (Outcome, error) {
	d := engine.Decide{Type: string(r.Action), ID: r.Target, Value: r.Value, By: s.o.By, Note: r.Note, Version: r.Version, Strict: !r.Unchecked, Unchecked: r.Unchecked}
	d.Identity = s.restored()
	asked, err := s.asStored(ctx, a, k, &d)
	if err != nil {
		return Outcome{}, err
	}
	if r.NoRun {
		runner, err := s.runner(a, nil, t)
		if err != nil {
			return Outcome{}, err
		}
		res, err := runner.Record(ctx, k, d)
		if err != nil {
			return Outcome{}, err
		}
		return outcomeOf(res, fmt.Sprintf("the decision is stored with step %d; nothing was run", res.Step)), nil
	}
	f, tools, err := s.flow(h)
	if err != nil {
		if refused := s.standsAgainst(ctx, a, k, r); refused != nil {
			return Outcome{}, refused
		}
		problem := explain(err)
		if !s.o.NoCommand {
			problem.Hint += "; or store the decision only, with --no-run"
		}
		return Outcome{}, problem
	}
	runner, err := s.runner(a, tools, t)
	if err != nil {
		return Outcome{}, err
	}
	res, err := runner.Resume(ctx, f, k, d)
	if err != nil {
		return Outcome{}, err
	}
	if text := s.unused(ctx, a, k, asked, d, res); text != "" {
		out := outcomeOf(res, text)
		out.Unused = true
		return out, nil
	}
	return outcomeOf(res, pastTense(r.Action)+"; "+standing(res)), nil
}

// unused says that the flow asks the same again, in the same superstep: with
// other arguments or in other words, so that the decision was not for that.
func (s *Service) unused(ctx context.Context, a *attachment, k stores.Key, asked stores.Checkpoint, d engine.Decide, r engine.Result) string {
	now, err := a.store.Latest(ctx, k)
	if err != nil || r.Status != stores.StatusPaused || now.Base != asked.Base {
		return ""
	}
	before, err := engine.DecodeCheckpoint(asked)
	if err != nil {
		return ""
	}
	for _, w := range r.Waiting {
		i := slices.IndexFunc(before.Waiting, func(o engine.Waiting) bool {
			return o.ID == w.ID && o.Type == w.Type && o.Digest != w.Digest
		})
		switch {
		case i < 0 || d.ID != "" && d.ID != w.ID && d.ID != before.Waiting[i].Key:
		case w.Type == engine.WaitApproval:
			return fmt.Sprintf("the decision was for other arguments than the flow asks now; it waits for approval of %s again", w.Tool)
		default:
			return "the answer was to another question than the flow asks now; it waits for " + waitName(w) + " again"
		}
	}
	return ""
}

// asStored finds the names and choices that the operator was shown scrubbed or
// masked, and puts back what is stored. It returns the checkpoint that asks.
func (s *Service) asStored(ctx context.Context, a *attachment, k stores.Key, d *engine.Decide) (stores.Checkpoint, error) {
	c, err := a.store.Latest(ctx, k)
	if err != nil {
		return c, s.absent(ctx, a, k, err)
	}
	body, err := engine.DecodeCheckpoint(c)
	if err != nil {
		return c, nil // the engine says what is wrong with it
	}
	shown := boundary{mask: true, scrub: !s.o.Raw}
	var ids []string
	for _, w := range body.Waiting {
		ids = append(ids, w.ID, w.Key)
	}
	d.ID = original(d.ID, ids, shown)
	var answer string
	if json.Unmarshal(d.Value, &answer) != nil {
		return c, nil
	}
	for _, w := range body.Waiting {
		if w.Type != engine.WaitInterrupt || d.ID != "" && d.ID != w.ID && d.ID != w.Key {
			continue
		}
		if choice := original(answer, append(w.Want.Options(), w.Choices...), shown); choice != answer {
			d.Value = quote(choice)
		}
	}
	return c, nil
}

// original is the one name that looks like shown, or shown itself.
func original(shown string, names []string, b boundary) string {
	found := ""
	for _, n := range names {
		switch {
		case n == shown:
			return shown
		case n != "" && b.text(n) == shown && found == "":
			found = n
		case n != "" && b.text(n) == shown && found != n:
			return shown // two look the same: the engine refuses the name
		}
	}
	if found != "" {
		return found
	}
	return shown
}

// standsAgainst is what the run itself has against an action, for when its
// flow cannot be had: that it has ended says more than that there is no file.
func (s *Service) standsAgainst(ctx context.Context, a *attachment, k stores.Key, r Request) error {
	p, err := engine.MakePlan(ctx, a.store, s.o.Keys, k)
	if err != nil {
		return s.absent(ctx, a, k, err)
	}
	conflict := func(format string, args ...any) error {
		return &engine.Error{Class: engine.ErrCheckpointConflict, Key: k, Reason: fmt.Sprintf(format, args...), Hint: "look at it again before you act"}
	}
	switch {
	case p.Blocked != nil && (p.Lease == nil || !r.Takeover):
		return p.Blocked
	case r.Version != "" && r.Version != p.Version:
		return conflict("changed since you looked: it is %s at step %d", p.Checkpoint.Status, p.Checkpoint.Step)
	case r.Action == Recover && len(p.InDoubt) > 0 && !r.RerunInDoubt:
		return &engine.Error{Class: engine.ErrRecoveryNeedsDecision, Key: k, Reason: undecided(p)}
	case r.Action == Recover:
		return nil
	case p.Action != engine.PlanResume:
		return conflict("it waits for nothing: it is %s at step %d", p.Checkpoint.Status, p.Checkpoint.Step)
	}
	kind := engine.WaitApproval
	if r.Action == Answer {
		kind = engine.WaitInterrupt
	}
	if !slices.ContainsFunc(p.Body.Waiting, func(w engine.Waiting) bool { return w.Type == kind }) {
		return conflict("it waits for no %s", kind)
	}
	return nil
}
