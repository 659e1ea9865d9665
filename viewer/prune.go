package viewer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/stores"
)

// Removal is one run that a deletion would take, or why it stays. Its JSON is
// part of the contract of `flowtui delete` and `flowtui prune`.
type Removal struct {
	Ref     Ref       `json:"-" scrub:"-"`
	Row     Row       `json:"-"`
	Store   string    `json:"store"`
	Owner   string    `json:"owner"`
	Run     string    `json:"run"`
	Flow    string    `json:"flow"`
	Status  string    `json:"status"`
	Step    int64     `json:"step"`
	Updated time.Time `json:"updated"`
	Verdict Verdict   `json:"verdict"`
	Kept    string    `json:"kept,omitempty"` // why it stays, one sentence; "" when it goes
	Loses   string    `json:"loses,omitempty"`
	Code    string    `json:"-"` // of Kept, as in Problem

	incarnation string // of the newest checkpoint, which has Step
	blind       bool   // there is no checkpoint to compare with
}

// Goes reports whether the run is to be deleted.
func (r Removal) Goes() bool { return r.Kept == "" }

// PlanRemoval says for each of the given runs whether it would be deleted. It
// touches nothing, and verifies every run: what its list entry says decides
// nothing. A run stays when it has not ended, or when it does not verify, for
// then it is evidence; force takes both. A run that is not there stays too.
// The result is the frozen set that Remove takes.
func (s *Service) PlanRemoval(ctx context.Context, refs []Ref, force bool) ([]Removal, error) {
	list := make([]Removal, len(refs))
	failed := make([]error, len(refs))
	s.parallel(ctx, verifiers, len(refs), func(i int) {
		list[i], failed[i] = s.planRemoval(ctx, refs[i], force)
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for i, err := range failed {
		if err == nil {
			continue
		}
		p := explain(err)
		if p.Code != codeNotFound && p.Code != codeCorrupt {
			return nil, err
		}
		list[i] = Removal{Ref: refs[i], Store: refs[i].Store, Owner: refs[i].Owner, Run: refs[i].Run, Kept: p.Message, Code: p.Code}
	}
	return out(s, list, false), nil
}

func (s *Service) planRemoval(ctx context.Context, ref Ref, force bool) (Removal, error) {
	a, k, err := s.at(ref)
	if err != nil {
		return Removal{}, err
	}
	if err := a.ours(deleting); err != nil {
		return Removal{}, err
	}
	before, err := s.head(ctx, a, k)
	if err != nil && !errors.Is(err, stores.ErrNotFound) && !damaged(err) {
		return Removal{}, err
	}
	if _, ok := a.store.(stores.Remover); !ok || a.format.Unsigned {
		row := s.row(glimpse{at: a, head: before})
		return Removal{
			Ref: a.ref(k), Row: row, Store: a.label, Owner: k.Owner, Run: k.Run, Flow: row.Flow, Status: row.Status, Step: row.Step, Updated: row.Updated,
			Verdict: row.Verdict, Kept: fmt.Sprintf("a %s store cannot delete a run only as it was seen", a.format.Name), Code: codeRefused,
		}, nil
	}
	p, err := engine.MakePlan(ctx, a.store, s.o.Keys, k)
	var c checked
	switch {
	case damaged(err):
		c = unreadableRows(k, before.Step, err)
	case err != nil:
		return Removal{}, s.absent(ctx, a, k, err)
	default:
		c = s.remember(ctx, a, before, verdictOf(p.Findings), p.Findings)
	}
	g := glimpse{at: a, head: before}
	if seen, err := s.glimpse(ctx, a, k); err == nil {
		g = seen
	} else if !errors.Is(err, stores.ErrNotFound) && !damaged(err) {
		return Removal{}, err
	}
	row := s.row(g)
	r := Removal{
		Ref: a.ref(k), Row: row, Store: a.label, Owner: k.Owner, Run: k.Run, Flow: row.Flow, Status: row.Status, Step: p.Checkpoint.Step,
		Updated: row.Updated, Verdict: c.verdict, incarnation: p.Checkpoint.Incarnation,
		blind: p.Checkpoint.Incarnation == "" || p.Checkpoint.Bad != "",
	}
	if !r.blind {
		r.Status = string(p.Checkpoint.Status)
	}
	r.Loses = joinLosses(c, losses(p))
	if !force {
		r.Kept, r.Code = r.keep(c)
	}
	return r, nil
}

// keep is why a run is not deleted without being forced to.
func (r Removal) keep(c checked) (why, code string) {
	switch {
	case c.verdict.Bad():
		return "it does not verify, so it is evidence: " + c.reason, codeCorrupt
	case c.verdict == NoKeyGiven:
		return "it cannot be verified without a key, so what it is is not known", codeRefused
	case c.verdict == UnknownKey:
		return "it is signed with a key that was not given, so what it is is not known", codeRefused
	case r.blind || !stores.Status(r.Status).Final():
		return "it has not ended, it is " + r.Status, codeRefused
	}
	return "", ""
}

// joinLosses puts first what is lost with a run that does not verify.
func joinLosses(c checked, rest string) string {
	switch {
	case c.verdict.Bad():
		rest = strings.TrimSuffix("it does not verify, and that evidence is gone then: "+c.reason+"; "+rest, "; ")
	case c.verdict == NoKeyGiven, c.verdict == UnknownKey:
		rest = strings.TrimSuffix("it cannot be verified, so what is lost is not known; "+rest, "; ")
	}
	return rest
}

// losses is what nobody can do or find out any more once the run is gone.
func losses(p engine.Plan) string {
	switch {
	case p.Lease != nil:
		return fmt.Sprintf("%s works on it and will be cut off", p.Lease.Holder)
	case len(p.InDoubt) > 0:
		return fmt.Sprintf("whether %s ran was never said", p.InDoubt[0].Tool)
	case len(p.Decisions) > 0:
		return fmt.Sprintf("the decision of %s was not spent", p.Decisions[0].By)
	case len(p.Body.Waiting) > 0 && p.Action == engine.PlanResume:
		return "what it asks will never be answered"
	case p.Action != engine.PlanNone:
		return "it could still be brought to its end"
	}
	return ""
}

// Removed is what became of one run. Its JSON is part of the contract of
// `flowtui delete` and `flowtui prune`.
type Removed struct {
	Owner string   `json:"owner"`
	Run   string   `json:"run"`
	Error *Problem `json:"error"`
}

// Remove deletes exactly the runs that the plan says go, each only if it is
// still as it was when the plan was made. One that fails does not stop the
// others. Nothing of a deleted run stays in the store, its log included.
func (s *Service) Remove(ctx context.Context, plan []Removal, progress func(done, total int)) ([]Removed, error) {
	list := []Removed{}
	for i, r := range plan {
		if progress != nil {
			progress(i, len(plan))
		}
		if !r.Goes() {
			continue
		}
		if err := ctx.Err(); err != nil {
			return list, err
		}
		done := Removed{Owner: r.Ref.Owner, Run: r.Ref.Run}
		if err := s.remove(ctx, r); err != nil {
			p := explain(err)
			done.Error = &p
		}
		list = append(list, done)
	}
	return out(s, list, false), nil
}

func (s *Service) remove(ctx context.Context, r Removal) error {
	a, k, err := s.at(r.Ref)
	if err != nil {
		return err
	}
	if err := errors.Join(s.writable(a, k), s.present(ctx, a)); err != nil {
		return err
	}
	if !r.blind {
		err = a.store.(stores.Remover).DeleteAt(ctx, k, r.incarnation, r.Step)
	}
	if r.blind || r.Verdict.Bad() && errors.Is(err, stores.ErrUnreadable) { // forced, and there is nothing to compare with
		err = a.store.Delete(ctx, k)
	}
	if errors.Is(err, stores.ErrUnknown) {
		if _, gone := a.store.Latest(ctx, k); errors.Is(gone, stores.ErrNotFound) {
			return nil
		}
	}
	if errors.Is(err, stores.ErrConflict) {
		return Problem{Code: codeConflict, Run: k.Run, Message: "it changed since it was listed, so it stays: " + err.Error(), Hint: "look at it again before you delete it"}
	}
	return err
}
